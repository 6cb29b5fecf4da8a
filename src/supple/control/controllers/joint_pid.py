"""Joint loops of force actuators: PD and PID, with forces computed beforehand.

    B u = K_P e + K_V (θ̇_d - θ̇) + K_I ∫ e dt,   e = θ_d - θ,      plus f(t)
    f : none, those that hold θ_d against gravity and springs, or all that the rigid motion needs,
        B f = M θ̈_d + Γ[θ̇_d, θ̇_d] + D_d θ̇_d - p(θ_d)

B is divided by once, at the configuration that the gains are for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from supple.control.controllers.joint_gains import JointGains, Matrix, gain_matrix, gains_of_frequencies
from supple.control.controllers.joint_law import CommandGains, joint_matrices, joint_ports, require_frequency
from supple.control.controllers.joint_model import JointModel
from supple.control.feedforward.reference import AnyReference, Reference, reference
from supple.control.gains.decoupled_gains import PerCoordinate, per_coordinate
from supple.control.laws.affine_controller import AffineController
from supple.control.laws.affine_law import fixed
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError
from supple.hardware.hardware import Hardware
from supple.kinematics.configuration import At
from supple.reduced.model import ReducedModel

_FIFTH = 0.2  # of ω: where the pole of the integral lies if it is not said

Feedforward = Literal["none", "gravity", "rigid"] | Reference


def joint_pd(
    of: Mechanism | ReducedModel,
    motion: Any,
    *,
    sample_time: float,
    frequencies: PerCoordinate | None = None,
    damping_ratios: PerCoordinate = 1.0,
    proportional: Matrix | None = None,
    derivative: Matrix | None = None,
    at: At = None,
    actuators: Sequence[str] | None = None,
    feedforward: Feedforward = "none",
    rate_filter: float | None = None,
    sensors: Mapping[str, str] | None = None,
    hardware: Hardware | bool = True,
) -> AffineController:
    """PD of every coordinate: B u = K_P (θ_d - θ) + K_V (θ̇_d - θ̇) + B f(t).

    of, motion   : the mechanism or a reduced model of it, and what it shall do, as `reference` takes it
    sample_time  : s
    frequencies, damping_ratios : ω in rad/s and ξ, which with M at the configuration `at` (rest if left out) give the
                   gains; or `proportional` and `derivative`, in forces of θ: a number, by name, in order, or (s, s)
    actuators    : that it drives, all of them if left out
    feedforward  : "none", "gravity" (what holds θ_d), "rigid" (what the motion needs), or a Reference of the actuators
    rate_filter  : Hz; rates then follow from the coordinates by filtered differences. Left out, they are measured
    sensors      : {"lift": "encoder", "lift.rate": ...} where names differ from the coordinates'
    hardware     : the drives, as in `closed_loop`; those that pull are told the commands that give the forces
    """
    model = JointModel(of, None if actuators is None else tuple(actuators), hardware)
    gains = _gains(model, at, (frequencies, damping_ratios, 0.0), (proportional, derivative, None))
    return _controller("joint PD", model, motion, gains, at, sample_time, feedforward, rate_filter, sensors, None)


def joint_pid(
    of: Mechanism | ReducedModel,
    motion: Any,
    *,
    sample_time: float,
    frequencies: PerCoordinate | None = None,
    damping_ratios: PerCoordinate = 1.0,
    integral_frequencies: PerCoordinate | None = None,
    proportional: Matrix | None = None,
    derivative: Matrix | None = None,
    integral: Matrix | None = None,
    at: At = None,
    actuators: Sequence[str] | None = None,
    feedforward: Feedforward = "none",
    rate_filter: float | None = None,
    sensors: Mapping[str, str] | None = None,
    tracking: float | None = None,
    hardware: Hardware | bool = True,
) -> AffineController:
    """PID of every coordinate: as `joint_pd`, and K_I ∫ (θ_d - θ) dt.

    integral_frequencies : ω_I, rad/s, a third pole of each coordinate, one fifth of ω if left out; or `integral`, K_I
    tracking : T_t, s, in which the integral gives way where drives do not apply what is asked; K_P / K_I if left out
    """
    model = JointModel(of, None if actuators is None else tuple(actuators), hardware)
    slow: PerCoordinate = 0.0 if integral_frequencies is None else integral_frequencies
    if integral_frequencies is None and frequencies is not None:
        slow = _FIFTH * per_coordinate("frequencies", frequencies, model.coordinates)
    gains = _gains(model, at, (frequencies, damping_ratios, slow), (proportional, derivative, integral))
    if not gains.integral.any():
        raise InputError("it has no integral", part="joint PID", hint="give `integral`, or take joint_pd")
    return _controller("joint PID", model, motion, gains, at, sample_time, feedforward, rate_filter, sensors, tracking)


def _gains(
    model: JointModel,
    at: At,
    by_frequency: tuple[PerCoordinate | None, PerCoordinate, PerCoordinate],
    given: tuple[Matrix | None, Matrix | None, Matrix | None],
) -> JointGains:
    frequencies, ratios, slow = by_frequency
    if (frequencies is None) == (given[0] is None):
        raise InputError(
            "gains are given neither way" if frequencies is None else "gains are given both ways", part="joint loop",
            hint="give frequencies, or proportional and derivative",
        )  # fmt: skip
    names = model.coordinates
    if frequencies is not None:
        return gains_of_frequencies(model.at(model.theta(at)).M, frequencies, ratios, slow, names)
    parts = ("proportional", "derivative", "integral")
    return JointGains(
        *(
            gain_matrix(part, 0.0 if values is None else values, names)
            for part, values in zip(parts, given, strict=True)
        )
    )


def _controller(
    name: str,
    model: JointModel,
    motion: Any,
    gains: JointGains,
    at: At,
    sample_time: float,
    feedforward: Feedforward,
    rate_filter: float | None,
    sensors: Mapping[str, str] | None,
    tracking: float | None,
) -> AffineController:
    require_frequency("rate filter", rate_filter)
    wanted = reference(motion, model.of)
    divide = model.at(model.theta(at)).divide
    none = np.zeros_like(divide)
    if tracking is None:
        strong = float(np.linalg.norm(gains.integral))
        tracking = float(np.linalg.norm(gains.proportional)) / strong if strong else 1.0
    by_command = CommandGains(
        divide @ gains.proportional, divide @ gains.derivative, divide @ gains.integral, none, none, tracking,
        rate_filter,
    )  # fmt: skip
    fed = _fed(model, wanted, feedforward)
    ports = joint_ports(
        by_command, model.coordinates, model.actuators, sample_time, fed=fed is not None, sensors=sensors
    )
    return AffineController(fixed(joint_matrices(by_command, ports), ports, name=name), wanted, fed)


def _fed(model: JointModel, wanted: AnyReference, feedforward: Feedforward) -> Reference | None:
    if isinstance(feedforward, Reference):
        return feedforward
    if feedforward == "none":
        return None
    if feedforward not in ("gravity", "rigid"):
        raise InputError(
            f'there is no "{feedforward}"', part="feedforward", hint='give "none", "gravity", "rigid" or a Reference'
        )
    return model.forces_along(wanted, still=feedforward == "gravity")
