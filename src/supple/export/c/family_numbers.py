"""A family of models in C: its numbers over (θ, μ), and where a slice at some μ finds them.

    d_α = Σ_β c_αβ T_β(ξ_μ)   for the boxes that μ meets, once when μ is set;   f_μ(θ) = Σ_α d_α T_α(ξ_θ) at every call

The tree or grid of boxes stays that over (θ, μ), so that the box of a point is found as in the whole fit. Everything
behind it is written as for one model: its boxes are those of the family, with terms in θ alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.approximation.fits.chebyshev_products import basis
from supple.approximation.piecewise.piecewise import Piecewise
from supple.array_types import Array, Integers
from supple.export.c.location import BoxGrid, regular_grid
from supple.reduced.family import Family

_MOST_TRIED = 5_000_000  # values of μ times boxes looked at for the largest slice; beyond, all boxes count


class Ranges(NamedTuple):
    """Between which μ a box is met: (boxes, parameters) each; ends : whether its upper value belongs to it."""

    lower: Array
    upper: Array
    ends: NDArray[np.bool_]


class Slice(NamedTuple):
    """rows : of each box the first row of its coefficients; boxes : its number among those that are met; zero where it
    is not. coefficients : (rows of the largest slice, columns)."""

    rows: Integers
    boxes: Integers
    coefficients: Array


@dataclass(frozen=True, eq=False)
class CFamily:
    """A family as the generator sees it; theta : number of θ."""

    family: Family
    theta: int

    @cached_property
    def grid(self) -> BoxGrid | None:
        """The boxes over (θ, μ) as a regular grid, if they are one."""
        return regular_grid(self.family.fitted)

    @property
    def whole(self) -> Piecewise:
        """Over (θ, μ), its leaves in the order of the grid if there is one."""
        return self.family.fitted if self.grid is None else self.grid.fitted

    @cached_property
    def places(self) -> Integers:
        """Of each term (α, β) the place of α, in the order in which they first appear."""
        numbers: dict[tuple[int, ...], int] = {}
        rows = self.whole.arrays.indices[:, : self.theta].tolist()
        return np.array([numbers.setdefault(tuple(row), len(numbers)) for row in rows], dtype=np.int64)

    @cached_property
    def boxes(self) -> Piecewise:
        """The same boxes with terms in θ alone: what code at a point is written from. It cannot be evaluated."""
        arrays = self.whole.arrays
        first = np.unique(self.places, return_index=True)[1]
        indices = np.ascontiguousarray(arrays.indices[first, : self.theta])
        counts = np.array([int(self.places[:terms].max()) + 1 for terms in arrays.leaves_i[:, 1]], dtype=np.int64)
        highest = np.maximum.accumulate(indices.max(axis=1))
        return Piecewise(
            arrays._replace(
                leaves_i=np.column_stack([np.cumsum([0, *counts[:-1]]), counts, highest[counts - 1]]), indices=indices
            )
        )

    @cached_property
    def order(self) -> tuple[Integers, Integers]:
        """Terms (α, β) of the family sorted by α, and where those of each α begin."""
        order = np.argsort(self.places, kind="stable")
        return order, np.searchsorted(self.places[order], np.arange(self.places.max() + 2))

    @cached_property
    def ranges(self) -> Ranges:
        """Of each box: along a cut the box above counts, and the upper end of a root belongs to it."""
        s, grid = self.theta, self.grid
        if grid is not None:
            counts = [len(edge) - 1 for edge in grid.edges]
            cells = np.unravel_index(np.arange(int(np.prod(counts))), counts)[s:]
            pairs = list(zip(grid.edges[s:], cells, strict=True))
            return Ranges(
                np.column_stack([edge[k] for edge, k in pairs]),
                np.column_stack([edge[k + 1] for edge, k in pairs]),
                np.column_stack([k + 2 == len(edge) for edge, k in pairs]),
            )
        arrays, m = self.whole.arrays, len(self.family.parameters)
        count = len(arrays.leaves_i)
        lower, upper, ends = np.empty((count, m)), np.empty((count, m)), np.ones((count, m), dtype=bool)
        pending = [
            (int(child), bounds[0, s:], bounds[1, s:], np.ones(m, dtype=bool))
            for child, bounds in zip(arrays.roots_i, arrays.roots_f, strict=True)
        ]
        while pending:
            child, low, high, end = pending.pop()
            if child < -1:
                lower[-2 - child], upper[-2 - child], ends[-2 - child] = low, high, end
            elif child >= 0:
                axis, below, above = (int(k) for k in arrays.nodes_i[child])
                under, over, closed = high.copy(), low.copy(), end.copy()
                if axis >= s:
                    under[axis - s] = over[axis - s] = arrays.nodes_f[child]
                    closed[axis - s] = False
                pending += [(below, low, under, closed), (above, over, high, end)]
        return Ranges(lower, upper, ends)

    def met(self, values: Array) -> NDArray[np.bool_]:
        """Which boxes a μ (parameters,) meets."""
        lower, upper, ends = self.ranges
        return np.asarray(((lower <= values) & ((values < upper) | (ends & (values <= upper)))).all(axis=1))

    @cached_property
    def largest(self) -> tuple[int, int]:
        """Rows and boxes of the largest slice."""
        lower, upper, _ = self.ranges
        terms = self.boxes.arrays.leaves_i[:, 1]
        tried = []
        for j in range(lower.shape[1]):
            edges = np.unique([*lower[:, j], *upper[:, j]])
            tried.append(np.unique([*edges, *(0.5 * (edges[1:] + edges[:-1]))]))
        if np.prod([float(len(values)) for values in tried]) * len(terms) > _MOST_TRIED:
            return int(terms.sum()), len(terms)
        met = [self.met(np.array(values)) for values in product(*tried)]
        return max(int(terms[here].sum()) for here in met), max(int(here.sum()) for here in met)

    @property
    def lower(self) -> Array:
        return np.array([parameter.lower for parameter in self.family.parameters])

    @property
    def upper(self) -> Array:
        return np.array([parameter.upper for parameter in self.family.parameters])

    def slice(self) -> Slice:
        """That at the family's own values, as the code makes it."""
        values, arrays, s = np.array(self.family.values), self.whole.arrays, self.theta
        met, counts = self.met(values), self.boxes.arrays.leaves_i[:, 1]
        rows, boxes = np.zeros(len(counts), dtype=np.int64), np.zeros(len(counts), dtype=np.int64)
        found, first = np.zeros((self.largest[0], self.whole.outputs)), 0
        for number, leaf in enumerate(np.flatnonzero(met)):
            start, terms, _ = (int(k) for k in arrays.leaves_i[leaf])
            center, inverse = arrays.leaves_f[leaf, :, s:]
            weights = basis(((values - center) * inverse)[None], arrays.indices[:terms, s:])[0]
            part = weights[:, None] * arrays.coefficients[start : start + terms]
            np.add.at(found, first + self.places[:terms], part)
            rows[leaf], boxes[leaf] = first, number
            first += int(counts[leaf])
        return Slice(rows, boxes, found)
