"""Products of Chebyshev polynomials on [-1, 1]^s: multi-indices of a basis, values and gradients.

T_α(ξ) = Π_i T_{α_i}(ξ_i),   T_n(cos t) = cos n t,   T_n' = n U_{n-1}
"""

from __future__ import annotations

from functools import cache
from itertools import product
from math import comb

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array

Indices = NDArray[np.int64]


# Multi-indices α of a basis.


@cache
def _total(dimension: int, degree: int) -> tuple[tuple[int, ...], ...]:
    if dimension == 1:
        return tuple((n,) for n in range(degree + 1))
    indices = []
    for first in range(degree + 1):
        indices += [(first, *rest) for rest in _total(dimension - 1, degree - first)]
    return tuple(sorted(indices, key=lambda index: (sum(index), tuple(-n for n in index))))


def total_degree(dimension: int, degree: int) -> Indices:
    """Return all α with |α| <= degree, by rising degree: (terms, dimension)."""
    return np.array(_total(dimension, degree), dtype=np.int64)


def tensor(dimension: int, degree: int) -> Indices:
    """Return all α with α_i <= degree: (terms, dimension)."""
    return np.array(list(product(range(degree + 1), repeat=dimension)), dtype=np.int64)


def count(dimension: int, degree: int) -> int:
    """Return the number of terms of total degree at most `degree`."""
    return comb(dimension + degree, dimension)


# Values and gradients.


def one_dimensional(x: Array, degree: int) -> tuple[Array, Array]:
    """Return T_n and T_n' for n = 0 ... degree: each (degree + 1, *x.shape)."""
    T = np.empty((degree + 1, *x.shape))
    dT = np.zeros_like(T)
    T[0] = 1.0
    if degree > 0:
        T[1], dT[1] = x, 1.0
    for n in range(2, degree + 1):
        T[n] = 2.0 * x * T[n - 1] - T[n - 2]
        dT[n] = 2.0 * T[n - 1] + 2.0 * x * dT[n - 1] - dT[n - 2]
    return T, dT


def basis(xi: Array, indices: Indices) -> Array:
    """Return T_α at points ξ (N, s): (N, terms)."""
    T, _ = one_dimensional(xi, int(indices.max(initial=0)))
    products = np.ones((len(indices), len(xi)))
    for axis in range(xi.shape[1]):
        _multiply(products, T, indices, axis)
    return np.ascontiguousarray(products.T)


def basis_gradient(xi: Array, indices: Indices) -> Array:
    """Return ∂T_α/∂ξ_i at points ξ (N, s): (N, s, terms)."""
    T, dT = one_dimensional(xi, int(indices.max(initial=0)))
    s = xi.shape[1]
    slopes = np.zeros((len(xi), s, len(indices)))
    for direction in range(s):
        held = np.flatnonzero(indices[:, direction])  # other terms do not depend on ξ_i
        products = np.ones((len(held), len(xi)))
        for axis in range(s):
            _multiply(products, dT if axis == direction else T, indices[held], axis)
        slopes[:, direction, held] = products.T
    return slopes


def _multiply(products: Array, table: Array, indices: Indices, axis: int) -> None:
    """Multiply products (terms, N) by the factor of each term along one axis; table (degrees, N, s)."""
    held = np.flatnonzero(indices[:, axis])
    factors = np.ascontiguousarray(table[:, :, axis])[indices[held, axis]]
    if len(held) == len(products):
        products *= factors
    else:
        products[held] *= factors
