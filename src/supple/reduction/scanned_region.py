"""Parts of a region that a scan of modes visits: a box of θ, a piece of a path, or a box of θ and parameters."""

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
    """Part of a region: points θ, or (θ, μ), (N, s) at coordinates (N, dimension) in [-1, 1]. A Box is one."""

    @property
    def dimension(self) -> int: ...
    @property
    def center(self) -> Array:
        """Point (s,) in the middle."""

    @property
    def half(self) -> Array:
        """Half of the width (s,) in θ."""

    def from_unit(self, unit: Array) -> Array: ...
    def contains(self, points: Array) -> NDArray[np.bool_]:
        """Return which of θ (N, s) can be reached from the middle on a straight line inside."""


@dataclass(frozen=True, eq=False)
class PathScan:
    """Piece of a path between two arclengths."""

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
        """Return False for all points: none is inside."""
        return np.zeros(len(points), dtype=bool)


_LEVELS, _INSIDE = 5, 12  # values of a single parameter; values inside the ranges of several, besides the corners
_MOST_CORNERS = 8
_EVERY = 8  # steps per half range on a line along a parameter
_ALONG = 3  # lines along a parameter, besides the one through the middle


@dataclass(frozen=True, eq=False)
class VariedScan:
    """Box of (θ, μ) that is scanned at few μ, because each of them requires another mechanism to be built.

    count : number of coordinates, the last ones, that are parameters
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
        """Scanned values of the parameters, (L, p) in [-1, 1]; the middle first."""
        if self.count == 1:
            return np.linspace(-1.0, 1.0, _LEVELS)[[2, 0, 4, 1, 3], None]
        corners = np.array(list(product((-1.0, 1.0), repeat=min(self.count, 12))))
        chosen = corners[:: -(-len(corners) // _MOST_CORNERS)]
        rest = np.zeros((len(chosen), self.count - chosen.shape[1]))
        return np.vstack([np.zeros((1, self.count)), np.hstack([chosen, rest]), halton_points(self.count, _INSIDE, 5)])

    def from_unit(self, unit: Array) -> Array:
        """Return points with the parameters at the nearest levels."""
        s = self.dimension - self.count
        apart = np.linalg.norm(unit[:, None, s:] - self.levels, axis=2)
        return self.box.from_unit(np.hstack([unit[:, :s], self.levels[np.argmin(apart, axis=1)]]))

    def contains(self, points: Array) -> NDArray[np.bool_]:
        return self.box.contains(points)


@dataclass(frozen=True, eq=False)
class FlatScan:
    """Part of a box of x along some axes, with the others fixed: θ at one μ, or μ at one θ.

    axes       : axes along which it extends
    at         : (dimension of the box,) in [-1, 1], fixed values of the other axes
    parameters : whether the axes are parameters
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
        """Return which points lie in it, to rounding."""
        others = [i for i in range(self.box.dimension) if i not in self.axes]
        beside = np.abs(points - self.center)[:, others] > 1e-9 * np.maximum(self.box.half[others], 1e-300)
        return self.box.contains(points) & ~beside.any(axis=1)


def points_along(scanned: Scanned, usual: int) -> int:
    """Return the number of points on a line through a part of the region; few along parameters."""
    costly = isinstance(scanned, FlatScan) and scanned.parameters
    return min(usual, 2 * _EVERY + 1) if costly else usual


def slices_of(scanned: Scanned) -> list[Scanned]:
    """Return the parts that are scanned along lines.

    A box of (θ, μ) is scanned along θ at each level of μ, and along μ at a few θ. Axes along which a box is flat,
    because a coordinate is fixed, are left out.
    """
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
