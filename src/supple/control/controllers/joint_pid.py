"""Joint loops of force actuators: PD and PID, with forces computed beforehand.

    B u = K_P e + K_V (θ̇_d - θ̇) + K_I ∫ e dt,   e = θ_d - θ,      plus f(t)
    c = (u + d ω) / g                               what drives are told, their gain and drag (`force_commands`)
    f : none, those that hold θ_d against gravity and springs, or all that the rigid motion needs,
        B f = M θ̈_d + Γ[θ̇_d, θ̇_d] + D_d θ̇_d - p(θ_d)

B is divided by once, at the configuration that the gains are for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from supple.array_types import Array
from supple.control.controllers.joint_law import (
    CommandGains,
    JointModel,
    joint_matrices,
    joint_ports,
    require_frequency,
)
from supple.control.controllers.needed_forces import ForceCommands, commands_for
from supple.control.feedforward.reference import AnyReference, Reference, reference
from supple.control.gains.feedback_gain import PerCoordinate, per_coordinate
from supple.control.laws.affine_controller import AffineController
from supple.control.laws.affine_law import fixed
from supple.control.laws.affine_matrices import Ports
from supple.control.laws.linear_law import linear_law
from supple.control.margins.loop_check import Place, grows, places_along, warn_if_unstable, worst_pole
from supple.control.plants.surrounding import hardware_in
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError
from supple.diagnostics.arguments import is_text, require_arguments, value_text
from supple.hardware.hardware import Hardware
from supple.integration.time_steps import require_positive
from supple.kinematics.configuration import At
from supple.reduced.model import ReducedModel
from supple.reduced.state_arguments import in_order

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
    feedforward  : "none", "gravity" (what holds θ_d), "rigid" (what the motion needs), or a Reference of the
                   actuators' forces
    rate_filter  : Hz; rates then follow from the coordinates by filtered differences. Left out, they are measured; of a
                   machine with instruments but no sensor of some rate they are filtered at 10 times the fastest ω of
                   the loop, at most a quarter of the sampling rate, and the controller's description says so
    sensors      : {"lift": "encoder", "lift.rate": ...} where names differ from the coordinates'
    hardware     : as in `closed_loop`: drives, which are asked for the forces through their gains and back-EMF, their
                   lag left alone; False for actuators whose command is the force
    """
    require_arguments(joint_pd, locals())
    model = JointModel(of, None if actuators is None else tuple(actuators))
    gains = _gains(model, at, (frequencies, damping_ratios, 0.0), (proportional, derivative, None))
    options = _Options(sample_time, feedforward, rate_filter, sensors, hardware)
    return _controller("joint PD", model, motion, gains, at, None, options)


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
    hardware: Hardware | bool = True,
    tracking: float | None = None,
) -> AffineController:
    """PID of every coordinate: as `joint_pd`, and K_I ∫ (θ_d - θ) dt.

    integral_frequencies : ω_I, rad/s, a third pole of each coordinate, one fifth of ω if left out; or `integral`, K_I
    tracking : T_t, s, in which the integral gives way where drives do not apply what is asked; K_P / K_I if left out
    """
    require_arguments(joint_pid, locals())
    model = JointModel(of, None if actuators is None else tuple(actuators))
    slow: PerCoordinate = 0.0 if integral_frequencies is None else integral_frequencies
    if integral_frequencies is None and frequencies is not None:
        slow = _FIFTH * per_coordinate("frequencies", frequencies, model.coordinates)
    gains = _gains(model, at, (frequencies, damping_ratios, slow), (proportional, derivative, integral))
    if not gains.integral.any():
        raise InputError("it has no integral", part="joint PID", hint="give `integral`, or take joint_pd")
    options = _Options(sample_time, feedforward, rate_filter, sensors, hardware)
    return _controller("joint PID", model, motion, gains, at, tracking, options)


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


class _Options(NamedTuple):
    """Of both loops, as `joint_pd` takes them."""

    sample_time: float
    feedforward: Feedforward
    rate_filter: float | None
    sensors: Mapping[str, str] | None
    hardware: Hardware | bool


def _controller(
    name: str, model: JointModel, motion: Any, gains: JointGains, at: At, tracking: float | None, options: _Options
) -> AffineController:
    require_frequency("rate filter", options.rate_filter)
    known, T, corner = hardware_in(model.of, options.hardware), options.sample_time, options.rate_filter
    wanted, here = reference(motion, model.of), model.at(model.theta(at))
    drives = commands_for(known, model.actuators, name)
    divide, none = drives.rows(here.divide), np.zeros_like(here.divide)
    if corner is None and unmeasured_rates(known, model.coordinates, options.sensors):
        corner = default_filter(here.M, gains, T)
    require_positive(tracking=tracking)
    if tracking is None:
        strong = float(np.linalg.norm(gains.integral))
        tracking = float(np.linalg.norm(gains.proportional)) / strong if strong else 1.0
    by_command = CommandGains(
        divide @ gains.proportional, divide @ gains.derivative, divide @ gains.integral, none, none, tracking,
        corner, drives.by_rate(here.input_map),
    )  # fmt: skip
    fed = _fed(model, wanted, options.feedforward, drives)
    ports = joint_ports(
        by_command, model.coordinates, model.actuators, T, fed=fed is not None, sensors=options.sensors
    )  # fmt: skip
    said = f"rates of the coordinates by differences through {corner:.4g} Hz" if by_command.filters else ""
    law = fixed(joint_matrices(by_command, ports), ports, name=name, said=said, commanded=drives.driven)
    places = places_along(model.theta(at), wanted)
    warn_if_unstable(name, model.of, linear_law(law), known, places, lambda place: _remedy(place, by_command, ports))
    return AffineController(law, wanted, fed)


def _remedy(place: Place, gains: CommandGains, ports: Ports) -> str:
    """What makes the loop stable at a place: another filter of the rates, or slower gains; tried, not guessed."""

    def pole(tried: CommandGains) -> complex:
        return worst_pole(place, linear_law(fixed(joint_matrices(tried, ports), ports)))

    def stable(tried: CommandGains) -> bool:
        return not grows(pole(tried))

    falls = not pole(gains).imag  # it falls over rather than swings: the gains are too weak for its weight
    if not falls and gains.filters and gains.rate_filter is not None:
        highest = OF_SAMPLING / ports.sample_time
        for corner in (2.0 * gains.rate_filter, 4.0 * gains.rate_filter, highest):
            if gains.rate_filter < corner <= highest and stable(gains._replace(rate_filter=corner)):
                return f"rates are filtered at {gains.rate_filter:.4g} Hz: with rate_filter={corner:.4g} it is stable"
    for factor in (1.5, 2.0, 3.0, 5.0) if falls else (0.7, 0.5, 0.3, 0.2, 0.1):
        scaled = (gains.error * factor**2, gains.rate_error * factor, gains.integral * factor**3)
        if stable(gains._replace(error=scaled[0], rate_error=scaled[1], integral=scaled[2])):
            return f"with frequencies {factor:g} times as high it is stable"
    if falls:
        return "raise the frequencies, or hold its weight by springs"
    return "lower the frequencies, measure rates, or feed the deformation back (state_feedback on an observer)"


def _fed(model: JointModel, wanted: AnyReference, feedforward: Feedforward, drives: ForceCommands) -> Reference | None:
    """Commands that give the forces beforehand."""
    if isinstance(feedforward, Reference):
        forces = feedforward
    elif not is_text(feedforward, "none", "gravity", "rigid"):
        raise InputError(
            f"it is {value_text(feedforward)}",
            part="feedforward",
            hint='give "none", "gravity", "rigid" or a Reference',
        )
    elif feedforward == "none":
        return None
    else:
        forces = model.forces_along(wanted, still=feedforward == "gravity")
    if drives.plain or forces.coordinates != model.actuators:  # which the controller refuses
        return forces
    return Reference(forces.coordinates, forces.breaks, forces.coefficients / drives.gain)


# Rates of joint loops: measured where every coordinate has a sensor of its rate, otherwise filtered from encoders.
#
# f = 10 ω / 2π, at most 1 / (4 T)          ω: the fastest of the loop, ω² the largest eigenvalue of M⁻¹ K_P
#
# so that the filter costs the loop a tenth of a radian of phase at ω.


_ABOVE = 10.0  # times ω
OF_SAMPLING = 0.25  # of the sampling rate, at most


def unmeasured_rates(
    known: Hardware, coordinates: tuple[str, ...], sensors: Mapping[str, str] | None
) -> tuple[str, ...]:
    """Coordinates whose rates nothing shows; none where all is measured exactly, without instruments."""
    named = {} if sensors is None else sensors
    if not known:
        return ()
    return tuple(name for name in coordinates if name not in known.rate_sensors and f"{name}.rate" not in named)


def default_filter(M: Array, gains: JointGains, sample_time: float) -> float:
    """The corner f, Hz, for gains in forces of θ."""
    squared = np.abs(np.linalg.eigvals(np.linalg.solve(M, gains.proportional))).max()
    first = np.abs(np.linalg.eigvals(np.linalg.solve(M, gains.derivative))).max()
    omega = float(np.sqrt(squared)) or float(first)
    return min(_ABOVE * omega / (2.0 * np.pi) or np.inf, OF_SAMPLING / sample_time)


# Gains of joint loops, from frequencies and the mass at a configuration, or as they are given.
#
# K_P = M ω²,   K_V = M 2 ξ ω                                     so that M ë + K_V ė + K_P e = 0
# with an integral: (s + ω_I)(s² + 2 ξ ω s + ω²):  K_P = M (ω² + 2 ξ ω ω_I),  K_V = M (2 ξ ω + ω_I),  K_I = M ω² ω_I


Matrix = float | Mapping[str, float] | ArrayLike


class JointGains(NamedTuple):
    """(s, s) each: forces per position, per rate, and per integral of the error."""

    proportional: Array
    derivative: Array
    integral: Array


def gains_of_frequencies(
    M: Array, frequencies: PerCoordinate, damping_ratios: PerCoordinate, integral: PerCoordinate, names: tuple[str, ...]
) -> JointGains:
    """frequencies : ω, rad/s; integral : ω_I, rad/s, 0 for none."""
    omega = per_coordinate("frequencies", frequencies, names)
    xi = per_coordinate("damping ratios", damping_ratios, names)
    slow = per_coordinate("integral frequencies", integral, names)
    for part, values, least in (("frequencies", omega, 0.0), ("damping ratios", xi, 0.0)):
        if not (values > least).all():
            worst = int(values.argmin())
            raise InputError(f'"{names[worst]}" has {values[worst]:g}', part=part, hint="give numbers above 0")
    return JointGains(M * (omega**2 + 2.0 * xi * omega * slow), M * (2.0 * xi * omega + slow), M * (omega**2 * slow))


def gain_matrix(part: str, values: Matrix, names: tuple[str, ...]) -> Array:
    """(s, s) of one number for all, numbers by name or in order, or a matrix."""
    s = len(names)
    if isinstance(values, int | float):
        return float(values) * np.eye(s)
    found = in_order(part, values, names)
    if found.ndim == 1:
        return np.diag(found)
    if found.shape != (s, s):
        raise InputError(f"has the shape {found.shape}", part=part, hint=f"give ({s},) or ({s}, {s})")
    return found
