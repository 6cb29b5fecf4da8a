"""Fits of a box by polynomials of any total degree, from all samples known in it, and designs for them."""

from __future__ import annotations

from functools import cache
from math import ceil

import numpy as np
from scipy.linalg import lu
from scipy.stats import qmc

from supple.approximation.evaluated import Derived, Evaluated, Rows
from supple.approximation.fits.chebyshev_products import Indices, basis, basis_gradient, count, total_degree
from supple.approximation.fits.fits import central_composite, design_matrix, fit
from supple.approximation.refinement.box import Box
from supple.array_types import Array

# Scattered points in a box [-1, 1]^s: for polynomials of any degree, and to cover a region.


@cache
def _leja(dimension: int, degree: int) -> tuple[tuple[float, ...], ...]:
    indices = total_degree(dimension, degree)
    amount = min(max(40 * len(indices), 400), 20000)
    uniform = qmc.Halton(dimension, scramble=False).random(amount + 1)[1:]
    candidates = np.cos(np.pi * uniform)  # concentrated towards the faces, as good sample points are
    candidates = np.vstack([np.zeros((1, dimension)), central_composite(dimension)[:-1], candidates])
    permutation, _, _ = lu(basis(candidates, indices), p_indices=True)
    order = np.argsort(permutation)[: len(indices)]
    return tuple(tuple(float(x) for x in candidates[i]) for i in order)


def leja(dimension: int, degree: int) -> Array:
    """Return discrete Leja points: the first dim P_n determine polynomials of degree n, for every n up to `degree`.

    They are the row pivots of the LU factor of the graded Chebyshev basis on many candidates.
    """
    return np.array(_leja(dimension, degree))


def halton_points(dimension: int, count: int, seed: int) -> Array:
    """Return evenly scattered points (scrambled Halton), reproducible by the seed."""
    return 2.0 * qmc.Halton(dimension, scramble=True, rng=np.random.default_rng(seed)).random(count) - 1.0


# Degrees, the samples they need, and the fit.


OVERSAMPLING = 1.5  # equations per unknown of a design
LEAST_OVERSAMPLING = 1.3  # least equations per unknown of a fit
MOST_TERMS = 500
LEJA_POINTS = 250  # more of them would take too long to compute


def highest_fit_degree(dimension: int) -> int:
    """Return the highest degree with at most MOST_TERMS terms, at most 24, above which little is gained."""
    return _highest_degree(dimension, MOST_TERMS)


def _highest_degree(dimension: int, terms: int) -> int:
    return max((n for n in range(2, 25) if count(dimension, n) <= terms), default=1)


def samples_for(dimension: int, degree: int, slopes: int) -> int:
    """Return the samples for a fit of a degree; one with slopes along k axes counts as 1 + k equations."""
    return dimension + ceil(OVERSAMPLING * count(dimension, degree) / (1 + slopes))


def sequence(dimension: int, length: int) -> Array:
    """Return nested points: Leja points, continued by points scattered with the density 1/√(1 - ξ²)."""
    first = leja(dimension, _highest_degree(dimension, LEJA_POINTS))[:length]
    rest = qmc.Halton(dimension, scramble=True, rng=np.random.default_rng(7)).random(length - len(first))
    return np.vstack([first, np.cos(np.pi * rest)])


def find_missing_points(known: Array, length: int) -> Array:
    """Return the first points of the sequence that no known point (N, s) represents.

    Distances are taken in arccos ξ, in which the sequence is even; each known point represents one point of the
    sequence.
    """
    design = sequence(known.shape[1], length)
    if len(known) == 0:
        return design
    s = known.shape[1]
    angle = np.arccos(np.clip(known, -1.0, 1.0)) / np.pi
    reach = 0.5 * length ** (-1.0 / s)
    free = np.ones(len(known), dtype=bool)
    lacking = []
    for point in design:
        distance = np.linalg.norm(angle - np.arccos(point) / np.pi, axis=1)
        distance[~free] = np.inf
        n = int(np.argmin(distance))
        if distance[n] <= reach:
            free[n] = False
        else:
            lacking.append(point)
    return np.array(lacking).reshape(-1, s)


def fit_rows(box: Box, rows: Rows, evaluated: Evaluated, indices: Indices) -> Array:
    """Return coefficients (terms, t) from the samples in `rows`, with their gradients if known."""
    known = evaluated.known_samples
    gradients = None if known.gradients is None else known.gradients[rows] * box.half[: evaluated.slopes]
    return fit(box.to_unit(evaluated.points[rows]), known.values[rows], indices, gradients)


def leverage(box: Box, rows: Rows, evaluated: Evaluated, indices: Indices, xi: Array) -> Array:
    """Return how weakly the samples in `rows` determine a fit at points ξ (N, s): ‖R⁻ᵀ T(ξ)‖ with A = Q R.

    It peaks in gaps between samples.
    """
    A = design_matrix(box.to_unit(evaluated.points[rows]), indices, evaluated.slopes)
    _, R = np.linalg.qr(A)
    return np.asarray(np.linalg.norm(np.linalg.lstsq(R.T, basis(xi, indices).T, rcond=None)[0], axis=0))


def fitted_families(box: Box, xi: Array, coefficients: Array, indices: Indices, derived: Derived) -> dict[str, Array]:
    """Return the families of a fit at points ξ (N, s) of its box."""
    used = indices[: len(coefficients)]
    slopes = np.einsum("nsk,kt->nts", basis_gradient(xi, used), coefficients, optimize=True) / box.half
    return derived(basis(xi, used) @ coefficients, slopes)
