"""Machines of any size: chains, ladders of loops that share bodies, towers of loops that stand on one another."""

from __future__ import annotations

from typing import Any

import numpy as np

import supple


def chain(count: int, *, plane: str | None = "xz", **more: Any) -> supple.Mechanism:
    """A pendulum of `count` rods; in space its hinges turn about x and y by turns."""
    angles = -1.2 + 0.3 * np.sin(1.7 * np.arange(count))
    steps = 0.1 * np.column_stack([np.cos(angles), np.sin(angles)])
    places = np.vstack([np.zeros(2), np.cumsum(steps, axis=0)])
    solid = {"line_mass": 0.5} if plane else {"mass": 0.05, "inertia": [1e-5, 1e-4, 1e-4]}
    return supple.Mechanism(
        name=f"chain of {count}",
        plane=plane,
        gravity=[0, -9.81] if plane else [0, 0, -9.81],
        points={f"P{i}": [x, z] if plane else [x, 0, z] for i, (x, z) in enumerate(places.tolist())},
        bodies={f"b{i}": {"rod": [f"P{i}", f"P{i + 1}"], **solid} for i in range(count)} | more.pop("bodies", {}),
        joints={
            f"P{i}": {"revolute": [f"b{i - 1}" if i else "ground", f"b{i}"], **({} if plane else {"axis": "xy"[i % 2]})}
            for i in range(count)
        },
        **{"coordinates": [f"P{i}" for i in range(count)], **more},
    )


def ladder(count: int, *, plane: str | None = "xz", rough: float = 0.0) -> supple.Mechanism:
    """`count` four-bars side by side, each moved by the follower of the one before; in space three rows of each are
    redundant. rough : how far the head of the second leg is drawn aside, m."""

    def at(x: float, z: float) -> list[float]:
        return [x, z] if plane else [x, 0, z]

    axis = {} if plane else {"axis": "y"}
    points = {}
    for i in range(count + 1):
        points |= {
            f"A{i}": at(i, 0),
            f"B{i}": at(i + 0.1 + 0.02 * (i % 3), 0.8 + 0.03 * (i % 2)),
            f"C{i}": at(i + 0.07, 0.5),
        }
    lengths = {i: float(np.hypot(*np.subtract(points[f"B{i}"], points[f"A{i}"])[[0, -1]])) for i in range(count + 1)}
    bodies = {f"leg{i}": {"rod": [f"A{i}", f"B{i}"], "length": lengths[i], "line_mass": 0.5} for i in range(count + 1)}
    points["B1"][0] += rough
    bodies |= {f"bar{i}": {"rod": [f"C{i}", f"B{i + 1}"], "line_mass": 0.5} for i in range(count)}
    joints = {f"A{i}": {"revolute": ["ground", f"leg{i}"], **axis} for i in range(count + 1)}
    for i in range(count):
        joints[f"C{i}"] = {"revolute": [f"leg{i}", f"bar{i}"], **axis}
        joints[f"E{i}"] = {"revolute": [f"bar{i}", f"leg{i + 1}"], "at": f"B{i + 1}", **axis}
    actuators = {"motor": {"joint": "A0"}}
    parts = {"plane": plane, "points": points, "bodies": bodies, "joints": joints, "actuators": actuators}
    return supple.Mechanism(name=f"ladder of {count}", **parts)


def tower(count: int, **more: Any) -> supple.Mechanism:
    """`count` four-bars, each standing on the coupler of the one below, all driven."""
    points = {f"L{i}": [0.03 * (i % 3), 0.5 * i] for i in range(count + 1)}
    points |= {f"R{i}": [1 + 0.05 * (i % 2), 0.5 * i + 0.04 * (i % 2)] for i in range(count + 1)}
    bodies, joints = {}, {}
    for i in range(count):
        base = f"floor{i - 1}" if i else "ground"
        for side, other in (("L", "left"), ("R", "right")):
            bodies[f"{other}{i}"] = {"rod": [f"{side}{i}", f"{side}{i + 1}"], "line_mass": 0.5}
            joints[f"{other}{i}_foot"] = {"revolute": [base, f"{other}{i}"], "at": f"{side}{i}"}
            joints[f"{other}{i}_head"] = {"revolute": [f"{other}{i}", f"floor{i}"], "at": f"{side}{i + 1}"}
        bodies[f"floor{i}"] = {"rod": [f"L{i + 1}", f"R{i + 1}"], "line_mass": 0.5}
    actuators = {f"m{i}": {"joint": f"left{i}_foot"} for i in range(count)}
    return supple.Mechanism(
        name=f"tower of {count}", plane="xz", points=points, bodies=bodies, joints=joints, actuators=actuators, **more
    )
