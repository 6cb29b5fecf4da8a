"""Output of drives from one sample to the next, as cubics in time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.array_types import Array


class Pieces(NamedTuple):
    """Forces of the actuators and motions of the prescribed coordinates, in p pieces.

    times  : (p + 1,) s, from 0 to the duration; delays that are not whole samples divide it
    forces : (p, 4, a) coefficients of 1, τ, τ², τ³ as in `PolynomialPieces`; zero for prescribed coordinates
    led    : (p, 4, k) the same for the prescribed coordinates, which meet θ_s and θ̇_s at both ends
    accelerations : (p, 2, k) θ̈ of the prescribed coordinates at the beginning and the end of each piece; they may jump

    Forces and prescribed coordinates share their breaks: a loop computes them at every sample, and each array passed to
    or from a kernel costs time.
    """

    times: Array
    forces: Array
    led: Array
    accelerations: Array


def between(pieces: Pieces, first: int, last: int) -> Pieces:
    """Return the pieces from index `first` to before `last`, with times that begin at 0."""
    times, part = pieces.times[first : last + 1] - pieces.times[first], slice(first, last)
    return Pieces(times, pieces.forces[part], pieces.led[part], pieces.accelerations[part])


def forces_at(pieces: Pieces, times: Array) -> Array:
    """Return forces (N, a) at times (N,) from the beginning of the first piece; at a break those of the next."""
    piece = np.clip(np.searchsorted(pieces.times, times, side="right") - 1, 0, len(pieces.forces) - 1)
    return _value(pieces.forces[piece].transpose(1, 0, 2), (times - pieces.times[piece])[:, None])


def at_end(pieces: Pieces, piece: int) -> Array:
    """Return forces (a,) at the end of a piece."""
    return np.asarray(_value(pieces.forces[piece], float(pieces.times[piece + 1] - pieces.times[piece])))


def _value(c: Array, tau: Array | float) -> Array:
    return ((c[3] * tau + c[2]) * tau + c[1]) * tau + c[0]
