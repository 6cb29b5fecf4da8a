"""From one frame to the next in the notation of Khalil and Kleinfinger (1986)."""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.array_types import Array
from supple.description.drawing import Pose
from supple.geometry.rotation import rotation_about, rotation_vector

X, Z = np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0])
HERE = Pose(np.zeros(3), np.eye(3))


def then(outer: Pose, inner: Pose) -> Pose:
    """A frame that is given in another, seen from where the other is seen: T = T_outer T_inner."""
    return Pose(outer.to_world(inner.position), outer.axes @ inner.axes)


def relative_pose(outer: Pose, inner: Pose) -> Pose:
    """The second frame seen from the first: T_outer⁻¹ T_inner."""
    return Pose(outer.to_local(inner.position), outer.axes.T @ inner.axes)


def along_z(angle: float, distance: float) -> Pose:
    """rot(z, angle) trans(z, distance)."""
    return Pose(distance * Z, rotation_about(Z, angle))


def along_x(angle: float, distance: float) -> Pose:
    """rot(x, angle) trans(x, distance)."""
    return Pose(distance * X, rotation_about(X, angle))


def khalil_kleinfinger(gamma: float, b: float, alpha: float, d: float, theta: float, r: float) -> Pose:
    """Frame i in its antecedent j, angles in rad, lengths in m.

    ʲT_i = rot(z, γ) trans(z, b) rot(x, α) trans(x, d) rot(z, θ) trans(z, r)
                                                [Rognant, Courteille, Maurine 2010, eq. 1; Khalil, Kleinfinger 1986]
    """
    return then(then(along_z(gamma, b), along_x(alpha, d)), along_z(theta, r))


def parameters_of(pose: Pose) -> tuple[float, float, float, float, float, float]:
    """(γ, b, α, d, θ, r) that lead to a frame: the inverse of `khalil_kleinfinger`.

    x after γ is the common normal of the two z axes; where they are parallel it passes through both origins' axes with
    b = 0, and where they coincide γ = 0 as well.
    """
    z, p = pose.axes[:, 2], pose.position
    sine = float(np.hypot(z[0], z[1]))
    if sine > _PARALLEL:
        gamma = float(np.arctan2(z[0], -z[1]))  # z = Rz(γ) Rx(α) e_z = (sin γ sin α, -cos γ sin α, cos α)
        alpha = float(np.arctan2(sine, z[2]))
    else:
        aside = float(np.hypot(p[0], p[1]))
        gamma = float(np.arctan2(p[1], p[0])) if aside > _PARALLEL * max(1.0, abs(float(p[2]))) else 0.0
        alpha = 0.0 if z[2] > 0.0 else np.pi
    n, c, s = rotation_about(Z, gamma) @ X, np.cos(alpha), np.sin(alpha)
    d = float(n @ p)
    across = float((rotation_about(Z, gamma) @ np.array([0.0, 1.0, 0.0])) @ p)  # = -s r
    r = -across / s if sine > _PARALLEL else float(p[2]) * c
    b = float(p[2]) - c * r if sine > _PARALLEL else 0.0
    turned = (rotation_about(Z, gamma) @ rotation_about(X, alpha)).T @ pose.axes
    theta = float(np.arctan2(turned[1, 0], turned[0, 0]))
    return gamma, b, float(alpha), d, theta, float(r)


_PARALLEL = 1e-12


def frame_entry(pose: Pose) -> dict[str, Any]:
    """Where a frame is: `at` and `rotation` of the mechanism file, said in any case: copies turn it."""
    upright = {"rotation": {"about": "z", "angle": 0.0}}
    return {"at": pose.position.tolist(), **(rotation_entry(pose.axes) or upright)}


def rotation_entry(axes: Array) -> dict[str, Any]:
    """`rotation` of the mechanism file, nothing where the axes are parallel."""
    turn = rotation_vector(axes)
    angle = float(np.linalg.norm(turn))
    return {"rotation": {"about": (turn / angle).tolist(), "angle": angle}} if angle > 0.0 else {}
