"""Analytic functions as Chebyshev series to nearly rounding, on the boxes of another fit.

    f(x) = Σ_α c_α T_α(ξ),   c from values at the roots of T_N along every axis, by the discrete cosine transform

On each box the degree along an axis is raised until the last coefficients along it are below the tolerance. Where that
would take too many points, the box is halved along the axis with the highest degree [Trefethen 2013]. The roots lie
inside a box, so a function may jump from box to box, as functions of a fitted model do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.fft import dct

from supple.approximation.fits.chebyshev_products import Indices, total_degree
from supple.approximation.fits.lower_set import sort_terms
from supple.approximation.fits.scattered_fit import halton_points
from supple.approximation.piecewise.packing import NOWHERE
from supple.approximation.piecewise.piecewise import Piecewise
from supple.approximation.refinement.box import Box
from supple.approximation.refinement.box_tree import BoxNode, Forest
from supple.array_types import Array

Function = Callable[[Array], Array]

_FIRST, _GROWTH = 7, 1.4  # initial points along each axis, and their growth
_MOST = {1: 200, 2: 4_000, 3: 20_000}  # largest number of points of a box, by dimension
_MOST_BEYOND = 40_000  # in more dimensions
_TAIL = 2  # last coefficients along an axis that must be small: one alone may vanish by symmetry
_CHECKS = 24  # check points of a box
_KEPT = 0.02  # of the tolerance: smaller coefficients are discarded


class ChebyshevFit(NamedTuple):
    """Piecewise Chebyshev series, the largest error at check points, and the number of evaluations."""

    piecewise: Piecewise
    error: float
    points: int


def fit_chebyshev_series(
    region: Sequence[Box] | Piecewise, function: Function, tolerance: float, *, largest: int
) -> ChebyshevFit:
    """Return Chebyshev series of a function on every box of a region.

    Parameters
    ----------
    region : boxes, or a piecewise function within whose boxes this one is smooth; where that one is not fitted, this is
             not either
    function : points (N, s) inside the boxes -> values (N, t), each column divided by its size
    tolerance : absolute, for the divided columns
    largest : number of evaluations after which boxes stay as they are, with the error reached
    """
    made = _SeriesBuilder(function, tolerance, largest)
    if isinstance(region, Piecewise):
        roots = [
            made.below(region, int(child), Box(tuple(low), tuple(high)))
            for child, (low, high) in zip(region.arrays.roots_i, region.arrays.roots_f.tolist(), strict=True)
        ]
    else:
        roots = [made.fitted(box) for box in region]
    forest = Forest(roots, total_degree(roots[0].box.dimension, 0))
    return ChebyshevFit(forest.piecewise(), made.error, made.points)


class _SeriesBuilder:
    def __init__(self, function: Function, tolerance: float, largest: int) -> None:
        self._function, self._tolerance, self._largest = function, tolerance, largest
        self.error, self.points = 0.0, 0

    def below(self, region: Piecewise, child: int, box: Box) -> BoxNode:
        """Return the tree of a region below one of its nodes, every leaf with a fit of its own."""
        if child == NOWHERE:
            return BoxNode(box)
        if child < 0:
            return self.fitted(box)
        axis, low, high = region.arrays.nodes_i[child].tolist()
        cut = float(region.arrays.nodes_f[child])
        upper, lower = list(box.upper), list(box.lower)
        upper[axis], lower[axis] = cut, cut
        halves = Box(box.lower, tuple(upper)), Box(tuple(lower), box.upper)
        first, second = (self.below(region, place, half) for place, half in zip((low, high), halves, strict=True))
        return BoxNode(box, axis, (first, second))

    def fitted(self, box: Box) -> BoxNode:
        """Return a box with coefficients, or its halves with coefficients."""
        counts = np.full(box.dimension, _FIRST)
        while True:
            c = self._coefficients(box, counts)
            tails = _tails(c) / self._tolerance
            required = np.where(tails > 1.0, np.ceil(_GROWTH * counts).astype(int), counts)
            enough = bool((tails <= 1.0).all())
            if enough or self.points >= self._largest:
                node = BoxNode(box, None, None, *_drop_small_terms(c, _KEPT * self._tolerance))
                error = self._measure_error(node)
                if error <= self._tolerance or not enough or self.points >= self._largest:
                    self.error = max(self.error, error)
                    return node
                required = np.ceil(_GROWTH * counts).astype(int)
            if required.prod() > _MOST.get(box.dimension, _MOST_BEYOND):
                axis = int(np.argmax(tails * counts))
                lower, upper = (self.fitted(half) for half in box.split(axis))
                return BoxNode(box, axis, (lower, upper))
            counts = required

    def _values(self, points: Array) -> Array:
        self.points += len(points)
        return self._function(points)

    def _coefficients(self, box: Box, counts: NDArray[np.int64]) -> Array:
        """Return c (N_1, ..., N_s, t)."""
        nodes = [np.cos(np.pi * (np.arange(n) + 0.5) / n) for n in counts.tolist()]
        unit = np.stack(np.meshgrid(*nodes, indexing="ij"), axis=-1).reshape(-1, len(counts))
        c = self._values(box.from_unit(unit)).reshape(*counts, -1)
        for axis, n in enumerate(counts.tolist()):
            c = dct(c, type=2, axis=axis) / n
            c[(slice(None),) * axis + (0,)] *= 0.5
        return np.asarray(c)

    def _measure_error(self, node: BoxNode) -> float:
        """Return the largest error at points that were not fitted."""
        unit = 0.999 * halton_points(node.box.dimension, _CHECKS, 3)
        f = self._values(node.box.from_unit(unit))
        assert node.coefficients is not None
        assert node.indices is not None
        return float(np.abs(f - _basis(unit, node.indices) @ node.coefficients).max(initial=0.0))


def _tails(c: Array) -> Array:
    """Return the largest of the last coefficients along each axis, (s,)."""
    size = np.abs(c).max(axis=-1)
    return np.array(
        [np.take(size, range(size.shape[k] - _TAIL, size.shape[k]), axis=k).max() for k in range(size.ndim)]
    )


def _drop_small_terms(c: Array, small: float) -> tuple[Array, Indices]:
    """Return the terms of the smallest lower set with all coefficients that are not small, and their coefficients."""
    large = np.abs(c).max(axis=-1) > small
    large[(0,) * large.ndim] = True
    for axis in range(large.ndim):  # include all divisors of kept terms
        large = np.flip(np.logical_or.accumulate(np.flip(large, axis), axis=axis), axis)
    indices = sort_terms(set(map(tuple, np.argwhere(large).tolist())))
    return np.ascontiguousarray(c[tuple(indices.T)]), indices


def _basis(unit: Array, indices: Indices) -> Array:
    """Return T_α(ξ) (N, terms)."""
    angles = np.arccos(unit)
    found = np.ones((len(unit), len(indices)))
    for axis in range(unit.shape[1]):
        found *= np.cos(np.outer(angles[:, axis], indices[:, axis]))
    return found
