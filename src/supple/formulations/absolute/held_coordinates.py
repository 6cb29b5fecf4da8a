"""Coordinates that are no motion of a frame of their own, held by frames: as positions, three of them a frame, in the
plane two.

Shapes of superelements and deflections of drives are such coordinates. The frames that hold them stand before those of
the bodies; rows keep them from turning, and positions that are left over from moving.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.array_types import Array, Integers
from supple.kinematics.primitives import ALONG, ANGLE, DOT, FACTOR, KIND, NONE, ROW_WIDTH, SCALE, A, B, U, V, W

_AXES = np.eye(3)
_PAIRS = ((1, 2), (2, 0), (0, 1))


class RowTerm(NamedTuple):
    """A term of a row as `rows_i` and `rows_f` have it."""

    integers: Integers
    numbers: Array


class HeldCoordinates(NamedTuple):
    """Groups of coordinates: first frame and number of each; held : how many a frame holds."""

    first: tuple[int, ...]
    sizes: tuple[int, ...]
    held: int

    @property
    def frames(self) -> int:
        """How many frames there are."""
        return sum(-(-size // self.held) for size in self.sizes)

    def at(self, group: int, number: int) -> tuple[int, int]:
        """Frame and position of a coordinate."""
        return self.first[group] + number // self.held, number % self.held


def held_coordinates(sizes: list[int], planar: bool) -> HeldCoordinates:
    """Frames for groups of as many coordinates."""
    held = 2 if planar else 3
    frames = [-(-size // held) for size in sizes]
    return HeldCoordinates(tuple(int(sum(frames[:i])) for i in range(len(frames))), tuple(sizes), held)


def term(kind: int, a: int, b: int, factor: float, scale: float) -> RowTerm:
    """A measure between frames a and b times a factor; its vectors are zero."""
    integers, numbers = np.full(5, NONE, dtype=np.int64), np.zeros(ROW_WIDTH)
    integers[[KIND, A, B]] = kind, a, b
    numbers[FACTOR], numbers[SCALE] = factor, scale
    return RowTerm(integers, numbers)


def coordinate(where: tuple[int, int], ground: int, factor: float, scale: float) -> RowTerm:
    """A held coordinate times a factor; where : frame and position."""
    found = term(ALONG, ground, where[0], factor, scale)
    found.numbers[U : U + 3] = _AXES[where[1]]
    return found


def turn_about(axis: int, a: int, b: int, planar: bool) -> list[RowTerm]:
    """The small turn of frame b against frame a: in the plane the angle, else ½ (R_aᵀR_b - R_bᵀR_a)ᵛ."""
    if planar:
        angle = term(ANGLE, a, b, 1.0, 1.0)
        angle.numbers[U : U + 3], angle.numbers[V : V + 3], angle.numbers[W : W + 3] = _AXES[0], _AXES[1], _AXES[0]
        return [angle]
    found = []
    for factor, (own, other) in ((-0.5, _PAIRS[axis]), (0.5, _PAIRS[axis][::-1])):
        product = term(DOT, a, b, factor, 1.0)
        product.numbers[U : U + 3], product.numbers[W : W + 3] = _AXES[own], _AXES[other]
        found.append(product)
    return found


def still_rows(coordinates: HeldCoordinates, ground: int, extent: float) -> list[list[RowTerm]]:
    """Rows that keep the frames from turning, and positions that hold nothing at zero."""
    planar = coordinates.held == 2
    found = []
    for group, size in enumerate(coordinates.sizes):
        whole = -(-size // coordinates.held) * coordinates.held
        for number in range(0, whole, coordinates.held):
            frame, _ = coordinates.at(group, number)
            found += [turn_about(axis, ground, frame, planar) for axis in ((2,) if planar else (0, 1, 2))]
        found += [[coordinate(coordinates.at(group, number), ground, 1.0, extent)] for number in range(size, whole)]
    return found
