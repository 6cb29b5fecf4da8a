"""Legs with many loops as URDF, closed at a position that is known to their maker and drawn at another, far open.

A chain of hinges carries rods: two halves on ball joints, welded to one another, as robots are exported whose loops
were cut. Beside them loops of a crank and a rod that a ball joint closes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

MASS = '<inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01"/></inertial>'


@dataclass
class Leg:
    """A tree of joints, drawn with all coordinates zero, and what closes it.

    joints : (name, parent, child, position, rotation, axis); balls : those of them that turn about all axes
    loops : (link, frame on it, link, frame on it, kind), a frame as position and rotation
    """

    joints: list[tuple[str, str, str, np.ndarray, np.ndarray, np.ndarray]] = field(default_factory=list)
    balls: set[str] = field(default_factory=set)
    loops: list[tuple[str, Any, str, Any, str]] = field(default_factory=list)

    def urdf(self) -> str:
        links = ["base", *(joint[2] for joint in self.joints)]
        parts = [f'<link name="{name}">{MASS}</link>' for name in links]
        for name, parent, child, at, turn, axis in self.joints:
            parts.append(
                f'<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>'
                f'<origin xyz="{_words(at)}" rpy="{_words(Rotation.from_matrix(turn).as_euler("xyz"))}"/>'
                f'<axis xyz="{_words(axis)}"/></joint>'
            )
        return "<robot name='leg'>\n" + "\n".join(parts) + "\n</robot>\n"

    def sidecar(self) -> dict[str, Any]:
        constraints = {}
        for i, (first, (p, R), second, (o, S), kind) in enumerate(self.loops):
            turns = [Rotation.from_matrix(turn).as_euler("xyz").tolist() for turn in (R, S)]
            constraints[f"loop_{i + 1}"] = {
                "type": kind, "parent": first, "parent_origin": {"xyz": p.tolist(), "rpy": turns[0]},
                "parent_axis": [0, 0, 1], "child": second, "child_origin": {"xyz": o.tolist(), "rpy": turns[1]},
                "child_axis": [0, 0, 1],
            }  # fmt: skip
        balls = sorted(self.balls)
        return {
            "actuators": [],
            "constraints": constraints,
            "joint_name": balls,
            "joint_type": ["SPHERICAL"] * len(balls),
        }

    def size(self) -> int:
        return sum(3 if joint[0] in self.balls else 1 for joint in self.joints)

    def places(self, q: np.ndarray) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Position and rotation of every link, joints turned by q (hinges one angle, balls a rotation vector)."""
        found = {"base": (np.zeros(3), np.eye(3))}
        k = 0
        for name, parent, child, at, turn, axis in self.joints:
            width = 3 if name in self.balls else 1
            vector = q[k : k + 3] if width == 3 else q[k] * axis
            k += width
            p, R = found[parent]
            found[child] = p + R @ at, R @ turn @ Rotation.from_rotvec(vector).as_matrix()
        return found

    def gaps(self, q: np.ndarray) -> np.ndarray:
        """Of all loops: displacements, and turns of welds as rotation vectors."""
        places, found = self.places(q), []
        for first, (p, R), second, (o, S), kind in self.loops:
            (x, A), (y, B) = places[first], places[second]
            found.append(x + A @ p - y - B @ o)
            if kind == "fixed":
                found.append(Rotation.from_matrix((A @ R).T @ B @ S).as_rotvec())
        return np.concatenate(found)

    def drawn_at(self, q: np.ndarray) -> Leg:
        """The same leg drawn where its joints are turned by q."""
        joints, k = [], 0
        for name, parent, child, at, turn, axis in self.joints:
            width = 3 if name in self.balls else 1
            vector = q[k : k + 3] if width == 3 else q[k] * axis
            k += width
            joints.append((name, parent, child, at, turn @ Rotation.from_rotvec(vector).as_matrix(), axis))
        return Leg(joints, self.balls, self.loops)

    def opening(self) -> float:
        """The widest displacement as drawn, m."""
        places = self.places(np.zeros(self.size()))
        return max(
            np.linalg.norm(places[a][0] + places[a][1] @ p - places[b][0] - places[b][1] @ o)
            for a, (p, _), b, (o, _), _ in self.loops
        )


def closed_leg(dice: np.random.Generator, rods: int, direct: int) -> Leg:
    """A leg of five hinges, closed as drawn, with rods across two hinges each and loops of a crank and a rod."""
    leg = Leg()
    links = ["base"]
    for i in range(5):
        axis = dice.normal(size=3) if i < 2 else np.array([0.0, 1.0, 0.0]) + 0.05 * dice.normal(size=3)
        at = np.array([0.05 * dice.normal(), 0.05 * dice.normal(), -dice.uniform(0.1, 0.4)])
        turn = Rotation.from_rotvec(0.4 * dice.normal(size=3)).as_matrix()
        leg.joints.append((f"hinge_{i + 1}", links[-1], f"link_{i + 1}", at, turn, axis / np.linalg.norm(axis)))
        links.append(f"link_{i + 1}")
    for rod in range(rods):
        lower = int(dice.integers(2, 6))
        places = leg.places(np.zeros(leg.size()))
        ends = [links[lower - 2], links[lower]]
        spots = [0.08 * dice.normal(size=3) + [0.06, 0.0, 0.0] for _ in ends]
        points = [places[end][0] + places[end][1] @ spot for end, spot in zip(ends, spots, strict=True)]
        middle = 0.5 * (points[0] + points[1])
        frames = []
        for side, (end, spot, point) in enumerate(zip(ends, spots, points, strict=True)):
            name = f"half_{rod + 1}{'ab'[side]}"
            world = Rotation.random(random_state=int(dice.integers(2**31))).as_matrix()
            leg.joints.append((f"ball_{rod + 1}{'ab'[side]}", end, name, spot, places[end][1].T @ world, np.eye(3)[2]))
            leg.balls.add(f"ball_{rod + 1}{'ab'[side]}")
            frames.append((name, (world.T @ (middle - point), world.T)))
        leg.loops.append((frames[0][0], frames[0][1], frames[1][0], frames[1][1], "fixed"))
    for i in range(direct):
        places = leg.places(np.zeros(leg.size()))
        upper, kind = int(dice.integers(0, 3)), "ball"
        arm = f"arm_{i + 1}"
        spot = np.array([0.1, 0.0, 0.0]) + 0.05 * dice.normal(size=3)
        axis = np.array([0.0, 1.0, 0.0])
        leg.joints.append((f"crank_{i + 1}", links[upper], arm, spot, np.eye(3), axis))
        leg.joints.append((f"link_ball_{i + 1}", arm, f"rod_{i + 1}", np.array([0.1, 0.0, 0.05]), np.eye(3), axis))
        leg.balls.add(f"link_ball_{i + 1}")
        places = leg.places(np.zeros(leg.size()))
        target = links[upper + 2]
        q = 0.05 * dice.normal(size=3)
        x, R = places[target]
        y, S = places[f"rod_{i + 1}"]
        leg.loops.append((target, (q, np.eye(3)), f"rod_{i + 1}", (S.T @ (x + R @ q - y), np.eye(3)), kind))
    return leg


def open_leg(seed: int, rods: int = 2, direct: int = 1) -> Leg:
    """A leg drawn 150 to 220 mm open."""
    dice = np.random.default_rng(seed)
    leg = closed_leg(dice, rods, direct)
    wanted = dice.uniform(0.15, 0.22)
    direction = dice.normal(size=leg.size())
    size = 0.05
    drawn = leg
    while drawn.opening() < wanted and size < 3.0:
        drawn = leg.drawn_at(size * direction)
        size *= 1.03
    return drawn


def least_squares_closes(leg: Leg) -> bool:
    """Whether plain least squares over the joints, started from the drawing, closes all loops."""
    found = least_squares(leg.gaps, np.zeros(leg.size()), xtol=1e-14, ftol=1e-14, gtol=1e-14, max_nfev=500)
    return bool(np.abs(found.fun).max() < 1e-8)


def _words(vector: np.ndarray) -> str:
    return " ".join(repr(float(value)) for value in vector)
