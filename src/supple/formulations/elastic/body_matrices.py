"""Arrays of an elastic body: nodes, sparse mass and stiffness in body axes, and connected nodes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

import numpy as np
import scipy.sparse as sp

from supple.array_types import Array, Integers
from supple.diagnostics import InputError
from supple.geometry.rotation import tilde

T = TypeVar("T")

PLANAR_COLUMNS = np.array([0, 1, 5])  # of (u, φ) in space, those that a planar node has
NEAR = 1e-9  # of the body's size: places this close are one place


class CarriedPart(NamedTuple):
    """Small rigid part on a node: mass (kg), inertia (3, 3) about its centre (kg m²), arm (3,) from the node."""

    node: int
    mass: float
    inertia: Array
    arm: Array


@dataclass(frozen=True, eq=False)
class ElasticBody:
    """Mass and stiffness of one body for the displacements of its nodes, all in body axes.

    nodes     : (n, 3) positions, from the origin of positions on the body in the drawing
    K, M      : (size, size), sparse, symmetric
    turning   : M W_k for k = x, y, z (z alone in the plane), W_k the map (u, φ) → (e_k × u, e_k × φ) of every point
                of the mesh, including rigid arms and ties
    width     : degrees of freedom of a connected node: 6, (u, φ), or 3 in the plane, (ux, uy, φ)
    node      : (size,) node of each degree of freedom, in ascending order
    component : (size,) index of the degree of freedom in (ux, uy, uz, φx, φy, φz). Connected nodes have all `width` and
                come first if others have fewer: columns i * width to (i + 1) * width belong to node i
    interface : numbers of the nodes at joints, loads and sensors
    places    : node of every connected position. Most are at the position of the node. Others are on a rigid arm, and a
                position p there moves with u + φ × (p - nodes[i])
    elements  : (e, 2) nodes at the ends of every element; ends (e, 2, 3): ends of its axis, which differ from the
                positions of the nodes if there are arms
    beams     : (e,) beam of the description that each element belongs to
    turned    : W_jᵀ M W_k for the pairs (j, k), j <= k, of the axes in `turning`
    parts     : masses that beams carry in addition to their own, which are included in M

    Equal bodies of beams are one object (`elastic_body`), also in mechanisms that differ elsewhere, for example in
    their payload. Results that follow from a body are therefore `compute_once` by the body.
    """

    name: str
    nodes: Array
    K: sp.csr_array
    M: sp.csr_array
    turning: tuple[sp.csr_array, ...]
    width: int
    node: Integers
    component: Integers
    interface: tuple[int, ...]
    places: dict[tuple[float, float, float], int]
    elements: Integers = field(default_factory=lambda: np.zeros((0, 2), dtype=np.int64))
    ends: Array = field(default_factory=lambda: np.zeros((0, 2, 3)))
    beams: Integers = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    turned: tuple[sp.csr_array, ...] = ()
    parts: tuple[CarriedPart, ...] = ()
    _memory: dict[Hashable, Any] = field(default_factory=dict, init=False, repr=False)

    def compute_once(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the result of `make` at the first call with this key; bodies are frozen, so it remains valid."""
        if key not in self._memory:
            self._memory[key] = make()
        return self._memory[key]

    @property
    def size(self) -> int:
        """Number of degrees of freedom."""
        return len(self.node)

    @property
    def extent(self) -> float:
        """Diagonal of the box around the nodes, m."""
        return float(np.linalg.norm(np.ptp(self.nodes, axis=0)))

    def columns(self, node: int) -> Integers:
        """Return the degrees of freedom of a node."""
        return np.arange(np.searchsorted(self.node, node), np.searchsorted(self.node, node, side="right"))

    def node_at(self, position: Array) -> int | None:
        """Return the node that carries a connected position, or None if the position is not connected."""
        return carrying_node(self.places, position, self.extent)

    def rigid_motions(self) -> Array:
        """Return T (size, width): displacements for unit translations and rotations about the body's origin."""
        return rigid_body_motions(self.nodes, self.node, self.component, self.width)


def rigid_body_motions(nodes: Array, node: Integers, component: Integers, width: int) -> Array:
    """Return T with columns e_k for translations; e_k × X and e_k for rotations (elastic-bodies, 6)."""
    full = np.broadcast_to(np.eye(6), (len(nodes), 6, 6)).copy()
    full[:, :3, 3:] = -np.array([tilde(X) for X in nodes])
    rows = full[node, component]
    return rows[:, PLANAR_COLUMNS] if width == 3 else rows


def carrying_node(places: Mapping[Any, int], position: Array, extent: float) -> int | None:
    """Return the node of the connected position, or None; extent : size of the body, m."""
    if not places:
        return None
    distance = np.linalg.norm(np.array(list(places)) - np.asarray(position, float), axis=1)
    nearest = int(np.argmin(distance))
    return list(places.values())[nearest] if distance[nearest] <= 10.0 * NEAR * extent else None


def required_node(body: Any, position: Array) -> int:
    """Return the node at a position of a body with `node_at`; raise an error if nothing is connected there."""
    node = body.node_at(position)
    if node is None:
        raise InputError(
            f"no node is at {np.array2string(position, precision=6)} (body axes)",
            part=f'body "{body.name}"',
            path=("bodies", body.name),
            hint="attach the point to a node: attach: {POINT: NODE}",
        )
    return int(node)
