"""Patches of a mesh tied to places with six degrees of freedom: rigidly, or by their average motion.

With the mesh displacements u = S q, mass and stiffness become Sᵀ M S and Sᵀ K S.   (elastic-bodies, 15-18)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp

from supple.formulations.elastic.body_matrices import Array, Integers
from supple.geometry.rotation import skew


class Patch(NamedTuple):
    """Nodes of the mesh (by index) tied to a place; average: by their mean motion, otherwise rigidly.

    weights : (n,) of the nodes in the mean, such as the area or mass that belongs to each; equal if left out
    """

    place: Array
    nodes: Integers
    average: bool
    weights: Array | None = None


class Tied(NamedTuple):
    """The mesh with its patches tied.

    S         : (mesh degrees, size), sparse: mesh displacements = S q
    nodes     : (n, 3) the places, the nodes in `front`, then the other nodes that still have degrees of freedom
    node, component : (size,) of each q
    """

    S: sp.csr_array
    nodes: Array
    node: Integers
    component: Integers


def on_a_line(positions: Array) -> bool:
    """Whether a patch cannot tell a rotation about its own line."""
    spread = np.linalg.svd(positions - positions.mean(axis=0), compute_uv=False)
    return len(positions) < 3 or spread[1] < 1e-6 * spread[0]


def tied(positions: Array, degrees: Integers, patches: Sequence[Patch], front: Sequence[int] = ()) -> Tied:
    """Tie disjoint patches; the nodes in `front` (with six degrees of freedom) come right after the places."""
    first = np.concatenate([[0], np.cumsum(degrees)])
    total = int(first[-1])
    dependent = np.zeros(total, dtype=bool)
    rows: list[tuple[Integers, Integers, Array, Array]] = []  # mesh rows, free mesh columns, weights of both
    for patch in patches:
        if patch.average:
            tie = _average(positions, first, patch)
        else:
            tie = _rigid(positions, first, degrees, patch)
        dependent[tie[0]] = True
        rows.append(tie)
    mesh_node = np.repeat(np.arange(len(degrees)), degrees)
    mesh_component = np.arange(total) - first[mesh_node]
    free = np.flatnonzero(~dependent)
    rank = np.full(len(degrees), len(front))
    rank[list(front)] = np.arange(len(front))
    free = free[np.lexsort((free, rank[mesh_node[free]]))]
    places = 6 * len(patches)
    column = np.full(total, -1)
    column[free] = places + np.arange(len(free))
    S = sp.lil_array((total, places + len(free)))
    S[free, column[free]] = 1.0
    for number, (at, others, of_place, of_others) in enumerate(rows):
        S[np.ix_(at, np.arange(6 * number, 6 * number + 6))] = of_place
        if len(others):
            S[np.ix_(at, column[others])] = of_others
    _, kept, numbers = np.unique(rank[mesh_node[free]] * len(degrees) + mesh_node[free], True, True)
    return Tied(
        sp.csr_array(S),
        np.vstack([*(patch.place for patch in patches), positions[mesh_node[free][kept]]]),
        np.concatenate([np.repeat(np.arange(len(patches)), 6), len(patches) + numbers]),
        np.concatenate([np.tile(np.arange(6), len(patches)), mesh_component[free]]),
    )


def _motion(place: Array, at: Array, count: int) -> Array:
    """Displacement of a node of a rigid patch for the displacement of its place: (count, 6)."""
    return np.block([[np.eye(3), -skew(at - place)], [np.zeros((3, 3)), np.eye(3)]])[:count]


def _rigid(
    positions: Array, first: Integers, degrees: Integers, patch: Patch
) -> tuple[Integers, Integers, Array, Array]:
    """u_i = u_P + φ_P × (X_i - X_P), φ_i = φ_P."""
    at = np.concatenate([np.arange(first[node], first[node] + degrees[node]) for node in patch.nodes])
    motion = np.vstack([_motion(patch.place, positions[node], int(degrees[node])) for node in patch.nodes])
    return at, np.zeros(0, dtype=np.int64), motion, np.zeros((len(at), 0))


def _average(positions: Array, first: Integers, patch: Patch) -> tuple[Integers, Integers, Array, Array]:
    """q_P = B u with B = (AᵀwA)⁻¹Aᵀw, A the patch's rigid motion, solved for six of the patch's displacements."""
    at = (first[patch.nodes][:, None] + np.arange(3)).ravel()
    A = np.vstack([_motion(patch.place, positions[node], 3) for node in patch.nodes])
    size = np.sqrt(np.mean(np.sum((positions[patch.nodes] - patch.place) ** 2, axis=1)))
    scale = np.array([1.0] * 3 + [1.0 / size] * 3)  # rotations as displacements at the patch's radius
    weights = np.ones(len(patch.nodes)) if patch.weights is None else patch.weights
    root = np.repeat(np.sqrt(weights / weights.max()), 3)
    B = scale[:, None] * la.lstsq(root[:, None] * A * scale, np.diag(root))[0]
    _, _, pivots = la.qr(B / scale[:, None], mode="economic", pivoting=True)
    own, others = np.sort(pivots[:6]), np.sort(pivots[6:])
    inverse = la.inv(B[:, own])
    return at[own], at[others], inverse, -inverse @ B[:, others]
