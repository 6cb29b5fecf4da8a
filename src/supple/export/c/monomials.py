"""Polynomials of the boxes in monomials of the local coordinates, in the order in which Horner's rule needs them.

    f_o(θ) = Σ_α c_α,o ξ^α,   ξ = (θ - c) / h,   |ξ_i| ≤ 1

The fits are sums of Chebyshev products. T_n(ξ) is a polynomial of ξ with integer coefficients, so that the conversion
is exact up to one rounding. The coefficients of a fit decay faster than those of T_n grow, and |ξ| ≤ 1, so that no
digits are lost (`tests/export/test_monomials.py` measures this).

Columns that are zero everywhere are left out. The others are stored in the order of their use: columns of forces with
their slopes first, then columns of forces without, then columns of outputs. A call reads only those that it needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from supple.approximation.piecewise.piecewise import Piecewise
from supple.array_types import Array, Integers

Exponents = list[tuple[int, ...]]

MOST_SHAPES = 4  # different sets of exponents for which code is written


class Monomials(NamedTuple):
    """Polynomials of all boxes.

    shapes       : sets of exponents, each in the order of Horner's rule; a box has one of them
    leaf_shape   : shape of each box
    leaf_row     : first row of coefficients of each box
    coefficients : (rows, columns)
    """

    shapes: list[Exponents]
    leaf_shape: Integers
    leaf_row: Integers
    coefficients: Array

    @property
    def counts(self) -> list[int]:
        """Number of terms of each box."""
        return [len(self.shapes[k]) for k in self.leaf_shape]


def horner_order(exponents: Sequence[tuple[int, ...]]) -> Exponents:
    """Return exponents by decreasing degree in the first coordinate, then in the second, and so on."""
    return sorted(exponents, reverse=True)


def chebyshev_in_monomials(degree: int) -> Array:
    """Return the coefficients (degree + 1, degree + 1) of T_0 ... T_degree in powers of ξ."""
    T = np.zeros((degree + 1, degree + 1))
    T[0, 0] = 1.0
    if degree:
        T[1, 1] = 1.0
    for n in range(2, degree + 1):
        T[n, 1:] = 2.0 * T[n - 1, :-1]
        T[n] -= T[n - 2]
    return T


def needed_exponents(indices: Integers) -> Exponents:
    """Return the exponents of all monomials in the Chebyshev products of given degrees (terms, s)."""
    found: set[tuple[int, ...]] = {(0,) * indices.shape[1]}
    for row in indices.tolist():
        grown: Exponents = [()]
        for n in row:
            grown = [(*head, m) for head in grown for m in range(n, -1, -2)]
        found.update(grown)
    return horner_order(list(found))


def conversion(indices: Integers, exponents: Exponents) -> Array:
    """Return A (exponents, terms): monomial coefficients are A times the Chebyshev coefficients."""
    T = chebyshev_in_monomials(int(indices.max(initial=0)))
    powers = np.array(exponents).reshape(len(exponents), -1)
    A = np.ones((len(exponents), len(indices)))
    for i in range(indices.shape[1]):
        A *= T[indices[:, i][None, :], powers[:, i][:, None]]
    return A


def kept_counts(counts: Integers, most: int = MOST_SHAPES) -> list[int]:
    """Return at most `most` numbers of terms; those of the boxes are rounded up to them with the fewest added terms."""
    values, weights = np.unique(counts, return_counts=True)
    k = len(values)
    cost = np.full((min(most, k) + 1, k + 1), np.inf)
    choice = np.zeros_like(cost, dtype=np.int64)
    cost[0, 0] = 0.0
    for used in range(1, min(most, k) + 1):
        for end in range(1, k + 1):
            for start in range(end):
                added = float((weights[start:end] * (values[end - 1] - values[start:end])).sum())
                if cost[used - 1, start] + added < cost[used, end]:
                    cost[used, end], choice[used, end] = cost[used - 1, start] + added, start
    used, end, kept = int(np.argmin(cost[:, k])), k, []
    while end:
        kept.append(int(values[end - 1]))
        end, used = int(choice[used, end]), used - 1
    return sorted(kept)


def leaf_shapes(fitted: Piecewise) -> tuple[list[Exponents], Integers]:
    """Return the shapes and the shape of each box."""
    arrays = fitted.arrays
    kept = np.array(kept_counts(arrays.leaves_i[:, 1]))
    shapes = [needed_exponents(arrays.indices[:count]) for count in kept]
    return shapes, np.searchsorted(kept, arrays.leaves_i[:, 1])


def monomials(fitted: Piecewise, columns: Integers) -> Monomials:
    """Return the polynomials of some columns."""
    arrays, (shapes, leaf_shape) = fitted.arrays, leaf_shapes(fitted)
    counts = np.array([len(shapes[k]) for k in leaf_shape])
    first = np.concatenate([[0], np.cumsum(counts)])
    found = np.zeros((int(first[-1]), len(columns)))
    made: dict[tuple[int, int], Array] = {}
    for leaf, (start, terms, _) in enumerate(arrays.leaves_i.tolist()):
        key = (int(leaf_shape[leaf]), terms)
        if key not in made:
            made[key] = conversion(arrays.indices[:terms], shapes[key[0]])
        found[first[leaf] : first[leaf + 1]] = made[key] @ arrays.coefficients[start : start + terms][:, columns]
    return Monomials(shapes, leaf_shape, first[:-1], found)
