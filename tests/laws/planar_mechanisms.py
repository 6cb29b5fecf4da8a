"""Random mechanisms in the plane: trees of every joint kind, linkages of one and more loops."""

from __future__ import annotations

import numpy as np
from random_parts import Parts, drawn_until_regular, dress, empty, family, joint_coordinates, listed, member
from world_axes import WorldAxes


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


@family("four-bar", 3)
def four_bar(rng):
    plane = ("xy", "xz", "zy")[member(rng)]
    return dress(rng, linkage(rng, plane, **FOUR_BAR)), 0.15


@family("five-bar", 2)
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


@family("two four-bars that share a bar", 2)
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


@family("slider-crank driven by a cylinder", 2)
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


@family("3-RRR platform", 1)
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


@family("parallelogram chain", 2)
def parallelograms(rng):
    """Two stages of three equal parallel bars each: every third bar is a redundant constraint."""
    plane = "xz"
    lean, height = rng.uniform(-0.3, 0.3, 2), rng.uniform(0.5, 0.9, 2)
    parts = empty(plane=plane, coordinates=["q0_0", "q1_0"])
    foot = np.sort(rng.uniform(0.0, 1.2, (2, 3)) + np.array([0.0, 0.7, 1.4]), axis=1)
    base, level = "ground", 0.0
    for stage in range(2):
        plate = f"plate{stage}"
        rise = np.array([lean[stage], height[stage]])
        low = np.column_stack([foot[stage], level + np.array([0.0, 0.1, -0.05])])
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


@family("planar tree", 2)
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
