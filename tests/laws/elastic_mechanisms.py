"""Random elastic mechanisms with closed loops, and their modes from a plain assembly of all nodes.

Bodies are beams, frames of three beams, and rigid; hinges may be elastic. All are drawn closed, so that the rest
configuration is the drawing.
"""

from __future__ import annotations

import copy
from functools import cache

import numpy as np
import scipy.linalg as la
from random_parts import listed, rotation

import supple
from supple.description.drawing import Drawing
from supple.description.mass_properties import mass_properties
from supple.formulations.elastic.elastic_body import elastic_body

SEEDS = range(6)
STEEL = {"steel": {"youngs_modulus": 210e9, "poisson": 0.3, "density": 7850}}
SECTIONS = {
    "bar": {"rectangle": [0.03, 0.012]},
    "pipe": {"tube": [0.03, 0.02]},
    "thin": {"rectangle": [0.015, 0.01]},
}
MADE_OF = {"section": "bar", "material": "steel", "elements": 3}


def loop(seed, bars=None):
    """Bars with parallel hinges in a tilted plane: in space three constraints too many."""
    rng = np.random.default_rng(seed)
    bars = bars or int(rng.integers(3, 5))
    R, shift = rotation(rng), rng.standard_normal(3)
    angles = np.sort(2 * np.pi * (np.arange(bars + 1) + 0.5 * rng.random(bars + 1)) / (bars + 1))
    flat = np.column_stack([np.cos(angles), np.sin(angles), np.zeros(bars + 1)]) * rng.uniform(0.3, 0.6, (bars + 1, 1))
    return _linkage(rng, (flat @ R.T + shift), ["revolute"] * (bars + 1), listed(R[:, 2]), bars - 2)


def spatial(seed):
    """A crank and a rocker about skew axes, a coupler on a ball and a universal joint."""
    rng = np.random.default_rng(100 + seed)
    places = np.array([[0, 0, 0], [0.4, 0.1, 0.2], [0.5, 0.8, 0.3], [0.9, 0.9, 0]]) + 0.1 * rng.standard_normal((4, 3))
    return _linkage(rng, places, ["revolute", "spherical", "universal", "revolute"], None, 1)


def _linkage(rng, places, kinds, normal, mobility):
    names = [f"P{i}" for i in range(len(places))]
    points = {name: listed(place) for name, place in zip(names, places, strict=True)}
    bodies, joints = {}, {}
    chain = ["ground", *(f"b{i}" for i in range(len(places) - 1)), "ground"]
    forms = rng.permutation(["beam", "frame", "rigid", "beam"])[: len(places) - 1]
    for i, form in enumerate(forms):
        a, b = names[i], names[i + 1]
        middle = 0.5 * (places[i] + places[i + 1]) + 0.1 * rng.standard_normal(3)
        if form == "beam":
            across = np.cross(places[i + 1] - places[i], rng.standard_normal(3))
            bodies[f"b{i}"] = {"beam": [a, b], **MADE_OF, "up": listed(across)}
        elif form == "frame":
            points |= {f"Q{i}": listed(middle), f"T{i}": listed(middle + 0.2 * rng.standard_normal(3))}
            pipe = {"section": "pipe", "material": "steel", "elements": 2}
            beams = [(a, f"Q{i}"), (f"Q{i}", b), (f"Q{i}", f"T{i}")]
            bodies[f"b{i}"] = {"beams": [{"from": start, "to": end, **pipe} for start, end in beams]}
        else:
            bodies[f"b{i}"] = {"mass": 1.3, "center": listed(middle), "inertia": listed(rng.uniform(0.02, 0.03, 3))}
    for i, kind in enumerate(kinds):
        joint = {kind: [chain[i], chain[i + 1]]}
        axis = listed(rng.standard_normal(3)) if normal is None else normal
        if kind == "revolute":
            joint["axis"] = axis
        elif kind == "universal":
            second = np.cross(axis, rng.standard_normal(3))
            joint["axes"] = [axis, listed(second)]
        joints[names[i]] = joint
    soft = int(rng.integers(mobility, len(kinds) - 1))  # not a driven one: a motor's torque needs an axis
    if kinds[soft] == "revolute":
        joints[names[soft]]["elastic"] = {"x": 3e6, "y": 3e6, "z": 3e6, "rx": 2e3, "ry": 2e3}
    else:
        joints[names[soft]]["elastic"] = {"x": 3e6, "y": 3e6, "z": 3e6}
    hinges = [name for name, joint in joints.items() if "revolute" in joint]
    return {
        "name": "random",
        "gravity": listed(rng.standard_normal(3) * 5),
        "materials": STEEL,
        "sections": SECTIONS,
        "points": points,
        "bodies": bodies,
        "joints": joints,
        "actuators": {f"drive{i}": {"joint": hinges[i]} for i in range(mobility)},
        "sensors": {"one": {"position": f"b0.{names[1]}"}, "two": {"position": f"{chain[-2]}.{names[-2]}"}},
    }


@cache
def parts(name):
    """`loop 3` or `spatial 0`."""
    kind, seed = name.split()
    return {"loop": loop, "spatial": spatial}[kind](int(seed))


NAMES = [f"{kind} {seed}" for kind in ("loop", "spatial") for seed in SEEDS]


@cache
def mechanism(name):
    return supple.Mechanism(**parts(name))


def turned(given, R, shift):
    """The drawing turned by R and moved by shift."""
    new = copy.deepcopy(given)
    new["points"] = {name: listed(R @ place + shift) for name, place in given["points"].items()}
    new["gravity"] = listed(R @ given["gravity"])
    for body in new["bodies"].values():
        if "up" in body:
            body["up"] = listed(R @ body["up"])
        if "mass" in body:
            body["center"] = listed(R @ body["center"] + shift)
            J = R @ np.diag(body["inertia"]) @ R.T
            body["inertia"] = {a + b: float(J["xyz".index(a), "xyz".index(b)])
                               for a, b in ("xx", "yy", "zz", "xy", "xz", "yz")}  # fmt: skip
    for joint in new["joints"].values():
        for key in ("axis", "axes"):
            if key in joint:
                joint[key] = listed(R @ joint[key]) if key == "axis" else [listed(R @ axis) for axis in joint[key]]
    return new


class Assembly:
    """All nodes of all bodies in one dense system, joints written here once more in world axes."""

    def __init__(self, given, made, locked=True):
        self.drawing = Drawing(made)
        self.bodies, blocks, self.size = {}, [], 0
        masses = mass_properties(self.drawing)
        for name, body in given["bodies"].items():
            if "mass" in body:
                K, M, mesh = np.zeros((6, 6)), masses[name].spatial(), None
            else:
                mesh = elastic_body(self.drawing, name)
                K, M = mesh.K.toarray(), mesh.M.toarray()
            self.bodies[name] = (self.size, mesh)
            blocks.append((K, M))
            self.size += len(K)
        self.K, self.M = la.block_diag(*(K for K, _ in blocks)), la.block_diag(*(M for _, M in blocks))
        rows = []
        driven = {actuator["joint"] for actuator in given["actuators"].values()} if locked else set()
        for name, joint in given["joints"].items():
            rows += self._joint(given, name, joint, name in driven)
        self.N = la.null_space(np.array(rows))

    def _motion(self, body, place):
        """(6, size): displacement and rotation of a point of a body, in world axes."""
        found = np.zeros((6, self.size))
        if body == "ground":
            return found
        start, mesh = self.bodies[body]
        pose = self.drawing.bodies[body]
        local = pose.to_local(np.array(place))
        arm, first = local, start
        if mesh is not None:
            node = int(np.argmin(np.linalg.norm(mesh.nodes - local, axis=1)))
            arm, first = local - mesh.nodes[node], start + 6 * node
        assert mesh is None or np.linalg.norm(arm) < 1e-9
        cross = np.array([[0, arm[2], -arm[1]], [-arm[2], 0, arm[0]], [arm[1], -arm[0], 0]])
        found[:3, first : first + 3] = pose.axes
        found[:3, first + 3 : first + 6] = pose.axes @ cross
        found[3:, first + 3 : first + 6] = pose.axes
        return found

    def _joint(self, given, name, joint, driven):
        kind = next(key for key in ("revolute", "spherical", "universal", "weld") if key in joint)
        first, second = (self._motion(body, given["points"][name]) for body in joint[kind])
        between = second - first
        along, about = between[:3], {"spherical": np.zeros((0, self.size)), "weld": between[3:]}.get(kind)
        if kind == "revolute":
            axis = np.array(joint["axis"]) / np.linalg.norm(joint["axis"])
            about = la.null_space(axis[None]).T @ between[3:]
        elif kind == "universal":
            normal = np.cross(*joint["axes"])
            about = (normal / np.linalg.norm(normal))[None] @ between[3:]
        stiff = joint.get("elastic", {})
        rows = []
        for block, k in ((along, stiff.get("x")), (about, stiff.get("rx"))):  # the same in all directions
            if k is None:
                rows += list(block)
            else:
                self.K += k * block.T @ block
        if driven:
            rows.append(np.array(joint["axis"]) @ between[3:])
        return rows

    def hertz(self):
        squares = la.eigvalsh(self.N.T @ self.M @ self.N, self.N.T @ self.K @ self.N)[::-1]
        return 1 / (2 * np.pi * np.sqrt(squares))

    def displacement(self, body, place):
        return self._motion(body, place)

    def compliance(self, rows):
        forces = self.N.T @ rows.T
        return forces.T @ la.solve(self.N.T @ self.K @ self.N, forces, assume_a="pos")
