"""Joint loops of drives that prescribe motion (velocity servos, valves, position servos), with their gain and lag.

    velocity:  u = (θ̇_d(t + τ) + k e + k k_I ∫ e dt) / g           position:  u = (θ_d(t + τ) + k_I ∫ e dt) / g

with e = θ_d - θ, g the gain of the drive and τ its lag, so that the motion is commanded earlier by the lag of the
drive. The error of a velocity servo decays as e^{-k t} if k τ is well below 1.
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
    without_unused_measurements,
)
from supple.control.feedforward.reference import reference
from supple.control.laws.affine_controller import AffineController
from supple.control.laws.affine_law import constant_law
from supple.control.laws.linear_law import linear_law
from supple.control.margins.loop_check import checked_places, warn_if_unstable
from supple.control.plants.surrounding import hardware_in
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError
from supple.diagnostics.arguments import require_arguments, value_text
from supple.hardware.drive_block import DriveBlock
from supple.hardware.hardware import Hardware
from supple.reduced.model import ReducedModel

# Response of a drive that prescribes motion to slow commands: gain and lag.
#
# θ_s(s) / c(s) = C (s - A)⁻¹ B,   H(s) = s θ_s / c of a velocity drive, θ_s / c of a position drive
# H(s) e^{-s delay} = g (1 - s τ + ...),   τ = delay - H'(0) / H(0)


_POINTS = 32  # on a circle about s = 0: means over it give value and slope of an analytic function to rounding


class DriveGain(NamedTuple):
    """Gain and lag of a drive that prescribes motion.

    per_rate : whether a constant command gives a velocity
    gain     : m/s, rad/s, m or rad per unit of the command
    lag      : τ, s
    """

    per_rate: bool
    gain: float
    lag: float


def drive_gain(block: DriveBlock) -> DriveGain:
    """Return gain and lag of a drive whose output is a motion."""
    if not block.moves:
        raise InputError(
            f"a {block.kind} drive gives a force, not a motion", part=f'drive of actuator "{block.actuator}"',
            hint="use joint_pd or joint_pid",
        )  # fmt: skip
    s, H, per_rate = around_zero(block)
    gain, slope = float(H.mean().real), float((H / s).mean().real)
    if not abs(gain) > 0.0:
        raise InputError(
            "a constant command causes no motion", part=f'drive of actuator "{block.actuator}"', hint="correct its kind"
        )
    return DriveGain(per_rate, gain, block.delay - slope / gain)


def around_zero(block: DriveBlock) -> tuple[Complex, Complex, bool]:
    """Return points s on a circle about 0 without poles and zeros inside, H there, and whether H is per rate."""
    poles = np.abs(np.linalg.eigvals(block.A)) if block.order else np.zeros(0)
    fastest = float(poles.max(initial=1.0))
    per_rate = bool((poles < 1e-9 * fastest).any())
    radius = 0.2 * float(poles[poles >= 1e-9 * fastest].min(initial=fastest))
    s = radius * np.exp(2j * np.pi * np.arange(_POINTS) / _POINTS)
    H = np.array([block.C @ np.linalg.solve(z * np.eye(block.order) - block.A, block.B) for z in s])
    return s, H * s if per_rate else H, per_rate


# The loop.


PerCoordinate = float | Mapping[str, float]

_ALONE = 1e-9  # of the motion of an actuator's own coordinate: largest motion of others


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
    """Create a tracking controller for drives that prescribe motion, each that of the coordinate of its actuator.

    Parameters
    ----------
    of : Mechanism or ReducedModel
        Mechanism, or a reduced model of it.
    motion : str, Motion, Trajectory, path or callable
        Motion, as in `reference`.
    sample_time : float
        Sample time, s.
    gain : float or mapping of str to float, optional
        Gain k of velocity drives, 1/s. Position drives have none. Default: 10.
    integral : float or mapping of str to float, optional
        Integral gain k_I, 1/s. Default: 0.
    preview : float, optional
        Preview τ of the motion, s. Default: the longest lag of a drive, with its delay, and half a sample.
    hardware : Hardware, optional
        Drives. Default: those of the mechanism or model.
    sensors : mapping of str to str, optional
        Sensors of the coordinates, such as {"lift": "encoder"}. Default: of the same name.
    tracking : float, optional
        Time constant T_t of the anti-windup, s. Default: 0.5.

    Returns
    -------
    AffineController
        Controller for `closed_loop` and `supple.export`. Coordinates without such a drive move freely.

    Raises
    ------
    InputError
        If no actuator has a drive that prescribes motion, or one moves several coordinates.

    Warns
    -----
    UnstableLoop
        If the loop is unstable on the linearized model.

    See Also
    --------
    joint_pd : Loop of force actuators.
    two_time_scales : The same with damping of vibration.
    """
    require_arguments(joint_servo, locals())
    known = hardware_in(of, True if hardware is None else hardware)
    moved = {block.actuator: drive_gain(block) for block in known.drives if block.moves}
    if not moved:
        raise InputError(
            "no actuator has a drive that prescribes its motion", part="joint servo",
            hint="describe a drive, or use joint_pd or joint_pid",
        )  # fmt: skip
    model, target = JointModel(of, tuple(moved)), reference(motion, of)
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
    matrices, ports = without_unused_measurements(joint_matrices(gains, ports), ports)
    law = constant_law(matrices, ports, name="joint servo", commanded_actuators=model.actuators)
    places = checked_places(None, target)
    remedy = f"lower gain (now {value_text(gain)}), or use faster drives"
    warn_if_unstable("joint servo", of, linear_law(law), known, places, remedy)
    return AffineController(law, target)


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
            hint="use the lengths or angles of the actuators as coordinates",
        )  # fmt: skip
    return own
