"""Integrals over the mass of all bodies that the equations are made of, constants in body axes (rigid-link-system, 8).

    m = ∫ dm,  s = ∫ r dm,  S = ∫ r rᵀ dm,  N₁ = ∫ N dm,  R_ij = ∫ r_i N_j dm,  P_ij = ∫ N_iᵀ N_j dm

N_j is row j of N. With N = N_u - s̃ N_φ and E = ∫ s sᵀ dm every integral is a sum over `MassPoints`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from supple.array_types import Array, Integers
from supple.formulations.rigid_link_system.node_shapes import MassPoints

LEVI_CIVITA = np.zeros((3, 3, 3))
for _i, _j, _k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
    LEVI_CIVITA[_i, _j, _k], LEVI_CIVITA[_i, _k, _j] = 1.0, -1.0
PAIRS = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


class NodalInertia(NamedTuple):
    """Of nb bodies with N nodes together, 6 N displacements.

    mass (nb,), first (nb, 3), second (nb, 3, 3) : m, s and S of each body
    moments : (12 nb, 6 N) rows N₁ (3) and R_ij (9, i first) of every body
    M       : (6 N, 6 N) ∫ NᵀN
    turning : ∫ Nᵀ ẽ_m N for m = x, y, z
    squares : ∫ N_iᵀN_j + N_jᵀN_i for the pairs i < j, and ∫ N_iᵀN_i
    """

    mass: Array
    first: Array
    second: Array
    moments: sp.csr_array
    M: sp.csr_array
    turning: tuple[sp.csr_array, ...]
    squares: tuple[sp.csr_array, ...]


def nodal_inertia(bodies: Sequence[Sequence[MassPoints]], first_node: Integers, count: int) -> NodalInertia:
    """All bodies together; first_node (nb,): where the nodes of each begin among `count`."""
    nb = len(bodies)
    mass, first, second = np.zeros(nb), np.zeros((nb, 3)), np.zeros((nb, 3, 3))
    moments, products = _Sum((12 * nb, 6 * count)), [_Sum((6 * count, 6 * count)) for _ in range(9)]
    for b, groups in enumerate(bodies):
        for points in groups:
            mass[b] += points.mass.sum()
            first[b] += points.mass @ points.place
            second[b] += np.einsum("p,pi,pj->ij", points.mass, points.place, points.place) + points.spread.sum(axis=0)
            columns = (6 * (first_node[b] + points.nodes)[..., None] + np.arange(6)).reshape(len(points.mass), -1)
            moments.add(np.arange(12 * b, 12 * b + 12), columns, _moments(points))
            P = _products(points)
            for i in range(3):
                for j in range(3):
                    products[3 * i + j].add(columns, columns, P[:, i, j])
    of = [[products[3 * i + j].matrix() for j in range(3)] for i in range(3)]
    turning = tuple(of[(m + 2) % 3][(m + 1) % 3] - of[(m + 1) % 3][(m + 2) % 3] for m in range(3))
    squares = tuple(of[i][j] if i == j else of[i][j] + of[j][i] for i, j in PAIRS)
    M = of[0][0] + of[1][1] + of[2][2]
    return NodalInertia(mass, first, second, moments.matrix(), M, turning, squares)


def _moments(points: MassPoints) -> Array:
    """(p, 12, 6 k): m N_u, then m c_i N_u,j + ε_jkl N_φ,k E_il."""
    weighted = points.mass[:, None, None] * points.move
    R = np.einsum("pi,pjn->pijn", points.place, weighted)
    R += np.einsum("jkl,pkn,pil->pijn", LEVI_CIVITA, points.turn, points.spread)
    return np.concatenate([weighted, R.reshape(len(weighted), 9, -1)], axis=1)


def _products(points: MassPoints) -> Array:
    """(p, 3, 3, 6 k, 6 k): m N_u,iᵀN_u,j + ε_ikl ε_jab E_lb N_φ,kᵀ N_φ,a."""
    P = np.einsum("p,pin,pjo->pijno", points.mass, points.move, points.move)
    lever = np.einsum("ikl,pkn->piln", LEVI_CIVITA, points.turn)
    return P + np.einsum("piln,plb,pjbo->pijno", lever, points.spread, lever, optimize=True)


class _Sum:
    """A sparse matrix as a sum of blocks."""

    def __init__(self, shape: tuple[int, int]):
        self.shape = shape
        self.rows: list[Integers] = []
        self.columns: list[Integers] = []
        self.values: list[Array] = []

    def add(self, rows: Integers, columns: Integers, blocks: Array) -> None:
        """blocks (p, a, b) at rows (a,) or (p, a), and columns (p, b)."""
        at = np.broadcast_to(rows[..., None] if rows.ndim == 2 else rows[None, :, None], blocks.shape)
        self.rows.append(at.ravel())
        self.columns.append(np.broadcast_to(columns[:, None, :], blocks.shape).ravel())
        self.values.append(blocks.ravel())

    def matrix(self) -> sp.csr_array:
        entries = (np.concatenate(self.rows), np.concatenate(self.columns)) if self.values else (np.zeros(0, int),) * 2
        values = np.concatenate(self.values) if self.values else np.zeros(0)
        return sp.coo_array((values, entries), shape=self.shape).tocsr()
