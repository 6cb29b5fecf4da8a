"""What a scan of modes walks through: a box of θ, or a piece of a path through θ."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from supple.approximation.refinement.box import Box
from supple.reduction.path import Path

Array = NDArray[np.float64]


class Scanned(Protocol):
    """Points θ (N, s) at coordinates (N, dimension) in [-1, 1]; a Box is one."""

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
