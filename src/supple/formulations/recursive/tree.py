"""A tree of rigid bodies as arrays, and its joints as chains of axes.

Every link is one body and the joint that connects it to its parent. The joint frame is at `position` with axes
`rotation` on the parent, and at `mounting_position`, `mounting_rotation` on the body (default: its origin and axes).
The two coincide if all coordinates are zero (or at `offset`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.array_types import Array, Integers
from supple.diagnostics import unknown_name
from supple.formulations.recursive.memory import BALL, FLOAT, SCREW, SLIDE, TURN, PackedTree
from supple.geometry.rotation import axes_from_z

# Joints as chains of axes, each of one freedom.
#
# A universal joint is two hinges, a planar one two slides and a hinge: their coordinates are numbers, and their rates
# the derivatives of these. The rotations of a spherical joint and all motions of a free one are axes fixed in the body
# that moves: their configuration is a quaternion (x, y, z, w; a free joint's displacement comes before it), and their
# rates are the components of the twist in the axes of that body, translation before rotation.


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
"""Numbers of q and q̇ of every kind of joint in a tree."""


class JointAxis(NamedTuple):
    """One axis: its kind, its direction in the joint frame, and the number of its coordinate in the joint."""

    kind: int
    direction: Array
    coordinate: int


def chain(kind: str, axis: Array, second: Array, turned_round: bool = False) -> list[JointAxis]:
    """Return the axes of a joint from the parent outwards.

    axis, second : direction(s) in the joint frame, if the kind has any; turned_round : the coordinates measure the
    parent relative to the child, so that the axes are in reverse order and direction
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
    raise unknown_name("joint kind", kind, JOINTS, part="tree")


# The tree: links, loads, and what acts along coordinates and distances.


GROUND = -1


class AppliedLoad(NamedTuple):
    """Force (N) and moment (N m) at a point of a body, in world axes, or in body axes if it follows the body."""

    link: int
    point: ArrayLike
    force: ArrayLike
    moment: ArrayLike = (0.0, 0.0, 0.0)
    follows: bool = False


class Distance(NamedTuple):
    """Spring, damper, constant force or actuator along the distance ℓ of a point on each of two links.

    Its tension is k (ℓ - ℓ₀) + c dℓ/dt; its force and actuator increase the distance. GROUND (-1) is the ground.
    """

    first: int
    first_point: ArrayLike
    second: int
    second_point: ArrayLike
    stiffness: float = 0.0
    length: float = 0.0
    damping: float = 0.0
    force: float = 0.0
    actuator: int = -1


class Links(NamedTuple):
    """Links of a tree, one row per link; vectors of a body in its own axes.

    parent   : (links,) with a lower number, -1 for the ground
    kind     : (links,) names as in JOINTS
    position, rotation : (links, 3), (links, 3, 3) joint frame on the parent
    axis, second_axis  : (links, 3) in the joint frame
    pitch    : (links,) of a screw joint, m/rad
    mass, center, inertia : (links,), (links, 3), (links, 3, 3) inertia about the centre
    mounting_position, mounting_rotation : joint frame on the body
    turned_round : (links,) whether the joint coordinates measure the parent relative to the child
    """

    parent: Integers
    kind: tuple[str, ...]
    position: Array
    rotation: Array
    axis: Array
    second_axis: Array
    pitch: Array
    mass: Array
    center: Array
    inertia: Array
    mounting_position: Array
    mounting_rotation: Array
    turned_round: NDArray[np.bool_]


class AxisElements(NamedTuple):
    """Elements along the coordinates, (n,) each.

    They are rotor inertia at the output of the gear, damping, stiffness, the coordinate where the spring is relaxed,
    the coordinate at which the frames coincide, constant force, dry friction, and the speed over which friction changes
    sign.
    """

    armature: Array
    damping: Array
    stiffness: Array
    relaxed: Array
    offset: Array
    drive: Array
    dry: Array
    friction_speed: Array


@dataclass(frozen=True, eq=False)
class TreeArrays:
    """A tree, ready for the recursions.

    at_q, at_v : (links,) first position of each link's joint in q (nq,) and q̇ (n,)
    actuated   : (m,) coordinates that actuators drive, -1 for an actuator along a distance
    names      : of the links
    packed     : all data for the kernels (memory.py)
    """

    links: Links
    along: AxisElements
    gravity: Array
    loads: tuple[AppliedLoad, ...]
    distances: tuple[Distance, ...]
    actuated: Integers
    names: tuple[str, ...]
    at_q: Integers
    at_v: Integers
    nq: int
    n: int
    packed: PackedTree = field(repr=False)

    @property
    def inputs(self) -> int:
        """Number of actuators m."""
        return len(self.actuated)

    def neutral(self) -> Array:
        """Return the configuration q (nq,) with all coordinates zero and no rotation."""
        q = np.zeros(self.nq)
        for kind, at in zip(self.links.kind, self.at_q, strict=True):
            if kind in ("spherical", "free"):
                q[at + JOINTS[kind][0] - 1] = 1.0
        return q
