"""What random mechanisms are made of: bodies, joints, coordinates, and everything a mechanism can carry.

A mechanism is made as the dictionary of its parts, so that the laws can draw it anew: turned, reordered,
written in another plane, or in another position.
"""

from __future__ import annotations

import functools
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
from drawn_parts import COORDINATES
from scipy.linalg import null_space, qr
from scipy.spatial.transform import Rotation
from world_axes import WorldAxes

Parts = dict[str, Any]

BUILDERS: dict[str, Callable[[], tuple[Parts, float]]] = {}
"""Every member of every family, by name: what makes its parts, and how far θ may spread around rest."""


def family(name: str, count: int) -> Callable:
    """Register `count` seeded members of a family: its builder takes a generator and gives parts and spread."""

    def register(build: Callable[[np.random.Generator], tuple[Parts, float]]) -> Callable:
        for i in range(count):
            key = f"{name} {i + 1}" if count > 1 else name
            BUILDERS[key] = functools.partial(_seeded, build, zlib.crc32(name.encode()), i)
        return build

    return register


def _seeded(build, *seed):
    return build(np.random.default_rng(seed))


def member(rng) -> int:
    """Which member of its family a builder is making."""
    return int(rng.bit_generator.seed_seq.entropy[1])


def unit(rng):
    v = rng.standard_normal(3)
    return v / np.linalg.norm(v)


def rotation(rng):
    Q, _ = np.linalg.qr(rng.standard_normal((3, 3)))
    return Q * np.sign(np.linalg.det(Q))


def written(R):
    """A rotation matrix as a description writes it."""
    w = Rotation.from_matrix(R).as_rotvec()
    angle = float(np.linalg.norm(w))
    return {"about": listed(w / angle), "angle": angle} if angle > 1e-12 else {"about": "z", "angle": 0.0}


def listed(v):
    return [float(x) for x in v]


def inertia(rng, size):
    """Of a cloud of points, so that it is one that a body can have."""
    r = size * rng.standard_normal((6, 3))
    m = rng.uniform(0.2, 1.0, 6)
    J = sum(mi * ((ri @ ri) * np.eye(3) - np.outer(ri, ri)) for mi, ri in zip(m, r, strict=True))
    return {a + b: float(J["xyz".index(a), "xyz".index(b)]) for a, b in ("xx", "yy", "zz", "xy", "xz", "yz")}


def solid_body(rng, near):
    """Somewhere near, with axes of its own half of the time."""
    body: Parts = {
        "mass": float(rng.uniform(0.5, 2.0)),
        "center": listed(near + 0.1 * rng.standard_normal(3)),
        "inertia": inertia(rng, 0.15),
    }
    if rng.random() < 0.5:
        body |= {"at": listed(near + 0.1 * rng.standard_normal(3)), "rotation": written(rotation(rng))}
    return body


def spatial_joint(rng, parts, name, kind, first, second, at):
    """A joint of a kind, at a place, about a random axis; where its coordinates need axes, through frames."""
    joint: Parts = {kind: [first, second]}
    if kind in ("planar", "translation", "free"):
        Q = written(rotation(rng))
        for side, body in (("a", first), ("b", second)):
            parts["frames"][f"{name}_{side}"] = {"on": body, "at": listed(at), "rotation": Q}
        joint["frames"] = [f"{name}_a", f"{name}_b"]
        if kind == "planar":
            joint["axis"] = "z"
    else:
        joint["at"] = listed(at)
        if kind == "universal":
            Q = rotation(rng)
            joint["axes"] = [listed(Q[:, 0]), listed(Q[:, 1])]
        elif kind not in ("spherical", "weld"):
            joint["axis"] = listed(unit(rng))
    parts["joints"][name] = joint


def three_distances(rng, parts, name, first, second, at):
    """Three cylinders that turn a ball joint, each across an arm of its own."""
    Q = rotation(rng)
    for i in range(3):
        arm, across = 0.4 * Q[:, i], 0.6 * Q[:, (i + 1) % 3]
        parts["frames"][f"{name}_p{i}"] = {"on": first, "at": listed(at + arm - across)}
        parts["frames"][f"{name}_q{i}"] = {"on": second, "at": listed(at + arm)}
        parts["actuators"][f"{name}_d{i}"] = {"between": [f"{name}_p{i}", f"{name}_q{i}"]}


def joint_coordinates(parts, name):
    """References to the scalar coordinates of a joint."""
    joint = parts["joints"][name]
    kind = next(key for key in COORDINATES if key in joint)
    names = COORDINATES[kind]
    if parts.get("plane") and kind in ("planar", "free", "translation"):
        names = (*parts["plane"], "angle")[: 2 if kind == "translation" else 3]
    return [name] if len(names) == 1 else [f"{name}.{coordinate}" for coordinate in names]


def choose_coordinates(parts, least=0.03):
    """θ: of all joint coordinates and distances the best conditioned ones, or None if the position is poor."""
    candidates = [ref for name in parts["joints"] for ref in joint_coordinates(parts, name)]
    candidates += [name for name in parts["actuators"] if "between" in parts["actuators"][name]]
    oracle = WorldAxes(parts | {"coordinates": candidates})
    poses = oracle.close(oracle.drawn)
    motions = null_space(oracle.constraints(poses)[1], rcond=1e-9)
    A = oracle.theta(poses)[1] @ motions
    picked = qr(A.T, pivoting=True, mode="r")[1][: motions.shape[1]]
    parts = parts | {"coordinates": [candidates[i] for i in sorted(picked)]}
    oracle = WorldAxes(parts)
    return parts if len(picked) == motions.shape[1] and oracle.measure(poses) > least else None


def drawn_until_regular(rng, draw, least=0.03):
    for _ in range(60):
        parts = draw(rng)
        chosen = choose_coordinates(parts, least)
        if chosen is not None:
            return chosen
    raise AssertionError("no well-conditioned draw")


def empty(**more) -> Parts:
    return {"points": {}, "bodies": {}, "frames": {}, "joints": {}, "actuators": {}} | more


def dress(rng, parts):
    """Everything a mechanism can carry: gravity, point masses, springs, dampers, friction, motors, forces, sensors."""
    plane = parts.get("plane")
    size = 2 if plane else 3

    def vector(scale):
        return listed(scale * rng.standard_normal(size))

    bodies = list(parts["bodies"])
    oracle = WorldAxes(parts | {"coordinates": []})
    for body in bodies:
        pose = oracle.drawn[body]
        at = pose.of(oracle.mass[body].c) + 0.2 * rng.standard_normal(3)
        angle = {"angle": float(rng.uniform(-3.0, 3.0))} if plane else written(rotation(rng))
        parts["frames"][f"f_{body}"] = {"on": body, "at": listed(at[:size]), "rotation": angle}
    parts["frames"]["f_ground"] = {"on": "ground", "at": vector(1.5)}
    # the roll of a rod's axes is nobody's business: point masses and followers go elsewhere in space
    frames = [f"f_{body}" for body in bodies if plane or "rod" not in parts["bodies"][body]]
    some = [frames[i] for i in rng.permutation(len(frames))]
    scalars = [ref for name in parts["joints"] for ref in joint_coordinates(parts, name)]
    joints = [scalars[i] for i in rng.permutation(len(scalars))] * 3

    def coefficient(low, high):
        return float(rng.uniform(low, high))

    parts["gravity"] = vector(6.0)
    parts["point_masses"] = {
        "lump": {"at": some[0], "mass": coefficient(0.1, 0.6)},
        "wheel": {"at": some[-1], "mass": coefficient(0.1, 0.6), "inertia": coefficient(0.01, 0.05)},
    }
    parts["springs"] = {
        "torsion": {"joint": joints[0], "stiffness": coefficient(2.0, 20.0), "rest": coefficient(-0.5, 0.5)},
        "coil": {
            "between": ["f_ground", some[0]],
            "stiffness": coefficient(2.0, 20.0),
            "length": coefficient(0.2, 0.8),
        },
    }
    parts["dampers"] = {
        "hinge_oil": {"joint": joints[1], "damping": coefficient(0.1, 2.0)},
        "dashpot": {"between": [some[-1], "f_ground"], "damping": coefficient(0.1, 2.0)},
    }
    push: Parts = {"at": some[0], "force": vector(4.0)}
    jet: Parts = {"at": some[-1], "force": vector(4.0), "moment": coefficient(-2, 2) if plane else vector(2.0)}
    twist: Parts = {"at": some[0], "moment": coefficient(-2, 2) if plane else vector(2.0)}
    parts["forces"] = {
        "push": push,
        "jet": jet | {"follower": True},
        "twist": twist,
        "drive": {"joint": joints[2], "force": coefficient(-3.0, 3.0)},
        "pull": {"between": ["f_ground", some[-1]], "force": coefficient(-3.0, 3.0)},
    }
    parts["actuators"] |= {"extra_hinge": {"joint": joints[3]}, "extra_ram": {"between": ["f_ground", some[0]]}}
    parts["sensors"] = {
        "place": {"position": some[0]},
        "level": {"position": some[-1], "axis": vector(1.0)},
        "opening": {"joint": joints[4]},
        "range": {"between": [some[0], "f_ground"]},
    }
    for reference, field, value in (
        (joints[0], "viscous", coefficient(0.1, 1.0)),
        (joints[-1], "dry", coefficient(0.1, 1.0)),
        (joints[1], "motor", {"inertia": coefficient(1e-3, 5e-3), "gear": coefficient(3.0, 8.0)}),
    ):
        name, _, coordinate = reference.partition(".")
        joint = parts["joints"][name]
        if coordinate:
            joint[field] = joint.get(field, {}) | {coordinate: value}
        else:
            joint[field] = value
    return parts
