"""Measures between two frames, as data: the basis of joint constraints, coordinates and sensors.

A frame is on each of two bodies, at p_a with axes e^a on the first and at p_b with axes e^b on the second. A row is a
sum of terms, each a factor times a measure φ:

    along k          e_k^a·(p_b - p_a)
    right angle i j  e_i^a·e_j^b
    turn k           angle about e_k^a, from the next axis of the first frame to that of the second
    tilt k           angle about e_k^b, in the axes of the second frame
    distance         |p_b - p_a|
    spin k           no value of its own: its rate is the angular velocity of the second frame about e_k relative to
                     the first, its second rate the angular acceleration. Only sensors may use it

Sums are written as such: `along("z") + turn("z", -1 / tau, "pitch")`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

Measure = Literal["along", "right angle", "turn", "tilt", "distance", "spin"]
LETTERS = "xyz"


class MeasureTerm(NamedTuple):
    """Term of a row: factor · φ, times a parameter of the joint if one is named (`pitch`)."""

    measure: Measure
    axes: str
    factor: float = 1.0
    parameter: str = ""

    @property
    def axis(self) -> int:
        """Index of the axis along or about which it measures; the product of two axes is about the third."""
        return 3 - sum(map(LETTERS.index, self.axes)) if len(self.axes) == 2 else LETTERS.index(self.axes)

    @property
    def turns(self) -> bool:
        """Whether it is an angle; the product of two axes is one to first order."""
        return self.measure not in ("along", "distance")

    @property
    def sense(self) -> float:
        """Sign of the measure for a positive motion of the second frame: e_i·e_j decreases about e_i × e_j."""
        if len(self.axes) < 2:
            return 1.0
        return -1.0 if self.axes in ("xy", "yz", "zx") else 1.0

    def weight(self, parameters: Mapping[str, float]) -> float:
        """Return the factor for the parameters of a joint."""
        return self.factor * (parameters[self.parameter] if self.parameter else 1.0)


Row = tuple[MeasureTerm, ...]


def along(axis: str, factor: float = 1.0, parameter: str = "") -> Row:
    """Return the separation of the two origins along an axis of the first frame."""
    return (MeasureTerm("along", axis, factor, parameter),)


def right_angle(first: str, second: str, factor: float = 1.0, parameter: str = "") -> Row:
    """Return the product of an axis of the first frame and an axis of the second."""
    return (MeasureTerm("right angle", first + second, factor, parameter),)


def turn(axis: str, factor: float = 1.0, parameter: str = "") -> Row:
    """Return the angle from the first frame to the second about an axis of the first."""
    return (MeasureTerm("turn", axis, factor, parameter),)


def tilt(axis: str, factor: float = 1.0, parameter: str = "") -> Row:
    """Return the angle from the first frame to the second about an axis of the second."""
    return (MeasureTerm("tilt", axis, factor, parameter),)


def distance(factor: float = 1.0, parameter: str = "") -> Row:
    """Return the distance of the two origins."""
    return (MeasureTerm("distance", "", factor, parameter),)


def spin(axis: str) -> Row:
    """Return the measure whose rate is the angular velocity about an axis."""
    return (MeasureTerm("spin", axis),)


def in_plane(name: str, plane: str | None) -> str:
    """Return the name of a coordinate or output in space, or in a plane such as "xz" (x and y are its letters)."""
    return plane[LETTERS.index(name)] if plane and name in ("x", "y") else name
