"""Designs: where in a box [-1, 1]^s a function is sampled."""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lu
from scipy.stats import qmc

from supple.approximation.fits.chebyshev import basis
from supple.approximation.fits.multi_index import total_degree

Array = NDArray[np.float64]


def full_factorial(dimension: int, levels: int = 3) -> Array:
    """`levels` equally spaced values along every axis: 3^s points by default."""
    return np.array(list(product(np.linspace(-1.0, 1.0, levels), repeat=dimension)))


def central_composite(dimension: int) -> Array:
    """Corners, centres of the faces (the star points), and the centre: 2^s + 2s + 1 points.    [Brüls 2004, 4.2]"""
    corners = np.array(list(product((-1.0, 1.0), repeat=dimension)))
    stars = np.vstack([np.eye(dimension), -np.eye(dimension)])
    return np.vstack([corners, stars, np.zeros((1, dimension))])


def chebyshev_grid(dimension: int, degree: int) -> Array:
    """Tensor grid of Chebyshev points with the ends, cos(πk/degree): (degree + 1)^s points."""
    nodes = np.cos(np.pi * np.arange(degree, -1, -1) / degree) if degree > 0 else np.zeros(1)
    nodes[np.abs(nodes) < 1e-15] = 0.0
    return np.array(list(product(nodes, repeat=dimension)))


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


def scattered(dimension: int, count: int, seed: int) -> Array:
    """Evenly scattered points (scrambled Halton), the same for the same seed."""
    return 2.0 * qmc.Halton(dimension, scramble=True, rng=np.random.default_rng(seed)).random(count) - 1.0
