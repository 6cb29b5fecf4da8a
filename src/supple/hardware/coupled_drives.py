"""Drives that feel what they move, such as motors with inductance, and what they move, interval by interval.

Within an interval the drives go on with the rates of the coordinates as they changed over the one before, and with the
command of its middle: both are off by the square of the interval. It is a twentieth of the time of the fastest block,
or of what block and inertia make of each other, 1/√(|C E| bᵀM⁻¹b), b the column of B.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array
from supple.hardware.drive_bank import DriveBank

_SHARE = 0.05
_MOST = 1_000_000  # intervals


class Intervals(NamedTuple):
    """Times (N,), s, and which of them are results."""

    times: Array
    results: NDArray[np.int64]


def feels(bank: DriveBank) -> bool:
    """Whether what a drive moves acts back on it."""
    return any(block.E.any() for block in bank.blocks)


def intervals(bank: DriveBank, grid: Array, longest: float, light: Array) -> Intervals:
    """Those between two results (N,) each divided evenly; longest : s; light : (a,) bᵀM⁻¹b of each input."""
    blocks = [float(np.abs(np.linalg.eigvals(block.A)).max(initial=0.0)) for block in bank.blocks]
    both = [np.sqrt(abs(float(block.C @ block.E)) * b) for block, b in zip(bank.blocks, light, strict=True)]
    fast = max(*blocks, *both)
    length = max(min(longest, _SHARE / fast if fast else np.inf), float(grid[-1] - grid[0]) / _MOST)
    counts = np.maximum(1, np.ceil(np.diff(grid) / length - 1e-6)).astype(np.int64)
    parts = [np.linspace(a, b, n, endpoint=False) for a, b, n in zip(grid[:-1], grid[1:], counts, strict=True)]
    return Intervals(np.concatenate([*parts, grid[-1:]]), np.concatenate([[0], np.cumsum(counts)]))


def interval_commands(times: Array, breaks: Array, values: Array) -> Array:
    """Commands (N - 1, a) in the middle of each interval of times (N,); values (B, a) are linear between breaks."""
    middle = 0.5 * (times[:-1] + times[1:])
    return np.ascontiguousarray(np.array([np.interp(middle, breaks, column) for column in values.T]).T)
