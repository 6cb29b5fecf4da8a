"""Joints as chains of axes, each of one freedom.

A universal joint is two hinges, a planar one two slides and a hinge: their coordinates are numbers, and their rates the
derivatives of these. The rotations of a spherical joint and all motions of a free one are axes fixed in the body that
moves: their configuration is a quaternion (x, y, z, w; a free joint's displacement comes before it), and their rates
are the components of the twist in the axes of that body, translation before rotation.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.array_types import Array
from supple.diagnostics import InputError, nearest
from supple.formulations.recursive.axis_rows import BALL, FLOAT, SCREW, SLIDE, TURN
from supple.geometry.rotation import axes_from_z

JOINTS: dict[str, tuple[int, int]] = {
    "revolute": (1, 1),
    "prismatic": (1, 1),
    "screw": (1, 1),
    "cylindrical": (2, 2),
    "universal": (2, 2),
    "spherical": (4, 3),
    "planar": (3, 3),
    "translation": (3, 3),
    "free": (7, 6),
    "weld": (0, 0),
}
"""Numbers of q and of q̇ of every kind of joint that a tree may have."""


class JointAxis(NamedTuple):
    """One axis: what it does, its direction in the joint's frame, the number of its coordinate in the joint."""

    kind: int
    direction: Array
    coordinate: int


def chain(kind: str, axis: Array, second: Array, turned_round: bool = False) -> list[JointAxis]:
    """The axes of a joint from the parent outwards.

    axis, second : direction(s) in the joint's frame, as far as the kind has any; turned_round : the coordinates measure
    the parent against the child, so that the axes come in the other order and run backwards
    """
    axes = _chain(kind, axis, second)
    if turned_round and axes and axes[0].kind in (TURN, SLIDE, SCREW):
        axes = [JointAxis(item.kind, -item.direction, item.coordinate) for item in reversed(axes)]
    return axes


def _chain(kind: str, axis: Array, second: Array) -> list[JointAxis]:
    x, y, z = np.eye(3)
    if kind == "revolute":
        return [JointAxis(TURN, axis, 0)]
    if kind == "prismatic":
        return [JointAxis(SLIDE, axis, 0)]
    if kind == "screw":
        return [JointAxis(SCREW, axis, 0)]
    if kind == "cylindrical":
        return [JointAxis(SLIDE, axis, 0), JointAxis(TURN, axis, 1)]
    if kind == "universal":
        return [JointAxis(TURN, axis, 0), JointAxis(TURN, second, 1)]
    if kind == "planar":
        across = axes_from_z(axis)
        return [JointAxis(SLIDE, across[:, 0], 0), JointAxis(SLIDE, across[:, 1], 1), JointAxis(TURN, axis, 2)]
    if kind == "translation":
        return [JointAxis(SLIDE, x, 0), JointAxis(SLIDE, y, 1), JointAxis(SLIDE, z, 2)]
    if kind == "spherical":
        return [JointAxis(BALL, z, i) for i in range(3)]
    if kind == "free":
        return [JointAxis(FLOAT, z, i) for i in range(6)]
    if kind == "weld":
        return []
    raise InputError(f'there is no joint "{kind}"', part="tree", hint=nearest(kind, JOINTS))
