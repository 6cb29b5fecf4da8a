"""All measures of a mechanism: joint constraints, coordinates, distances, positions.

A key identifies a measure: ("joint", joint, coordinate); ("between", point, point) for a distance; ("between", point,
point, axis) for one component of the vector between two points; ("place", point, measure) for a point relative to the
ground; and ("sensor", sensor, measure). For a point with a prescribed pose, ("led", coordinate) are the components of
its pose.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from supple.description import measure
from supple.description.drawing import Attached, Drawing, Path
from supple.description.joints.joint import Joint
from supple.description.load import Acting
from supple.description.mechanism import GROUND, Mechanism
from supple.diagnostics import InputError
from supple.diagnostics.errors import part_name
from supple.kinematics.joint_frames import JointFrames, Primitive, component, joint_frames, point_distance
from supple.kinematics.sensed import Key, plain_measure, resolve_sensor

# Rows of the mechanism before they are numbered: sums of measures, each times a factor.
#
#     Φ = Σ_t f_t φ_t + c                                                                        (kinematics, 13)
#
# A hinge constrains single measures; a screw the displacement along its axis minus the pitch times the turn about it; a
# coupling the coordinates of several joints.


class PrimitiveTerm(NamedTuple):
    """A factor times a primitive between two named bodies."""

    factor: float
    primitive: Primitive
    a: str
    b: str

    def times(self, factor: float) -> PrimitiveTerm:
        return self._replace(factor=factor * self.factor)


Row = tuple[PrimitiveTerm, ...]


def single_row(primitive: Primitive, a: str, b: str) -> Row:
    """Return a row of one measure with factor 1."""
    return (PrimitiveTerm(1.0, primitive, a, b),)


# All measures, by key.


class Measures:
    """Measures of a mechanism as drawn, before they are numbered.

    constraints : rows of each joint
    coordinates : row of each joint coordinate, by (joint, coordinate)
    """

    def __init__(self, mechanism: Mechanism, drawing: Drawing):
        self.mechanism, self.drawing = mechanism, drawing
        self.constraints: dict[str, list[Row]] = {}
        self.coordinates: dict[tuple[str, str], Row] = {}
        for name, joint in mechanism.joints.items():
            frames, form = joint_frames(drawing, name), joint.form(mechanism.plane)
            self.constraints[name] = [_build_row(frames, joint, row) for row in form.rows]
            for coordinate, row in form.name_measures(mechanism.plane).items():
                self.coordinates[name, coordinate] = _build_row(frames, joint, row)

    def coordinate(self, name: str) -> tuple[Key, Row]:
        """Return the key and row of a coordinate of θ: an actuator's, or a joint's."""
        if name in self.mechanism.actuators:
            return self.find_measure(self.mechanism.actuators[name], ("actuators", name))
        return self._joint(name)

    def relative_to_ground(self, name: str, place: str, row: measure.Row) -> tuple[Key, Row]:
        """Return the key and row of a measure of a point relative to the ground, in the drawing's axes."""
        to = self.drawing.find_frame(place, ())
        frames = JointFrames(np.zeros(3), np.eye(3), to.pose.position, to.pose.axes)
        return ("led", name), tuple(_term(frames, term, (GROUND, to.body), {}) for term in row)

    def sum_coupling(self, name: str) -> Row:
        """Return the sum that a coupling holds constant."""
        coordinates = self.mechanism.couplings[name].coordinates
        return tuple(
            term.times(factor) for reference, factor in coordinates.items() for term in self._coupled_row(reference)
        )

    def _coupled_row(self, reference: str) -> Row:
        """Return the row that a coupling multiplies: a joint coordinate, or a sensor output of a single measure."""
        found = self.mechanism.coupled_coordinate(reference)
        if found is not None:
            return self.coordinates[found]
        sensors = self.mechanism.sensors
        name = reference if reference in sensors else reference.rpartition(".")[0]
        key = plain_measure(resolve_sensor(self.drawing, name).outputs[reference])
        assert key is not None  # neither a rate nor in turning axes
        return dict(self._list_sensed(name))[key]

    def find_measure(self, part: Acting, path: Path) -> tuple[Key, Row]:
        """Return the key and row that an actuator, spring, damper, force or sensor acts along."""
        if part.joint is not None:
            return self._joint(part.joint)
        first, second = self._ends(part, path)
        distance = point_distance(first.pose.position, second.pose.position)
        return key_of(self.mechanism, part), single_row(distance, first.body, second.body)

    def separation(self, part: Acting, path: Path) -> Iterator[tuple[Key, Row]]:
        """Return the components of the vector between two points, in the axes of the first body.

        A spring of zero free length acts along them: ½ k d·d is smooth where its ends meet, unlike ½ k |d|².
        """
        first, second = self._ends(part, path)
        for key, unit in zip(component_keys(self.mechanism, part), np.eye(3), strict=False):
            way = component(unit, second.pose.position)._replace(pa=first.pose.position)
            yield key, single_row(way, first.body, second.body)

    def _ends(self, part: Acting, path: Path) -> tuple[Attached, Attached]:
        assert part.between is not None
        first, second = (self.drawing.find_frame(name, (*path, "between")) for name in part.between)
        if first.body == second.body:
            raise _on_one_body(first.body, (*path, "between"))
        return first, second

    def list_measures(self) -> Iterator[tuple[Key, Row]]:
        """Return all measures besides θ: those of parts and sensors, and all joint coordinates."""
        for section in ("actuators", "springs", "dampers", "forces"):
            for name, part in getattr(self.mechanism, section).items():
                if section == "springs" and part.without_length:
                    yield from self.separation(part, (section, name))
                elif part.joint is not None or part.between is not None:
                    yield self.find_measure(part, (section, name))
        for name in self.mechanism.sensors:
            yield from self._list_sensed(name)
        for key, measured in self.coordinates.items():
            yield ("joint", *key), measured

    def _joint(self, reference: str) -> tuple[Key, Row]:
        found = self.mechanism.joint_coordinate(reference)
        assert found is not None  # consistency has been checked
        return ("joint", *found), self.coordinates[found]

    def _list_sensed(self, name: str) -> Iterator[tuple[Key, Row]]:
        """Return the measures of a sensor's outputs; outputs of internal forces have none."""
        sensor = self.mechanism.sensors[name]
        if sensor.record.inside:
            return
        found = resolve_sensor(self.drawing, name)
        if found.ends is None:
            yield self._joint(sensor.kind_value)
            return
        frames, bodies = found.ends
        for key, row in found.rows.items():
            yield key, tuple(_term(frames, term, bodies, {}) for term in row)


def key_of(mechanism: Mechanism, part: Acting) -> Key:
    """Return the key of the measure that a part acts along."""
    if part.between is not None:
        return ("between", *part.between)
    found = mechanism.joint_coordinate(part.joint or "")
    assert found is not None  # consistency has been checked
    return ("joint", *found)


def component_keys(mechanism: Mechanism, part: Acting) -> list[Key]:
    """Return the keys of the components of the vector between two points."""
    return [(*key_of(mechanism, part), letter) for letter in mechanism.plane or "xyz"]


def _build_row(frames: JointFrames, joint: Joint, row: measure.Row) -> Row:
    """Return a row of a joint between its bodies."""
    return tuple(_term(frames, term, joint.bodies, joint.parameters) for term in row)


def _term(
    frames: JointFrames, term: measure.MeasureTerm, bodies: tuple[str, str], parameters: Mapping[str, float]
) -> PrimitiveTerm:
    primitive = frames.measure(term)
    first, second = reversed(bodies) if primitive.swapped else bodies
    return PrimitiveTerm(term.weight(parameters), primitive, first, second)


def _on_one_body(body: str, path: Path) -> InputError:
    return InputError(
        f'both points are on "{body}"', part=part_name(path), path=path, hint="give points on two different bodies"
    )
