"""Floating-point operations of one evaluation, counted as in the paper and as compiled kernels perform them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple.approximation.piecewise.piecewise import Piecewise
from supple.reduced.layout import CoefficientLayout
from supple.reduced.row_map import model_row, row_map


def paper_operations(layout: CoefficientLayout, fitted: Piecewise) -> int:
    """Return the operations for M, Γ and p on the leaf that needs most [Brüls 2004, eq. 32].

        n = depth + s + (P - 1 - s) + 2 t (P - 1)

    with P polynomials of a basis and t functions to sum. For quadratics on 2ˣ intervals along each of s axes it is the
    paper's x s + s + s(s + 1)/2 + t (s² + 3s). Where Γ and p follow from the gradients of M and the potential, there
    are s sums for each of these instead of separate functions (and none for the potential itself), and Γ takes three
    more operations per entry.
    """
    s, n = layout.theta, layout.size
    terms = int(fitted.arrays.leaves_i[:, 1].max(initial=1))
    width = {name: stop - first for name, (first, stop) in layout.columns.items()}
    sums = sum(width.get(name, 0) for name in ("M", "christoffel", "mass_slope", "mass_curvature", "force"))
    combined = 0
    if layout.christoffel == "from-mass":
        sums += s * (width["M"] + width.get("mass_slope", 0) + width.get("mass_curvature", 0))
        combined = 3 * n * n * (n + 1) // 2
    if layout.force == "from-potential":
        sums += s
    return fitted.depth + s + max(0, terms - 1 - s) + 2 * sums * (terms - 1) + combined


@dataclass(frozen=True)
class Operations:
    """Operations of one evaluation of all coefficients on the worst leaf.

    comparisons : on the longest path down the tree
    table       : ξ = (θ - c)/h, and T_n(ξ_i) and T_n'(ξ_i) by their three-term recurrences
    products    : of one-dimensional polynomials, for each term and each of its slopes that is needed
    sums        : multiplications and additions with the coefficients
    combined    : Γ, p and slopes of outputs from the slopes of the fit
    """

    comparisons: int
    table: int
    products: int
    sums: int
    combined: int = 0

    @property
    def total(self) -> int:
        return self.comparisons + self.table + self.products + self.sums + self.combined


def kernel_operations(layout: CoefficientLayout, fitted: Piecewise) -> Operations:
    """Return the operations of the compiled kernels, counted from the arrays they use.

    A degree n takes 2 operations for ξ and 3 for each T_2 ... T_n along an axis, and 4 more for each T_2' ... T_n'. T_0
    = 1 is never multiplied with, so a term with k factors takes k - 1 products; T_(0...0) = 1 is added without a
    multiplication.
    """
    places = row_map(layout, model_row(layout))
    sloped = int(np.sum(places.ranges[:, 1] - places.ranges[:, 0])) if len(places.ranges) else 0
    arrays, s = fitted.arrays, fitted.dimension
    directions = 1 + s if sloped else 1
    factors = np.count_nonzero(arrays.indices, axis=1)
    products = np.concatenate([[0], np.cumsum(np.maximum(factors - 1, 0))])
    combined = 5 * len(places.slopes_to)
    worst, depth = Operations(0, 0, 0, 0), fitted.depth
    for terms, degree in np.unique(arrays.leaves_i[:, 1:], axis=0).tolist():
        table = s * (2 + (7 if sloped else 3) * max(0, degree - 1))
        sums = 2 * (terms - 1) * (fitted.outputs + s * sloped)
        leaf = Operations(depth, table, directions * int(products[terms]), sums, combined)
        worst = leaf if leaf.total > worst.total else worst
    return worst
