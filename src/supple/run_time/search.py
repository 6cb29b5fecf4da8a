"""Search for run-time forms: for each set of terms, the coarsest grid of boxes whose error is below a target.

Forms with the terms of degree d on boxes n_1 × ... × n_s have errors that fall like n_i^-d along each axis, because
forces follow from slopes. Surrogate and form along lines of the region give the lengths ℓ_i = e_i^(1/d) of the axes,
with e_i the error of one box. Grids n_i = round(λ ℓ_i) are tried with rising λ, then smaller ones next to the first
that suffices. A grid is fitted in some of its boxes only: corners of the region, where errors are largest, and
scattered ones.

Boxes whose error is above the target are fitted again with other weights. A node weighs more the larger the error
there, w ← w e/max e [Lawson 1961], so that least squares approach the smallest largest error.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import product
from math import prod
from typing import NamedTuple

import numpy as np

from supple.approximation.fits.chebyshev_products import Indices
from supple.approximation.fits.scattered_fit import halton_points
from supple.approximation.piecewise.piecewise import Piecewise
from supple.array_types import Array, Integers
from supple.run_time.grid_fit import Counts, GridFit, grid_piecewise
from supple.run_time.run_time_error import SurrogateError

MOST_BOXES = 4096
_PROBED = 48  # boxes of a grid that are fitted in a search
_CORNERS = 16  # of those, corners of the region
_TRIMMED = 24  # of those, boxes by which terms are left out
_ROUNDS = 12  # repeated fits of a box
_LEAST = 1e-3  # smallest weight, of the largest
_CLOSE = 0.995  # of the target, at which repeated fits end
_LINES, _ALONG = 12, 16  # lines along each axis, and points of each
_GROWTH = 0.08  # of the fineness, from one grid to the next


class Errors(NamedTuple):
    """Largest ratio of an error to its target, and largest error of each family."""

    ratio: float
    families: dict[str, float]


class GridFound(NamedTuple):
    """A grid, its errors in the probed boxes, and whether these are below the target."""

    counts: Counts
    errors: Errors
    met: bool


class FormSearch:
    """Fits of one surrogate on grids, judged by targets for each family."""

    def __init__(self, fits: GridFit, judge: SurrogateError) -> None:
        self.fits, self.judge = fits, judge
        self._shapes: dict[int, Array] = {}

    # ------------------------------------------------------------------ fits of boxes

    def _families(self, data: Array, half: Array) -> dict[str, Array]:
        """Return the families at the nodes of one box from values and slopes there (P (1 + s), t)."""
        s = len(half)
        parts = data.reshape(1 + s, -1, data.shape[1])
        return self.judge.families(parts[0], np.moveaxis(parts[1:] / half[:, None, None], 0, -1))

    def _ratios(
        self, exact: Mapping[str, Array], c: Array, half: Array, indices: Indices, target: Mapping[str, float]
    ) -> tuple[Array, dict[str, float]]:
        """Return the largest ratio of error to target at each node (P,), and the largest error of each family."""
        errors = self.judge.relative(exact, self._families(self.fits.unit(indices).terms @ c, half))
        ratio = np.max([errors[name] / target[name] for name in errors], axis=0)
        return ratio, {name: float(error.max()) for name, error in errors.items()}

    def fit_boxes(
        self, centers: Array, half: Array, indices: Indices, target: Mapping[str, float], *, stop: bool = False
    ) -> tuple[Array, Errors]:
        """Return coefficients (boxes, terms, t) of some boxes, and their errors at the nodes.

        stop : end with the first box that misses the target
        """
        count = len(centers)
        found = np.empty((count, len(indices), self.fits.surrogate.outputs))
        worst: dict[str, float] = dict.fromkeys(target, 0.0)
        largest = 0.0
        for part in self.fits.batches(count, indices):
            data = self.fits.data(centers[part], half, indices)
            found[part] = self.fits.from_data(data, indices)
            for place, box in zip(range(part.start, part.stop), data, strict=True):
                exact = self._families(box, half)
                ratio, errors = self._ratios(exact, found[place], half, indices, target)
                if ratio.max() > 1.0:
                    found[place], ratio, errors = self._weighted(box, exact, half, indices, target, found[place])
                largest = max(largest, float(ratio.max()))
                worst = {name: max(worst[name], errors[name]) for name in worst}
                if stop and largest > 1.0:
                    return found, Errors(largest, worst)
        return found, Errors(largest, worst)

    def _weighted(
        self, data: Array, exact: Mapping[str, Array], half: Array, indices: Indices, target: Mapping[str, float],
        first: Array,
    ) -> tuple[Array, Array, dict[str, float]]:  # fmt: skip
        """Return the best fit of one box over repeated weightings of its nodes, from the fit before them."""
        ratio, errors = self._ratios(exact, first, half, indices, target)
        best = (first, ratio, errors)
        weight = np.ones(len(ratio))
        for _ in range(_ROUNDS):
            weight = weight * np.maximum(ratio / ratio.max(), _LEAST)
            weight = np.maximum(weight / weight.max(), _LEAST)
            c = self.fits.from_data(data[None], indices, weight)[0]
            ratio, errors = self._ratios(exact, c, half, indices, target)
            if ratio.max() < best[1].max():
                best = (c, ratio, errors)
            if best[1].max() <= _CLOSE:
                break
        return best

    # ------------------------------------------------------------------ grids

    def whole(self, counts: Counts, indices: Indices, target: Mapping[str, float]) -> Piecewise:
        """Return the fit in all boxes of a grid."""
        found, _ = self.fit_boxes(*self.fits.boxes(counts), indices, target)
        return grid_piecewise(self.fits.region, counts, indices, found)

    def probe(self, counts: Counts, indices: Indices, target: Mapping[str, float]) -> Errors:
        """Return the errors in some boxes of a grid, up to the first one that misses the target."""
        centers, half = self.fits.boxes(counts)
        return self.fit_boxes(centers[probed_boxes(counts)], half, indices, target, stop=True)[1]

    def lengths(self, degree: int) -> Array:
        """Return the lengths ℓ_i of the axes (s,) for polynomials of a degree, the largest one 1."""
        if degree not in self._shapes:
            self._shapes[degree] = self._measure_lengths(degree)
        return self._shapes[degree]

    def _measure_lengths(self, degree: int) -> Array:
        """Return ℓ_i from Chebyshev coefficients of the surrogate along lines: e_i = max Σ_{k>d} k² |c_k| / size."""
        region, s = self.fits.region, len(self.fits.region.lower)
        base = np.sin(0.5 * np.pi * halton_points(s, _LINES, 4))
        nodes = np.cos(np.pi * (np.arange(_ALONG) + 0.5) / _ALONG)
        orders = np.arange(_ALONG)
        transform = 2.0 / _ALONG * np.cos(np.outer(orders, np.arccos(nodes)))
        layout = self.judge.model.layout
        errors = np.full(s, 1e-12)
        for axis in range(s):
            points = np.repeat(base, _ALONG, axis=0)
            points[:, axis] = np.tile(nodes, _LINES)
            values = self.fits.sample(region.from_unit(points))[0].reshape(_LINES, _ALONG, -1)
            c = np.abs(np.einsum("kp,lpt->lkt", transform, values))
            tail = (orders[degree + 1 :, None] ** 2 * c[:, degree + 1 :]).sum(axis=1).max(axis=0)
            for name in ("M", "potential", "mass_slope", "force"):
                if name in layout.columns:
                    part = slice(*layout.columns[name])
                    change = (orders[1:, None] ** 2 * c[:, 1:, part]).sum(axis=1).max() or 1.0
                    errors[axis] = max(errors[axis], float(tail[part].max() / change))
        lengths = errors ** (1.0 / degree)
        return np.asarray(lengths / lengths.max())

    def smallest(
        self, degree: int, indices: Indices, target: Mapping[str, float], most: int, least: int = 1
    ) -> GridFound:
        """Return the coarsest grid found that meets the target in its probed boxes.

        least, most : smallest and largest number of boxes
        """
        lengths = self.lengths(degree)
        before: tuple[Counts, Errors] | None = None
        for counts in rising_grids(lengths, most):
            if prod(counts) < least or (before is not None and not self._promising(before, counts, degree)):
                continue
            errors = self.probe(counts, indices, target)
            if errors.ratio <= 1.0:
                return self._coarser(counts, errors, indices, target, least)
            before = (counts, errors)
        if before is None:
            counts = (1,) * len(lengths)
            before = counts, self.probe(counts, indices, target)
        return GridFound(*before, False)

    def trimmed(self, counts: Counts, indices: Indices, target: Mapping[str, float]) -> Indices:
        """Return the terms of a grid without those that the target does not need.

        The least important terms that divide no other one are removed first.
        """
        centers, half = self.fits.boxes(counts)
        centers = centers[probed_boxes(counts)][:_TRIMMED]
        order = self._removal_order(self.fit_boxes(centers, half, indices, target)[0], indices)
        kept, most = 0, len(order)
        while kept < most:  # bisection: the first `kept` terms of the order can be removed
            middle = (kept + most + 1) // 2
            fewer = _without(indices, order[:middle])
            if self.fit_boxes(centers, half, fewer, target, stop=True)[1].ratio <= 1.0:
                kept = middle
            else:
                most = middle - 1
        return _without(indices, order[:kept])

    def _removal_order(self, found: Array, indices: Indices) -> list[int]:
        """Return the terms above degree one in the order of removal, from the coefficients (boxes, terms, t)."""
        slopes = 1.0 + (indices**2).sum(axis=1)
        size = np.zeros(len(indices))
        for first, stop in self.judge.model.layout.columns.values():
            part = np.abs(found[:, :, first:stop]).max(axis=(0, 2)) * slopes
            size = np.maximum(size, part / (part[1:].max(initial=0.0) or 1.0))
        terms = {tuple(row): k for k, row in enumerate(indices.tolist())}
        order: list[int] = []
        while True:
            free = [k for term, k in terms.items() if sum(term) > 1 and not _divides_another(term, terms)]
            if not free:
                return order
            least = min(free, key=lambda k: size[k])
            order.append(least)
            del terms[tuple(indices[least].tolist())]

    @staticmethod
    def _promising(before: tuple[Counts, Errors], counts: Counts, degree: int) -> bool:
        """Return whether a finer grid may meet the target, with an error that falls with twice the order."""
        finer = max(new / old for new, old in zip(counts, before[0], strict=True))
        return before[1].ratio * finer ** (-2.0 * degree) <= 1.0

    def _coarser(
        self, counts: Counts, errors: Errors, indices: Indices, target: Mapping[str, float], least: int
    ) -> GridFound:
        """Return the coarsest grid below one that meets the target, with single axes less divided."""
        for axis in sorted(range(len(counts)), key=lambda i: -counts[i]):
            while counts[axis] > 1:
                fewer = tuple(n - (i == axis) for i, n in enumerate(counts))
                found = self.probe(fewer, indices, target) if prod(fewer) >= least else None
                if found is None or found.ratio > 1.0:
                    break
                counts, errors = fewer, found
        return GridFound(counts, errors, True)


def _divides_another(term: tuple[int, ...], terms: Container[tuple[int, ...]]) -> bool:
    """Return whether a term of a lower set has another one above it."""
    return any((*term[:i], n + 1, *term[i + 1 :]) in terms for i, n in enumerate(term))


def _without(indices: Indices, removed: Sequence[int]) -> Indices:
    """Return the multi-indices without some."""
    return np.delete(indices, list(removed), axis=0)


def rising_grids(lengths: Array, most: int) -> Iterator[Counts]:
    """Yield grids n_i = round(λ ℓ_i), at least 1, with rising λ and at most `most` boxes."""
    last: Counts | None = None
    step = 0.0
    while True:
        step += max(0.5, _GROWTH * step)
        counts = tuple(np.maximum(1, np.floor(step * lengths + 0.5)).astype(int).tolist())
        if prod(counts) > most:
            return
        if counts != last:
            yield counts
        last = counts


def probed_boxes(counts: Counts) -> Integers:
    """Return the indices of the boxes of a grid that a search fits: all of a small one, else some, corners first."""
    total = prod(counts)
    if total <= _PROBED:
        return np.arange(total, dtype=np.int64)
    s = len(counts)
    ends = np.array(list(product((0.0, 1.0), repeat=s))) if 2**s <= _CORNERS else None
    corners = 0.5 * (1.0 + np.sign(halton_points(s, _CORNERS, 6))) if ends is None else ends
    unit = np.vstack([corners, 0.5 * (1.0 + halton_points(s, _PROBED, 7))])
    cells = np.minimum((unit * np.array(counts)).astype(int), np.array(counts) - 1)
    flat = np.ravel_multi_index(tuple(cells.T), counts)
    return np.array(list(dict.fromkeys(flat.tolist()))[:_PROBED], dtype=np.int64)
