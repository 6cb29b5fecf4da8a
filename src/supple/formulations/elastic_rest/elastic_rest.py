"""The mechanism about θ as arrays: bodies in coordinates z of unit mass and diagonal stiffness, rows between parts.

Each body, condensed once, has constant matrices M and K in its own axes. Its coordinates are changed once to z, in
which its mass is the unit matrix and its stiffness Λ is diagonal (zero for its rigid motions); only rows depend on θ:

    z̈ + Λ z + C(θ)ᵀλ = f(θ),   C(θ) z = diag(c) λ                      (docs/theory/elastic-rest.md, eqs. 1-5)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.compilation.threads import single_blas_thread
from supple.description.mass_properties import mass_properties
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError
from supple.formulations.coefficients import along_measure, carried
from supple.formulations.elastic_rest.body_coordinates import (
    BodyCoordinates,
    elastic_coordinates,
    own_band,
    rigid_coordinates,
)
from supple.formulations.elastic_rest.drives import YieldingDrive, with_drives, yielding_drives
from supple.kinematics.numbering import Numbering
from supple.kinematics.primitives import ALONG, FACTOR, NONE, PA, PB, ROW_WIDTH, SCALE, U
from supple.kinematics.rest import rest

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

NARROWEST, WIDEST = 2.0**-6, 2.0**20  # bands in units of the mechanism's own: statics, and everything there is
MASSLESS = 1e-8  # of the mechanism's mass: what a body without mass is given, so that every motion has some


class ElasticArrays(NamedTuple):
    """What the kernels take, in this order.

    part_i : (parts, 3) body, first coordinate and number of coordinates of its body
    part_x : (parts, 3) place on the body, in its axes
    shapes : (parts, d, widest) displacement of the part for each coordinate of its body, in body axes
    stiffness : (n,) Λ
    column : (d,) which of (u, φ) a component is
    rows_i, rows_f : the rows of the rigid mechanism, between parts instead of bodies
    compliance : (rows,) c of elastic joints, and of measures that springs act along; 0 elsewhere
    """

    part_i: Integers
    part_x: Array
    shapes: Array
    stiffness: Array
    column: Integers
    rows_i: Integers
    rows_f: Array
    compliance: Array


class Held(NamedTuple):
    """Rows that are held, ideally or by springs: their numbers and their compliance."""

    name: str
    rows: Integers
    compliance: Array


@dataclass(frozen=True, eq=False)
class ElasticRest:
    """Linear elastodynamics of a mechanism, for any θ.

    bodies : in the order of the numbering
    band   : Hz, up to which the bodies were condensed to a relative error of ω² of 1e-6
    """

    numbering: Numbering
    bodies: tuple[BodyCoordinates, ...]
    arrays: ElasticArrays
    band: float
    elastic_rows: dict[int, tuple[str, str]] = field(repr=False)  # row: joint, direction
    displacements: dict[str, int] = field(default_factory=dict)  # `place.axis`: row
    drives: dict[int, YieldingDrive] = field(default_factory=dict, repr=False)  # row of the deflection: drive

    @property
    def size(self) -> int:
        """n: coordinates z."""
        return len(self.arrays.stiffness)

    @property
    def elastic(self) -> bool:
        """Whether anything deforms: a body, a joint or a drive."""
        return any(body.mesh is not None for body in self.bodies) or bool(self.elastic_rows) or bool(self.drives)

    @property
    def dampers(self) -> dict[int, float]:
        """Damping beside the stiffness of elastic joints and drives, by row."""
        given = {row: drive.damping for row, drive in self.drives.items()}
        for row, (name, way) in self.elastic_rows.items():
            given[row] = (self.numbering.mechanism.joints[name].elastic_damping or {}).get(way, 0.0)
        return {row: float(damping) for row, damping in given.items() if damping > 0.0}

    @property
    def whole(self) -> bool:
        """Whether a wider band would keep nothing more of the bodies."""
        meshes = [(body.condensed, body.mesh) for body in self.bodies]
        return all(small is None or mesh is None or small.size >= mesh.size for small, mesh in meshes) or (
            self.band >= WIDEST * own_band(self.numbering.mechanism)
        )

    def held(self, *, actuators: bool) -> Held:
        """Rows of joints and springs, and of the coordinates θ if they are locked, with their compliance."""
        first = self.numbering.constraints
        last = first + len(self.numbering.coordinates)
        springs = np.flatnonzero(self.arrays.compliance[last if actuators else first :] > 0.0)
        rows = np.concatenate([np.arange(last if actuators else first), springs + (last if actuators else first)])
        compliance = self.arrays.compliance[rows]
        if actuators:
            compliance[first:last] = 0.0
        return Held("locked" if actuators else "free", rows, compliance)

    def held_and_loaded(self) -> Held:
        """The same with the actuators and the `displacements` locked, these last."""
        held = self.held(actuators=True)
        extra = np.array(list(self.displacements.values()), dtype=np.int64)
        return Held(
            f"locked with {', '.join(self.displacements)}",
            np.concatenate([held.rows, extra]),
            np.concatenate([held.compliance, np.zeros(len(extra))]),
        )


def elastic_rest(mechanism: Mechanism, band: float, displacements: tuple[str, ...] = ()) -> ElasticRest:
    """The mechanism's elastodynamics, its bodies condensed for [0, band] Hz. Bands are rounded up to the own one of the
    mechanism times a power of two, so that questions about neighbouring bands share the work; computed once each.

    displacements : further rows, `place.axis`: the position of a place along an axis of the drawing
    """
    own = own_band(mechanism)
    octaves = np.log2(min(max(band / own, NARROWEST), WIDEST))
    rounded = own * float(2.0 ** np.ceil(octaves - 1e-9))  # a band that was given out comes back as it is
    key = f"elastic rest {rounded} {displacements}"
    return mechanism.remembered(key, lambda: _build(mechanism, rounded, displacements))


@single_blas_thread()
def _build(mechanism: Mechanism, band: float, displacements: tuple[str, ...]) -> ElasticRest:
    numbering = rest(mechanism).numbering
    start = 0
    bodies: list[BodyCoordinates] = []
    masses = mass_properties(numbering.drawing)
    total = sum(item.mass for item in masses.values()) or 1.0
    for name in numbering.bodies:
        if mechanism.bodies[name].elastic:
            body = elastic_coordinates(numbering, name, band, start)
        else:
            inertia = masses[name].spatial()[np.ix_(numbering.arrays.column, numbering.arrays.column)]
            body = rigid_coordinates(
                name, inertia, MASSLESS * total, numbering.arrays.extent, numbering.arrays.column, start
            )
        bodies.append(body)
        start = body.stop
    bodies, drives = with_drives(bodies, yielding_drives(numbering))
    rows = _Rows(numbering, bodies, displacements, drives)
    arrays = ElasticArrays(
        rows.part_i(),
        rows.part_x(),
        rows.shapes(),
        np.concatenate([body.stiffness for body in bodies]),
        numbering.arrays.column,
        rows.rows_i,
        rows.rows_f,
        rows.compliance,
    )
    return ElasticRest(numbering, tuple(bodies), arrays, band, rows.elastic, rows.displacements, rows.drives)


class _Rows:
    """The rows of the numbering, between parts: nodes of elastic bodies, rigid bodies themselves, and motors' sides."""

    def __init__(
        self,
        numbering: Numbering,
        bodies: list[BodyCoordinates],
        displacements: tuple[str, ...],
        drives: tuple[YieldingDrive, ...],
    ):
        self.numbering, self.bodies = numbering, bodies
        self.displacements: dict[str, int] = {}
        self.parts: dict[tuple[int, int, str], Array] = {}  # (body, node, joint of a motor's side): its place
        self.motor_sides: dict[tuple[int, int], str] = {}  # (row, end): the joint whose motor's side is there
        self.drives: dict[int, YieldingDrive] = {}
        self.rows_i, self.rows_f = numbering.arrays.rows_i.copy(), numbering.arrays.rows_f.copy()
        for name in displacements:
            self._measure(name)
        for drive in drives:
            self._yield(drive)
        ends = [[self._end(row, side) for side in range(2)] for row in range(len(self.rows_i))]
        order = {key: i for i, key in enumerate(self.parts)}
        for row, pair in enumerate(ends):
            for side, key in enumerate(pair):
                self.rows_i[row, 1 + side] = len(order) if key is None else order[key]
        self.compliance = np.zeros(len(self.rows_i))
        self.elastic: dict[int, tuple[str, str]] = {}
        self._soften()
        for row, stiffness in spring_rows(numbering).items():
            self.compliance[row] = 1.0 / stiffness

    def _measure(self, name: str) -> None:
        """One more row: the position of a place along an axis."""
        kind, body, unit, place = displacement(self.numbering, name)
        self.displacements[name] = len(self.rows_i)
        row = np.zeros(ROW_WIDTH)
        row[FACTOR] = 1.0
        row[U : U + 3], row[PB : PB + 3], row[SCALE] = unit, place, self.numbering.arrays.extent
        self._append(kind, len(self.bodies), body, row)

    def _yield(self, drive: YieldingDrive) -> None:
        """The joint's rows end at the motor's side; one more measures how far the body is ahead of it."""
        numbering = self.numbering
        rows = [*range(numbering.joint_rows[drive.joint].start, numbering.joint_rows[drive.joint].stop)]
        rows += [row for key, row in numbering.measures.items() if key[:2] == ("joint", drive.joint)]
        self.motor_sides.update({(row, drive.side): drive.joint for row in rows})
        kind, constants = drive.row(numbering.arrays.extent)
        self.drives[len(self.rows_i)] = drive
        self.motor_sides[len(self.rows_i), drive.side] = drive.joint
        self._append(kind, drive.body, drive.body, constants)

    def _append(self, kind: int, a: int, b: int, constants: Array) -> None:
        self.rows_i = np.vstack([self.rows_i, [[kind, a, b, NONE, NONE]]])
        self.rows_f = np.vstack([self.rows_f, constants])

    def _end(self, row: int, side: int) -> tuple[int, int, str] | None:
        """Body and node of one end of a row, whose place is then counted from that node."""
        body, at = int(self.rows_i[row, 1 + side]), (PA, PB)[side]
        if body == len(self.bodies):
            return None
        node, place = node_at(self.bodies[body], self.rows_f[row, at : at + 3])
        key = (body, node, self.motor_sides.get((row, side), ""))
        self.parts.setdefault(key, place)
        self.rows_f[row, at : at + 3] -= place
        return key

    def _soften(self) -> None:
        """Rows of elastic joints give way: c = 1/k."""
        mechanism = self.numbering.mechanism
        for name, joint in mechanism.joints.items():
            first = self.numbering.joint_rows[name].start
            for row, direction in enumerate(joint.form(mechanism.plane).directions(mechanism.plane), first):
                if joint.elastic and direction in joint.elastic:
                    self.compliance[row] = 1.0 / joint.elastic[direction]
                    self.elastic[row] = (name, direction)

    def part_i(self) -> Integers:
        found = [(body, self.bodies[body].start, self.bodies[body].size) for body, _, _ in self.parts]
        return np.array(found, dtype=np.int64).reshape(-1, 3)

    def part_x(self) -> Array:
        return np.array(list(self.parts.values())).reshape(-1, 3)

    def shapes(self) -> Array:
        d = len(self.numbering.arrays.column)
        widest = max(body.size for body in self.bodies)
        found = np.zeros((len(self.parts), d, widest))
        for i, ((body, node, joint), place) in enumerate(self.parts.items()):
            found[i, :, : self.bodies[body].size] = self.bodies[body].of_node(node)
            for drive in self.drives.values():
                if joint == drive.joint:
                    moved = drive.motion(place)[self.numbering.arrays.column]
                    found[i, :, drive.column - self.bodies[body].start] = moved
        return found


def displacement(numbering: Numbering, name: str) -> tuple[int, int, Array, Array]:
    """Kind of measure, body, axis and place of `place.axis`."""
    place, _, letter = name.rpartition(".")
    letters = numbering.mechanism.plane or "xyz"
    if not place or len(letter) != 1 or letter not in letters:
        raise InputError(
            f'"{name}" is not a displacement', hint=f"write PLACE.AXIS, an axis being one of {', '.join(letters)}"
        )
    body, position, _ = numbering.place(place)
    if body == len(numbering.bodies):
        raise InputError(f'"{place}" is on the ground and does not move', hint="name a place on a body")
    return ALONG, body, np.eye(3)[letters.index(letter)], position


def spring_rows(numbering: Numbering) -> dict[int, float]:
    """Measures that springs act along, and how stiff they are together."""
    load = carried(rest(numbering.mechanism))
    load.require_linear("a flexible model")
    stiffness = {
        numbering.constraints + measure: -along_measure(load.arrays, measure).slope
        for measure in range(len(load.arrays.uses_start) - 1)
    }
    return {row: value for row, value in stiffness.items() if value > 0.0}


def node_at(body: BodyCoordinates, place: Array) -> tuple[int, Array]:
    """The node that a place on a body belongs to, and where that is: a rigid body's only one is its origin."""
    if body.mesh is None:
        return 0, np.zeros(3)
    node = body.mesh.node_at(place)
    if node is None:
        raise InputError(
            f"no node is at {np.array2string(place, precision=6)} (in its axes)",
            part=f'body "{body.name}"',
            path=("bodies", body.name),
            hint="attach the place to a node: attach: {PLACE: NODE}",
        )
    return node, body.mesh.nodes[node]
