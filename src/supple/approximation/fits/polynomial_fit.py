"""Least-squares polynomials on a box, from values alone or from values and gradients."""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_triangular

from supple.approximation.fits.chebyshev_products import basis, basis_gradient
from supple.approximation.fits.multi_index import Indices
from supple.array_types import Array


def slope_weights(indices: Indices, slopes: int) -> Array:
    """1/degree along each of the first axes: what an equation for a slope weighs against one for a value."""
    return 1.0 / np.maximum(1, indices[:, :slopes].max(axis=0))


def design_matrix(xi: Array, indices: Indices, slopes: int) -> Array:
    """Rows T_α(ξ), (N, terms), and below them the weighed rows ∂T_α/∂ξ_i of every point along the first `slopes` axes,
    those of known slopes."""
    A = basis(xi, indices)
    if not slopes:
        return A
    along = basis_gradient(xi, indices)[:, :slopes] * slope_weights(indices, slopes)[:, None]
    return np.vstack([A, along.reshape(-1, len(indices))])


def fit(xi: Array, values: Array, indices: Indices, gradients: Array | None = None) -> Array:
    """Coefficients (terms, t) of Σ_α c_α T_α(ξ) closest to the samples.

    xi        : (N, s) in [-1, 1]
    values    : (N, t)
    gradients : (N, t, k) with respect to the first k of ξ; each row then counts as a further sample, weighed by
                1/degree because derivatives of a polynomial are that much larger than its values
    """
    A, y = design_matrix(xi, indices, 0 if gradients is None else gradients.shape[2]), values
    if gradients is not None:
        weighed = gradients * slope_weights(indices, gradients.shape[2])
        y = np.vstack([y, np.swapaxes(weighed, 1, 2).reshape(-1, values.shape[1])])
    Q, R = np.linalg.qr(A)
    pivots = np.abs(np.diag(R))
    if len(A) >= len(indices) and pivots.min() > 1e-10 * pivots.max():
        return np.asarray(solve_triangular(R, Q.T @ y, check_finite=False), dtype=float)
    return np.asarray(np.linalg.lstsq(A, y, rcond=None)[0], dtype=float)  # too few points, or badly placed ones
