"""Designs of scattered points in a box [-1, 1]^s: for polynomials of any degree, and to see the whole of a region."""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy.linalg import lu
from scipy.stats import qmc

from supple.approximation.fits.chebyshev_products import basis
from supple.approximation.fits.designs import central_composite
from supple.approximation.fits.multi_index import total_degree
from supple.array_types import Array


@cache
def _leja(dimension: int, degree: int) -> tuple[tuple[float, ...], ...]:
    indices = total_degree(dimension, degree)
    amount = min(max(40 * len(indices), 400), 20000)
    uniform = qmc.Halton(dimension, scramble=False).random(amount + 1)[1:]
    candidates = np.cos(np.pi * uniform)  # crowded towards the faces, as good sample points are
    candidates = np.vstack([np.zeros((1, dimension)), central_composite(dimension)[:-1], candidates])
    permutation, _, _ = lu(basis(candidates, indices), p_indices=True)
    order = np.argsort(permutation)[: len(indices)]
    return tuple(tuple(float(x) for x in candidates[i]) for i in order)


def leja(dimension: int, degree: int) -> Array:
    """A sequence of points of which the first dim P_n determine polynomials of degree n, for every n up to `degree`.

    Discrete Leja points: the row pivots of the LU factor of the graded Chebyshev basis on many candidates.
    """
    return np.array(_leja(dimension, degree))


def halton_points(dimension: int, count: int, seed: int) -> Array:
    """Evenly scattered points (scrambled Halton), the same for the same seed."""
    return 2.0 * qmc.Halton(dimension, scramble=True, rng=np.random.default_rng(seed)).random(count) - 1.0
