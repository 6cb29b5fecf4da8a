"""Which primitives make each joint, and which measure its coordinates.

A joint frame sits on each of the two bodies, at p_a with axes E_a = (x, y, z) on the first and at p_b
with axes E_b on the second; z is the joint's axis. In the plane z is the plane's normal, and a slide runs
along x. To add a joint: list its freedoms in description/joint.py and its primitives here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.kinematics.primitives import ALONG, ANGLE, DISTANCE, DOT

Array = NDArray[np.float64]

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
    """The joint's frame on each body: position and axes (columns), in that body's axes."""

    pa: Array
    Ea: Array
    pb: Array
    Eb: Array

    def along(self, axis: int) -> Primitive:
        """Separation of the two origins along an axis of the first frame."""
        return Primitive(ALONG, u=self.Ea[:, axis], pa=self.pa, pb=self.pb)

    def right_angle(self, first: int, second: int) -> Primitive:
        """Product of an axis of the first frame with an axis of the second."""
        return Primitive(DOT, u=self.Ea[:, first], w=self.Eb[:, second], pa=self.pa, pb=self.pb)

    def turn(self) -> Primitive:
        """Angle from the first frame's x to the second's, about z."""
        return Primitive(ANGLE, u=self.Ea[:, 0], v=self.Ea[:, 1], w=self.Eb[:, 0], pa=self.pa, pb=self.pb)

    def tilt(self) -> Primitive:
        """Angle of the second frame about its own x axis, seen against the first frame's z."""
        u, v, w = self.Eb[:, 2], self.Eb[:, 1], self.Ea[:, 2]
        return Primitive(ANGLE, u=u, v=v, w=w, pa=self.pb, pb=self.pa, swapped=True)


Rows = list[Primitive]
Rule = Callable[[JointFrames], tuple[Rows, Rows]]


def _point(f: JointFrames) -> Rows:
    return [f.along(0), f.along(1), f.along(2)]


def _axis(f: JointFrames) -> Rows:
    return [f.right_angle(0, 2), f.right_angle(1, 2)]


def _orientation(f: JointFrames) -> Rows:
    return [f.right_angle(0, 1), f.right_angle(1, 2), f.right_angle(2, 0)]


SPATIAL: dict[str, Rule] = {
    "revolute": lambda f: (_point(f) + _axis(f), [f.turn()]),
    "prismatic": lambda f: ([f.along(0), f.along(1), *_orientation(f)], [f.along(2)]),
    "cylindrical": lambda f: ([f.along(0), f.along(1), *_axis(f)], [f.along(2), f.turn()]),
    "universal": lambda f: ([*_point(f), f.right_angle(2, 0)], [f.turn(), f.tilt()]),
    "spherical": lambda f: (_point(f), []),
    "planar": lambda f: ([f.along(2), *_axis(f)], [f.along(0), f.along(1), f.turn()]),
    "translation": lambda f: (_orientation(f), [f.along(0), f.along(1), f.along(2)]),
    "weld": lambda f: (_point(f) + _orientation(f), []),
    "free": lambda f: ([], [f.along(0), f.along(1), f.along(2)]),
}

PLANAR: dict[str, Rule] = {
    "revolute": lambda f: ([f.along(0), f.along(1)], [f.turn()]),
    "prismatic": lambda f: ([f.along(1), f.right_angle(0, 1)], [f.along(0)]),
    "planar": lambda f: ([], [f.along(0), f.along(1), f.turn()]),
    "translation": lambda f: ([f.right_angle(0, 1)], [f.along(0), f.along(1)]),
    "weld": lambda f: ([f.along(0), f.along(1), f.right_angle(0, 1)], []),
    "free": lambda f: ([], [f.along(0), f.along(1), f.turn()]),
}


def row_directions(kind: str, plane: str | None) -> tuple[str, ...]:
    """What each constraint of a joint holds, as `Joint.elastic` calls it: along or about an axis of its first frame."""
    frames = JointFrames(_ZERO, np.eye(3), _ZERO, np.eye(3))
    found = []
    for row in (SPATIAL if plane is None else PLANAR)[kind](frames)[0]:
        axis = int(np.argmax(row.u))
        about = row.kind != ALONG
        turned = 3 - axis - int(np.argmax(row.w)) if about else axis
        if plane is None:
            found.append(("r" if about else "") + "xyz"[turned])
        else:
            found.append("angle" if about else plane[axis])
    return tuple(found)


def between(pa: Array, pb: Array) -> Primitive:
    """Distance of a point on each of two bodies."""
    return Primitive(DISTANCE, pa=pa, pb=pb)


def component(direction: Array, point: Array) -> Primitive:
    """Position of a point of body b along a direction fixed in body a, from its origin."""
    return Primitive(ALONG, u=direction, pb=point)
