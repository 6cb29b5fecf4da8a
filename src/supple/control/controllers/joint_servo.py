"""Joint loops of drives that move: velocity servos, valves, position servos; and the slow gain and lag of such drives.

    velocity:  u = (θ̇_d(t + τ) + k e + k k_I ∫ e dt) / g           position:  u = (θ_d(t + τ) + k_I ∫ e dt) / g

with e = θ_d - θ, g the gain of the drive and τ its lag, so that the motion is asked for as much earlier as the drive is
late. The error of a velocity servo falls as e^{-k t}, as long as k τ is well below 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from supple.array_types import Complex
from supple.control.controllers.joint_law import (
    CommandGains,
    JointModel,
    by_coordinate,
    joint_matrices,
    joint_ports,
    told_what_it_uses,
)
from supple.control.feedforward.reference import reference
from supple.control.laws.affine_controller import AffineController
from supple.control.laws.affine_law import fixed
from supple.control.laws.linear_law import linear_law
from supple.control.margins.loop_check import places_along, warn_if_unstable
from supple.control.plants.surrounding import hardware_in
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError
from supple.diagnostics.arguments import require_arguments, value_text
from supple.hardware.drive_block import DriveBlock
from supple.hardware.hardware import Hardware
from supple.reduced.model import ReducedModel

# What a drive that moves makes of its command, slowly: how fast or how far, and how late.
#
# θ_s(s) / c(s) = C (s - A)⁻¹ B,   H(s) = s θ_s / c of a velocity drive, θ_s / c of a position drive
# H(s) e^{-s delay} = g (1 - s τ + ...),   τ = delay - H'(0) / H(0)


_POINTS = 32  # on a circle about s = 0, over which means of an analytic function are its value and slope to rounding


class DriveGain(NamedTuple):
    """Gain and lag of a drive that moves.

    per_rate : whether a constant command is a velocity; gain : m/s, rad/s, m or rad per unit; lag : τ, s
    """

    per_rate: bool
    gain: float
    lag: float


def drive_gain(block: DriveBlock) -> DriveGain:
    """Gain and lag of a drive whose output is a motion."""
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


# The loop.


PerCoordinate = float | Mapping[str, float]

_ALONE = 1e-9  # of an actuator's own coordinate: what it may move of others


def joint_servo(
    of: Mechanism | ReducedModel,
    motion: Any,
    *,
    sample_time: float,
    gain: PerCoordinate = 10.0,
    integral: PerCoordinate = 0.0,
    preview: float | None = None,
    hardware: Hardware | None = None,
    sensors: Mapping[str, str] | None = None,
    tracking: float = 0.5,
) -> AffineController:
    """Tracking by drives that move, each the coordinate of its actuator; others move as they will.

    of, motion  : the mechanism or a reduced model of it, and what it shall do, as `reference` takes it
    sample_time : s
    gain        : k, 1/s, of velocity drives; a position drive follows by itself and has none
    integral    : k_I, 1/s
    preview     : τ, s; the slowest drive's lag, its delay and half a sample if left out
    hardware    : the drives; those of `of` if left out
    sensors     : {"lift": "encoder"} where names differ from the coordinates'
    tracking    : T_t, s, in which the integral gives way where drives do not apply what is asked
    """
    require_arguments(joint_servo, locals())
    known = hardware_in(of, True if hardware is None else hardware)
    moved = {block.actuator: drive_gain(block) for block in known.drives if block.moves}
    if not moved:
        raise InputError(
            "no actuator has a drive that moves it", part="joint servo",
            hint="describe its drive, or take joint_pd or joint_pid",
        )  # fmt: skip
    model, wanted = JointModel(of, tuple(moved)), reference(motion, of)
    names = model.coordinates
    k, k_i = by_coordinate("gain", gain, names), by_coordinate("integral", integral, names)
    P, Q, R0, R1 = np.zeros((4, len(moved), len(names)))
    for a, (actuator, drive) in enumerate(moved.items()):
        own = _own_coordinate(known, model, actuator)
        if drive.per_rate:
            P[a, own], Q[a, own], R1[a, own] = k[own] / drive.gain, k[own] * k_i[own] / drive.gain, 1.0 / drive.gain
        else:
            Q[a, own], R0[a, own] = k_i[own] / drive.gain, 1.0 / drive.gain
    late = max(drive.lag for drive in moved.values()) + 0.5 * sample_time if preview is None else preview
    gains = CommandGains(P, np.zeros_like(P), Q, R0, R1, tracking)
    ports = joint_ports(gains, names, model.actuators, sample_time, preview=late, sensors=sensors)
    matrices, ports = told_what_it_uses(joint_matrices(gains, ports), ports)
    law = fixed(matrices, ports, name="joint servo", commanded=model.actuators)
    places = places_along(None, wanted)
    remedy = f"lower gain (now {value_text(gain)}), or take drives that answer sooner"
    warn_if_unstable("joint servo", of, linear_law(law), known, places, remedy)
    return AffineController(law, wanted)


def _own_coordinate(known: Hardware, model: JointModel, actuator: str) -> int:
    names = model.coordinates
    along = known.actuator_coordinates.get(actuator)
    if along in names:
        return names.index(along)
    row = model.at(model.theta(None)).divide[model.actuators.index(actuator)]
    own = int(np.abs(row).argmax())
    if np.abs(np.delete(row, own)).max(initial=0.0) > _ALONE * abs(row[own]):
        raise InputError(
            f"it moves more than one of {', '.join(names)}", part=f'actuator "{actuator}"',
            hint="take the lengths or angles of the actuators as coordinates",
        )  # fmt: skip
    return own
