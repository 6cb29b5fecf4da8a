"""Superelements in floating frames, and their arrays between frames for kernels.

A superelement has its floating frame at the body's centre of mass. It also has one massless frame per connected node,
which rows tie to the floating one. Its coordinates q are positions of additional frames, three per frame, in the plane
two. Unused positions of the last frame are coordinates without a shape and do not move.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from supple.array_types import Array, Integers
from supple.description.drawing import Drawing
from supple.description.elastic.superelement_modes import SuperelementModes, modal_arrays
from supple.diagnostics import InputError
from supple.formulations.elastic.body_matrices import carrying_node
from supple.formulations.elastic.touched_places import TouchedPlace, touched_places
from supple.geometry.inertia import of_spatial, part_mass
from supple.geometry.rotation import tilde

_AXES = np.eye(3)


@dataclass(frozen=True, eq=False)
class FloatingBody:
    """An elastic body in a floating frame: a rigid motion, and small displacements linear in n coordinates q.

        x = r + R (X + S q)                                                    (docs/theory/superelements-in-motion.md,
        1)

    The frame is that of the shapes S. Shapes of a mesh are its free vibration modes, which have neither momentum nor
    angular momentum: the frame then follows the body on average. Given shapes keep the frame in which they were given.
    All arrays are in body axes.

    mass, center, inertia : as a rigid body, undeformed: kg, (3,) m, (3, 3) kg m² about the centre
    momentum  : (3, n) C = ∫ρ S
    spin      : (3, n) H₀ = ∫ρ X̂ × S, X̂ from the centre
    widening  : (3, 3, n) change of the inertia with q, symmetric in its axes: ∫ρ (e_j × X̂)·(e_k × S) and its transpose
    turning   : (3, n, n) N_k = ∫ρ S·(e_k × S)
    turned    : (3, 3, n, n) ∫ρ (e_j × S)·(e_k × S), made symmetric in axes and in coordinates
    M, K      : (n, n)
    nodes     : (b, 3) connected nodes, from the origin of the body; carriers : node of every connected position
    shapes    : (b, 6, n) their displacements and small rotations
    """

    name: str
    mass: float
    center: Array
    inertia: Array = field(repr=False)
    momentum: Array = field(repr=False)
    spin: Array = field(repr=False)
    widening: Array = field(repr=False)
    turning: Array = field(repr=False)
    turned: Array = field(repr=False)
    M: Array = field(repr=False)
    K: Array = field(repr=False)
    nodes: Array = field(repr=False)
    shapes: Array = field(repr=False)
    carriers: dict[tuple[float, ...], int] = field(default_factory=dict, repr=False)

    @property
    def size(self) -> int:
        """Number of coordinates n."""
        return len(self.K)

    @property
    def extent(self) -> float:
        """Diagonal of the box around the connected nodes and the centre, m."""
        return float(np.linalg.norm(np.ptp(np.vstack([self.nodes, self.center]), axis=0)))

    def node_at(self, place: Array) -> int | None:
        """Return the node that carries a connected position, or None if the position is not connected."""
        return carrying_node(self.carriers, place, self.extent)


class Integrals(NamedTuple):
    """Mass integrals of the shapes about the body's origin.

    rigid (6, 6) TᵀMT, coupling (6, n) TᵀMS, widening (3, 3, n) the rotations of T about e_j times M W_k S, turning (3,
    n, n) SᵀMW_kS, turned (3, 3, n, n) SᵀW_jᵀMW_kS, M (n, n) SᵀMS
    """

    rigid: Array
    coupling: Array
    widening: Array
    turning: Array
    turned: Array
    M: Array

    def with_point(self, mass: float, inertia: Array, place: Array, shape: Array) -> Integrals:
        """Return the integrals with a small part at a position (3,) that moves by shape (6, n)."""
        T = np.block([[np.eye(3), -tilde(place)], [np.zeros((3, 3)), np.eye(3)]])
        part = part_mass(mass, inertia)
        W = [np.kron(np.eye(2), tilde(e)) for e in _AXES]
        both = np.array([[shape.T @ W[j].T @ part @ W[k] @ shape for k in range(3)] for j in range(3)])
        return Integrals(
            self.rigid + T.T @ part @ T,
            self.coupling + T.T @ part @ shape,
            self.widening + np.array([[T[:, 3 + j] @ part @ W[k] @ shape for k in range(3)] for j in range(3)]),
            self.turning + np.array([shape.T @ part @ W[k] @ shape for k in range(3)]),
            self.turned + both,
            self.M + shape.T @ part @ shape,
        )


def about_centre(name: str, integrals: Integrals, K: Array, nodes: Array, shapes: Array) -> FloatingBody:
    """Return the body with integrals about its centre of mass."""
    rigid, coupling, widening, turning, turned, M = integrals
    whole, C = of_spatial(rigid), coupling[:3]
    center = whole.center
    # e_j × X̂ = e_j × X - e_j × c
    wide = widening - np.einsum("ji,kin->jkn", np.cross(_AXES, center), np.stack([tilde(e) @ C for e in _AXES]))
    even = turned + np.swapaxes(turned, 0, 1)
    return FloatingBody(
        name, whole.mass, center, whole.inertia, C, coupling[3:] - tilde(center) @ C, wide + np.swapaxes(wide, 0, 1),
        turning, 0.25 * (even + np.swapaxes(even, 2, 3)), M, K, nodes, shapes,
    )  # fmt: skip


_AT_NODE = 1e-6  # of the body's size


def modal_body(drawing: Drawing, name: str) -> FloatingBody | None:
    """Return the body by the modes of its file, in the floating frame of these shapes.

    Small masses on its nodes are included. None if its files contain matrices of nodes.
    """
    described = drawing.mechanism.bodies[name].superelement
    arrays = None if described is None else modal_arrays(described, ("bodies", name, "superelement"))
    if arrays is None:
        return None
    offset = drawing.offsets[name]
    touched = touched_places(drawing, name)
    at = [_node(arrays, place, offset) for place in touched]
    integrals = Integrals(
        arrays.rigid, arrays.coupling, arrays.widening, arrays.turning, arrays.turned, arrays.M
    )  # about the origin of the file
    for node, place in zip(at, touched, strict=True):
        if place.heavy:
            integrals = integrals.with_point(place.mass, place.inertia, arrays.positions[node], arrays.shapes[node])
    kept = sorted({node for node, place in zip(at, touched, strict=True) if place.row})
    found = about_centre(name, integrals, arrays.K, arrays.positions[kept] - offset, arrays.shapes[kept])
    carriers = {
        tuple(place.position.tolist()): kept.index(node) for node, place in zip(at, touched, strict=True) if place.row
    }
    return replace(found, center=found.center - offset, carriers=carriers)


def _node(arrays: SuperelementModes, place: TouchedPlace, offset: Array) -> int:
    """Return the node of the table at a connected position."""
    distance = np.linalg.norm(arrays.positions - offset - place.position, axis=1)
    nearest = int(np.argmin(distance))
    size = float(np.linalg.norm(np.ptp(arrays.positions, axis=0)))
    if not place.loose and distance[nearest] > _AT_NODE * size:
        listed = ", ".join(f"{x:.6g}" for x in place.position + offset)
        raise InputError(
            f"the modes have no node at ({listed}) in body axes; the nearest is {distance[nearest]:.4g} m away",
            part=place.part, path=place.path, hint="add a node with its mode shapes at this point",
        )  # fmt: skip
    return nearest


# Superelements between frames.


class SuperelementArrays(NamedTuple):
    """Arrays of e superelements; n is the largest number of coordinates, and arrays of others end in zeros.

    frame, first, coordinates : (e,) floating frame, first frame that stores coordinates, number of coordinates
    mass, inertia       : (e,), (e, 3, 3) as rigid bodies about their centres
    momentum, spin      : (e, 3, n); widening (e, 3, 3, n); turning (e, 3, n, n); turned (e, 3, 3, n, n): FloatingBody
    modal_mass, stiffness, damping : (e, n, n)
    columns             : (e, d + n) their velocities: those of the floating frame, then the coordinates'
    places              : (e, d + n, d + n) of the entries in the iteration matrix; the upper triangle is used
    """

    frame: Integers
    first: Integers
    coordinates: Integers
    mass: Array
    inertia: Array
    momentum: Array
    spin: Array
    widening: Array
    turning: Array
    turned: Array
    modal_mass: Array
    stiffness: Array
    damping: Array
    columns: Integers
    places: Integers


class PlacedBody(NamedTuple):
    """A body and its frames.

    They are the first of its connected nodes, the floating one, and the first of those that store its coordinates; and
    its damping (n, n).
    """

    body: FloatingBody
    nodes: int
    frame: int
    first: int
    damping: Array


def coordinate_frames(count: int, planar: bool) -> int:
    """Return the number of frames that store these coordinates."""
    return -(-count // (2 if planar else 3))


def superelement_arrays(placed: Sequence[PlacedBody], planar: bool) -> SuperelementArrays:
    """Return the arrays of all superelements; `places` are zero until the layout of the iteration matrix is known."""
    d, held = (3, 2) if planar else (6, 3)
    counts = np.array([held * coordinate_frames(item.body.size, planar) for item in placed], dtype=np.int64)
    n = int(counts.max(initial=0))
    columns = np.zeros((len(placed), d + n), dtype=np.int64)
    for row, item in zip(columns, placed, strict=True):
        q = np.arange(n)
        row[:d] = item.frame * d + np.arange(d)
        row[d:] = (item.first + q // held) * d + q % held

    def pack_field(name: str, *shape: int) -> Array:
        found = np.zeros((len(placed), *shape))
        for target, item in zip(found, placed, strict=True):
            given = item.damping if name == "damping" else getattr(item.body, name)
            target[tuple(slice(size) for size in given.shape)] = given
            if name == "M":
                np.fill_diagonal(target[len(given) :, len(given) :], item.body.mass)
        return found

    return SuperelementArrays(
        np.array([item.frame for item in placed], dtype=np.int64),
        np.array([item.first for item in placed], dtype=np.int64),
        counts,
        np.array([item.body.mass for item in placed], dtype=np.float64),
        pack_field("inertia", 3, 3), pack_field("momentum", 3, n), pack_field("spin", 3, n),
        pack_field("widening", 3, 3, n), pack_field("turning", 3, n, n), pack_field("turned", 3, 3, n, n),
        pack_field("M", n, n), pack_field("K", n, n), pack_field("damping", n, n),
        columns, np.zeros((len(placed), d + n, d + n), dtype=np.int64),
    )  # fmt: skip
