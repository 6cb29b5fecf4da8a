"""Frames, the moving parts in absolute coordinates, each on R³ × SO(3), or in the plane on R² × SO(2).

A rigid body is one frame at its centre of mass. A body of beams has one frame per node of the mesh that vibration modes
use as well. At rest all frames have the axes of the body, so that a row or load between two positions is the same row
between the frames that carry them, with positions relative to the frames. A superelement has a floating frame at its
centre of mass, and one frame per connected node. Frames that store coordinates of superelements and drives precede all
others, at the world's origin.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from supple.array_types import Array, Integers
from supple.description.mass_properties import mass_properties
from supple.formulations.absolute.superelements.superelement_arrays import (
    FloatingBody,
    Integrals,
    PlacedBody,
    about_centre,
    modal_body,
)
from supple.formulations.elastic.body_matrices import ElasticBody, required_node
from supple.formulations.elastic.elastic_body import mesh_of, natural_frequency
from supple.formulations.elastic_rest.body_coordinates import BodyCoordinates, elastic_coordinates
from supple.formulations.elastic_rest.yielding_drives import YieldingDrive, yielding_drives
from supple.geometry.inertia import MassProperties, zero_mass
from supple.kinematics.numbering import Numbering
from supple.kinematics.primitives import ALONG, ANGLE, DOT, FACTOR, KIND, NONE, PA, PB, ROW_WIDTH, SCALE, A, B, U, V, W
from supple.kinematics.row_arrays import BODIES, RowArrays

# Coordinates held by frames: those that are no motion of a frame of their own.
#
# Shapes of superelements and deflections of drives are such coordinates. Frames hold them as positions, three of them a
# frame, in the plane two. The frames that hold them stand before those of the bodies. Rows keep these frames from
# turning, and keep positions that hold no coordinate from moving.


_HELD = np.eye(3)
_PAIRS = ((1, 2), (2, 0), (0, 1))


class RowTerm(NamedTuple):
    """A term of a row as in `rows_i` and `rows_f`."""

    integers: Integers
    numbers: Array


class HeldCoordinates(NamedTuple):
    """Groups of stored coordinates: first frame and number of each; held : coordinates per frame."""

    first: tuple[int, ...]
    sizes: tuple[int, ...]
    held: int

    @property
    def frames(self) -> int:
        """Number of frames."""
        return sum(-(-size // self.held) for size in self.sizes)

    def at(self, group: int, number: int) -> tuple[int, int]:
        """Return frame and position of a coordinate."""
        return self.first[group] + number // self.held, number % self.held


def held_coordinates(sizes: list[int], planar: bool) -> HeldCoordinates:
    """Return frames for groups with these numbers of coordinates."""
    held = 2 if planar else 3
    frames = [-(-size // held) for size in sizes]
    return HeldCoordinates(tuple(int(sum(frames[:i])) for i in range(len(frames))), tuple(sizes), held)


def term(kind: int, a: int, b: int, factor: float, scale: float) -> RowTerm:
    """Return a measure between frames a and b times a factor; its vectors are zero."""
    integers, numbers = np.full(5, NONE, dtype=np.int64), np.zeros(ROW_WIDTH)
    integers[[KIND, A, B]] = kind, a, b
    numbers[FACTOR], numbers[SCALE] = factor, scale
    return RowTerm(integers, numbers)


def coordinate(where: tuple[int, int], ground: int, factor: float, scale: float) -> RowTerm:
    """Return a stored coordinate times a factor; where : frame and position."""
    found = term(ALONG, ground, where[0], factor, scale)
    found.numbers[U : U + 3] = _HELD[where[1]]
    return found


def turn_about(axis: int, a: int, b: int, planar: bool) -> list[RowTerm]:
    """Return the small rotation of frame b relative to frame a: in the plane the angle, else ½ (R_aᵀR_b - R_bᵀR_a)ᵛ."""
    if planar:
        angle = term(ANGLE, a, b, 1.0, 1.0)
        angle.numbers[U : U + 3], angle.numbers[V : V + 3], angle.numbers[W : W + 3] = _HELD[0], _HELD[1], _HELD[0]
        return [angle]
    found = []
    for factor, (own, other) in ((-0.5, _PAIRS[axis]), (0.5, _PAIRS[axis][::-1])):
        product = term(DOT, a, b, factor, 1.0)
        product.numbers[U : U + 3], product.numbers[W : W + 3] = _HELD[own], _HELD[other]
        found.append(product)
    return found


def still_rows(coordinates: HeldCoordinates, ground: int, extent: float) -> list[list[RowTerm]]:
    """Return rows that lock the rotation of the frames, and unused positions at zero."""
    planar = coordinates.held == 2
    found = []
    for group, size in enumerate(coordinates.sizes):
        whole = -(-size // coordinates.held) * coordinates.held
        for number in range(0, whole, coordinates.held):
            frame, _ = coordinates.at(group, number)
            found += [turn_about(axis, ground, frame, planar) for axis in ((2,) if planar else (0, 1, 2))]
        found += [[coordinate(coordinates.at(group, number), ground, 1.0, extent)] for number in range(size, whole)]
    return found


# Frames of the bodies.


_LIGHT = 1e-5  # of a superelement: mass that its nodes have in the iteration matrix, for none of their own


class FrameMass(NamedTuple):
    """Mass of the frames themselves, without elements.

    mass (F,), inertia (F, 3, 3) about the centre of that mass, and arm (F, 3) from the frame to it, in its axes
    """

    mass: Array
    inertia: Array
    arm: Array


@dataclass(frozen=True, eq=False)
class Frames:
    """The frames of a mechanism.

    body   : (F,) the body of each frame, the ground for stored coordinates; node : (F,) node of that body's mesh, 0 for
             a rigid body, -1 for a frame that is not a node
    place  : (F + 1, 3) position on its body, in body axes; the ground, last, at its origin
    first  : (bodies + 1,) the first frame of every body; the ground's is F
    lead   : (bodies + 1,) the frame that represents the body if one pose is needed: for a mesh the node nearest to the
             body's origin
    meshes : of every body of beams; None for others
    floating : of every superelement; None for other bodies
    drives : drives with compliance
    held   : stored coordinates: one group per superelement, then the drives
    least  : (F,) mass in the iteration matrix of frames without mass; 0 where the rule of the mechanism applies
    rigid  : names of elastic parts that are treated as rigid
    """

    numbering: Numbering = field(repr=False)
    body: Integers
    node: Integers
    place: Array
    first: Integers
    lead: Integers
    meshes: tuple[ElasticBody | None, ...]
    own: FrameMass
    floating: tuple[FloatingBody | None, ...]
    drives: tuple[YieldingDrive, ...]
    held: HeldCoordinates
    least: Array
    rigid: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """Number of frames F, without the ground."""
        return len(self.body)

    @property
    def total_mass(self) -> float:
        """Total mass of all bodies, kg."""
        return float(sum(item.mass for item in mass_properties(self.numbering.drawing).values()))

    @property
    def elastic(self) -> bool:
        """Whether a body has more than one frame, or a drive has compliance."""
        return bool(self.drives) or any(item is not None for item in (*self.meshes, *self.floating))

    @property
    def superelements(self) -> list[PlacedBody]:
        """Superelements and their frames, without damping."""
        found: list[PlacedBody] = []
        for number, item in enumerate(self.floating):
            if item is not None:
                at, group = int(self.first[number]), len(found)
                found.append(PlacedBody(item, at + 1, at, self.held.first[group], np.zeros((item.size, item.size))))
        return found

    def at(self, body: int, place: Array) -> int:
        """Return the frame that carries a position on a body, given in body axes."""
        if body == len(self.meshes):
            return self.count
        mesh = self.meshes[body] or self.floating[body]
        if mesh is None:
            return int(self.first[body])
        return int(self.first[body]) + required_node(mesh, place) + (self.meshes[body] is None)

    def nearest(self, body: int, place: Array) -> int:
        """Return the frame of a position; for an unconnected position, that of the nearest node."""
        if body == len(self.meshes) or (self.meshes[body] is None and self.floating[body] is None):
            return self.at(body, place)
        start, stop = int(self.first[body]), int(self.first[body + 1])
        return start + int(np.argmin(np.linalg.norm(self.place[start:stop] - place, axis=1)))

    def locate_nodes(self, body: int) -> Array:
        """Return the positions (nodes, 3) of the nodes of a body in the drawing, in body axes."""
        begin = self.first[body] + (self.floating[body] is not None)  # whose first frame is no node
        return self.place[begin : self.first[body + 1]]

    def rows(self, arrays: RowArrays) -> RowArrays:
        """Return the rows between frames instead of bodies."""
        rows_i, rows_f, sizes = arrays.rows_i.copy(), arrays.rows_f.copy(), arrays.sizes.copy()
        sizes[BODIES] = self.count
        for end, at in ((A, PA), (B, PB)):
            rows_i[:, end] = self._carriers(arrays.rows_i[:, end], rows_f[:, at : at + 3])
            rows_f[:, at : at + 3] -= self.place[rows_i[:, end]]
        return arrays._replace(sizes=sizes, rows_i=rows_i, rows_f=rows_f)

    def loads(self, loads_i: Integers, loads_f: Array, body: int, point: int) -> tuple[Integers, Array]:
        """Return loads on frames instead of bodies; body, point : columns of the body and of its position."""
        on_frames, moved = loads_i.copy(), loads_f.copy()
        on_frames[:, body] = self._carriers(loads_i[:, body], loads_f[:, point : point + 3])
        moved[:, point : point + 3] -= self.place[on_frames[:, body]]
        return on_frames, moved

    def _carriers(self, bodies: Integers, places: Array) -> Integers:
        found = self.first[bodies]
        several = [mesh is not None or item is not None for mesh, item in zip(self.meshes, self.floating, strict=True)]
        for i in np.flatnonzero(np.array([*several, False])[bodies]):
            found[i] = self.at(int(bodies[i]), places[i])
        return found

    def poses(self, X: Array) -> Array:
        """Return the poses of the frames (..., F + 1, 12) of undeformed bodies at X (..., bodies + 1, 12)."""
        found = X[..., np.append(self.body, len(self.meshes)), :].copy()
        R = found[..., 3:].reshape(*found.shape[:-1], 3, 3)
        found[..., :3] += np.einsum("...bij,bj->...bi", R, self.place)
        return found

    def velocities(self, X: Array, twists: Array) -> Array:
        """Return (ẋ, ω) of the frames (..., F, 6), ẋ in world axes, from twists (..., bodies + 1, 6) of bodies."""
        R = X[..., self.body, 3:].reshape(*X.shape[:-2], self.count, 3, 3)
        v, w = twists[..., self.body, :3], twists[..., self.body, 3:]
        return np.concatenate([np.einsum("...bij,...bj->...bi", R, v + np.cross(w, self.place[:-1])), w], axis=-1)

    def bodies(self, X: Array) -> Array:
        """Return the poses of the bodies (..., bodies + 1, 12), each from its leading frame."""
        found = np.ascontiguousarray(X[..., self.lead, :])
        R = found[..., 3:].reshape(*found.shape[:-1], 3, 3)
        found[..., :3] -= np.einsum("...bij,bj->...bi", R, self.place[self.lead])
        return found


class _Listed(NamedTuple):
    """List of frames under construction, in order: body, node, position, mass, and least mass."""

    body: int
    node: int
    place: Array
    own: MassProperties
    least: float = 0.0


def frames_of(numbering: Numbering, rigid: bool) -> Frames:
    """Return the frames of a mechanism; rigid : one frame per body."""
    mechanism, masses = numbering.mechanism, mass_properties(numbering.drawing)
    elastic = [not rigid and mechanism.bodies[name].elastic for name in numbering.bodies]
    imported = [mechanism.bodies[name].superelement is not None for name in numbering.bodies]
    named = list(zip(numbering.bodies, elastic, imported, strict=True))
    meshes = tuple(mesh_of(numbering, name) if bends and not given else None for name, bends, given in named)
    floating = tuple(floating_body(numbering, name) if bends and given else None for name, bends, given in named)
    drives = () if rigid else yielding_drives(numbering)
    sizes = [item.size for item in floating if item is not None]
    held = held_coordinates([*sizes, len(drives)], mechanism.planar)
    unit = MassProperties(0.0, np.zeros(3), np.eye(3))
    listed = [_Listed(len(meshes), -1, np.zeros(3), unit) for _ in range(held.frames)]
    first: list[int] = []
    lead: list[int] = []
    for number, (name, mesh, item) in enumerate(zip(numbering.bodies, meshes, floating, strict=True)):
        first.append(len(listed))
        lead.append(len(listed))
        if mesh is not None:
            lead[-1] += int(np.argmin(np.linalg.norm(mesh.nodes, axis=1)))
            carried = zip(mesh.nodes, _gather_parts(mesh), strict=True)
            listed += [_Listed(number, node, place, own) for node, (place, own) in enumerate(carried)]
        elif item is not None:
            listed.append(_Listed(number, -1, item.center, zero_mass()))
            listed += [_Listed(number, i, place, zero_mass(), _LIGHT * item.mass) for i, place in enumerate(item.nodes)]
        else:
            listed.append(_Listed(number, 0, masses[name].center, masses[name]))
    first.append(len(listed))
    lead.append(len(listed))
    return Frames(
        numbering,
        np.array([item.body for item in listed], dtype=np.int64),
        np.array([item.node for item in listed], dtype=np.int64),
        np.array([*(item.place for item in listed), np.zeros(3)]),
        np.array(first, dtype=np.int64),
        np.array(lead, dtype=np.int64),
        meshes,
        _frame_mass(listed, meshes),
        floating,
        drives,
        held,
        np.array([item.least for item in listed]),
        mechanism.elastic_names if rigid else (),
    )


def _gather_parts(mesh: ElasticBody) -> list[MassProperties]:
    """Return the small rigid parts on each node, with positions relative to it."""
    found = [zero_mass() for _ in mesh.nodes]
    for part in mesh.parts:
        found[part.node] += MassProperties(part.mass, part.arm, part.inertia)
    return found


def _frame_mass(listed: list[_Listed], meshes: tuple[ElasticBody | None, ...]) -> FrameMass:
    """Return the masses of the frames; a rigid body's frame is at its centre of mass."""
    bent = [item.body < len(meshes) and meshes[item.body] is not None for item in listed]
    arms = [item.own.center if of_mesh else np.zeros(3) for item, of_mesh in zip(listed, bent, strict=True)]
    own = [item.own for item in listed]
    return FrameMass(np.array([item.mass for item in own]), np.array([item.inertia for item in own]), np.array(arms))


# Superelements of a mechanism in their floating frames: by the modes of their files, or a mesh in its vibrations.


BAND = 8.0  # of the body's own frequency: up to there ω² is right to 1e-6

_AXES = (0, 1, 2)


def floating_body(numbering: Numbering, name: str) -> FloatingBody:
    """Return the superelement `name`, created once."""
    return numbering.mechanism.compute_once(f"floating {name}", lambda: _make_floating_body(numbering, name))


def _make_floating_body(numbering: Numbering, name: str) -> FloatingBody:
    modal = modal_body(numbering.drawing, name)
    if modal is not None:
        return modal
    own = natural_frequency(mesh_of(numbering, name))
    return floating_mesh(elastic_coordinates(numbering, name, BAND * own, 0))


def floating_mesh(body: BodyCoordinates) -> FloatingBody:
    """Return a condensed body in space in its free vibration modes, without rigid-body modes.

    The modes are scaled so that each has the mass of the body: q is then a length, of the order of its displacements.
    """
    condensed, mesh = body.condensed, body.mesh
    assert condensed is not None
    assert mesh is not None
    d, mass = condensed.width, float(condensed.rigid_mass[0, 0])
    Z = body.to_condensed[:, d:] * np.sqrt(mass)
    n = Z.shape[1]
    turned = np.zeros((3, 3, n, n))
    pairs = [(j, k) for j in _AXES for k in _AXES if j <= k]
    for (j, k), matrix in zip(pairs, condensed.turned, strict=True):
        turned[j, k] = Z.T @ matrix @ Z
        turned[k, j] = turned[j, k].T
    integrals = Integrals(
        condensed.rigid_mass,
        condensed.rigid_coupling @ Z,
        np.array([[condensed.turning_rigid[k, 3 + j] @ Z for k in _AXES] for j in _AXES]),
        np.array([Z.T @ matrix @ Z for matrix in condensed.turning]),
        turned,
        mass * np.eye(n),
    )
    shapes = Z[: len(condensed.nodes) * d].reshape(-1, d, n)
    found = about_centre(body.name, integrals, np.diag(mass * body.stiffness[d : d + n]), condensed.nodes, shapes)
    return replace(found, carriers={key: condensed.interface.index(node) for key, node in mesh.places.items()})
