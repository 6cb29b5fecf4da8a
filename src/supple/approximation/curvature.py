"""Second derivatives of a piecewise polynomial."""

from __future__ import annotations

import numpy as np

from supple.approximation.piecewise.piecewise import NOWHERE, Piecewise
from supple.array_types import Array
from supple.diagnostics import InputError


def hessian(fitted: Piecewise, x: Array) -> Array:
    """∂²f/∂x_i∂x_j at one point x (s,): (t, s, s).

    T_n'' = 4 T_{n-1}' + 2 ξ T_{n-1}'' - T_{n-2}'', the recurrence T_n = 2 ξ T_{n-1} - T_{n-2} differentiated twice.
    """
    leaf = int(fitted.locate(x)[0])
    if leaf == NOWHERE:
        raise InputError(f"{np.array2string(x, precision=6)} lies outside the region the model was made for")
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
