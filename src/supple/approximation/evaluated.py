"""Samples of a function, and their store, in which each point is evaluated once.

New points are evaluated in batches as large as possible. A family is a set of outputs of the function, or of quantities
that follow from it, whose error is judged together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array
from supple.diagnostics import NumericalError


class Samples(NamedTuple):
    """Function f : R^s -> R^t at N points.

    values    : (N, t)
    gradients : (N, t, k) with respect to the first k of x, along which slopes are known; None if there are none
    families  : name -> (N, k): the judged quantities; they may be outputs of f, or follow from f and its gradient
    valid     : (N,) False where the function does not exist; the other entries are then nan
    relative  : families that are judged by their own size at every point, and need not be linear in the outputs
    """

    values: Array
    gradients: Array | None
    families: dict[str, Array]
    valid: NDArray[np.bool_]
    relative: frozenset[str] = frozenset()


Sampler = Callable[[Array], Samples]
"""Function from points (N, s) to samples; each sample must depend on its point alone."""

Derived = Callable[[Array, Array], dict[str, Array]]
"""Families of a fit from its values (N, t) and gradients (N, t, s), linear in both except the `relative` ones."""


Placed = Callable[[Array], Array]
"""Map from points (N, s) to the points that are evaluated instead."""


class FamilyError(NamedTuple):
    """Error of one family, ‖f - f̂‖ / max(‖f‖, scale), and where the largest one was found.

    median_norm : median of ‖f‖ over the region
    scale       : the larger of the median and the floor
    floor       : norm below which the family is rounding, or is not judged
    seen        : largest error of uniform check points, 0 if there were none; `worst` is larger if a search found more,
                  see `confidence`
    """

    worst: float
    at: Array
    median_norm: float
    scale: float
    floor: float = 0.0
    seen: float = 0.0


# The store of all points that were evaluated.


Rows = NDArray[np.int64]

_MOST = 0.1  # of half a box: largest distance by which a point is moved


def _join_gradients(known: Array | None, fresh: Array | None) -> Array | None:
    """Join gradients along the coordinates for which both are known."""
    if known is None or fresh is None:
        return None
    common = min(known.shape[2], fresh.shape[2])
    return np.concatenate([known[:, :, :common], fresh[:, :, :common]])


class Evaluated:
    """All evaluated points of a function.

    Points are distinguished by their exact coordinates, so neighbouring boxes share those on their faces.

    points : (N, s)
    fitted : (N,) whether a fit has used the point; the others only served to check
    floors : norms below which a family is not judged, if known
    placed : map to cheaper points close to the requested ones, which are evaluated instead
    """

    def __init__(
        self,
        sampler: Sampler,
        dimension: int,
        floors: Mapping[str, float] | None = None,
        placed: Placed | None = None,
    ):
        self._sampler = sampler
        self._placed = placed or np.array
        self.floors = dict(floors or {})
        self._row: dict[bytes, int] = {}
        self.points: Array = np.zeros((0, dimension))
        self.samples: Samples | None = None
        self.fitted: NDArray[np.bool_] = np.zeros(0, dtype=bool)

    def __len__(self) -> int:
        return len(self.points)

    def rows(self, points: Array, half: Array | None = None, *, exact: bool = False) -> Rows:
        """Return the rows of points (N, s); unknown points are evaluated in one batch.

        half  : (N, s) half widths of the boxes of the points, which are moved by at most a tenth of them
        exact : do not move the points
        """
        requested = np.ascontiguousarray(points + 0.0) if exact else self._move_points(points, half)
        keys = [row.tobytes() for row in requested]
        new: list[int] = []
        for n, key in enumerate(keys):
            if key not in self._row:
                self._row[key] = len(self.points) + len(new)
                new.append(n)
        if new:
            self._keep(requested[new])
        return np.array([self._row[key] for key in keys], dtype=np.int64)

    def count_missing(self, points: Array, half: Array | None = None) -> int:
        """Return how many of the points (N, s) would have to be evaluated."""
        return len({row.tobytes() for row in self._move_points(points, half)} - self._row.keys())

    def _move_points(self, points: Array, half: Array | None) -> Array:
        """Return the points as they are evaluated: moved to cheaper ones, unless their box is too small."""
        moved = self._placed(points)
        if half is not None:
            moved = np.where((np.abs(moved - points) > _MOST * half).any(axis=1, keepdims=True), points, moved)
        return np.ascontiguousarray(moved + 0.0)  # -0.0 and 0.0 are the same point

    def _keep(self, points: Array) -> None:
        fresh = self._sampler(points.copy())
        self.points = np.vstack([self.points, points])
        self.fitted = np.concatenate([self.fitted, np.zeros(len(points), dtype=bool)])
        if self.samples is None:
            self.samples = fresh
            return
        known = self.samples
        self.samples = Samples(
            np.vstack([known.values, fresh.values]),
            _join_gradients(known.gradients, fresh.gradients),
            {name: np.vstack([family, fresh.families[name]]) for name, family in known.families.items()},
            np.concatenate([known.valid, fresh.valid]),
            known.relative,
        )

    @property
    def known_samples(self) -> Samples:
        """All samples, in the order they were evaluated."""
        assert self.samples is not None
        return self.samples

    @property
    def slopes(self) -> int:
        """Number of coordinates, the first ones, along which slopes are known."""
        return 0 if self.known_samples.gradients is None else self.known_samples.gradients.shape[2]

    def valid(self, rows: Rows) -> NDArray[np.bool_]:
        return self.known_samples.valid[rows]

    def families(self, rows: Rows) -> dict[str, Array]:
        return {name: family[rows] for name, family in self.known_samples.families.items()}

    def require_some(self) -> None:
        """Require at least one valid sample."""
        if not self.known_samples.valid.any():
            raise NumericalError(
                f"the function exists at none of {len(self)} points of the region",
                hint="choose another region",
            )
