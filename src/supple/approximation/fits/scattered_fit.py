"""Fits of a box by polynomials of any total degree, from whatever samples are known in it."""

from __future__ import annotations

from math import ceil

import numpy as np
from scipy.stats import qmc

from supple.approximation.evaluated import Evaluated, Rows
from supple.approximation.fits.chebyshev_products import basis, basis_gradient
from supple.approximation.fits.multi_index import Indices, count
from supple.approximation.fits.polynomial_fit import design_matrix, fit
from supple.approximation.fits.scattered_designs import leja
from supple.approximation.refinement.box import Box
from supple.approximation.samples import Derived
from supple.array_types import Array

OVERSAMPLING = 1.5  # equations for each unknown a design aims at
LEAST_OVERSAMPLING = 1.3  # and the fewest a fit is tried with
MOST_TERMS = 500
LEJA_POINTS = 250  # finding more of them takes longer than they are worth


def highest_fit_degree(dimension: int) -> int:
    """The highest degree with at most MOST_TERMS terms, and never above 24, where little is left to gain."""
    return _highest_degree(dimension, MOST_TERMS)


def _highest_degree(dimension: int, terms: int) -> int:
    return max((n for n in range(2, 25) if count(dimension, n) <= terms), default=1)


def samples_for(dimension: int, degree: int, slopes: int) -> int:
    """Samples for a fit of a degree; one with slopes along k axes counts as 1 + k equations."""
    return dimension + ceil(OVERSAMPLING * count(dimension, degree) / (1 + slopes))


def sequence(dimension: int, length: int) -> Array:
    """Leja points, continued by points scattered with the density 1/√(1 - ξ²) when more are asked for; nested."""
    first = leja(dimension, _highest_degree(dimension, LEJA_POINTS))[:length]
    rest = qmc.Halton(dimension, scramble=True, rng=np.random.default_rng(7)).random(length - len(first))
    return np.vstack([first, np.cos(np.pi * rest)])


def missing(known: Array, length: int) -> Array:
    """Which of the first points of the sequence have no known point (N, s) in their place.

    Distances are taken in arccos ξ, in which the sequence is even; each known point stands in for one of the sequence.
    """
    wanted = sequence(known.shape[1], length)
    if len(known) == 0:
        return wanted
    s = known.shape[1]
    angle = np.arccos(np.clip(known, -1.0, 1.0)) / np.pi
    reach = 0.5 * length ** (-1.0 / s)
    free = np.ones(len(known), dtype=bool)
    lacking = []
    for point in wanted:
        distance = np.linalg.norm(angle - np.arccos(point) / np.pi, axis=1)
        distance[~free] = np.inf
        n = int(np.argmin(distance))
        if distance[n] <= reach:
            free[n] = False
        else:
            lacking.append(point)
    return np.array(lacking).reshape(-1, s)


def fit_rows(box: Box, rows: Rows, evaluated: Evaluated, indices: Indices) -> Array:
    """Coefficients (terms, t) from the samples in `rows`, with their gradients if known."""
    known = evaluated.known
    gradients = None if known.gradients is None else known.gradients[rows] * box.half[: evaluated.slopes]
    return fit(box.to_unit(evaluated.points[rows]), known.values[rows], indices, gradients)


def leverage(box: Box, rows: Rows, evaluated: Evaluated, indices: Indices, xi: Array) -> Array:
    """How loosely the samples in `rows` hold a fit at points ξ (N, s): ‖R⁻ᵀ T(ξ)‖ with A = Q R. It peaks in gaps."""
    A = design_matrix(box.to_unit(evaluated.points[rows]), indices, evaluated.slopes)
    _, R = np.linalg.qr(A)
    return np.asarray(np.linalg.norm(np.linalg.lstsq(R.T, basis(xi, indices).T, rcond=None)[0], axis=0))


def fitted_families(box: Box, xi: Array, coefficients: Array, indices: Indices, derived: Derived) -> dict[str, Array]:
    """Families of a fit at points ξ (N, s) of its box."""
    used = indices[: len(coefficients)]
    slopes = np.einsum("nsk,kt->nts", basis_gradient(xi, used), coefficients, optimize=True) / box.half
    return derived(basis(xi, used) @ coefficients, slopes)
