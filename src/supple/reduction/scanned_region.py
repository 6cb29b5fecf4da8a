"""What a scan of modes walks through: a box of θ, a piece of a path through θ, or a box of θ and of parameters."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from supple.approximation.fits.scattered_fit import halton_points
from supple.approximation.refinement.box import Box
from supple.array_types import Array
from supple.reduction.path import Path


class Scanned(Protocol):
    """Points θ, or (θ, μ), (N, s) at coordinates (N, dimension) in [-1, 1]; a Box is one."""

    @property
    def dimension(self) -> int: ...
    @property
    def center(self) -> Array:
        """θ (s,) in its middle."""

    @property
    def half(self) -> Array:
        """Half of its width (s,) in θ."""

    def from_unit(self, unit: Array) -> Array: ...
    def contains(self, points: Array) -> NDArray[np.bool_]:
        """Which of θ (N, s) can be reached from its middle within it, straight ahead."""


@dataclass(frozen=True, eq=False)
class PathScan:
    """A piece of a path, from one arclength to another."""

    path: Path
    piece: Box
    dimension: int = 1

    @property
    def center(self) -> Array:
        return self.from_unit(np.zeros((1, 1)))[0]

    @cached_property
    def half(self) -> Array:
        theta = self.from_unit(np.linspace(-1.0, 1.0, 33)[:, None])
        return np.asarray(0.5 * np.ptp(theta, axis=0))

    def from_unit(self, unit: Array) -> Array:
        return self.path.at(self.piece.from_unit(unit)[:, 0]).theta

    def contains(self, points: Array) -> NDArray[np.bool_]:
        """None: off the path is outside."""
        return np.zeros(len(points), dtype=bool)


_LEVELS, _INSIDE = 5, 12  # values of a single parameter; inside ranges of several, beside their corners
_MOST_CORNERS = 8
_EVERY = 8  # steps of half a range, on the way along it
_ALONG = 3  # lines along a parameter, beside that through the middle


@dataclass(frozen=True, eq=False)
class VariedScan:
    """A box of (θ, μ), looked at on few μ: each of them is another mechanism, which has to be worked out first.

    count : how many of the coordinates, the last ones, are parameters
    """

    box: Box
    count: int

    @property
    def dimension(self) -> int:
        return self.box.dimension

    @property
    def center(self) -> Array:
        return self.box.center

    @property
    def half(self) -> Array:
        return self.box.half

    @cached_property
    def levels(self) -> Array:
        """(L, p) in [-1, 1]: where along the parameters it is looked at; the middle first."""
        if self.count == 1:
            return np.linspace(-1.0, 1.0, _LEVELS)[[2, 0, 4, 1, 3], None]
        corners = np.array(list(product((-1.0, 1.0), repeat=min(self.count, 12))))
        chosen = corners[:: -(-len(corners) // _MOST_CORNERS)]
        rest = np.zeros((len(chosen), self.count - chosen.shape[1]))
        return np.vstack([np.zeros((1, self.count)), np.hstack([chosen, rest]), halton_points(self.count, _INSIDE, 5)])

    def from_unit(self, unit: Array) -> Array:
        """Parameters are put to the nearest of the levels."""
        s = self.dimension - self.count
        apart = np.linalg.norm(unit[:, None, s:] - self.levels, axis=2)
        return self.box.from_unit(np.hstack([unit[:, :s], self.levels[np.argmin(apart, axis=1)]]))

    def contains(self, points: Array) -> NDArray[np.bool_]:
        return self.box.contains(points)


@dataclass(frozen=True, eq=False)
class FlatScan:
    """Through a box of x along some of its axes, the others held: θ at one μ, or μ at one θ.

    axes : which; at : (dimension of the box,) in [-1, 1], where the others are held; parameters : whether axes are μ
    """

    box: Box
    axes: tuple[int, ...]
    at: Array
    parameters: bool = False

    @property
    def dimension(self) -> int:
        return len(self.axes)

    @property
    def center(self) -> Array:
        return self.from_unit(np.zeros((1, self.dimension)))[0]

    @property
    def half(self) -> Array:
        return np.where(np.isin(np.arange(self.box.dimension), self.axes), self.box.half, 0.0)

    def from_unit(self, unit: Array) -> Array:
        full = np.repeat(self.at[None], len(unit), axis=0)
        full[:, list(self.axes)] = unit
        return self.box.from_unit(full)

    def contains(self, points: Array) -> NDArray[np.bool_]:
        """Those that lie in it, and not beside it."""
        others = [i for i in range(self.box.dimension) if i not in self.axes]
        beside = np.abs(points - self.center)[:, others] > 1e-9 * np.maximum(self.box.half[others], 1e-300)
        return self.box.contains(points) & ~beside.any(axis=1)


def points_along(scanned: Scanned, usual: int) -> int:
    """How many points of a line through it are looked at; along parameters few."""
    costly = isinstance(scanned, FlatScan) and scanned.parameters
    return min(usual, 2 * _EVERY + 1) if costly else usual


def slices_of(scanned: Scanned) -> list[Scanned]:
    """What is walked through along lines: itself; of a box of (θ, μ), θ at each level of μ, and μ at a few θ. Axes
    along which a box is flat, because a coordinate is held, are left out."""
    moving = np.flatnonzero(scanned.half > 0.0).tolist()
    if isinstance(scanned, Box) and 0 < len(moving) < scanned.dimension:
        return [FlatScan(scanned, tuple(moving), np.zeros(scanned.dimension))]
    if not isinstance(scanned, VariedScan):
        return [scanned]
    s, count = scanned.dimension - scanned.count, scanned.count
    theta, varied = tuple(i for i in moving if i < s), tuple(range(s, s + count))
    found: list[Scanned] = [
        FlatScan(scanned.box, theta, np.concatenate([np.zeros(s), level])) for level in scanned.levels
    ]
    ends = halton_points(s, _ALONG, 3)
    for axis in varied:
        ways = [np.concatenate([at, np.zeros(count)]) for at in [np.zeros(s), *ends]]
        found += [FlatScan(scanned.box, (axis,), at, parameters=True) for at in ways]
    return found
