"""Search for the largest errors of a fit, which climbs from the worst of many points to the peaks of the error.

Errors of fits peak on small parts of a box: on faces, edges and corners, and between the samples. Points drawn
uniformly meet the slopes of a peak, hardly ever its top. A polynomial of degree n leaves an error that oscillates n + 1
times along each axis, evenly in φ = arccos ξ, with ξ from -1 to 1 over the box [Trefethen 2013]. So the search takes
steps in φ, in fractions of half an oscillation, π/(2n + 2):

1. the corners of the region; corners and edges of the boxes of the worst points; those points moved onto the
   faces next to them
2. three rounds, each with half the step of the one before. From the best points of each family steps are taken to
   both sides along every axis; then one to the top of the parabolas through the three values along each axis.

Every point is used for every family, so a point that climbs for one may find a larger error of another. The results are
errors of the fit at known points: none is larger than the largest error in the region.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.approximation.evaluated import Placed
from supple.approximation.fits.scattered_fit import halton_points
from supple.approximation.piecewise.piecewise import NOWHERE, Piecewise
from supple.array_types import Array, Integers

Compared = Callable[[Array], tuple[NDArray[np.bool_], dict[str, Array]]]
"""Points (N, s) to whether the function exists at each, and the errors of each family at those where it does."""

_INSIDE = 1.0 - 1e-9  # of half a box: a face is known to rounding only
_STARTS, _CLIMBERS = 3, (4, 3, 2)  # points of each family that are moved onto faces; that climb, round by round
_SWEPT = 3  # one of so many points lies on edges of boxes
_STEP = 0.5  # of half an oscillation, in the first round
_FACES = 3  # faces onto each of which a point is moved
_APART = 1.5  # in halves of an oscillation: distance within which two points share a peak
_FARTHEST = 2.0  # in steps: farthest top of a parabola
_ALONE = 60  # worst points of a family among which separate peaks are sought
_CORNERS = 64  # largest number of corners evaluated


class Peaks(NamedTuple):
    """Points (N, s) that a search has evaluated, and the error of each family there (N,)."""

    points: Array
    errors: dict[str, Array]


class _Places(NamedTuple):
    """Points within their boxes: φ (N, s), centers and half widths (N, s), and half an oscillation in φ (N, 1)."""

    phi: Array
    center: Array
    half: Array
    width: Array

    def shift(self, step: Array | float) -> Array:
        """Return x (N, s) at φ + step. A step beyond a face leads back, as cos does."""
        return self.center + self.half * np.clip(np.cos(self.phi + step), -_INSIDE, _INSIDE)

    def on_faces(self, near: NDArray[np.bool_]) -> Array:
        """Return x (N, s) with some coordinates (N, s) moved to the nearest faces."""
        unit = np.cos(self.phi)
        return self.center + self.half * np.where(near, np.sign(unit) * _INSIDE, unit)


class PeakSearch:
    """Search for the peaks of the error of a fit.

    known    : points (N, s) at which the errors of each family are known, `errors` (N,)
    compared : function that returns errors at further points
    most     : largest number of points to evaluate
    placed   : map to cheaper points that are evaluated instead
    """

    def __init__(
        self,
        piecewise: Piecewise,
        known: Array,
        errors: Mapping[str, Array],
        compared: Compared,
        most: int,
        placed: Placed | None = None,
    ):
        self._piecewise, self._compared, self._most, self._placed = piecewise, compared, most, placed
        self._points, self._errors, self._drawn = known, dict(errors), len(known)
        self._row: dict[bytes, int] = {}
        self.evaluations = 0

    def run(self) -> Peaks:
        """Run the search, and return the evaluated points."""
        self._evaluate(np.vstack([self._on_faces(_STARTS), self._boxes()]))
        for n, climbers in enumerate(_CLIMBERS):
            remaining = (self._most - self.evaluations) // (len(_CLIMBERS) - n)
            self._climb(climbers, _STEP * 0.5**n, remaining, n)
            if n == 0:
                self._evaluate(self._on_faces(_STARTS))
        own = slice(self._drawn, None)
        return Peaks(self._points[own], {name: error[own] for name, error in self._errors.items()})

    def _evaluate(self, points: Array) -> Integers:
        """Evaluate the new ones of the points (N, s); return the row of each, or -1 if it is not available."""
        points = points if self._placed is None else self._placed(points)
        inside = self._piecewise.locate(points) != NOWHERE
        keys = [point.tobytes() for point in np.ascontiguousarray(points)]
        new = [n for key, n in dict(zip(reversed(keys), reversed(range(len(keys))), strict=True)).items()
               if inside[n] and key not in self._row]  # fmt: skip
        new = sorted(new)[: max(0, self._most - self.evaluations)]
        if new:
            valid, errors = self._compared(points[new])
            rows = np.where(valid, len(self._points) + np.cumsum(valid) - 1, -1)
            self._row |= {keys[n]: int(row) for n, row in zip(new, rows, strict=True)}
            self.evaluations += len(new)
            if valid.any():
                self._points = np.vstack([self._points, points[new][valid]])
                self._errors = {name: np.concatenate([error, errors[name]]) for name, error in self._errors.items()}
        return np.array([self._row.get(key, -1) for key in keys], dtype=np.int64)

    def _places(self, rows: list[int]) -> _Places:
        arrays, points = self._piecewise.arrays, self._points[rows]
        leaf = self._piecewise.locate(points)
        center, half = arrays.leaves_f[leaf, 0], 1.0 / arrays.leaves_f[leaf, 1]
        phi = np.arccos(np.clip((points - center) / half, -1.0, 1.0))
        return _Places(phi, center, half, np.pi / (2.0 * arrays.leaves_i[leaf, 2:].astype(float) + 2.0))

    def _best(self, name: str, count: int) -> list[int]:
        """Return the rows of the largest errors of a family, each at a peak of its own."""
        error = self._errors[name]
        few = np.argpartition(-error, min(_ALONE, len(error)) - 1)[:_ALONE]
        few = few[np.argsort(-error[few], kind="stable")]
        places, chosen = self._places(few.tolist()), list[int]()
        free = np.ones(len(few), dtype=bool)
        while len(chosen) < count and free.any():
            n = int(np.argmax(free))
            chosen.append(int(few[n]))
            near = np.abs(places.phi - places.phi[n]).max(axis=1) <= _APART * places.width[n]
            free &= ~(near & (places.center == places.center[n]).all(axis=1))
            free[n] = False
        return chosen

    def _on_faces(self, count: int) -> Array:
        """Return the worst points of each family moved onto the nearest faces, one by one and onto several at once."""
        starts = list(dict.fromkeys(n for name in self._errors for n in self._best(name, count)))
        places = self._places(starts)
        size = np.abs(np.cos(places.phi))
        rank = np.argsort(np.argsort(-size, axis=1, kind="stable"), axis=1)  # 0: the coordinate closest to a face
        near = [rank == 0, size > 0.8, *(rank == k for k in range(1, min(_FACES, size.shape[1]))), size > 0.5]
        return np.vstack([places.on_faces(item) for item in near])

    def _boxes(self) -> Array:
        """Return corners and edges of the boxes of the worst points, and corners of the region."""
        worst = self._places(list(dict.fromkeys(self._best(name, 1)[0] for name in self._errors)))
        lower, upper = self._piecewise.arrays.roots_f.swapaxes(0, 1)
        return np.vstack([
            _corners(worst.center, worst.half),
            _edges(worst.center, worst.half, self._most // _SWEPT),
            _corners(0.5 * (lower + upper), 0.5 * (upper - lower)),
        ])  # fmt: skip

    def _climb(self, climbers: int, share: float, most: int, turn: int) -> None:
        """Run one round from the best points of each family, with a step of that share of half an oscillation.

        most : points of the round; if they do not suffice for every axis, some axes are used, others in each turn
        """
        s = self._points.shape[1]
        climbers = max(1, min(climbers, most // ((2 * s + 1) * len(self._errors))))
        starts = [(name, row) for name in self._errors for row in self._best(name, climbers)]
        rows = list(dict.fromkeys(row for _, row in starts))
        count = min(s, max(1, most // (2 * len(rows)) - 1))
        axes = (turn * count + np.arange(count)) % s
        places = self._places(rows)
        steps = share * places.width * np.ones(s)
        sides = [places.shift(sign * steps * (np.arange(s) == i)) for i in axes for sign in (-1.0, 1.0)]
        found = self._evaluate(np.vstack(sides)).reshape(count, 2, len(rows))
        shift = np.zeros((len(starts), s))
        at = [rows.index(row) for _, row in starts]
        for n, (name, row) in enumerate(starts):
            error = self._errors[name]
            below, above = (np.where(ends >= 0, error[ends], error[row]) for ends in found[:, :, at[n]].T)
            shift[n, axes] = _tops(below, float(error[row]), above)
        self._evaluate(_Places(*(item[at] for item in places)).shift(shift * steps[at]))


def _tops(below: Array, here: float, above: Array) -> Array:
    """Return where parabolas through three values at -1, 0 and 1 are largest, within a few steps."""
    bend, slope = below - 2.0 * here + above, 0.5 * (above - below)
    top = -slope / np.where(bend < 0.0, bend, -1.0)
    uphill = np.where(np.maximum(below, above) > here, np.where(slope < 0.0, -_FARTHEST, _FARTHEST), 0.0)
    return np.clip(np.where(bend < 0.0, top, uphill), -_FARTHEST, _FARTHEST)


def _edges(center: Array, half: Array, count: int) -> Array:
    """Return points (N, s) on edges of boxes and on planes between them, just inside, `count` in all.

    There are none for an interval.
    """
    s = center.shape[1]
    if s == 1:
        return np.zeros((0, 1))
    unit = np.sin(0.5 * np.pi * halton_points(s, max(1, count // len(center)), seed=13))
    rank = np.argsort(np.argsort(np.abs(unit), axis=1), axis=1)  # 0: the coordinate closest to the middle
    free = np.where(np.arange(len(unit)) % 3 == 2, min(2, s - 1), 1)  # two of three on edges, others on planes
    unit = np.where(rank < free[:, None], unit, np.sign(unit))
    return np.asarray((center[:, None] + _INSIDE * half[:, None] * unit).reshape(-1, s))


def _corners(center: Array, half: Array) -> Array:
    """Return corners (N, s) of boxes, just inside; a part of them if there are many."""
    s, each = center.shape[1], max(1, _CORNERS // len(center))
    if 2**s <= each:
        ends = np.array(list(product((-1.0, 1.0), repeat=s)))
    else:
        ends = np.sign(halton_points(s, each, seed=7))
    return np.asarray((center[:, None] + _INSIDE * half[:, None] * ends).reshape(-1, s))
