"""Random mechanisms in space: chains and trees, single loops, coupled loops."""

from __future__ import annotations

import numpy as np
from drawn_parts import COORDINATES
from random_parts import (
    drawn_until_regular,
    dress,
    empty,
    family,
    joint_coordinates,
    listed,
    member,
    solid_body,
    spatial_joint,
    three_distances,
    unit,
)

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
    seed = member(rng)
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
