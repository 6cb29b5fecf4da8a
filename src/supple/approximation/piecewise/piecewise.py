"""Piecewise polynomials on a tree of boxes, evaluated by compiled kernels, and their slices.

On leaf l, with ξ = (x - c_l) / h_l:  f(x) = Σ_k c_lk T_{α_k}(ξ), k over the first terms of one list of multi-indices.

A slice fixes the last coordinates μ at given values. It is a function of the others, on the boxes that contain μ:

f(x, μ) = Σ_αβ c_αβ T_α(ξ_x) T_β(ξ_μ)   becomes   f_μ(x) = Σ_α d_α T_α(ξ_x),   d_α = Σ_β c_αβ T_β(ξ_μ),

and ∂f/∂μ_j likewise with ∂T_β/∂ξ_j over half the width of the box. Both are exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from supple.approximation.fits.chebyshev_products import basis, basis_gradient
from supple.approximation.piecewise.packing import NOWHERE, packed_arrays
from supple.approximation.piecewise.piecewise_kernel import evaluate_batch, gradient_batch, locate_batch
from supple.approximation.refinement.box import Box
from supple.array_types import Array, Integers
from supple.compilation import compile_kernel
from supple.diagnostics import InputError

__all__ = ["NOWHERE", "Piecewise", "PiecewiseArrays"]


class PiecewiseArrays(NamedTuple):
    """Arrays of a piecewise polynomial.

    A child is a node (>= 0), leaf l (as -2 - l), or NOWHERE, where there is no fit.

    roots_f      : (roots, 2, s) lower and upper bounds
    roots_i      : (roots,) child of each root box
    nodes_i      : (nodes, 3) axis, child below, child above
    nodes_f      : (nodes,) coordinate of the cut
    leaves_i     : (leaves, 3) first row of coefficients, number of terms, degree
    leaves_f     : (leaves, 2, s) c, 1/h
    indices      : (terms, s)
    coefficients : (rows, t)
    """

    roots_f: Array
    roots_i: Integers
    nodes_i: Integers
    nodes_f: Array
    leaves_i: Integers
    leaves_f: Array
    indices: Integers
    coefficients: Array


@dataclass(frozen=True, eq=False)
class Piecewise:
    """Piecewise polynomial f : R^s -> R^t on a tree of boxes."""

    arrays: PiecewiseArrays

    @cached_property
    def kernel_arrays(self) -> tuple[Integers, Array]:
        """Two flat arrays for kernels, see `supple.approximation.piecewise.packing`."""
        return packed_arrays(*self.arrays)

    @property
    def dimension(self) -> int:
        return self.arrays.roots_f.shape[2]

    @property
    def outputs(self) -> int:
        return self.arrays.coefficients.shape[1]

    @property
    def leaves(self) -> list[Box]:
        center, inverse = self.arrays.leaves_f[:, 0], self.arrays.leaves_f[:, 1]
        lower, upper = center - 1.0 / inverse, center + 1.0 / inverse
        return [Box(tuple(a.tolist()), tuple(b.tolist())) for a, b in zip(lower, upper, strict=True)]

    @property
    def depth(self) -> int:
        """Number of comparisons on the longest path to a leaf."""

        def below(child: int) -> int:
            if child < 0:
                return 0
            return 1 + max(below(int(self.arrays.nodes_i[child, 1])), below(int(self.arrays.nodes_i[child, 2])))

        return max(below(int(child)) for child in self.arrays.roots_i)

    def locate(self, x: ArrayLike) -> Integers:
        """Return the leaf that contains each x (N, s), NOWHERE outside."""
        points = np.ascontiguousarray(np.atleast_2d(np.asarray(x, float)))
        leaves = np.empty(len(points), dtype=np.int64)
        compile_kernel(locate_batch, count=len(points))(*self.kernel_arrays, points, leaves)
        return leaves

    def evaluate(self, x: ArrayLike) -> Array:
        """Return f(x): (t,) for x (s,), or (N, t) for (N, s). InputError outside the region."""
        return self._call(x, gradients=False)[0]

    def with_gradient(self, x: ArrayLike) -> tuple[Array, Array]:
        """Return f(x) and ∂f/∂x: (..., t) and (..., t, s)."""
        return self._call(x, gradients=True)

    def _call(self, x: ArrayLike, *, gradients: bool) -> tuple[Array, Array]:
        given = np.asarray(x, float)
        points = np.ascontiguousarray(np.atleast_2d(given))
        if points.shape[1] != self.dimension:
            raise InputError(
                f"expected {self.dimension} coordinates in x (got {points.shape[1]})", hint="give (s,) or (N, s)"
            )
        values = np.empty((len(points), self.outputs))
        slopes = np.empty((len(points), self.outputs, self.dimension if gradients else 0))
        inside = np.empty(len(points), dtype=np.int64)
        if gradients:
            compile_kernel(gradient_batch, count=len(points))(*self.kernel_arrays, points, values, slopes, inside)
        else:
            compile_kernel(evaluate_batch, count=len(points))(*self.kernel_arrays, points, values, inside)
        if not inside.all():
            n = int(np.flatnonzero(inside == 0)[0])
            raise InputError(
                f"{np.array2string(points[n], precision=6)} lies outside the region of the model",
                hint="stay inside, or reduce over a larger region",
            )
        return (values, slopes) if given.ndim == 2 else (values[0], slopes[0])


# Slices.


def sliced_fit(fitted: Piecewise, values: Array, along: int | None = None) -> Piecewise:
    """Return the function of the first s - p coordinates, with the last ones fixed at values μ (p,) inside the region.

    At a cut the box above is used, as everywhere. If no box contains μ, the result has no roots.

    along : index of a fixed coordinate, 0 to p - 1, for the slope along it; default: the value
    """
    arrays, held = fitted.arrays, np.asarray(values, dtype=float)
    kept = fitted.dimension - len(held)
    terms = _terms(arrays.indices, kept)
    tree = _SlicedTree(arrays, kept, held)
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
    """Terms α of a slice, and the place among them of each term (α, β) of the whole."""

    indices: Integers
    places: Integers


def _terms(indices: Integers, kept: int) -> _Terms:
    """Return terms α in the order in which they first appear.

    (α, 0) comes before every (α, β), and the part of α without its last coordinate before α. So the first terms of a
    leaf become the first terms of its slice, and the order stays valid for kernels.
    """
    numbers: dict[tuple[int, ...], int] = {}
    places = [numbers.setdefault(tuple(row), len(numbers)) for row in indices[:, :kept].tolist()]
    return _Terms(np.array(list(numbers), dtype=np.int64).reshape(-1, kept), np.array(places, dtype=np.int64))


class _SlicedTree:
    """Tree with its cuts along fixed coordinates resolved; nodes and leaves are numbered as they are visited."""

    def __init__(self, arrays: PiecewiseArrays, kept: int, held: Array):
        self.nodes_i: list[list[int]] = []
        self.nodes_f: list[float] = []
        self.leaves: list[int] = []
        self._arrays, self._kept, self._held = arrays, kept, held

    def child(self, child: int) -> int:
        """Return the child of the slice that corresponds to a child of the whole."""
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
    """Return T_β(ξ_μ), or its slope, of each term (terms,)."""
    point = xi[None]
    return basis(point, indices)[0] if along is None else basis_gradient(point, indices)[0, along]
