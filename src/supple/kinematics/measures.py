"""Every measure of a mechanism by what it stands for: joint constraints, coordinates, distances, positions.

A key names a measure: ("joint", joint, coordinate), ("between", place, place), one component of the way between them
("between", place, place, axis), or ("sensor", sensor, axis).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from supple.description.drawing import Attached, Drawing, Path
from supple.description.joints import joint_kind
from supple.description.joints.joint import Joint
from supple.description.load import Acting
from supple.description.mechanism import GROUND, Mechanism
from supple.diagnostics import InputError
from supple.diagnostics.parts import part_name
from supple.kinematics.joint_constraints import JointFrames, between, component
from supple.kinematics.joint_frames import joint_frames
from supple.kinematics.term import Row, Term, single

Key = tuple[str, ...]


class Measures:
    """The measures of a mechanism as drawn, not yet numbered.

    constraints : of each joint
    coordinates : of each joint, by (joint, coordinate)
    """

    def __init__(self, mechanism: Mechanism, drawing: Drawing):
        self.mechanism, self.drawing = mechanism, drawing
        self.constraints: dict[str, list[Row]] = {}
        self.coordinates: dict[tuple[str, str], Row] = {}
        for name, joint in mechanism.joints.items():
            frames, form = joint_frames(drawing, name), joint.form(mechanism.plane)
            self.constraints[name] = [_measured(frames, joint, row) for row in form.rows]
            for coordinate, row in form.measured(mechanism.plane).items():
                self.coordinates[name, coordinate] = _measured(frames, joint, row)

    def coordinate(self, name: str) -> tuple[Key, Row]:
        """A coordinate of θ: an actuator's, or a joint's."""
        if name in self.mechanism.actuators:
            return self.acting(self.mechanism.actuators[name], ("actuators", name))
        return self._joint(name)

    def coupled(self, name: str) -> Row:
        """The sum that a coupling holds constant."""
        coordinates = self.mechanism.couplings[name].coordinates
        return tuple(
            term.times(factor) for reference, factor in coordinates.items() for term in self._joint(reference)[1]
        )

    def acting(self, part: Acting, path: Path) -> tuple[Key, Row]:
        """What an actuator, spring, damper, force or sensor acts along."""
        if part.joint is not None:
            return self._joint(part.joint)
        first, second = self._ends(part, path)
        distance = between(first.pose.position, second.pose.position)
        return key_of(self.mechanism, part), single(distance, first.body, second.body)

    def separation(self, part: Acting, path: Path) -> Iterator[tuple[Key, Row]]:
        """Components of the way between two places, in the axes of the first body.

        A spring that is relaxed at no length acts along them: ½ k d·d is smooth where its ends meet, unlike ½ k |d|².
        """
        first, second = self._ends(part, path)
        for key, unit in zip(component_keys(self.mechanism, part), np.eye(3), strict=False):
            way = component(unit, second.pose.position)._replace(pa=first.pose.position)
            yield key, single(way, first.body, second.body)

    def _ends(self, part: Acting, path: Path) -> tuple[Attached, Attached]:
        assert part.between is not None
        first, second = (self.drawing.attached(name, (*path, "between")) for name in part.between)
        if first.body == second.body:
            raise InputError(
                f'both its places are on "{first.body}"',
                part=part_name(path),
                path=(*path, "between"),
                hint="take places on two different bodies",
            )
        return first, second

    def used(self) -> Iterator[tuple[Key, Row]]:
        """Everything beside θ: what parts act along, what sensors see, and all joint coordinates."""
        for section in ("actuators", "springs", "dampers", "forces", "sensors"):
            for name, part in getattr(self.mechanism, section).items():
                if section == "springs" and part.without_length:
                    yield from self.separation(part, (section, name))
                elif part.joint is not None or part.between is not None:
                    yield self.acting(part, (section, name))
                elif section == "sensors":
                    yield from self._position(name)
        for key, measured in self.coordinates.items():
            yield ("joint", *key), measured

    def _joint(self, reference: str) -> tuple[Key, Row]:
        found = self.mechanism.joint_coordinate(reference)
        assert found is not None  # consistency has been checked
        return ("joint", *found), self.coordinates[found]

    def _position(self, name: str) -> Iterator[tuple[Key, Row]]:
        sensor = self.mechanism.sensors[name]
        assert sensor.position is not None
        place = self.drawing.attached(sensor.position, ("sensors", name, "position"))
        if sensor.axis is not None:
            directions = {"": self.drawing.direction(sensor.axis, ("sensors", name, "axis"))}
        else:
            directions = dict(zip(self.mechanism.plane or "xyz", np.eye(3), strict=False))
        for letter, unit in directions.items():
            yield ("sensor", name, letter), single(component(unit, place.pose.position), GROUND, place.body)


def key_of(mechanism: Mechanism, part: Acting) -> Key:
    """The key of what a part acts along."""
    if part.between is not None:
        return ("between", *part.between)
    found = mechanism.joint_coordinate(part.joint or "")
    assert found is not None  # consistency has been checked
    return ("joint", *found)


def component_keys(mechanism: Mechanism, part: Acting) -> list[Key]:
    """The keys of the components of the way between two places."""
    return [(*key_of(mechanism, part), letter) for letter in mechanism.plane or "xyz"]


def _measured(frames: JointFrames, joint: Joint, row: joint_kind.Row) -> Row:
    """A row of a joint between its bodies."""
    first, second = joint.bodies
    return tuple(
        Term(term.weight(joint.parameters), primitive, *((second, first) if primitive.swapped else (first, second)))
        for term in row
        for primitive in (frames.measure(term),)
    )
