"""What drives do from one sample to the next, as cubics in time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.array_types import Array


class Pieces(NamedTuple):
    """Forces of the actuators and courses of the led coordinates, in p pieces.

    times  : (p + 1,) s, from 0 to the duration; delays that are no whole samples cut it
    forces : (4, p, a) cubics in the time from each piece's beginning on, the highest power first; zero where led
    led    : (4, p, k) the same of the led coordinates, which meet θ_s and θ̇_s at both ends
    accelerations : (p, 2, k) θ̈ of the led coordinates at the beginning and the end of each piece; they may jump
    """

    times: Array
    forces: Array
    led: Array
    accelerations: Array


def between(pieces: Pieces, first: int, last: int) -> Pieces:
    """Those from number `first` to before `last`, whose times begin at 0 again."""
    times, part = pieces.times[first : last + 1] - pieces.times[first], slice(first, last)
    forces, led = (np.ascontiguousarray(cubics[:, part]) for cubics in (pieces.forces, pieces.led))
    return Pieces(times, forces, led, pieces.accelerations[part])


def at_end(pieces: Pieces, piece: int) -> Array:
    """Forces (a,) at the end of a piece."""
    return np.asarray(_value(pieces.forces[:, piece], float(pieces.times[piece + 1] - pieces.times[piece])))


def _value(cubic: Array, x: float) -> Array:
    return ((cubic[0] * x + cubic[1]) * x + cubic[2]) * x + cubic[3]
