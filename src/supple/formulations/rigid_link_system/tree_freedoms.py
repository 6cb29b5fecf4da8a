"""Joint coordinates q of the spanning tree: the axes that bodies turn about and slide along (rigid-link-system, 5-7).

Every axis is fixed in the body before its joint or in the one behind it. In the world, about its origin, a unit rate
of q_k is the twist S_k = (o × e + h e, e) of all bodies further out, or (e, 0), and

    V_b = Σ S_k q̇_k,   A_b = Σ S_k q̈_k + Σ V_k × S_k q̇_k,   k on the way from the ground to b                  (6)

V_k is the twist of what the axis is fixed in. These are the operators ∂T/∂q_k and ∂²T/∂q_k∂q_l in twists.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array
from supple.diagnostics import InputError
from supple.diagnostics.parts import part_name
from supple.geometry.rotation import crossed
from supple.kinematics.joint_frames import joint_frames
from supple.kinematics.numbering import Numbering

_AXES = dict(zip("xyz", np.eye(3), strict=True))
_ROTATIONS = ("rotation_x", "rotation_y", "rotation_z")


class Freedom(NamedTuple):
    """One of q.

    body, parent : numbers of the bodies behind and before its joint
    axis, axis_on   : (3,) its direction, and the body in whose axes that is constant
    point, point_on : (3,) where it stands, and the body in whose axes that is constant
    slides       : along the axis; or else it turns about it, and goes `pitch` along it for every radian
    floats       : one of the rotations of a ball joint, whose axes turn with the body behind
    """

    joint: str
    coordinate: str
    body: int
    parent: int
    axis: Array
    axis_on: int
    point: Array
    point_on: int
    slides: bool = False
    pitch: float = 0.0
    floats: bool = False


class TreeFreedoms(NamedTuple):
    """All of q, from the ground outwards.

    parent : (nb,) of every body, parents first; moves (nb + 1, n): which of q move it
    """

    freedoms: tuple[Freedom, ...]
    labels: tuple[str, ...]
    parent: tuple[int, ...]
    moves: NDArray[np.bool_]

    def number(self, joint: str, coordinate: str) -> int | None:
        """Which of q is a joint's coordinate, None if its joint closes a loop."""
        for k, item in enumerate(self.freedoms):
            if (item.joint, item.coordinate) == (joint, coordinate):
                return k
        return None


def tree_freedoms(numbering: Numbering) -> TreeFreedoms:
    """Of the joints of the spanning tree."""
    graph, found = numbering.topology, []
    for name in numbering.bodies:
        base, joint = graph.parent[name]
        found += _of_joint(numbering, joint, numbering.body_index(name), numbering.body_index(base))
    parent = tuple(numbering.body_index(graph.parent[name][0]) for name in numbering.bodies)
    moves = np.zeros((len(numbering.bodies) + 1, len(found)), dtype=np.bool_)
    for b, before in enumerate(parent):
        moves[b] = moves[before] | np.array([item.body == b for item in found], dtype=np.bool_)
    joints = [item.joint for item in found]
    labels = (
        item.joint if joints.count(item.joint) == 1 and not item.floats else f"{item.joint}.{item.coordinate}"
        for item in found
    )
    return TreeFreedoms(tuple(found), tuple(labels), parent, moves)


def _of_joint(numbering: Numbering, joint: str, body: int, parent: int) -> list[Freedom]:
    mechanism = numbering.mechanism
    item, plane = mechanism.joints[joint], mechanism.plane
    steps = item.form(plane).stepped(plane)
    if steps is None:
        raise InputError(
            f"a rigid link system has no axes for a {item.kind} joint", part=part_name(("joints", joint)),
            path=("joints", joint), hint="take another formulation, or let it close a loop",
        )  # fmt: skip
    frames = joint_frames(numbering.drawing, joint)
    backwards = numbering.body_index(item.bodies[0]) == body
    sides = [(parent, frames.pa, frames.Ea), (body, frames.pb, frames.Eb)]
    if backwards:  # the joint's first body is the one behind it: its steps are taken back, the last one first
        sides = [(parent, frames.pb, frames.Eb), (body, frames.pa, frames.Ea)]
        steps = tuple(reversed(steps))
    before, behind = sides
    sign, found = (-1.0 if backwards else 1.0), []
    values = {"": 1.0, **item.parameters}
    for i, step in enumerate(steps):
        if step.motion == "spherical":
            found += [
                Freedom(joint, name, body, parent, axis, body, behind[1], body, floats=True)
                for name, axis in zip(_ROTATIONS, np.eye(3), strict=True)
            ]
            continue
        # Slides turn nothing: an axis behind them alone is still fixed before the joint, but goes along with the body.
        unturned = all(other.motion == "prismatic" for other in steps[:i])
        axis_on, _, E = before if unturned else behind
        point_on, point, _ = before if i == 0 else behind
        found.append(
            Freedom(
                joint, step.coordinate, body, parent, sign * (E @ _AXES[step.axis]), axis_on, point, point_on,
                step.motion == "prismatic", step.factor * values[step.parameter],
            )
        )  # fmt: skip
    return found


class LinkTwists(NamedTuple):
    """What a unit of each rate does at one position: S (n, 6) in the world about its origin; and of every body, of its
    own origin in its own axes, v and w (nb, 3, n)."""

    S: Array
    v: Array
    w: Array


def link_twists(tree: TreeFreedoms, X: Array) -> LinkTwists:
    """X : (nb + 1, 12) poses, the ground last."""
    x, R = X[:, :3], X[:, 3:].reshape(-1, 3, 3)
    S = np.zeros((len(tree.freedoms), 6))
    for k, item in enumerate(tree.freedoms):
        e = R[item.axis_on] @ item.axis
        if item.slides:
            S[k, :3] = e
        else:
            o = x[item.point_on] + R[item.point_on] @ item.point
            S[k, :3], S[k, 3:] = crossed(o, e) + item.pitch * e, e
    moves = tree.moves[:-1, None, :]
    turns = np.where(moves, S[:, 3:].T[None], 0.0)  # (nb, 3, n), in the world
    slides = np.where(moves, S[:, :3].T[None], 0.0) + np.swapaxes(crossed(np.swapaxes(turns, 1, 2), x[:-1, None]), 1, 2)
    back = np.swapaxes(R[:-1], 1, 2)
    return LinkTwists(S, back @ slides, back @ turns)


class LinkBias(NamedTuple):
    """Accelerations of bodies that q̇ gives without q̈, in their own axes: of the origin a, angular alpha; and the
    angular velocity w and velocity of the origin v: (nb, 3) each."""

    a: Array
    alpha: Array
    w: Array
    v: Array


def link_bias(tree: TreeFreedoms, X: Array, twists: LinkTwists, rates: Array) -> LinkBias:
    """Second sum of (6), as the acceleration of the point at the body's origin."""
    own = twists.S * rates[:, None]
    V, A = np.zeros((len(X), 6)), np.zeros((len(X), 6))
    number = {b: [k for k, item in enumerate(tree.freedoms) if item.body == b] for b in range(len(tree.parent))}
    for b, base in enumerate(tree.parent):
        V[b], A[b] = V[base], A[base]
        ball = [k for k in number[b] if tree.freedoms[k].floats]
        for k in number[b]:
            # What the axis is fixed in moves as far as the joint goes before it; a ball's axes go with the body.
            held = V[b] + own[[i for i in ball if i >= k]].sum(axis=0) if k in ball else V[b]
            A[b] += _bracket(held, own[k])
            V[b] = V[b] + own[k]
    x, back = X[:-1, :3], np.swapaxes(X[:-1, 3:].reshape(-1, 3, 3), 1, 2)
    velocity = V[:-1, :3] + crossed(V[:-1, 3:], x)
    a = A[:-1, :3] + crossed(A[:-1, 3:], x) + crossed(V[:-1, 3:], velocity)
    turned = [np.einsum("bij,bj->bi", back, item) for item in (a, A[:-1, 3:], V[:-1, 3:], velocity)]
    return LinkBias(*turned)


def _bracket(V: Array, S: Array) -> Array:
    """V × S of twists (v, ω): (ω × s_v + v × s_ω, ω × s_ω)."""
    return np.concatenate([crossed(V[3:], S[:3]) + crossed(V[:3], S[3:]), crossed(V[3:], S[3:])])
