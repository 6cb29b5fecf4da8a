"""Floating-point operations of one evaluation: as the paper counts them, and as our kernels do them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple.approximation.piecewise import Piecewise


@dataclass(frozen=True)
class Operations:
    """One evaluation on the worst leaf.

    comparisons : on the longest way down the tree
    table       : ξ = (x - c)/h and T_n(ξ_i) by the three-term recurrence
    products    : of one-dimensional polynomials, for each term
    sums        : multiplications and additions with the coefficients, over all outputs
    """

    comparisons: int
    table: int
    products: int
    sums: int

    @property
    def total(self) -> int:
        return self.comparisons + self.table + self.products + self.sums


def quadratic_operations(dimension: int, outputs: int, levels: int) -> int:
    """x s + s + s(s + 1)/2 + t (s² + 3s) for 2^x intervals along each axis.                  [Brüls 2004, eq. 32]

    dimension : s; outputs : t; levels : x
    """
    s = dimension
    return levels * s + s + s * (s + 1) // 2 + outputs * (s * s + 3 * s)


def rigid_outputs(dimension: int) -> int:
    """t = s(s + 1)/2 + s²(s + 1)/2 + s: mass matrix, Christoffel symbols and forces.             [Brüls 2004, 4]"""
    s = dimension
    return s * (s + 1) // 2 + s * s * (s + 1) // 2 + s


def operations(piecewise: Piecewise) -> Operations:
    """Operations of one evaluation of f̂, counted from its arrays.

    A degree n takes 2 operations for ξ and 3 for each T_2 ... T_n along an axis; T_0 = 1 is never multiplied with, so a
    term with k factors takes k - 1 products; T_(0...0) = 1 is added without a multiplication.
    """
    arrays, s = piecewise.arrays, piecewise.dimension
    factors = np.count_nonzero(arrays.indices, axis=1)
    products = np.concatenate([[0], np.cumsum(np.maximum(factors - 1, 0))])
    worst = Operations(0, 0, 0, 0)
    for _, terms, degree in arrays.leaves_i.tolist():
        table = s * (2 + 3 * max(0, degree - 1))
        leaf = Operations(piecewise.depth, table, int(products[terms]), 2 * (terms - 1) * piecewise.outputs)
        worst = leaf if leaf.total > worst.total else worst
    return worst
