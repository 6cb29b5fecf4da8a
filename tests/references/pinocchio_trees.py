"""Robots of the package example-robot-data as Pinocchio reads them, and the same as trees of ours."""

from __future__ import annotations

from importlib.metadata import files
from pathlib import Path

import numpy as np
import pinocchio as pin

from supple.formulations.recursive import TreeArrays, rigid_tree

AXES = {"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}


def robot_files() -> dict[str, Path]:
    found = [Path(str(item.locate())) for item in files("example-robot-data") or [] if item.suffix == ".urdf"]
    return {f"{path.parents[1].name}/{path.name}": path.resolve() for path in sorted(found)}


def joint_of(model: pin.Model, i: int) -> tuple[str, tuple[float, float, float]]:
    """Kind and axis; an unsupported joint is a KeyError with its name."""
    name = model.joints[i].shortname().removeprefix("JointModel")
    if name in ("RX", "RY", "RZ", "RUBX", "RUBY", "RUBZ"):
        return "revolute", AXES[name[-1]]
    if name in ("PX", "PY", "PZ"):
        return "prismatic", AXES[name[-1]]
    if name in ("RevoluteUnaligned", "RevoluteUnboundedUnaligned", "PrismaticUnaligned"):
        axis = tuple(float(value) for value in model.joints[i].extract().axis)
        return ("prismatic" if name.startswith("P") else "revolute"), axis  # type: ignore[return-value]
    return {"FreeFlyer": "free", "Spherical": "spherical"}[name], AXES["Z"]


def tree_of(model: pin.Model) -> TreeArrays:
    joints = [joint_of(model, i) for i in range(1, model.njoints)]
    placed = list(model.jointPlacements)[1:]
    inertias = list(model.inertias)[1:]
    return rigid_tree(
        [parent - 1 for parent in list(model.parents)[1:]],
        [kind for kind, _ in joints],
        mass=[item.mass for item in inertias],
        center=[item.lever for item in inertias],
        inertia=[item.inertia for item in inertias],
        position=[item.translation for item in placed],
        rotation=[item.rotation for item in placed],
        axis=[axis for _, axis in joints],
        gravity=model.gravity.linear,
        armature=model.armature,
    )


def configuration(model: pin.Model, q: np.ndarray) -> np.ndarray:
    """The same configuration with angles where Pinocchio has cosine and sine."""
    parts = []
    for joint in list(model.joints)[1:]:
        piece = q[joint.idx_q : joint.idx_q + joint.nq]
        turns = joint.nq == 2 and joint.nv == 1
        parts.append([np.arctan2(piece[1], piece[0])] if turns else piece)
    return np.concatenate(parts)


def random_configuration(model: pin.Model, rng: np.random.Generator) -> np.ndarray:
    """Anywhere on the manifold: half a turn or half a metre from the neutral one."""
    return pin.integrate(model, pin.neutral(model), rng.uniform(-1.5, 1.5, model.nv))


def full(M: np.ndarray) -> np.ndarray:
    """Pinocchio fills the upper triangle."""
    return np.triu(M) + np.triu(M, 1).T
