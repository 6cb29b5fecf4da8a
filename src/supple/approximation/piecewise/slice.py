"""A piecewise polynomial with its last coordinates held: a function of the others, on the boxes that are met.

f(x, μ) = Σ_αβ c_αβ T_α(ξ_x) T_β(ξ_μ)   becomes   f_μ(x) = Σ_α d_α T_α(ξ_x),   d_α = Σ_β c_αβ T_β(ξ_μ),

and ∂f/∂μ_j likewise with ∂T_β/∂ξ_j over half the width of the box. Both are exact.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.approximation.fits.chebyshev_products import basis, basis_gradient
from supple.approximation.piecewise.piecewise import NOWHERE, Piecewise, PiecewiseArrays
from supple.array_types import Array, Integers


def sliced_fit(fitted: Piecewise, values: Array, along: int | None = None) -> Piecewise:
    """The function of the first s - p coordinates, with the last ones held at values μ (p,) inside the region.

    along : which of the held ones its slope is taken along, 0 to p - 1; left out, its value. At a cut the box above
            counts, as everywhere. Where no box is met nothing is left: a function without roots.
    """
    arrays, held = fitted.arrays, np.asarray(values, dtype=float)
    kept = fitted.dimension - len(held)
    terms = _terms(arrays.indices, kept)
    tree = _Met(arrays, kept, held)
    lower, upper = arrays.roots_f[:, 0, kept:], arrays.roots_f[:, 1, kept:]
    roots = np.flatnonzero(((lower <= held) & (held <= upper)).all(axis=1))
    children = np.array([tree.child(int(arrays.roots_i[root])) for root in roots], dtype=np.int64)
    leaves_i = np.empty((len(tree.leaves), 3), dtype=np.int64)
    coefficients = []
    first = 0
    highest = np.maximum.accumulate(terms.indices.max(axis=1))
    for row, leaf in enumerate(tree.leaves):
        start, count, _ = (int(k) for k in arrays.leaves_i[leaf])
        center, inverse = arrays.leaves_f[leaf, :, kept:]
        weights = _weights((held - center) * inverse, arrays.indices[:count, kept:], along)
        if along is not None:
            weights = weights * inverse[along]
        places = terms.places[:count]
        summed = np.zeros((int(places.max()) + 1, fitted.outputs))
        np.add.at(summed, places, weights[:, None] * arrays.coefficients[start : start + count])
        leaves_i[row] = first, len(summed), highest[len(summed) - 1]
        coefficients.append(summed)
        first += len(summed)
    return Piecewise(
        PiecewiseArrays(
            np.ascontiguousarray(arrays.roots_f[roots, :, :kept]),
            children,
            np.array(tree.nodes_i, dtype=np.int64).reshape(-1, 3),
            np.array(tree.nodes_f, dtype=float),
            leaves_i,
            np.ascontiguousarray(arrays.leaves_f[tree.leaves][:, :, :kept]).reshape(-1, 2, kept),
            terms.indices,
            np.vstack(coefficients) if coefficients else np.zeros((0, fitted.outputs)),
        )
    )


class _Terms(NamedTuple):
    """indices : terms α of the slice; places : of each term (α, β) of the whole among them."""

    indices: Integers
    places: Integers


def _terms(indices: Integers, kept: int) -> _Terms:
    """Terms α in the order in which they first appear.

    (α, 0) stands before every (α, β), and the part of α without its last coordinate before α: so the first terms of a
    leaf become the first terms of its slice, and the order stays one that kernels take.
    """
    numbers: dict[tuple[int, ...], int] = {}
    places = [numbers.setdefault(tuple(row), len(numbers)) for row in indices[:, :kept].tolist()]
    return _Terms(np.array(list(numbers), dtype=np.int64).reshape(-1, kept), np.array(places, dtype=np.int64))


class _Met:
    """The tree with its cuts along held coordinates resolved; nodes and leaves numbered as they are met."""

    def __init__(self, arrays: PiecewiseArrays, kept: int, held: Array):
        self.nodes_i: list[list[int]] = []
        self.nodes_f: list[float] = []
        self.leaves: list[int] = []
        self._arrays, self._kept, self._held = arrays, kept, held

    def child(self, child: int) -> int:
        """The child of the slice that a child of the whole becomes."""
        nodes_i, nodes_f = self._arrays.nodes_i, self._arrays.nodes_f
        while child >= 0 and nodes_i[child, 0] >= self._kept:
            above = self._held[nodes_i[child, 0] - self._kept] >= nodes_f[child]
            child = int(nodes_i[child, 2 if above else 1])
        if child == NOWHERE:
            return NOWHERE
        if child < 0:
            self.leaves.append(-2 - child)
            return -1 - len(self.leaves)
        place = len(self.nodes_i)
        self.nodes_i.append([int(nodes_i[child, 0]), NOWHERE, NOWHERE])
        self.nodes_f.append(float(nodes_f[child]))
        for side in (1, 2):
            self.nodes_i[place][side] = self.child(int(nodes_i[child, side]))
        return place


def _weights(xi: Array, indices: Integers, along: int | None) -> Array:
    """T_β(ξ_μ), or its slope, of each term (terms,)."""
    point = xi[None]
    return basis(point, indices)[0] if along is None else basis_gradient(point, indices)[0, along]
