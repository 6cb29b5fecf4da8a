"""A tree of rigid bodies as arrays.

Every link is one body and the joint that connects it to its parent. The joint's frame stands on the parent at
`position` with axes `rotation`, and on the body at `mounting_position`, `mounting_rotation` (its origin and axes if
left out); they coincide where all coordinates are zero (or at `offset`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.array_types import Array, Integers
from supple.formulations.recursive.joint_axes import JOINTS
from supple.formulations.recursive.memory import PackedTree

GROUND = -1


class AppliedLoad(NamedTuple):
    """A force (N) and moment (N m) at a point of a body, in the world's axes; in the body's if it follows the body."""

    link: int
    point: ArrayLike
    force: ArrayLike
    moment: ArrayLike = (0.0, 0.0, 0.0)
    follows: bool = False


class Distance(NamedTuple):
    """A spring, damper, constant force or actuator along the distance ℓ of a point on each of two links.

    Its pull is k (ℓ - ℓ₀) + c dℓ/dt, and its force and actuator drive the distance to grow. GROUND (-1) is the ground.
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
    """What a tree is made of, one row a link; vectors of a body in its own axes.

    parent   : (links,) of a lower number, -1 for the ground
    kind     : (links,) names as in JOINTS
    position, rotation : (links, 3), (links, 3, 3) joint frame on the parent
    axis, second_axis  : (links, 3) in the joint's frame
    pitch    : (links,) of a screw: how far it slides along its axis for a radian, m/rad
    mass, center, inertia : (links,), (links, 3), (links, 3, 3) inertia about the centre
    mounting_position, mounting_rotation : joint frame on the body
    turned_round : (links,) whether the joint's coordinates measure the parent against the child
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
    """What acts along the coordinates, (n,) each: rotor inertia behind its gear, damping, stiffness, the coordinate
    where the spring is relaxed, the coordinate at which the frames coincide, constant force, dry friction and the speed
    over which it changes its sign."""

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

    at_q, at_v : (links,) first place of each link's joint in q (nq,) and q̇ (n,)
    actuated   : (m,) coordinates that actuators drive, -1 for an actuator along a distance
    names      : of the links
    packed     : all of it for the kernels (memory.py)
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
        """m: number of actuators."""
        return len(self.actuated)

    def neutral(self) -> Array:
        """q (nq,) with all coordinates zero and no rotation."""
        q = np.zeros(self.nq)
        for kind, at in zip(self.links.kind, self.at_q, strict=True):
            if kind in ("spherical", "free"):
                q[at + JOINTS[kind][0] - 1] = 1.0
        return q
