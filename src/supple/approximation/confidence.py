"""How far a stated error can be trusted: it is measured on fresh points, drawn after the last refinement.

Of n points drawn uniformly and independently in the region, let B be the largest error of a family. The share of the
region in which the error is larger than B exceeds p with probability (1 - p)^n, whatever the distribution of the error
[Wilks 1941, one-sided]. For F families at once, by Bonferroni's inequality:

    P(some family is above its B on more than a share p) <= F (1 - p)^n = α,     n = ln(F/α) / -ln(1 - p)

With p = 0.1 % and α = 5 %: n = 2995 for one family, 4604 for five, 5991 for twenty. Points on which the fit was refined
do not count: their errors were made small. When a check finds an error above the tolerance, the fit is refined and
another set of points is drawn.

Errors of fits peak on small parts of faces and edges. The largest of n points is then a matter of luck, and a later one
may be far above it. So two more numbers are taken into account: the typical largest error T of n points, from the
eleven largest of them as if the tail were exponential,

    T = e_(k+1) + a (ln k + 0.577),     a = Σ_(i<=k) (e_i - e_(k+1)) / k,     e_1 >= e_2 >= ...,     k = 10

and the height S of the highest peak, which a search from the worst check points, towards faces and around them, finds.
The stated error is

    ε = max(1.06 B, min(S/1.15, 1.3 T))
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.approximation.fit_error import norms
from supple.approximation.piecewise.piecewise import NOWHERE, Piecewise
from supple.approximation.refinement.box_tree import Forest
from supple.approximation.samples import Derived, FamilyError, Placed, Sampler
from supple.diagnostics import NumericalError

Array = NDArray[np.float64]

SHARE, CONFIDENCE = 1e-3, 0.95
GUARD = 1.06  # times the largest error of check points: what is stated at least
_OF_TYPICAL = 1.3  # times the typical largest error: what is stated for the sake of a peak
_TAIL = 10  # errors by which the tail is known
_OF_PEAK = 1.15  # a peak may be so many times the stated error
_SEARCHED = 8  # points of the search for peaks, of all families: one for so many check points
_AROUND = 5  # points around a check point, beside those on the faces next to it
_RADIUS = 0.15  # of half a box
_INSIDE = 1.0 - 1e-9  # of half a box: a face is only known to rounding
_TOGETHER = 1024  # points whose families are in memory at a time
_STREAM = 0xC4EC  # of random numbers, so that no other set of points with the same seed is the same
_NONE: Array = np.zeros(0)
_TIMED = 64  # points by which it is known how long one takes
_LONGEST, _FEWER = 30.0, (1000, 300)  # s of processor for a set, and points where it would take longer
_ROUNDS = 8  # sets of check points, at most: refinement that still finds errors above the tolerance ends with them


class Stated(NamedTuple):
    """What is known of the stated errors.

    points  : in the last set of check points; with the confidence, they bound the `share` of the region in which a
              family may be above its stated error, all families at once
    sets    : of check points that were drawn, one after each refinement
    invalid : points of the last set where the function does not exist
    """

    points: int
    share: float
    confidence: float
    sets: int
    invalid: int


class Checked(NamedTuple):
    """One set of check points (n, s), and whether the function exists there; of each family its error at those where
    it does, what errors are measured against where ‖f‖ is smaller, the floor and the median of ‖f‖ that this is the
    larger of, the height of its highest peak, and the points (k, s) of all peaks."""

    points: Array
    valid: NDArray[np.bool_]
    errors: dict[str, Array]
    scales: dict[str, float]
    floors: dict[str, float]
    medians: dict[str, float]
    peaks: dict[str, float]
    peak_points: Array

    def stated(self, name: str) -> float:
        """ε of a family."""
        error, peak = self.errors[name], self.peaks[name]
        typical = min(_typical_largest(error), peak)
        return max(GUARD * float(error.max()), min(peak / _OF_PEAK, _OF_TYPICAL * typical))

    @property
    def worst(self) -> float:
        """The largest stated error of all families."""
        return max((self.stated(name) for name in self.errors), default=0.0)

    def family_errors(self) -> dict[str, FamilyError]:
        """The stated error of each family, and where the largest one was seen."""
        points, found = self.points[self.valid], {}
        for name, error in self.errors.items():
            at = points[int(np.argmax(error))].copy()
            found[name] = FamilyError(
                self.stated(name), at, self.medians[name], self.scales[name], self.floors[name], float(error.max())
            )
        return found


def points_needed(families: int, share: float = SHARE, confidence: float = CONFIDENCE) -> int:
    """Check points after which the largest error of each of so many families bounds that share at that confidence."""
    return math.ceil(math.log(max(families, 1) / (1.0 - confidence)) / -math.log1p(-share))


def share_above(points: int, families: int, confidence: float = CONFIDENCE) -> float:
    """The share of the region in which a family may be above the largest error of so many points."""
    if points == 0:
        return 1.0
    return -math.expm1(math.log((1.0 - confidence) / max(families, 1)) / points)


class Confirmation:
    """Check points of a fit, one set after the other.

    count  : points of a set; None: as many as `points_needed`, or 1000 or 300 where these would take more than 30 s
             of processor;
             a set is as large as the first one
    placed : see `Placed`
    """

    def __init__(
        self, sampler: Sampler, derived: Derived, count: int | None, seed: int = 0, placed: Placed | None = None
    ):
        self._sampler, self._derived, self._count, self._seed, self._placed = sampler, derived, count, seed, placed
        self.sets = self.evaluations = 0
        self.checked: Checked | None = None
        self.current = False
        """Whether the last set was drawn for the fit as it is now."""

    @property
    def exhausted(self) -> bool:
        """Whether refinement after this set would be one too many."""
        return self.sets >= _ROUNDS

    def size(self, families: int, each: float = 0.0) -> int:
        """Points in a set, for so many families; each takes so many s."""
        if self._count is not None:
            return self._count
        needed = points_needed(families)
        return next((count for count in (needed, *_FEWER) if count * each <= _LONGEST), _FEWER[-1])

    def look(self, forest: Forest, floors: Mapping[str, float], relative: Iterable[str]) -> Checked:
        """Draw another set for a forest, and compare.

        floors : norms of all families below which they do not count; relative : families judged by their own size
        """
        piecewise = forest.piecewise()
        rng = np.random.default_rng((self._seed, self.sets, _STREAM))
        points = self._drawn(piecewise, self.size(len(floors)), rng)
        found, spent = [], []
        for few in (points[:_TIMED], points[_TIMED : 2 * _TIMED]):  # reading compiled kernels does not count
            start = time.process_time()  # of this process: what else runs on the machine has no say
            found.append(self._compared(piecewise, few))
            spent.append(time.process_time() - start)
        if self._count is None:
            self._count = self.size(len(floors), min(spent) / _TIMED)
        points = points[: self._count]
        found.append(self._compared(piecewise, points[2 * _TIMED :]))
        valid = np.concatenate([part[0] for part in found])
        sizes = {name: np.concatenate([part[1].get(name, _NONE) for part in found]) for name in floors}
        differences = {name: np.concatenate([part[2].get(name, _NONE) for part in found]) for name in floors}
        if not valid.any():
            raise NumericalError(
                f"the function exists at none of {len(points)} check points of the region", hint="choose another region"
            )
        medians = {name: float(np.median(size)) for name, size in sizes.items()}
        scales = {name: max(median, floors[name]) for name, median in medians.items()}
        scales |= dict.fromkeys(relative, float(np.finfo(float).tiny))
        errors = _errors(sizes, differences, scales)
        peaks, places = self._peaks(piecewise, points[valid], errors, scales, rng)
        self.sets += 1
        self.evaluations += len(points)
        self.checked = Checked(points, valid, errors, scales, dict(floors), medians, peaks, places)
        self.current = True
        return self.checked

    def _drawn(self, piecewise: Piecewise, count: int, rng: np.random.Generator) -> Array:
        points = uniform_points(piecewise, count, rng)
        if self._placed is None:
            return points
        points = self._placed(points)
        return points[piecewise.locate(points) != NOWHERE]

    def stated(self) -> Stated:
        """Stated errors from the last set of check points."""
        assert self.checked is not None
        good, families = int(self.checked.valid.sum()), len(self.checked.errors)
        return Stated(good, share_above(good, families), CONFIDENCE, self.sets, len(self.checked.valid) - good)

    def _compared(
        self, piecewise: Piecewise, points: Array
    ) -> tuple[NDArray[np.bool_], dict[str, Array], dict[str, Array]]:
        """Where the function exists; of each family ‖f‖ and ‖f - f̂‖ there."""
        valid: list[NDArray[np.bool_]] = []
        sizes: dict[str, list[Array]] = {}
        differences: dict[str, list[Array]] = {}
        for start in range(0, len(points), _TOGETHER):
            here = points[start : start + _TOGETHER]
            found = self._sampler(here)
            valid.append(found.valid)
            fitted = self._derived(*piecewise.with_gradient(here[found.valid]))
            for name, family in found.families.items():
                exact = family[found.valid]
                sizes.setdefault(name, []).append(norms(exact))
                differences.setdefault(name, []).append(norms(fitted[name] - exact))
        exists = np.concatenate(valid) if valid else np.zeros(0, dtype=bool)
        joined = [{name: np.concatenate(parts) for name, parts in item.items()} for item in (sizes, differences)]
        return exists, joined[0], joined[1]

    def _peaks(
        self,
        piecewise: Piecewise,
        points: Array,
        errors: Mapping[str, Array],
        scales: Mapping[str, float],
        rng: np.random.Generator,
    ) -> tuple[dict[str, float], Array]:
        """The highest error of each family that a search from its worst points finds, and the points searched."""
        each = max(4, len(points) // (_SEARCHED * len(errors)))
        tops = max(1, (2 * each) // (3 * (_AROUND + 3)))
        worst = {name: points[np.argsort(-error, kind="stable")[:tops]] for name, error in errors.items()}
        found = {name: float(error.max()) for name, error in errors.items()}
        searched = []
        for around in (False, True):
            parts = [
                _around(piecewise, start[:1] if around else start, each // 3 if around else _AROUND, not around, rng)
                for start in worst.values()
            ]
            near = np.vstack(parts)
            valid, sizes, differences = self._compared(piecewise, near)
            self.evaluations += len(near)
            near, higher = near[valid], _errors(sizes, differences, scales)
            searched.append(near)
            for name, error in higher.items() if len(near) else ():
                top = int(np.argmax(error))
                if error[top] > found[name]:
                    found[name], worst[name] = float(error[top]), near[top : top + 1]
        return found, np.vstack(searched)


def _typical_largest(errors: Array) -> float:
    """T of errors (n,), as above."""
    k = min(_TAIL, len(errors) - 1)
    if k < 1:
        return float(errors.max())
    top = np.sort(np.partition(errors, len(errors) - k - 1)[len(errors) - k - 1 :])
    return float(top[0] + (top[1:] - top[0]).mean() * (math.log(k) + np.euler_gamma))


def _errors(
    sizes: Mapping[str, Array], differences: Mapping[str, Array], scales: Mapping[str, float]
) -> dict[str, Array]:
    """e = ‖f - f̂‖ / max(‖f‖, scale) of every family at every point."""
    return {name: off / np.maximum(sizes[name], scales[name]) for name, off in differences.items()}


def _around(piecewise: Piecewise, points: Array, count: int, faces: bool, rng: np.random.Generator) -> Array:
    """Points of the same boxes around some points (N, s), and on the faces next to them."""
    leaf = piecewise.locate(points)
    center, half = piecewise.arrays.leaves_f[leaf, 0], 1.0 / piecewise.arrays.leaves_f[leaf, 1]
    unit = (points - center) / half
    size = np.abs(unit)
    found = [np.clip(unit + _RADIUS * rng.uniform(-1.0, 1.0, unit.shape), -_INSIDE, _INSIDE) for _ in range(count)]
    if faces:
        nearest = size >= size.max(axis=1, keepdims=True)
        found += [np.where(close, np.sign(unit) * _INSIDE, unit) for close in (nearest, size > 0.8, size > 0.5)]
    return np.vstack([center + half * item for item in found])


def uniform_points(piecewise: Piecewise, count: int, rng: np.random.Generator) -> Array:
    """Random points (count, s) of what is fitted, evenly by volume."""
    center, half = piecewise.arrays.leaves_f[:, 0], 1.0 / piecewise.arrays.leaves_f[:, 1]
    lower, upper = center - half, center + half
    volume = np.prod(upper - lower, axis=1)
    chosen = rng.choice(len(volume), size=count, p=volume / volume.sum())
    inside = rng.uniform(1e-9, 1.0 - 1e-9, (count, lower.shape[1]))  # a face is only known to rounding
    return np.asarray(lower[chosen] + inside * (upper - lower)[chosen])
