"""Exact derivatives of the coefficients and forces of a reduced model, those of the fit.

With M a = f(η, η̇, u) and row(θ) = template + P f̂ + Q ∂f̂,

    M δa = (∂f/∂η - ∂M/∂η a) δη + ∂f/∂η̇ δη̇ + B δu,    ∂row/∂θ_m = P ∂_m f̂ + Q ∂_m ∂f̂

M and Γ are those at θ and δ: their derivatives with respect to θ are those of the row, with δ included as in the row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from supple.approximation.piecewise.piecewise import NOWHERE, Piecewise
from supple.array_types import Array
from supple.diagnostics import InputError
from supple.equations.equations_of_motion import Coefficients
from supple.reduced.dynamics_kernel import deform_batch
from supple.reduced.row_map import row_map

if TYPE_CHECKING:
    from supple.reduced.model import ReducedModel


def hessian(fitted: Piecewise, x: Array) -> Array:
    """Return the second derivatives of a piecewise polynomial, ∂²f/∂x_i∂x_j at one point x (s,): (t, s, s).

    T_n'' = 4 T_{n-1}' + 2 ξ T_{n-1}'' - T_{n-2}'', the recurrence T_n = 2 ξ T_{n-1} - T_{n-2} differentiated twice.
    """
    leaf = int(fitted.locate(x)[0])
    if leaf == NOWHERE:
        raise InputError(f"{np.array2string(x, precision=6)} lies outside the region of the model")
    arrays = fitted.arrays
    first, terms, degree = (int(k) for k in arrays.leaves_i[leaf])
    center, inverse = arrays.leaves_f[leaf]
    xi, s = (x - center) * inverse, len(x)
    T = np.zeros((3, max(degree, 1) + 1, s))  # value, first and second derivative with respect to ξ
    T[0, 0], T[0, 1], T[1, 1] = 1.0, xi, 1.0
    for n in range(2, degree + 1):
        T[0, n] = 2.0 * xi * T[0, n - 1] - T[0, n - 2]
        T[1, n] = 2.0 * T[0, n - 1] + 2.0 * xi * T[1, n - 1] - T[1, n - 2]
        T[2, n] = 4.0 * T[1, n - 1] + 2.0 * xi * T[2, n - 1] - T[2, n - 2]
    indices = arrays.indices[:terms]
    coefficients = arrays.coefficients[first : first + terms]
    H = np.empty((coefficients.shape[1], s, s))
    for i in range(s):
        for j in range(i, s):
            basis = np.ones(terms)
            for axis in range(s):
                basis *= T[(axis == i) + (axis == j), indices[:, axis], axis]
            H[:, i, j] = H[:, j, i] = (basis @ coefficients) * inverse[i] * inverse[j]
    return H


def force_slopes(
    model: ReducedModel, c: Coefficients, slopes: list[Coefficients], eta: Array, u: Array, v: Array, a: Array
) -> Array:
    """Return ∂f/∂η - ∂M/∂η a, (n, n), of f without dry friction.

    f is linear in the coefficients, so their derivatives can replace them.

    c      : coefficients at θ
    slopes : their derivatives along each θ
    """
    s = model.layout.theta
    along = [dc.input_map @ u - dc.required_forces(v, a, eta[s:]) for dc in slopes]
    by_delta = c.stiffness_force_slope(eta[s:]) - c.inertia_slope(v, a)
    return np.hstack([np.array(along).reshape(s, -1).T, by_delta])


def coefficient_slopes(model: ReducedModel, theta: Array, delta: Array | None = None) -> list[Coefficients]:
    """Return ∂row/∂θ_m for each m at θ and δ (default: zero), with access by coefficient names."""
    places = row_map(model.layout, model.row)
    _, slopes = model.fitted.with_gradient(theta)  # (t, s)
    hessians = hessian(model.fitted, theta)  # (t, s, s)
    t, s = slopes.shape
    found = np.zeros((model.row.width, s))
    found[places.values_to] = slopes[places.values_from]
    along, column = np.divmod(places.slopes_from, max(t, 1))
    found[places.slopes_to] = np.einsum("ek,ekm->em", places.slopes_factor, hessians[column, along])
    found[places.copies_to] = found[places.copies_from]
    rows = np.ascontiguousarray(found.T)
    if delta is not None and delta.size:  # the effect of δ on a row is linear in the row
        deform_batch(model.arrays.integers, np.tile(np.append(theta, delta), (s, 1)), rows)
    return [Coefficients(theta, model.labels, model.row, row) for row in rows]
