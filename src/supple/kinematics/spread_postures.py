"""Postures spread over the reach, from which a place is led to where the segment from rest does not bring it.

A target behind a bay of the edge is still reached if it lies on the same side of singularities: of postures spread over
the limits those nearest to it, which have det ∂y/∂θ with the sign it has at rest, are led to it by the same solver.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats.qmc import Halton

from supple.array_types import Array
from supple.kinematics.closing import close_all, start_of
from supple.kinematics.led_place import LedPlace
from supple.kinematics.nearest_reach import Wanted, errors, side, units

_SPREAD = 300  # postures over the reach
_TRIED = 4  # of them for each target, the nearest first
_SHORTEST = 0.02  # of a segment: closure gives up, for there are others


@dataclass(frozen=True, eq=False)
class SpreadPostures:
    """Poses X (K, bodies + 1, 12) and measures w (K, ...) on the side of the rest, which is the first."""

    place: LedPlace
    X: Array
    w: Array

    def nearest(self, wanted: Wanted, count: int) -> NDArray[np.int64]:
        """(N, count) of them, nearest first, for each that is wanted."""
        found = np.empty((len(wanted.values), min(count, len(self.X))), dtype=np.int64)
        for n in range(len(found)):
            away = np.linalg.norm(errors(self.place, self.X, self.w, wanted.of(np.array([n]))), axis=1)
            found[n] = np.argsort(away, kind="stable")[: found.shape[1]]
        return found


def spread_postures(place: LedPlace) -> SpreadPostures:
    """Within limits, or half a turn or half the extent to both sides of the rest; computed once."""
    mechanism = place.rest.numbering.mechanism
    return mechanism.remembered(f"spread {place.place} {place.names}", lambda: _spread(place))


def _spread(place: LedPlace) -> SpreadPostures:
    mechanism, home = place.rest.numbering.mechanism, place.rest.theta
    turning = units(place) == 1.0
    half = np.where(turning, np.pi, 0.5 * units(place))
    low, high = home - half, home + half
    for i, name in enumerate(place.rest.numbering.coordinates):
        limits = mechanism.actuators[name].limits if name in mechanism.actuators else None
        if limits is not None:
            low[i], high[i] = limits
    theta = np.vstack([home, low + Halton(len(home), scramble=False).random(_SPREAD) * (high - low)])
    X, w, reached = close_all(place.rest, theta, start_of(place.rest)._replace(shortest=_SHORTEST))
    X, w = X[reached >= 1.0], w[reached >= 1.0]
    sides = side(place, X, w)
    return SpreadPostures(place, X[sides == sides[0]], w[sides == sides[0]])


def led_from_others(place: LedPlace, wanted: Wanted) -> tuple[Array, NDArray[np.bool_]]:
    """θ (N, s) and which of them are there, led from the nearest of the spread postures."""
    spread, count = spread_postures(place), len(wanted.values)
    theta, there = np.tile(place.rest.theta, (count, 1)), np.zeros(count, dtype=bool)
    nearest = spread.nearest(wanted, _TRIED)
    for turn in range(nearest.shape[1]):
        for number in np.unique(nearest[~there, turn]):
            which = np.flatnonzero(~there & (nearest[:, turn] == number))
            start = place.from_position(spread.X[number], spread.w[number], max(count, _TRIED), _SHORTEST)
            if start is None:
                continue
            asked = wanted.of(which)
            found = place.solved(asked.values, asked.rotations, start)
            arrived = found.reached >= 1.0
            theta[which[arrived]], there[which[arrived]] = found.theta[arrived], True
    return theta, there
