"""Boxes in the space of coordinates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.array_types import Array
from supple.diagnostics import InputError


@dataclass(frozen=True, slots=True)
class Box:
    """Box lower[i] <= x_i <= upper[i].

    It may be flat along some axes, lower[i] = upper[i], but not if it is fitted.
    """

    lower: tuple[float, ...]
    upper: tuple[float, ...]

    def __post_init__(self) -> None:
        pairs = list(zip(self.lower, self.upper, strict=False))
        empty = not all(a <= b for a, b in pairs) or not any(a < b for a, b in pairs)
        if len(self.lower) != len(self.upper) or empty:
            raise InputError(
                f"the box from {self.lower} to {self.upper} is empty", hint="give lower bounds below the upper ones"
            )

    @property
    def dimension(self) -> int:
        return len(self.lower)

    @property
    def center(self) -> Array:
        return 0.5 * (np.array(self.lower) + np.array(self.upper))

    @property
    def half(self) -> Array:
        """Half the width along each axis."""
        return 0.5 * (np.array(self.upper) - np.array(self.lower))

    def to_unit(self, x: ArrayLike) -> Array:
        """Map to [-1, 1]: ξ = (x - center) / half."""
        return (np.asarray(x, float) - self.center) / self.half

    def from_unit(self, xi: ArrayLike) -> Array:
        """Map from [-1, 1]; exact on the faces, so that neighbouring boxes share their points bit for bit."""
        unit = np.asarray(xi, float)
        inside = self.center + self.half * unit
        return np.where(unit <= -1.0, self.lower, np.where(unit >= 1.0, self.upper, inside))

    def contains(self, x: ArrayLike) -> NDArray[np.bool_]:
        points = np.asarray(x, float)
        return np.asarray(((points >= self.lower) & (points <= self.upper)).all(axis=-1))

    def split(self, axis: int) -> tuple[Box, Box]:
        """Return two halves, the lower first."""
        middle = float(self.center[axis])
        lower, upper = list(self.lower), list(self.upper)
        lower[axis], upper[axis] = middle, middle
        return Box(self.lower, tuple(upper)), Box(tuple(lower), self.upper)

    def grid(self, counts: ArrayLike) -> list[Box]:
        """Return equal boxes, counts[i] of them along axis i, the last axis fastest."""
        edges = [
            np.linspace(a, b, int(n) + 1) for a, b, n in zip(self.lower, self.upper, np.atleast_1d(counts), strict=True)
        ]
        shape = [len(edge) - 1 for edge in edges]
        return [
            Box(
                tuple(float(edge[i]) for edge, i in zip(edges, index, strict=True)),
                tuple(float(edge[i + 1]) for edge, i in zip(edges, index, strict=True)),
            )
            for index in np.ndindex(*shape)
        ]
