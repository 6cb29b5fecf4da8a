"""What a drive that moves makes of its command, slowly: how fast or how far, and how late.

θ_s(s) / c(s) = C (s - A)⁻¹ B,   H(s) = s θ_s / c of a velocity drive, θ_s / c of a position drive
H(s) e^{-s delay} = g (1 - s τ + ...),   τ = delay - H'(0) / H(0)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.array_types import Complex
from supple.diagnostics import InputError
from supple.hardware.drive_block import DriveBlock

_POINTS = 32  # on a circle about s = 0, over which means of an analytic function are its value and slope to rounding


class DriveGain(NamedTuple):
    """per_rate : whether a constant command is a velocity; gain : m/s, rad/s, m or rad per unit; lag : τ, s."""

    per_rate: bool
    gain: float
    lag: float


def drive_gain(block: DriveBlock) -> DriveGain:
    """Of a drive whose output is a motion."""
    if not block.moves:
        raise InputError(
            f"it is a {block.kind} drive, and gives a force", part=f'drive of actuator "{block.actuator}"',
            hint="take joint_pd or joint_pid",
        )  # fmt: skip
    s, H, per_rate = around_zero(block)
    gain, slope = float(H.mean().real), float((H / s).mean().real)
    if not abs(gain) > 0.0:
        raise InputError(
            "a constant command does not move it", part=f'drive of actuator "{block.actuator}"', hint="correct its kind"
        )
    return DriveGain(per_rate, gain, block.delay - slope / gain)


def around_zero(block: DriveBlock) -> tuple[Complex, Complex, bool]:
    """Points s on a circle about 0 within which H has neither poles nor zeros, H there, and whether it is per rate."""
    poles = np.abs(np.linalg.eigvals(block.A)) if block.order else np.zeros(0)
    fastest = float(poles.max(initial=1.0))
    per_rate = bool((poles < 1e-9 * fastest).any())
    radius = 0.2 * float(poles[poles >= 1e-9 * fastest].min(initial=fastest))
    s = radius * np.exp(2j * np.pi * np.arange(_POINTS) / _POINTS)
    H = np.array([block.C @ np.linalg.solve(z * np.eye(block.order) - block.A, block.B) for z in s])
    return s, H * s if per_rate else H, per_rate
