"""Points for a given list of terms: approximate Fekete points, found one after another beside those known already.

Of a pool of candidates the next point is where the terms are held most loosely by the points so far,

    argmax_ξ T(ξ)ᵀ G⁻¹ T(ξ),     G = ε + Σ_p T(ξ_p) T(ξ_p)ᵀ,

which makes det G grow fastest. Without known points, and with one term after another, these are Leja points.
[Bos, De Marchi, Sommariva, Vianello 2010; Narayan, Jakeman 2014]
"""

from __future__ import annotations

from functools import cache
from math import ceil

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.stats import qmc

from supple.approximation.fits.chebyshev_products import basis
from supple.approximation.fits.multi_index import Indices
from supple.array_types import Array

_POOL = 3000
_HELD = 1e-3  # ε: terms that no point has seen yet


@cache
def _pool(dimension: int, count: int) -> Array:
    """Scattered with the density 1/√(1 - ξ²), as good points are; nested."""
    pool = np.cos(np.pi * qmc.Halton(dimension, scramble=True, rng=np.random.default_rng(11)).random(count))
    pool.setflags(write=False)
    return pool


def fekete_points(known: Array, indices: Indices, count: int) -> Array:
    """So many further points (count, s) beside the known ones (N, s), for the terms (terms, s)."""
    s = indices.shape[1]
    pool = _pool(s, _POOL * ceil((len(known) + count) / (_POOL / 2)))
    if len(known):
        taken = {row.tobytes() for row in np.round(known, 9) + 0.0}
        pool = pool[[row.tobytes() not in taken for row in np.round(pool, 9) + 0.0]]
    G = _HELD * np.eye(len(indices))
    if len(known):
        T = basis(known, indices)
        G += T.T @ T
    W = solve_triangular(cholesky(G, lower=True), basis(pool, indices).T, lower=True).T
    loose = np.einsum("pk,pk->p", W, W)
    held = np.zeros((len(pool), count))
    chosen: list[int] = []
    for n in range(min(count, len(pool))):
        k = int(np.argmax(loose))
        chosen.append(k)
        shared = W @ W[k] - held[:, :n] @ held[k, :n]
        held[:, n] = shared / np.sqrt(1.0 + loose[k])
        loose = loose - held[:, n] ** 2
        loose[k] = -1.0
    return pool[chosen]
