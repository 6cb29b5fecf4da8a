"""The mechanism as arrays: the one place where names become numbers.

Rows come in this order: the joints of the spanning tree (body by body), the joints that close loops, the
coordinates θ, then every other measure (actuators, springs, dampers, sensors, joint coordinates). Bodies come parents
first; the ground is the last.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.description.drawing import Drawing, Path, part_name
from supple.description.mechanism import GROUND, Mechanism
from supple.description.topology import Topology, topology
from supple.diagnostics import InputError
from supple.kinematics.joint_constraints import PLANAR, SPATIAL, Primitive, between, component
from supple.kinematics.joint_frames import joint_frames
from supple.kinematics.primitives import (
    ALONG, ANGLE, DISTANCE, OFFSET, PA, PB, ROW_WIDTH, SCALE, SIGN, U, V, W, value,
)

Array = NDArray[np.float64]
Integers = NDArray[np.int64]


class Measured(NamedTuple):
    """A primitive between two named bodies."""

    primitive: Primitive
    a: str
    b: str


class RowArrays(NamedTuple):
    """What the kernels of kinematics take, in this order.

    sizes  : bodies, columns a body (6, or 3 in the plane), tree rows, joint rows, θ, all rows, free columns,
             actuators
    tree   : (bodies, 5) parent, first row, number of rows, first free column, is the child side a (0) or b (1)
    column : (columns,) which of (v, ω) a column is; extent: the mechanism's size, m
    """

    sizes: Integers
    tree: Integers
    column: Integers
    rows_i: Integers
    rows_f: Array
    extent: float


@dataclass(frozen=True, eq=False)
class Numbering:
    """Names to numbers, and the arrays of the rows."""

    mechanism: Mechanism
    coordinates: tuple[str, ...]
    drawing: Drawing
    topology: Topology
    bodies: tuple[str, ...]
    joint_rows: dict[str, slice]
    measures: dict[tuple[str, ...], int]
    arrays: RowArrays
    drawn: Array = field(repr=False)  # (bodies + 1, 12) poses as drawn

    @property
    def columns(self) -> int:
        """n: velocities of all bodies."""
        return int(self.arrays.sizes[0] * self.arrays.sizes[1])

    @property
    def constraints(self) -> int:
        """m: rows of all joints."""
        return int(self.arrays.sizes[3])

    def angles(self) -> Array:
        """Which measures are angles, and so may exceed a turn: (all rows,) of bool."""
        return self.arrays.rows_i[:, 0] == ANGLE

    def place(self, reference: str, path: Path = ()) -> tuple[int, Array, Array]:
        """Body index, position and axes on that body of a named frame, `body.point` or joint's point."""
        frame = self.drawing.attached(reference, path)
        return self.body_index(frame.body), frame.pose.position, frame.pose.axes

    def body_index(self, name: str) -> int:
        return len(self.bodies) if name == GROUND else self.bodies.index(name)


class _Builder:
    """Collects rows while the numbering is made."""

    def __init__(self, mechanism: Mechanism):
        self.mechanism = mechanism
        self.drawing = Drawing(mechanism)
        self.topology = topology(mechanism)
        self.bodies = self.topology.order
        self.rows: list[Measured] = []
        self.joint_coordinates: dict[tuple[str, str], Measured] = {}
        self.joint_measures: dict[str, list[Measured]] = {}
        rules = PLANAR if mechanism.planar else SPATIAL
        for name, joint in mechanism.joints.items():
            if joint.kind not in rules:
                raise InputError(
                    f"a {joint.kind} joint needs three dimensions", part=part_name(("joints", name)),
                    path=("joints", name), hint="in the plane take revolute, prismatic, planar, weld or free",
                )
            constraints, coordinates = rules[joint.kind](joint_frames(self.drawing, name))
            first, second = joint.bodies
            self.joint_measures[name] = [self._measured(item, first, second) for item in constraints]
            names = joint.coordinates(mechanism.plane)
            for coordinate, item in zip(names, coordinates, strict=True):
                self.joint_coordinates[name, coordinate] = self._measured(item, first, second)

    @staticmethod
    def _measured(primitive: Primitive, first: str, second: str) -> Measured:
        return Measured(primitive, second, first) if primitive.swapped else Measured(primitive, first, second)

    def acting(self, part, path: Path) -> tuple[tuple[str, ...], Measured]:
        """Key and measure of what an actuator, spring, damper, force or sensor acts along."""
        if part.joint is not None:
            found = self.mechanism.joint_coordinate(part.joint)
            assert found is not None  # consistency has been checked
            return ("joint", *found), self.joint_coordinates[found]
        pa, pb = (self.drawing.attached(name, (*path, "between")) for name in part.between)
        if pa.body == pb.body:
            raise InputError(
                f'both its places are on "{pa.body}"', part=part_name(path), path=(*path, "between"),
                hint="take places on two different bodies",
            )
        key = ("between", *part.between)
        return key, Measured(between(pa.pose.position, pb.pose.position), pa.body, pb.body)

    def coordinate(self, name: str) -> tuple[tuple[str, ...], Measured]:
        """A coordinate is an actuator's, or a joint's."""
        if name in self.mechanism.actuators:
            return self.acting(self.mechanism.actuators[name], ("actuators", name))
        found = self.mechanism.joint_coordinate(name)
        assert found is not None
        return ("joint", *found), self.joint_coordinates[found]


def numbering(mechanism: Mechanism, coordinates: tuple[str, ...]) -> Numbering:
    """Number the mechanism with θ as given; errors in names and places surface here, with their path."""
    build = _Builder(mechanism)
    columns = 3 if mechanism.planar else 6
    joint_rows, tree, free = {}, [], 0
    for body in build.bodies:
        base, joint = build.topology.parent[body]
        rows = build.joint_measures[joint]
        parent = len(build.bodies) if base == GROUND else build.bodies.index(base)
        side = 1 if mechanism.joints[joint].bodies[1] == body else 0
        joint_rows[joint] = slice(len(build.rows), len(build.rows) + len(rows))
        tree.append((parent, len(build.rows), len(rows), free, side))
        free += columns - len(rows)
        build.rows += rows
    tree_rows = len(build.rows)
    for joint in build.topology.cut:
        rows = build.joint_measures[joint]
        joint_rows[joint] = slice(len(build.rows), len(build.rows) + len(rows))
        build.rows += rows
    constraint_rows = len(build.rows)
    measures = _add_measures(build, coordinates)
    drawn = _drawn_poses(build)
    extent = _extent(build)
    rows_i, rows_f = _row_arrays(build, extent)
    sizes = [
        len(build.bodies), columns, tree_rows, constraint_rows, len(coordinates), len(build.rows), free,
        len(mechanism.actuators),
    ]
    column = np.array([0, 1, 5] if mechanism.planar else [0, 1, 2, 3, 4, 5])
    arrays = RowArrays(
        np.array(sizes), np.array(tree, dtype=np.int64).reshape(-1, 5), column, rows_i, rows_f, extent
    )
    found = Numbering(
        mechanism, coordinates, build.drawing, build.topology, build.bodies, joint_rows, measures, arrays, drawn
    )
    _apply_rest_values(found)
    return found


def _add_measures(build: _Builder, coordinates: tuple[str, ...]) -> dict[tuple[str, ...], int]:
    """θ first, then each further measure once, whatever uses it."""
    mechanism = build.mechanism
    measures: dict[tuple[str, ...], int] = {}
    theta = [build.coordinate(name) for name in coordinates]
    for name, (key, measured) in zip(coordinates, theta, strict=True):
        if key in measures:
            raise InputError(
                f'"{name}" measures the same as another coordinate', part="coordinates", path=("coordinates",),
                hint="leave one of them out",
            )
        measures[key] = len(build.rows)
        build.rows.append(measured)
    others: list[tuple[tuple[str, ...], Measured]] = []
    for section in ("actuators", "springs", "dampers", "forces", "sensors"):
        for name, part in getattr(mechanism, section).items():
            if part.joint is not None or part.between is not None:
                others.append(build.acting(part, (section, name)))
            elif section == "sensors":
                others += _position_measures(build, name)
    others += [(("joint", *key), measured) for key, measured in build.joint_coordinates.items()]
    for key, measured in others:
        if key not in measures:
            measures[key] = len(build.rows)
            build.rows.append(measured)
    return measures


def _position_measures(build: _Builder, name: str) -> list[tuple[tuple[str, ...], Measured]]:
    sensor = build.mechanism.sensors[name]
    path: Path = ("sensors", name)
    place = build.drawing.attached(sensor.position, (*path, "position"))
    if sensor.axis is not None:
        directions = [("", build.drawing.direction(sensor.axis, (*path, "axis")))]
    else:
        letters = build.mechanism.plane or "xyz"
        directions = [(letter, np.eye(3)[i]) for i, letter in enumerate(letters)]
    return [
        (("sensor", name, letter), Measured(component(unit, place.pose.position), GROUND, place.body))
        for letter, unit in directions
    ]


def _drawn_poses(build: _Builder) -> Array:
    poses = [build.drawing.bodies[name] for name in (*build.bodies, GROUND)]
    return np.array([np.concatenate([pose.position, pose.axes.ravel()]) for pose in poses])


def _extent(build: _Builder) -> float:
    """The mechanism's size: the diagonal of the box around every joint, end and frame as drawn."""
    places = []
    for measured in build.rows:
        if measured.primitive.kind in (ALONG, DISTANCE):
            for body, local in ((measured.a, measured.primitive.pa), (measured.b, measured.primitive.pb)):
                places.append(build.drawing.bodies[body].to_world(local))
    if not places:
        return 1.0
    size = float(np.linalg.norm(np.ptp(np.array(places), axis=0)))
    return size if size > 0.0 else 1.0


def _row_arrays(build: _Builder, extent: float) -> tuple[Integers, Array]:
    index = {name: i for i, name in enumerate((*build.bodies, GROUND))}
    rows_i = np.zeros((len(build.rows), 3), dtype=np.int64)
    rows_f = np.zeros((len(build.rows), ROW_WIDTH))
    for i, (primitive, a, b) in enumerate(build.rows):
        rows_i[i] = primitive.kind, index[a], index[b]
        for at, vector in ((U, primitive.u), (V, primitive.v), (W, primitive.w), (PA, primitive.pa), (PB, primitive.pb)):
            rows_f[i, at : at + 3] = vector
        rows_f[i, SIGN] = 1.0
        rows_f[i, SCALE] = extent if primitive.kind in (ALONG, DISTANCE) else 1.0
    return rows_i, rows_f


def _apply_rest_values(found: Numbering) -> None:
    """Offsets that give joint coordinates the values the user wrote for the drawing."""
    mechanism, arrays = found.mechanism, found.arrays
    for key, row in found.measures.items():
        if key[0] != "joint":
            continue
        wanted = mechanism.joints[key[1]].value("rest", key[2], mechanism.plane)
        if wanted is not None:
            arrays.rows_f[row, OFFSET] = wanted - value(arrays.rows_i, arrays.rows_f, row, found.drawn)
