"""Trees with every kind of joint and everything that acts on them, and motions along their manifold."""

from __future__ import annotations

import numpy as np

from supple.formulations.recursive import AppliedLoad, Distance, TreeArrays, rigid_tree
from supple.formulations.recursive.tree import JOINTS
from supple.geometry.rotation import exponential

KINDS = tuple(JOINTS)


def random_inertia(rng):
    points = rng.normal(size=(6, 3))
    return sum((p @ p) * np.eye(3) - np.outer(p, p) for p in points) * 0.1


def random_tree(kinds, seed, *, acting=False, distances=False) -> TreeArrays:
    rng, count = np.random.default_rng(seed), len(kinds)
    parent = [-1] + [int(rng.integers(max(-1, i - 3), i)) for i in range(1, count)]
    n = sum(JOINTS[kind][1] for kind in kinds)
    scalar = np.concatenate([np.full(JOINTS[k][1], k not in ("spherical", "free")) for k in kinds]).astype(float)
    given = {}
    if acting:
        given = {
            "armature": rng.uniform(0.1, 0.3, n) * scalar, "damping": rng.uniform(0.1, 0.5, n),
            "stiffness": rng.uniform(1, 5, n) * scalar, "relaxed": rng.normal(size=n) * scalar,
            "offset": rng.normal(size=n) * scalar, "drive": rng.normal(size=n) * scalar,
            "loads": [
                AppliedLoad(count - 1, *rng.normal(size=(3, 3))),
                AppliedLoad(0, *rng.normal(size=(3, 3)), follows=True),
            ],
        }  # fmt: skip
    if distances:
        ends = rng.normal(size=(8, 3))
        given["actuated"] = [*range(n), -1]
        given["distances"] = [
            Distance(-1, ends[0] + 3.0, count - 1, ends[1], stiffness=4.0, length=1.2, damping=0.7),
            Distance(0, ends[2], count - 1, ends[3], stiffness=3.0),
            Distance(0, ends[4] + 2.0, count - 2, ends[5], damping=0.4, force=1.3),
            Distance(count - 2, ends[6], -1, ends[7] - 3.0, actuator=n),
        ]
    return rigid_tree(
        parent, kinds, mass=rng.uniform(0.5, 2.0, count), center=rng.normal(size=(count, 3)) * 0.3,
        inertia=[random_inertia(rng) for _ in kinds], position=rng.normal(size=(count, 3)) * 0.5,
        rotation=[exponential(rng.normal(size=3)) for _ in kinds], axis=rng.normal(size=(count, 3)),
        second_axis=rng.normal(size=(count, 3)), mounting_position=rng.normal(size=(count, 3)) * 0.2,
        mounting_rotation=[exponential(rng.normal(size=3)) for _ in kinds], turned_round=rng.integers(0, 2, count),
        pitch=rng.normal(size=count) * 0.2, gravity=(1.0, 2.0, -9.0), **given,
    )  # fmt: skip


def random_state(tree: TreeArrays, seed: int):
    rng = np.random.default_rng(seed)
    q = moved(tree, tree.neutral(), rng.normal(size=tree.n))
    return q, rng.normal(size=tree.n), rng.normal(size=tree.inputs)


def quaternion_product(a, b):
    (x, y, z, w), (i, j, k, r) = a, b
    return np.array(
        [
            w * i + x * r + y * k - z * j,
            w * j - x * k + y * r + z * i,
            w * k + x * j - y * i + z * r,
            w * r - x * i - y * j - z * k,
        ]
    )


def turn(quaternion):
    x, y, z, w = quaternion
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def small_turn(w):
    angle = np.linalg.norm(w)
    half = 0.5 * (1.0 - angle**2 / 24.0) if angle < 1e-3 else np.sin(angle / 2) / angle
    return np.append(half * np.asarray(w), np.cos(angle / 2))


def moved(tree: TreeArrays, q, step):
    """q after a step in tangent coordinates: exact for coordinates and rotations, to second order for free joints."""
    out = np.array(q, float)
    for kind, at_q, at_v in zip(tree.links.kind, tree.at_q, tree.at_v, strict=True):
        nq, nv = JOINTS[kind]
        piece = step[at_v : at_v + nv]
        if kind == "spherical":
            out[at_q : at_q + 4] = quaternion_product(q[at_q : at_q + 4], small_turn(piece))
        elif kind == "free":
            R, half = turn(q[at_q + 3 : at_q + 7]), piece[:3] + 0.5 * np.cross(piece[3:], piece[:3])
            out[at_q : at_q + 3] += R @ half
            out[at_q + 3 : at_q + 7] = quaternion_product(q[at_q + 3 : at_q + 7], small_turn(piece[3:]))
        else:
            out[at_q : at_q + nq] += piece
    return out
