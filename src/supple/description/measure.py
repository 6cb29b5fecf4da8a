"""Measures between two frames, as data: what joints hold, and what coordinates and sensors are.

A frame is on each of two bodies, at p_a with axes e^a on the first and at p_b with axes e^b on the second. A row is a
sum of terms, each a factor times a measure φ:

    along k          e_k^a·(p_b - p_a)
    right angle i j  e_i^a·e_j^b
    turn k           angle about e_k^a, from the next axis of the first frame to that of the second
    tilt k           angle about e_k^b, seen from the second frame
    distance         |p_b - p_a|
    spin k           its first rate is the angular velocity of the second frame about e_k, against the first; its second
                     rate the angular acceleration. It has no value of its own, and only sensors may see it

Sums are written as such: `along("z") + turn("z", -1 / tau, "pitch")`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

Measure = Literal["along", "right angle", "turn", "tilt", "distance", "spin"]
LETTERS = "xyz"


class MeasureTerm(NamedTuple):
    """factor · φ, and where a parameter of the joint is named (`pitch`), times that."""

    measure: Measure
    axes: str
    factor: float = 1.0
    parameter: str = ""

    @property
    def axis(self) -> int:
        """Which axis it is along or about; the product of two axes is about the third."""
        return 3 - sum(map(LETTERS.index, self.axes)) if len(self.axes) == 2 else LETTERS.index(self.axes)

    @property
    def turns(self) -> bool:
        """Whether it is an angle; the product of two axes is one to first order."""
        return self.measure not in ("along", "distance")

    @property
    def sense(self) -> float:
        """Whether it grows or falls where the second frame moves or turns that way: e_i·e_j falls about e_i × e_j."""
        if len(self.axes) < 2:
            return 1.0
        return -1.0 if self.axes in ("xy", "yz", "zx") else 1.0

    def weight(self, parameters: Mapping[str, float]) -> float:
        """Its factor for the parameters of a joint."""
        return self.factor * (parameters[self.parameter] if self.parameter else 1.0)


Row = tuple[MeasureTerm, ...]


def along(axis: str, factor: float = 1.0, parameter: str = "") -> Row:
    """Separation of the two origins along an axis of the first frame."""
    return (MeasureTerm("along", axis, factor, parameter),)


def right_angle(first: str, second: str, factor: float = 1.0, parameter: str = "") -> Row:
    """Product of an axis of the first frame with an axis of the second."""
    return (MeasureTerm("right angle", first + second, factor, parameter),)


def turn(axis: str, factor: float = 1.0, parameter: str = "") -> Row:
    """Angle from the first frame to the second about an axis of the first."""
    return (MeasureTerm("turn", axis, factor, parameter),)


def tilt(axis: str, factor: float = 1.0, parameter: str = "") -> Row:
    """Angle of the second frame about an axis of its own, seen against the first."""
    return (MeasureTerm("tilt", axis, factor, parameter),)


def distance(factor: float = 1.0, parameter: str = "") -> Row:
    """Distance of the two origins."""
    return (MeasureTerm("distance", "", factor, parameter),)


def spin(axis: str) -> Row:
    """What angular velocities about an axis are the rate of."""
    return (MeasureTerm("spin", axis),)


def in_plane(name: str, plane: str | None) -> str:
    """A coordinate's or output's name in space, or in a plane such as "xz": x and y stand for its letters."""
    return plane[LETTERS.index(name)] if plane and name in ("x", "y") else name
