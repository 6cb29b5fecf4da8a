"""Outputs of motion sensors as sums of products of measures and their rates.

    y = Σ w μ_a^(p) μ_b^(q)

With the position x of a point and the axes e_k of its frame, all in the world, g the gravity, and (k, i, j) cyclic,

    world axes   v_k = ẋ_k      a_k = ẍ_k (- g_k)           ω_k = Σ_m ė_m·j e_m·i     one factor is a rate
    body axes    v_k = e_k·ẋ    a_k = e_k·ẍ (- e_k·g)       ω_k = e_j·ė_i

x_k and e_m·k are ordinary measures. Angular accelerations are the rates of these products.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from supple.array_types import Array
from supple.description import measure
from supple.description.drawing import Attached, Drawing, Path, Pose, from_to
from supple.description.mechanism import GROUND
from supple.description.sensor import Sensor
from supple.diagnostics import InputError
from supple.diagnostics.errors import part_name
from supple.geometry.rotation import axes_from_z
from supple.kinematics.joint_frames import JointFrames

Key = tuple[str, ...]


class Factor(NamedTuple):
    """A measure or an internal force, by its key, or its time derivative of some order."""

    key: Key
    order: int = 0


class MeasureProduct(NamedTuple):
    """A number times at most two factors."""

    weight: float
    factors: tuple[Factor, ...] = ()


Form = tuple[MeasureProduct, ...]


class Ends(NamedTuple):
    """Frames and bodies between which the measures of a sensor are taken."""

    frames: JointFrames
    bodies: tuple[str, str]


class Sensed(NamedTuple):
    """Outputs of a sensor, and the measures they consist of: rows between its ends, by key."""

    outputs: dict[str, Form]
    rows: dict[Key, measure.Row]
    ends: Ends | None = None


def plain_measure(form: Form) -> Key | None:
    """Return the key of the measure that an output is, if it is a single one."""
    if len(form) == 1 and form[0].weight == 1.0 and len(form[0].factors) == 1 and form[0].factors[0].order == 0:
        return form[0].factors[0].key
    return None


def resolve_sensor(drawing: Drawing, name: str) -> Sensed:
    """Return the outputs and measures of one motion sensor."""
    mechanism = drawing.mechanism
    sensor, path = mechanism.sensors[name], ("sensors", name)
    if not sensor.places:
        found = mechanism.joint_coordinate(sensor.kind_value)
        assert found is not None  # consistency has been checked
        return Sensed({name: (MeasureProduct(1.0, (Factor(("joint", *found), sensor.order),)),)}, {})
    ends = _ends(drawing, sensor, path)
    rows: dict[Key, measure.Row] = {}

    def key(row: measure.Row) -> Key:
        """Return the key of a measure, shared by all that use it."""
        if row == measure.distance():
            found: Key = ("between", *sensor.places)
        elif sensor.place is not None and sensor.axis is None:
            found = ("place", sensor.place, _label(row))
        else:
            found = ("sensor", name, _label(row))
        rows[found] = row
        return found

    outputs = {}
    for output, row in sensor.outputs(mechanism.plane).items():
        products = [
            MeasureProduct(weight, tuple(Factor(key(part), order) for part, order in factors))
            for weight, factors in _products(drawing, sensor, row, ends)
        ]
        outputs[f"{name}.{output}" if output else name] = tuple(products)
    return Sensed(outputs, rows, ends)


def _ends(drawing: Drawing, sensor: Sensor, path: Path) -> Ends:
    """Return the two frames of a sensor; for a single point the first is the ground.

    A given axis rotates the reference frame so that it becomes z.
    """
    points = [drawing.find_frame(place, (*path, sensor.kind)) for place in sensor.places]
    first, second = points if len(points) == 2 else (Attached(GROUND, Pose(np.zeros(3), np.eye(3))), points[0])
    if first.body == second.body and len(points) == 2:
        raise InputError(
            f'both points are on "{first.body}"', part=part_name((*path, sensor.kind)), path=(*path, sensor.kind),
            hint="give points on two different bodies",
        )  # fmt: skip
    E = np.eye(3)
    if sensor.axis is not None:
        E = axes_from_z(_axis(drawing, sensor, second if sensor.own_axes else first, (*path, "axis")))
    Ea = first.pose.axes if sensor.own_axes else first.pose.axes @ E
    frames = JointFrames(first.pose.position, Ea, second.pose.position, second.pose.axes @ E)
    return Ends(frames, (first.body, second.body))


def _axis(drawing: Drawing, sensor: Sensor, frame: Attached, path: Path) -> Array:
    """Return the axis in the axes of a frame; for the ground these are the drawing's."""
    if from_to(sensor.axis) and (frame.body != GROUND or sensor.own_axes):
        raise InputError(
            "an axis between two points is in the drawing, but the axis of an angle is relative to its first frame",
            part=part_name(path), path=path, hint="give components in the frame",
        )  # fmt: skip
    return drawing.direction(sensor.axis, path)


_Factors = tuple[tuple[measure.Row, int], ...]


def _products(drawing: Drawing, sensor: Sensor, row: measure.Row, ends: Ends) -> Iterator[tuple[float, _Factors]]:
    """Return weights and factors of one output."""
    letters, order = "xy" if drawing.mechanism.planar else "xyz", sensor.order
    (term,) = row if len(row) == 1 else (None,)
    if term is not None and term.measure == "spin":
        yield from _spin(term.axis, order, sensor.own_axes)
        return
    if not sensor.own_axes or term is None or term.measure != "along":
        yield 1.0, ((row, order),)
        if sensor.option("gravity") and term is not None:
            yield -float(ends.frames.Ea[:, term.axis] @ _gravity(drawing)), ()
        return
    for letter, fall in zip(letters, _gravity(drawing), strict=False):
        turned = measure.right_angle(letter, term.axes)
        yield 1.0, ((turned, 0), (measure.along(letter), order))
        if sensor.option("gravity") and fall:
            yield -float(fall), ((turned, 0),)


def _spin(k: int, order: int, own: bool) -> Iterator[tuple[float, _Factors]]:
    """Return ω_k = e_j·ė_i in the frame's own axes, Σ_m ė_m·j e_m·i in the world, or its rate."""
    i, j = (measure.LETTERS[(k + step) % 3] for step in (1, 2))
    for m in measure.LETTERS:
        still, turning = (m + j, m + i) if own else (i + m, j + m)
        for p in range(order):  # (e ė)˙ = ė ė + e ë
            yield 1.0, ((measure.right_angle(*still), p), (measure.right_angle(*turning), order - p))


def _gravity(drawing: Drawing) -> Array:
    """Return the gravity (3,) in the drawing; zero if there is none."""
    gravity = drawing.mechanism.gravity
    return np.zeros(3) if gravity is None else drawing.vector(gravity, ("gravity",), "gravity")


def _label(row: measure.Row) -> str:
    """Return a row as text, a part of its key."""
    return " + ".join(
        f"{'' if term.factor == 1.0 else f'{term.factor!r} '}{term.measure} {term.axes}".strip() for term in row
    )
