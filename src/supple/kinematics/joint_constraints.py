"""The measures of joints and sensors as primitives between the frames on two bodies."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from supple.array_types import Array
from supple.description.measure import LETTERS, MeasureTerm
from supple.diagnostics import require_known
from supple.kinematics.primitives import ALONG, ANGLE, DISTANCE, DOT

_ZERO = np.zeros(3)


class Primitive(NamedTuple):
    """One scalar measure between body a and body b; vectors in the axes of their bodies.

    pa, pb  : where it is measured; an angle does not depend on that, but on an elastic body it is a node that turns
    swapped : a and b change places (a measure seen from the second body)
    """

    kind: int
    u: Array = _ZERO
    v: Array = _ZERO
    w: Array = _ZERO
    pa: Array = _ZERO
    pb: Array = _ZERO
    swapped: bool = False


class JointFrames(NamedTuple):
    """A frame on each of two bodies: position and axes (columns), in that body's axes."""

    pa: Array
    Ea: Array
    pb: Array
    Eb: Array

    def measure(self, term: MeasureTerm) -> Primitive:
        """What a term measures, without its factor."""
        require_known("measure", term.measure, _PRIMITIVES)
        return _PRIMITIVES[term.measure](self, term)

    def along(self, term: MeasureTerm) -> Primitive:
        """Separation of the two origins along an axis of the first frame."""
        return Primitive(ALONG, u=self.Ea[:, term.axis], pa=self.pa, pb=self.pb)

    def right_angle(self, term: MeasureTerm) -> Primitive:
        """Product of an axis of the first frame with an axis of the second."""
        first, second = map(LETTERS.index, term.axes)
        return Primitive(DOT, u=self.Ea[:, first], w=self.Eb[:, second], pa=self.pa, pb=self.pb)

    def turn(self, term: MeasureTerm) -> Primitive:
        """Angle about an axis of the first frame, from the next of its axes to that of the second frame."""
        one, two = (term.axis + 1) % 3, (term.axis + 2) % 3
        return Primitive(ANGLE, u=self.Ea[:, one], v=self.Ea[:, two], w=self.Eb[:, one], pa=self.pa, pb=self.pb)

    def tilt(self, term: MeasureTerm) -> Primitive:
        """Angle of the second frame about an axis of its own, seen against the first frame's last axis."""
        one, two = (term.axis + 1) % 3, (term.axis + 2) % 3
        u, v, w = self.Eb[:, two], self.Eb[:, one], self.Ea[:, two]
        return Primitive(ANGLE, u=u, v=v, w=w, pa=self.pb, pb=self.pa, swapped=True)


_PRIMITIVES: dict[str, Callable[[JointFrames, MeasureTerm], Primitive]] = {
    "along": JointFrames.along,
    "right angle": JointFrames.right_angle,
    "turn": JointFrames.turn,
    "tilt": JointFrames.tilt,
    "distance": lambda frames, term: point_distance(frames.pa, frames.pb),
}


def point_distance(pa: Array, pb: Array) -> Primitive:
    """Distance of a point on each of two bodies."""
    return Primitive(DISTANCE, pa=pa, pb=pb)


def component(direction: Array, point: Array) -> Primitive:
    """Position of a point of body b along a direction fixed in body a, from its origin."""
    return Primitive(ALONG, u=direction, pb=point)
