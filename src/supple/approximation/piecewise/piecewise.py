"""A function on a tree of boxes, a polynomial on each leaf, evaluated by compiled kernels.

On leaf l, with ξ = (x - c_l) / h_l:  f(x) = Σ_k c_lk T_{α_k}(ξ), k over the first terms of one list of multi-indices.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from supple.approximation.piecewise.packing import NOWHERE, packed_arrays
from supple.approximation.piecewise.piecewise_kernel import evaluate_batch, gradient_batch, locate_batch
from supple.approximation.refinement.box import Box
from supple.array_types import Array, Integers
from supple.compilation import compiled
from supple.diagnostics import InputError

__all__ = ["NOWHERE", "Piecewise", "PiecewiseArrays"]


class PiecewiseArrays(NamedTuple):
    """The function in numbers. A child is a node (>= 0), leaf l (as -2 - l), or NOWHERE, where nothing was fitted.

    roots_f : (roots, 2, s) lower and upper bounds; roots_i : (roots,) the child each root box leads to
    nodes_i : (nodes, 3) axis, child below, child above; nodes_f : (nodes,) where the axis is cut
    leaves_i : (leaves, 3) first row of coefficients, number of terms, degree; leaves_f : (leaves, 2, s) c, 1/h
    indices : (terms, s); coefficients : (rows, t)
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
    """f : R^s -> R^t on a tree of boxes."""

    arrays: PiecewiseArrays

    @cached_property
    def packed(self) -> tuple[Integers, Array]:
        """The same as two flat arrays, which kernels take; see `supple.approximation.piecewise.packing`."""
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
        """Comparisons on the longest way to a leaf."""

        def below(child: int) -> int:
            if child < 0:
                return 0
            return 1 + max(below(int(self.arrays.nodes_i[child, 1])), below(int(self.arrays.nodes_i[child, 2])))

        return max(below(int(child)) for child in self.arrays.roots_i)

    def locate(self, x: ArrayLike) -> Integers:
        """The leaf each x (N, s) lies in, NOWHERE outside."""
        points = np.ascontiguousarray(np.atleast_2d(np.asarray(x, float)))
        leaves = np.empty(len(points), dtype=np.int64)
        compiled(locate_batch, count=len(points))(*self.packed, points, leaves)
        return leaves

    def evaluate(self, x: ArrayLike) -> Array:
        """f(x): (t,) for x (s,), or (N, t) for (N, s). Outside the region it raises InputError."""
        return self._call(x, gradients=False)[0]

    def with_gradient(self, x: ArrayLike) -> tuple[Array, Array]:
        """f(x) and ∂f/∂x: (..., t) and (..., t, s)."""
        return self._call(x, gradients=True)

    def _call(self, x: ArrayLike, *, gradients: bool) -> tuple[Array, Array]:
        given = np.asarray(x, float)
        points = np.ascontiguousarray(np.atleast_2d(given))
        if points.shape[1] != self.dimension:
            raise InputError(f"x has {points.shape[1]} coordinates, not {self.dimension}", hint="give (s,) or (N, s)")
        values = np.empty((len(points), self.outputs))
        slopes = np.empty((len(points), self.outputs, self.dimension if gradients else 0))
        inside = np.empty(len(points), dtype=np.int64)
        if gradients:
            compiled(gradient_batch, count=len(points))(*self.packed, points, values, slopes, inside)
        else:
            compiled(evaluate_batch, count=len(points))(*self.packed, points, values, inside)
        if not inside.all():
            n = int(np.flatnonzero(inside == 0)[0])
            raise InputError(
                f"{np.array2string(points[n], precision=6)} lies outside the region the model was made for",
                hint="stay inside, or reduce over a larger region",
            )
        return (values, slopes) if given.ndim == 2 else (values[0], slopes[0])
