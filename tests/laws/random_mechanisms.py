"""Random mechanisms, by name and seeded: chains and trees, single loops, coupled loops, in space and in the plane.

A mechanism is made as the dictionary of its parts, so that the laws can draw it anew: turned, reordered,
written in another plane, or in another position. `CASES` names them all; `case(name)` builds one, once.
"""

from __future__ import annotations

import functools
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import null_space, qr
from scipy.spatial.transform import Rotation
from world_axes import COORDINATES, WorldAxes

import supple

Parts = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """A mechanism with a box of θ around rest in which it has no singularity: rest ± spread."""

    name: str
    parts: Parts
    mechanism: supple.Mechanism
    rest: np.ndarray
    spread: np.ndarray

    def thetas(self, count: int, seed: int = 0) -> np.ndarray:
        """(count, s) random configurations in the box."""
        rng = np.random.default_rng([zlib.crc32(self.name.encode()), seed])
        return self.rest + self.spread * rng.uniform(-1.0, 1.0, (count, len(self.rest)))


_BUILDERS: dict[str, Callable[[], tuple[Parts, float]]] = {}
_IN_THE_PLANE: list[str] = []


def family(name: str, count: int, planar: bool = False) -> Callable:
    """Register `count` seeded members of a family: its builder takes a generator and gives parts and spread."""

    def register(build: Callable[[np.random.Generator], tuple[Parts, float]]) -> Callable:
        for i in range(count):
            key = f"{name} {i + 1}" if count > 1 else name
            _BUILDERS[key] = functools.partial(_seeded, build, zlib.crc32(name.encode()), i)
            if planar:
                _IN_THE_PLANE.append(key)
        return build

    return register


def _seeded(build, *seed):
    return build(np.random.default_rng(seed))


@functools.cache
def case(name: str) -> Case:
    parts, spread = _BUILDERS[name]()
    oracle = WorldAxes(parts)
    rest = oracle.theta(oracle.close(oracle.drawn))[0]
    rams = [ref in parts["actuators"] for ref in oracle.names]  # short arms: a distance moves less than an angle
    return Case(name, parts, supple.Mechanism(**parts), rest, np.where(rams, 0.3, 1.0) * spread)


# ---------------------------------------------------------------------------- ingredients


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


# ---------------------------------------------------------------------------- chains and trees in space

EVERY_KIND = tuple(COORDINATES)


def grow(rng, links):
    """Bodies hung one after the other: links are (parent, body, kind)."""
    parts = empty()
    near = {"ground": np.zeros(3)}
    theta: list[str] = []
    for i, (parent, body, kind) in enumerate(links):
        at = near[parent] + 0.4 * unit(rng)
        near[body] = at + 0.4 * unit(rng)
        parts["bodies"][body] = solid_body(rng, near[body])
        first, second = (parent, body) if rng.random() < 0.7 else (body, parent)
        name = f"j{i}"
        spatial_joint(rng, parts, name, kind, first, second, at)
        theta += joint_coordinates(parts, name)
        if kind in ("spherical", "free"):
            three_distances(rng, parts, name, first, second, at)
            theta += [f"{name}_d{k}" for k in range(3)]
    return dress(rng, parts | {"coordinates": theta})


@family("chain", 3)
def chain(rng):
    """Four bodies in a row; the kinds of three chains together are all nine."""
    kinds = [EVERY_KIND[i] for i in np.random.default_rng(5).permutation(9)]
    seed = int(rng.bit_generator.seed_seq.entropy[1])
    mine = [*kinds[3 * seed : 3 * seed + 3], "revolute"]
    names = ["ground", "b1", "b2", "b3", "b4"]
    return grow(rng, list(zip(names[:-1], names[1:], mine, strict=True))), 0.1


@family("tree", 3)
def tree(rng):
    """Five bodies, each on any earlier one or on the ground."""
    names = ["ground", "b1", "b2", "b3", "b4", "b5"]
    kinds = ["revolute", "weld", *rng.choice(["revolute", "prismatic", "cylindrical", "universal", "spherical"], 3)]
    links = [
        (names[int(rng.integers(0, i + 1))], names[i + 1], str(kind)) for i, kind in enumerate(rng.permutation(kinds))
    ]
    return grow(rng, links), 0.15


# ---------------------------------------------------------------------------- loops in space


def ring(rng, kinds, extra=()):
    """Ground and bodies in a ring, joined by kinds in turn; `extra` joints (body, body, kind) couple loops."""
    count = len(kinds) - 1
    names = ["ground", *(f"b{i + 1}" for i in range(count))]
    angle = 2.0 * np.pi * (np.arange(count + 1) + 0.5 * rng.random(count + 1)) / (count + 1)
    near = {
        name: np.array([np.cos(a), np.sin(a), 0.0]) * 0.8 + 0.25 * rng.standard_normal(3)
        for name, a in zip(names, angle, strict=True)
    }
    parts = empty()
    for body in names[1:]:
        parts["bodies"][body] = solid_body(rng, near[body])
    links = [*zip(names, [*names[1:], "ground"], kinds, strict=True), *extra]
    for i, (first, second, kind) in enumerate(links):
        at = 0.5 * (near[first] + near[second]) + 0.2 * rng.standard_normal(3)
        spatial_joint(rng, parts, f"j{i}", kind, first, second, at)
    return parts


KINDS_OF_LETTERS = {
    "R": "revolute",
    "P": "prismatic",
    "C": "cylindrical",
    "U": "universal",
    "S": "spherical",
    "E": "planar",
}


def ring_of(letters):
    def build(rng):
        parts = drawn_until_regular(rng, lambda r: ring(r, [KINDS_OF_LETTERS[k] for k in letters]), 0.05)
        return dress(rng, parts), 0.06

    return build


for _letters in ("RSUR", "RCCC", "RRRRRRR", "PUSR", "RUCU", "CSPUE", "UCRRE"):
    family(f"{_letters} loop", 1)(ring_of(_letters))


@family("RSSR loop with a turning coupler", 1)
def rssr(rng):
    """Its coupler may spin about its own line; the distance of a point beside it is the second coordinate."""

    def draw(r):
        parts = ring(r, ["revolute", "spherical", "spherical", "revolute"])
        a, b = (np.array(parts["joints"][name]["at"]) for name in ("j1", "j2"))
        beside = np.cross(b - a, unit(r))
        beside *= 0.4 / np.linalg.norm(beside)
        across = np.cross(b - a, beside)
        parts["frames"] |= {
            "side": {"on": "b2", "at": listed(0.5 * (a + b) + beside)},
            "post": {"on": "ground", "at": listed(0.5 * (a + b) + beside + 0.5 * across / np.linalg.norm(across))},
        }
        parts["actuators"]["spin"] = {"between": ["side", "post"]}
        return parts

    return dress(rng, drawn_until_regular(rng, draw)), 0.08


@family("coupled loops", 2)
def coupled(rng):
    """A ring with a further joint across it: two loops that share joints. 24 - 5 - 4 - 3 - 4 - 4 - 3 leaves 1."""
    kinds = ["revolute", "universal", "spherical", "universal", "cylindrical"]
    parts = drawn_until_regular(rng, lambda r: ring(r, kinds, [("b1", "b4", "spherical")]))
    return dress(rng, parts), 0.08


def six_places(rng):
    """Ends of six legs that zigzag between two circles, roughly."""

    def circle(radius, height, first):
        angle = np.repeat(first + 2.0 * np.pi * np.arange(3) / 3.0, 2) + np.tile([-0.2, 0.2], 3)
        round_ = radius * np.column_stack([np.cos(angle), np.sin(angle), np.zeros(6)])
        return round_ + [0.0, 0.0, height] + 0.04 * rng.standard_normal((6, 3))

    return np.roll(circle(0.9, 0.0, 0.0), -1, axis=0), circle(0.6, 0.9, np.pi / 3.0)


@family("Stewart platform with legs", 1)
def stewart(rng):
    """Six legs of two bodies each (universal, prismatic, spherical): thirteen bodies, five independent loops."""
    base, top = six_places(rng)
    parts = empty(coordinates=[f"p{i}" for i in range(6)])
    parts["bodies"]["platform"] = solid_body(rng, np.array([0.0, 0.0, 0.9]))
    for i in range(6):
        along = (top[i] - base[i]) / np.linalg.norm(top[i] - base[i])
        first = np.cross(along, unit(rng))
        first /= np.linalg.norm(first)
        for part, share in (("barrel", 0.25), ("piston", 0.75)):
            parts["bodies"][f"{part}{i}"] = solid_body(rng, base[i] + share * (top[i] - base[i]))
        parts["joints"] |= {
            f"u{i}": {
                "universal": ["ground", f"barrel{i}"],
                "at": listed(base[i]),
                "axes": [listed(first), listed(np.cross(along, first))],
            },
            f"p{i}": {
                "prismatic": [f"barrel{i}", f"piston{i}"],
                "at": listed(0.5 * (base[i] + top[i])),
                "axis": listed(along),
            },
            f"s{i}": {"spherical": [f"piston{i}", "platform"], "at": listed(top[i])},
        }
    return dress(rng, parts), 0.04


@family("Stewart platform of distances", 1)
def hexapod(rng):
    """A body that floats, driven by six massless cylinders."""
    base, top = six_places(rng)
    parts = empty(coordinates=[f"ram{i}" for i in range(6)])
    parts["bodies"]["platform"] = solid_body(rng, np.array([0.0, 0.0, 0.9]))
    spatial_joint(rng, parts, "floating", "free", "ground", "platform", np.zeros(3))
    for i in range(6):
        parts["frames"] |= {
            f"base{i}": {"on": "ground", "at": listed(base[i])},
            f"top{i}": {"on": "platform", "at": listed(top[i])},
        }
        parts["actuators"][f"ram{i}"] = {"between": [f"base{i}", f"top{i}"]}
    return dress(rng, parts), 0.2


@family("sliders and rods", 2)
def sliders_and_rods(rng):
    """Three sliders push a tool that only translates, through rods a little off their drawn length."""
    parts = empty(coordinates=["slide0", "slide1", "slide2"])
    parts["points"]["T"] = [0.0, 0.0, 0.0]
    parts["bodies"]["tool"] = solid_body(rng, np.zeros(3))
    spatial_joint(rng, parts, "keep", "translation", "ground", "tool", np.zeros(3))
    for i in range(3):
        away = np.eye(3)[i] + 0.2 * rng.standard_normal(3)
        start, end = 0.8 * away / np.linalg.norm(away), 0.1 * rng.standard_normal(3)
        parts["points"] |= {f"S{i}": listed(start), f"T{i}": listed(end)}
        length = float(np.linalg.norm(end - start) * rng.uniform(0.97, 1.03))
        parts["bodies"] |= {
            f"slider{i}": solid_body(rng, start),
            f"rod{i}": {"rod": [f"S{i}", f"T{i}"], "length": length, "line_mass": float(rng.uniform(0.4, 1.0))},
        }
        first = np.cross(end - start, unit(rng))  # a fork whose axes both stand across the rod
        second = np.cross(end - start, first)
        parts["joints"] |= {
            f"slide{i}": {"prismatic": ["ground", f"slider{i}"], "at": f"S{i}", "axis": listed(away)},
            f"fork{i}": {
                "universal": [f"slider{i}", f"rod{i}"],
                "at": f"S{i}",
                "axes": [listed(first), listed(second)],
            },
            f"ball{i}": {"spherical": [f"rod{i}", "tool"], "at": f"T{i}"},
        }
    return dress(rng, parts), 0.08


# ---------------------------------------------------------------------------- in the plane


def bar(rng, start, end, parts):
    """A rod that is a little longer or shorter than drawn, so that closure has to complete the drawing."""
    p, q = (np.array(parts["points"][name]) for name in (start, end))
    length = float(np.linalg.norm(q - p) * rng.uniform(0.98, 1.02))
    body: Parts = {"rod": [start, end], "length": length}
    if rng.random() < 0.5:
        return body | {"line_mass": float(rng.uniform(0.5, 2.0))}
    return body | {
        "mass": float(rng.uniform(0.5, 2.0)),
        "center": 0.4 * length,
        "inertia": float(rng.uniform(0.02, 0.1)),
    }


def linkage(rng, plane, points, bars, hinges, least=0.06):
    """Points (roughly), bars between them, hinges (point, body, body)."""

    def draw(r):
        parts = empty(plane=plane)
        parts["points"] = {name: listed(np.array(at) + 0.12 * r.standard_normal(2)) for name, at in points.items()}
        parts["bodies"] = {name: bar(r, *ends, parts) for name, ends in bars.items()}
        for i, (at, first, second) in enumerate(hinges):
            parts["joints"][f"h{i}"] = {"revolute": [first, second], "at": at}
        return parts

    return drawn_until_regular(rng, draw, least)


FOUR_BAR = {
    "points": {"A": [0, 0], "B": [0.1, 0.6], "C": [1.0, 0.9], "D": [1.1, 0.0]},
    "bars": {"crank": ["A", "B"], "coupler": ["B", "C"], "follower": ["D", "C"]},
    "hinges": [
        ("A", "ground", "crank"),
        ("B", "crank", "coupler"),
        ("C", "coupler", "follower"),
        ("D", "follower", "ground"),
    ],
}


@family("four-bar", 3, planar=True)
def four_bar(rng):
    plane = ("xy", "xz", "zy")[int(rng.bit_generator.seed_seq.entropy[1])]
    return dress(rng, linkage(rng, plane, **FOUR_BAR)), 0.15


@family("five-bar", 2, planar=True)
def five_bar(rng):
    parts = linkage(
        rng,
        "xz",
        {"A": [0, 0], "B": [-0.4, 0.6], "C": [0.4, 1.2], "D": [1.3, 0.6], "E": [0.9, 0]},
        {"left": ["A", "B"], "upper": ["B", "C"], "fore": ["D", "C"], "right": ["E", "D"]},
        [
            ("A", "ground", "left"),
            ("B", "left", "upper"),
            ("C", "upper", "fore"),
            ("D", "fore", "right"),
            ("E", "ground", "right"),
        ],
    )
    return dress(rng, parts), 0.12


@family("two four-bars that share a bar", 2, planar=True)
def six_bar(rng):
    parts = linkage(
        rng,
        "yz",
        {"A": [0, 0], "B": [0.1, 0.7], "C": [1.0, 0.9], "D": [1.1, 0.0], "E": [2.0, 0.8], "F": [2.1, -0.1]},
        {"crank": ["A", "B"], "coupler": ["B", "C"], "shared": ["D", "C"], "link": ["C", "E"], "rocker": ["F", "E"]},
        [
            ("A", "ground", "crank"),
            ("B", "crank", "coupler"),
            ("C", "coupler", "shared"),
            ("D", "shared", "ground"),
            ("C", "shared", "link"),
            ("E", "link", "rocker"),
            ("F", "rocker", "ground"),
        ],
    )
    return dress(rng, parts), 0.12


@family("slider-crank driven by a cylinder", 2, planar=True)
def slider_crank(rng):
    """The cylinder pushes the crank; the slider runs along a slanted guide."""

    def draw(r):
        parts = empty(plane="xz")
        parts["points"] = {
            "O": listed(0.05 * r.standard_normal(2)),
            "P": listed([0.25, 0.5] + 0.08 * r.standard_normal(2)),
            "S": listed([1.3, 0.1] + 0.08 * r.standard_normal(2)),
            "foot": listed([-0.7, 0.1] + 0.05 * r.standard_normal(2)),
        }
        parts["bodies"] = {
            "crank": bar(r, "O", "P", parts),
            "rod": bar(r, "P", "S", parts),
            "slider": {"mass": 1.5, "center": parts["points"]["S"], "inertia": 0.01},
        }
        parts["joints"] = {
            "o": {"revolute": ["ground", "crank"], "at": "O"},
            "p": {"revolute": ["crank", "rod"], "at": "P"},
            "s": {"revolute": ["rod", "slider"], "at": "S"},
            "guide": {"prismatic": ["ground", "slider"], "at": "S", "axis": listed([1.0, 0.2 * r.standard_normal()])},
        }
        parts["frames"]["base"] = {"on": "ground", "at": "foot"}
        parts["actuators"]["cylinder"] = {"between": ["base", "crank.P"]}
        return parts | {"coordinates": ["cylinder"]}

    for _ in range(60):
        parts = draw(rng)
        oracle = WorldAxes(parts)
        if oracle.measure(oracle.close(oracle.drawn)) > 0.05:
            return dress(rng, parts), 0.2
    raise AssertionError("no well-conditioned draw")


@family("3-RRR platform", 1, planar=True)
def three_rrr(rng):
    """Three arms of two bars carry a platform: two independent loops, mobility 3."""
    parts = empty(plane="xy", coordinates=["a0", "a1", "a2"])
    for i in range(3):
        e = np.array([np.cos(2.1 * i), np.sin(2.1 * i)])
        t = np.array([-e[1], e[0]])
        for name, at in (("A", 1.2 * e), ("B", 0.9 * e + 0.6 * t), ("C", 0.35 * e)):
            parts["points"][f"{name}{i}"] = listed(at + 0.05 * rng.standard_normal(2))
        parts["bodies"] |= {f"arm{i}": bar(rng, f"A{i}", f"B{i}", parts), f"fore{i}": bar(rng, f"B{i}", f"C{i}", parts)}
        parts["joints"] |= {
            f"a{i}": {"revolute": ["ground", f"arm{i}"], "at": f"A{i}"},
            f"b{i}": {"revolute": [f"arm{i}", f"fore{i}"], "at": f"B{i}"},
            f"c{i}": {"revolute": [f"fore{i}", "platform"], "at": f"C{i}"},
        }
    parts["bodies"]["platform"] = {"mass": 1.4, "center": [0.05, -0.02], "inertia": 0.09}
    return dress(rng, parts), 0.12


@family("parallelogram chain", 2, planar=True)
def parallelograms(rng):
    """Two stages of three equal parallel bars each: every third bar is a redundant constraint."""
    plane = "xz"
    lean, height = rng.uniform(-0.3, 0.3, 2), rng.uniform(0.5, 0.9, 2)
    parts = empty(plane=plane, coordinates=["q0_0", "q1_0"])
    foot = np.sort(rng.uniform(0.0, 1.2, (2, 3)) + [0.0, 0.7, 1.4], axis=1)
    base, level = "ground", 0.0
    for stage in range(2):
        plate = f"plate{stage}"
        rise = np.array([lean[stage], height[stage]])
        low = np.column_stack([foot[stage], np.full(3, level) + [0.0, 0.1, -0.05]])
        parts["bodies"][plate] = {"mass": 1.0, "center": listed(low[1] + rise), "inertia": 0.08}
        for k in range(3):
            parts["points"] |= {f"L{stage}_{k}": listed(low[k]), f"H{stage}_{k}": listed(low[k] + rise)}
            parts["bodies"][f"bar{stage}_{k}"] = {
                "rod": [f"L{stage}_{k}", f"H{stage}_{k}"],
                "mass": float(rng.uniform(0.3, 1.0)),
            }
            parts["joints"] |= {
                f"q{stage}_{k}": {"revolute": [base, f"bar{stage}_{k}"], "at": f"L{stage}_{k}"},
                f"r{stage}_{k}": {"revolute": [f"bar{stage}_{k}", plate], "at": f"H{stage}_{k}"},
            }
        base, level = plate, level + height[stage]
    return dress(rng, parts), 0.3


@family("planar tree", 2, planar=True)
def planar_tree(rng):
    """Every planar joint kind, on any earlier body."""
    kinds = ["revolute", "prismatic", "planar", "translation", "weld", "free"]
    names = ["ground", *(f"b{i}" for i in range(6))]
    parts = empty(plane="xz", coordinates=[])
    near = {"ground": np.zeros(2)}
    for i, kind in enumerate(rng.permutation(kinds)):
        parent, body = names[int(rng.integers(0, i + 1))], names[i + 1]
        at = near[parent] + 0.5 * rng.standard_normal(2)
        near[body] = at + 0.5 * rng.standard_normal(2)
        parts["bodies"][body] = {
            "mass": float(rng.uniform(0.5, 2.0)),
            "center": listed(near[body]),
            "inertia": float(rng.uniform(0.05, 0.2)),
            "at": listed(at),
            "rotation": {"angle": float(rng.uniform(-3.0, 3.0))},
        }
        joint = {str(kind): [parent, body], "at": listed(at)}
        if kind == "prismatic":
            joint["axis"] = listed(rng.standard_normal(2))
        parts["joints"][f"j{i}"] = joint
        parts["coordinates"] += joint_coordinates(parts, f"j{i}")
    return dress(rng, parts), 0.2


CASES = tuple(_BUILDERS)
CLOSED = tuple(name for name in CASES if not name.startswith(("chain", "tree", "planar tree", "Stewart platform of")))
PLANAR = tuple(_IN_THE_PLANE)
SPATIAL = tuple(name for name in CASES if name not in PLANAR)
