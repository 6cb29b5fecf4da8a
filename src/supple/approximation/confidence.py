"""Confidence of a stated error, which is measured on fresh points drawn after the last refinement.

Of n points drawn uniformly and independently in the region, let B be the largest error of a family. The share of the
region in which the error is larger than B exceeds p with probability (1 - p)^n, whatever the distribution of the error
[Wilks 1941, one-sided]. For F families at once, by Bonferroni's inequality:

    P(some family is above its B on more than a share p) <= F (1 - p)^n = α,     n = ln(F/α) / -ln(1 - p)

With p = 0.1 % and α = 5 %: n = 2995 for one family, 4603 for five, 5989 for twenty. Points to which the fit was refined
do not count, because their errors were reduced. When a check finds an error above the tolerance, the fit is refined and
another set of points is drawn.

Errors of fits peak on small parts of faces and edges. The largest error of n points is then a matter of chance, and
another point may have a much larger one. So a search climbs from the worst check points to the peaks (`error_peaks`).
The stated error is the largest one that was found, S, at a check point or at a peak, plus a twentieth, since the median
of ‖f‖ that errors are relative to is known from n points only:

    ε = 1.05 S,     S >= B

S is an error of the fit at a known point, so ε is at most 1.05 times the largest error in the region.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from supple.approximation.error_peaks import Peaks, PeakSearch
from supple.approximation.evaluated import Derived, FamilyError, Placed, Sampler
from supple.approximation.fit_error import norms
from supple.approximation.piecewise.piecewise import NOWHERE, Piecewise
from supple.array_types import Array
from supple.diagnostics import NumericalError

SHARE, CONFIDENCE = 1e-3, 0.95
GUARD = 1.05  # ratio of the stated error to the largest error found
_SEARCHED = 10  # check points per point of the search for peaks
_AT_LEAST = 4  # points of the search for each family, at least
_AT_FIRST = 16  # the search first runs after this fraction (1/16) of a set
_TOGETHER = 1024  # points whose families are in memory at a time
_STREAM = 0xC4EC  # of random numbers, so that no other set of points with the same seed is the same
_TIMED = 64  # points that are timed
_LONGEST, _FEWER = 30.0, (1000, 300)  # s of processor for a set, and numbers of points if it would take longer
_ROUNDS = 8  # largest number of sets of check points; refinement then ends with the error it has


class Fit(Protocol):
    """A fit that has a piecewise polynomial, such as a `Forest`."""

    def piecewise(self) -> Piecewise: ...


class Stated(NamedTuple):
    """Confidence of the stated errors.

    points  : points in the last set of check points; with the confidence, they bound the `share` of the region in which
              a family may exceed its stated error, for all families at once
    sets    : number of sets of check points, one after each refinement
    invalid : points of the last set where the function does not exist
    """

    points: int
    share: float
    confidence: float
    sets: int
    invalid: int


class Checked(NamedTuple):
    """Results of one set of check points.

    points  : (n, s)
    valid   : whether the function exists there
    errors  : error of each family at the valid points
    scales  : norm of each family that errors are relative to at least
    floors  : floor of each family
    medians : median of ‖f‖ of each family; the scale is the larger of the two
    peaks   : points found by the search for peaks, and their errors
    """

    points: Array
    valid: NDArray[np.bool_]
    errors: dict[str, Array]
    scales: dict[str, float]
    floors: dict[str, float]
    medians: dict[str, float]
    peaks: Peaks

    def state_error(self, name: str) -> float:
        """Return the stated error ε of a family."""
        return GUARD * float(max(self.errors[name].max(), self.peaks.errors[name].max(initial=0.0)))

    @property
    def worst(self) -> float:
        """Largest stated error of all families."""
        return max((self.state_error(name) for name in self.errors), default=0.0)

    def family_errors(self) -> dict[str, FamilyError]:
        """Return the stated error of each family, and where it was found."""
        points, found = np.vstack([self.points[self.valid], self.peaks.points]), {}
        for name, error in self.errors.items():
            at = points[int(np.argmax(np.concatenate([error, self.peaks.errors[name]])))].copy()
            found[name] = FamilyError(
                self.state_error(name), at, self.medians[name], self.scales[name], self.floors[name], float(error.max())
            )
        return found


def points_needed(families: int, share: float = SHARE, confidence: float = CONFIDENCE) -> int:
    """Return the check points after which the largest errors bound that share of the region at that confidence."""
    return math.ceil(math.log(max(families, 1) / (1.0 - confidence)) / -math.log1p(-share))


def share_above(points: int, families: int, confidence: float = CONFIDENCE) -> float:
    """Return the share of the region in which a family may exceed the largest error of so many points."""
    if points == 0:
        return 1.0
    return -math.expm1(math.log((1.0 - confidence) / max(families, 1)) / points)


class Confirmation:
    """Check points of a fit, one set after the other.

    count  : points of a set; None: as many as `points_needed`, or 1000 or 300 where these would take more than 30 s of
             processor; a set is as large as the first one
    placed : map of the points of a set, and `near` of those of a search for peaks, to cheaper points, see `Placed`
    """

    def __init__(
        self,
        sampler: Sampler,
        derived: Derived,
        count: int | None,
        seed: int = 0,
        placed: Placed | None = None,
        near: Placed | None = None,
    ):
        self._sampler, self._derived, self._count, self._seed = sampler, derived, count, seed
        self._placed, self._near = placed, near
        self.sets = self.evaluations = 0
        self.checked: Checked | None = None
        self.current = False
        """Whether the last set is complete and was drawn for the present fit."""

    @property
    def exhausted(self) -> bool:
        """Whether no further set may be drawn."""
        return self.sets >= _ROUNDS

    def size(self, families: int, each: float = 0.0) -> int:
        """Return the points in a set, for so many families and seconds per point."""
        if self._count is not None:
            return self._count
        needed = points_needed(families)
        return next((count for count in (needed, *_FEWER) if count * each <= _LONGEST), _FEWER[-1])

    def look(
        self, forest: Fit, floors: Mapping[str, float], relative: Iterable[str], tolerance: float = math.inf
    ) -> Checked:
        """Draw another set for a fit, and compare.

        floors    : norms of all families below which they are not judged
        relative  : families judged by their own size
        tolerance : where errors are above it, a part of the set is enough
        """
        piecewise = forest.piecewise()
        rng = np.random.default_rng((self._seed, self.sets, _STREAM))
        points = self._draw_points(piecewise, self.size(len(floors)), rng)
        found, spent = [], []
        for few in (points[:_TIMED], points[_TIMED : 2 * _TIMED]):  # the first includes the loading of kernels
            start = time.process_time()  # processor time of this process, independent of others
            found.append(self._compare_fit(piecewise, few))
            spent.append(time.process_time() - start)
        if self._count is None:
            self._count = self.size(len(floors), min(spent) / _TIMED)
        points = points[: self._count]
        self.sets += 1
        visited: dict[bytes, _Norms] = {}
        parts = (len(points) // _AT_FIRST, len(points)) if math.isfinite(tolerance) else (len(points),)
        for stop in parts:
            known = sum(len(part.valid) for part in found)
            if stop > known:
                found.append(self._compare_fit(piecewise, points[known:stop]))
            checked = self._judge_points(piecewise, points, _join_norms(found), floors, relative, visited)
            if checked.worst > tolerance or not checked.valid.all():
                break
        self.evaluations += len(checked.points) + len(visited)
        self.checked, self.current = checked, len(checked.points) == len(points)
        return checked

    def _judge_points(
        self,
        piecewise: Piecewise,
        points: Array,
        found: _Norms,
        floors: Mapping[str, float],
        relative: Iterable[str],
        visited: dict[bytes, _Norms],
    ) -> Checked:
        """Return errors at the first points, which were compared, and at the peaks next to the worst of them.

        visited : points that the search has visited, and the norms there; more are added
        """
        compared = points[: len(found.valid)]
        if not found.valid.any():
            raise NumericalError(
                f"the function exists at none of {len(compared)} check points of the region",
                hint="choose another region",
            )
        medians = {name: float(np.median(size)) for name, size in found.sizes.items()}
        scales = {name: max(median, floors[name]) for name, median in medians.items()}
        scales |= dict.fromkeys(relative, float(np.finfo(float).tiny))
        errors = found.errors(scales)

        def further(x: Array) -> tuple[NDArray[np.bool_], dict[str, Array]]:
            keys = [point.tobytes() for point in np.ascontiguousarray(x)]
            new = [n for n, key in enumerate(keys) if key not in visited]
            if new:
                visited.update(zip((keys[n] for n in new), self._compare_fit(piecewise, x[new]).each(), strict=True))
            there = _join_norms([visited[key] for key in keys])
            return there.valid, there.errors(scales)

        most = max(len(points) // _SEARCHED, _AT_LEAST * len(errors))
        peaks = PeakSearch(piecewise, compared[found.valid], errors, further, most, self._near).run()
        return Checked(compared, found.valid, errors, scales, dict(floors), medians, peaks)

    def _draw_points(self, piecewise: Piecewise, count: int, rng: np.random.Generator) -> Array:
        points = uniform_points(piecewise, count, rng)
        if self._placed is None:
            return points
        points = self._placed(points)
        return points[piecewise.locate(points) != NOWHERE]

    def state_confidence(self) -> Stated:
        """Return the confidence of the stated errors from the last set of check points."""
        assert self.checked is not None
        good, families = int(self.checked.valid.sum()), len(self.checked.errors)
        return Stated(good, share_above(good, families), CONFIDENCE, self.sets, len(self.checked.valid) - good)

    def _compare_fit(self, piecewise: Piecewise, points: Array) -> _Norms:
        """Return ‖f‖ and ‖f - f̂‖ of each family."""
        parts = []
        for start in range(0, len(points), _TOGETHER):
            here = points[start : start + _TOGETHER]
            found = self._sampler(here)
            fitted = self._derived(*piecewise.with_gradient(here[found.valid]))
            exact = {name: family[found.valid] for name, family in found.families.items()}
            sizes = {name: norms(family) for name, family in exact.items()}
            differences = {name: norms(fitted[name] - family) for name, family in exact.items()}
            parts.append(_Norms(found.valid, sizes, differences))
        return _join_norms(parts)


class _Norms(NamedTuple):
    """Whether the function exists at some points (N,), and ‖f‖ and ‖f - f̂‖ of each family where it does."""

    valid: NDArray[np.bool_]
    sizes: dict[str, Array]
    differences: dict[str, Array]

    def errors(self, scales: Mapping[str, float]) -> dict[str, Array]:
        """Return e = ‖f - f̂‖ / max(‖f‖, scale) of every family."""
        return {name: off / np.maximum(self.sizes[name], scales[name]) for name, off in self.differences.items()}

    def each(self) -> Iterator[_Norms]:
        """Yield the norms point by point."""
        stop = 0
        for valid in self.valid:
            here = slice(stop, stop + int(valid))
            stop = here.stop
            sizes, differences = (
                {name: item[here] for name, item in part.items()} for part in (self.sizes, self.differences)
            )
            yield _Norms(np.array([valid]), sizes, differences)


def _join_norms(parts: Sequence[_Norms]) -> _Norms:
    if not parts:
        return _Norms(np.zeros(0, dtype=bool), {}, {})
    names = list(dict.fromkeys(name for part in parts for name in part.sizes))
    sizes, differences = (
        {name: np.concatenate([item[name] for item in some if name in item]) for name in names}
        for some in ([part.sizes for part in parts], [part.differences for part in parts])
    )
    return _Norms(np.concatenate([part.valid for part in parts]), sizes, differences)


def uniform_points(piecewise: Piecewise, count: int, rng: np.random.Generator) -> Array:
    """Return random points (count, s) of the fitted part of the region, uniform by volume."""
    center, half = piecewise.arrays.leaves_f[:, 0], 1.0 / piecewise.arrays.leaves_f[:, 1]
    lower, upper = center - half, center + half
    volume = np.prod(upper - lower, axis=1)
    chosen = rng.choice(len(volume), size=count, p=volume / volume.sum())
    inside = rng.uniform(1e-9, 1.0 - 1e-9, (count, lower.shape[1]))  # faces are known to rounding only
    return np.asarray(lower[chosen] + inside * (upper - lower)[chosen])
