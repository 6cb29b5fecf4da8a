"""Tables of a family of models in C: its polynomials over (θ, μ), and the location of a slice at some μ in them.

    d_α = Σ_β c_αβ ξ_μ^β   for the boxes that contain μ, once when μ is set;   f_μ(θ) = Σ_α d_α ξ_θ^α every call

The tree or grid of boxes remains that over (θ, μ), so that the box of a point is found as in the whole fit. All other
code is written as for a single model, whose boxes are those of the family, with terms in θ alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.approximation.piecewise.piecewise import Piecewise
from supple.array_types import Array, Integers
from supple.export.c.location import BoxGrid, regular_grid
from supple.export.c.monomials import Exponents, Monomials, leaf_shapes, monomials
from supple.reduced.family import Family

if TYPE_CHECKING:
    from supple.export.c.columns import StoredColumn

_MOST_TRIED = 5_000_000  # limit of μ values times boxes in the search for the largest slice; beyond it all boxes count


class Ranges(NamedTuple):
    """Range of μ of each box, (boxes, parameters).

    ends : True where the upper value belongs to the box
    """

    lower: Array
    upper: Array
    ends: NDArray[np.bool_]


class Slice(NamedTuple):
    """Slice of a family at one μ.

    rows         : first row of coefficients of each box; zero for boxes outside the slice
    boxes        : number of each box within the slice; zero for boxes outside the slice
    coefficients : (rows of the largest slice, columns)
    """

    rows: Integers
    boxes: Integers
    coefficients: Array


@dataclass(frozen=True, eq=False)
class CFamily:
    """Family with the tables that the generator needs.

    theta : number of coordinates θ
    """

    family: Family
    theta: int

    @cached_property
    def grid(self) -> BoxGrid | None:
        """Boxes over (θ, μ) as a regular grid; None if they are not one."""
        return regular_grid(self.family.fitted)

    @property
    def whole(self) -> Piecewise:
        """Fit over (θ, μ), with its leaves in the order of the grid if there is one."""
        return self.family.fitted if self.grid is None else self.grid.fitted

    @cached_property
    def shapes(self) -> tuple[list[Exponents], Integers]:
        """Exponents (α, β) of the boxes, sorted by α, and the shape of each box."""
        return leaf_shapes(self.whole)

    @cached_property
    def groups(self) -> list[list[int]]:
        """First position of each α in each shape, and the number of terms at the end."""
        found = []
        for shape in self.shapes[0]:
            heads = [alpha[: self.theta] for alpha in shape]
            found.append([k for k, head in enumerate(heads) if k == 0 or head != heads[k - 1]] + [len(heads)])
        return found

    def slices(self, columns: Integers) -> Monomials:
        """Return the polynomials in θ alone, without coefficients."""
        shapes, leaf_shape = self.shapes
        alone = [
            [shape[k][: self.theta] for k in starts[:-1]] for shape, starts in zip(shapes, self.groups, strict=True)
        ]
        return Monomials(alone, leaf_shape, np.zeros(len(leaf_shape), dtype=np.int64), np.zeros((0, len(columns))))

    def table(self, stored: Sequence[StoredColumn]) -> Monomials:
        """Return the polynomials in θ and μ."""
        return monomials(self.whole, np.array([column.column for column in stored], dtype=np.int64))

    @cached_property
    def counts(self) -> Integers:
        """Number of terms in θ alone of each box."""
        return np.array([len(starts) - 1 for starts in self.groups], dtype=np.int64)[self.shapes[1]]

    @cached_property
    def ranges(self) -> Ranges:
        """Ranges of all boxes. A cut belongs to the box above it, and the upper end of a root to the box below."""
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

    def find_boxes(self, values: Array) -> NDArray[np.bool_]:
        """Return a mask of the boxes that contain a μ (parameters,)."""
        lower, upper, ends = self.ranges
        return np.asarray(((lower <= values) & ((values < upper) | (ends & (values <= upper)))).all(axis=1))

    @cached_property
    def largest(self) -> tuple[int, int]:
        """Number of rows and of boxes of the largest slice."""
        lower, upper, _ = self.ranges
        terms = self.counts
        tried = []
        for j in range(lower.shape[1]):
            edges = np.unique([*lower[:, j], *upper[:, j]])
            tried.append(np.unique([*edges, *(0.5 * (edges[1:] + edges[:-1]))]))
        if np.prod([float(len(values)) for values in tried]) * len(terms) > _MOST_TRIED:
            return int(terms.sum()), len(terms)
        met = [self.find_boxes(np.array(values)) for values in product(*tried)]
        return max(int(terms[here].sum()) for here in met), max(int(here.sum()) for here in met)

    @property
    def lower(self) -> Array:
        return np.array([parameter.lower for parameter in self.family.parameters])

    @property
    def upper(self) -> Array:
        return np.array([parameter.upper for parameter in self.family.parameters])

    def slice(self, stored: Sequence[StoredColumn]) -> Slice:
        """Return the slice at the family's own values, as the C code computes it."""
        values, arrays, s, made = np.array(self.family.values), self.whole.arrays, self.theta, self.table(stored)
        met, counts = self.find_boxes(values), self.counts
        rows, boxes = np.zeros(len(counts), dtype=np.int64), np.zeros(len(counts), dtype=np.int64)
        found, first = np.zeros((self.largest[0], len(stored))), 0
        for number, leaf in enumerate(np.flatnonzero(met)):
            shape = int(made.leaf_shape[leaf])
            exponents, starts = np.array(made.shapes[shape])[:, s:], self.groups[shape]
            center, inverse = arrays.leaves_f[leaf, :, s:]
            weights = np.prod(((values - center) * inverse) ** exponents, axis=1)
            start = made.leaf_row[leaf]
            part = weights[:, None] * made.coefficients[start : start + len(exponents)]
            found[first : first + counts[leaf]] = np.add.reduceat(part, starts[:-1], axis=0)
            rows[leaf], boxes[leaf] = first, number
            first += int(counts[leaf])
        return Slice(rows, boxes, found)
