"""Joint loops of force actuators: PD and PID, with precomputed forces.

    B u = K_P e + K_V (θ̇_d - θ̇) + K_I ∫ e dt,   e = θ_d - θ,      plus f(t)
    c = (u + d ω) / g                               commands of drives with their gain and drag (`force_commands`)
    f : none, the forces that hold θ_d against gravity and springs, or all forces of the rigid motion,
        B f = M θ̈_d + Γ[θ̇_d, θ̇_d] + D_d θ̇_d - p(θ_d)

B is inverted once, at the configuration that the gains are for.
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
from supple.control.laws.affine_law import constant_law
from supple.control.laws.affine_matrices import Ports
from supple.control.laws.linear_law import linear_law
from supple.control.margins.loop_check import Place, checked_places, is_unstable, warn_if_unstable, worst_pole
from supple.control.plants.surrounding import hardware_in
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError
from supple.diagnostics.arguments import is_text, require_arguments, value_text
from supple.hardware.hardware import Hardware
from supple.integration.time_steps import require_positive
from supple.kinematics.configuration import At
from supple.reduced.model import ReducedModel
from supple.reduced.state_arguments import in_order

_FIFTH = 0.2  # of ω: default pole of the integral

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
    """Create a PD controller of every coordinate with optional feedforward.

    Parameters
    ----------
    of : Mechanism or ReducedModel
        Mechanism, or a reduced model of it.
    motion : str, Motion, Trajectory, path or callable
        Motion, as in `reference`.
    sample_time : float
        Sample time, s.
    frequencies : float, mapping of str to float, or array_like, optional
        Natural frequencies ω of the loop, rad/s; one for all, by name, or in order.

        Gains follow from ω, ξ and the mass matrix M at the configuration `at`. Give either frequencies or proportional
        and derivative gains.
    damping_ratios : float, mapping of str to float, or array_like, optional
        Damping ratios ξ of the loop. Default: 1.
    proportional : float, mapping of str to float, or array_like, optional
        Gains K_P in forces of θ: a number, by name, in order, or (s, s).
    derivative : float, mapping of str to float, or array_like, optional
        Gains K_V in forces of θ: a number, by name, in order, or (s, s).
    at : mapping, array_like or str, optional
        Configuration of the gains. Default: rest.
    actuators : sequence of str, optional
        Actuators that are driven. Default: all.
    feedforward : {"none", "gravity", "rigid"} or Reference, optional
        Precomputed forces: none, those that hold θ_d, those of the rigid motion, or given ones. Default: "none".
    rate_filter : float, optional
        Corner frequency of rates from filtered differences of the coordinates, Hz. Default: rates are measured.

        A machine with instruments but without a sensor for some rate uses a default filter of 10 times the fastest ω of
        the loop, at most a quarter of the sample rate. The summary of the law reports it.
    sensors : mapping of str to str, optional
        Sensors of coordinates and rates, such as {"lift": "encoder", "lift.rate": ...}. Default: of the same name.
    hardware : Hardware or bool, optional
        Drives between commands and forces, as in `closed_loop`; False for commands that are forces. Default: the
        model's.

        The gains and the back-EMF of drives are compensated, their lag is not.

    Returns
    -------
    AffineController
        Controller for `closed_loop` and `supple.export`.

    Raises
    ------
    InputError
        If both frequencies and gains are given or neither, or the actuators do not move every coordinate.

    Warns
    -----
    UnstableLoop
        If the loop with drives and filters is unstable on the linearized model; the message suggests what to change.

    See Also
    --------
    joint_pid : The same with an integral.
    joint_servo : Loop of drives that prescribe motion.

    Notes
    -----
    B u = K_P (θ_d - θ) + K_V (θ̇_d - θ̇) + B f(t), with K_P = M ω² and K_V = M 2 ξ ω; docs/theory/laws.md.

    Examples
    --------
    >>> import supple
    >>> from supple import control
    >>> arm = supple.load("two-link")
    >>> motion = control.timed_path([[0.05, 0.05], [0.5, 0.5]], arm, velocity=2.0, acceleration=10.0, forces=False)
    >>> control.joint_pd(arm, motion, sample_time=0.01, frequencies=10.0, feedforward="rigid").law.sample_time
    0.01
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
    """Create a PID controller of every coordinate with optional feedforward.

    Parameters
    ----------
    of : Mechanism or ReducedModel
        Mechanism, or a reduced model of it.
    motion : str, Motion, Trajectory, path or callable
        Motion, as in `reference`.
    sample_time : float
        Sample time, s.
    frequencies : float, mapping of str to float, or array_like, optional
        Natural frequencies ω of the loop, rad/s, as in `joint_pd`.
    damping_ratios : float, mapping of str to float, or array_like, optional
        Damping ratios ξ of the loop. Default: 1.
    integral_frequencies : float, mapping of str to float, or array_like, optional
        Third pole ω_I of each coordinate, rad/s. Default: a fifth of ω.
    proportional : float, mapping of str to float, or array_like, optional
        Gains K_P in forces of θ: a number, by name, in order, or (s, s).
    derivative : float, mapping of str to float, or array_like, optional
        Gains K_V in forces of θ: a number, by name, in order, or (s, s).
    integral : float, mapping of str to float, or array_like, optional
        Gains K_I in forces of θ: a number, by name, in order, or (s, s).
    at : mapping, array_like or str, optional
        Configuration of the gains. Default: rest.
    actuators : sequence of str, optional
        Actuators that are driven. Default: all.
    feedforward : {"none", "gravity", "rigid"} or Reference, optional
        Precomputed forces, as in `joint_pd`. Default: "none".
    rate_filter : float, optional
        Corner frequency of rates from filtered differences, Hz, as in `joint_pd`. Default: rates are measured.
    sensors : mapping of str to str, optional
        Sensors of coordinates and rates, as in `joint_pd`. Default: of the same name.
    hardware : Hardware or bool, optional
        Drives between commands and forces, as in `joint_pd`. Default: the model's.
    tracking : float, optional
        Time constant T_t of the anti-windup, s. Default: K_P / K_I.

    Returns
    -------
    AffineController
        Controller for `closed_loop` and `supple.export`.

    Raises
    ------
    InputError
        If the integral gains are zero, or as in `joint_pd`.

    Warns
    -----
    UnstableLoop
        If the loop with drives and filters is unstable on the linearized model.

    See Also
    --------
    joint_pd : The same without an integral.

    Notes
    -----
    B u = K_P e + K_V ė + K_I ∫ e dt + B f(t), e = θ_d - θ, with the poles (s + ω_I)(s² + 2 ξ ω s + ω²).
    """
    require_arguments(joint_pid, locals())
    model = JointModel(of, None if actuators is None else tuple(actuators))
    slow: PerCoordinate = 0.0 if integral_frequencies is None else integral_frequencies
    if integral_frequencies is None and frequencies is not None:
        slow = _FIFTH * per_coordinate("frequencies", frequencies, model.coordinates)
    gains = _gains(model, at, (frequencies, damping_ratios, slow), (proportional, derivative, integral))
    if not gains.integral.any():
        raise InputError("the integral gain is zero", part="joint PID", hint="give `integral`, or use joint_pd")
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
            "no gains are given" if frequencies is None else "both frequencies and gains are given", part="joint loop",
            hint="give either frequencies, or proportional and derivative",
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
    """Options of both loops, as in `joint_pd`."""

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
    target, here = reference(motion, model.of), model.at(model.theta(at))
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
    feedforward = _feedforward(model, target, options.feedforward, drives)
    ports = joint_ports(
        by_command, model.coordinates, model.actuators, T, fed=feedforward is not None, sensors=options.sensors
    )  # fmt: skip
    remark = f"rates of the coordinates by differences through {corner:.4g} Hz" if by_command.filters else ""
    law = constant_law(
        joint_matrices(by_command, ports), ports, name=name, remark=remark, commanded_actuators=drives.driven
    )
    places = checked_places(model.theta(at), target)
    warn_if_unstable(name, model.of, linear_law(law), known, places, lambda place: _remedy(place, by_command, ports))
    return AffineController(law, target, feedforward)


def _remedy(place: Place, gains: CommandGains, ports: Ports) -> str:
    """Return a change that stabilizes the loop at a place, found by trial: another rate filter or other gains."""

    def pole(trial: CommandGains) -> complex:
        return worst_pole(place, linear_law(constant_law(joint_matrices(trial, ports), ports)))

    def stable(trial: CommandGains) -> bool:
        return not is_unstable(pole(trial))

    falls = not pole(gains).imag  # a real pole: the gains are too weak for the weight
    if not falls and gains.filters and gains.rate_filter is not None:
        highest = OF_SAMPLING / ports.sample_time
        for corner in (2.0 * gains.rate_filter, 4.0 * gains.rate_filter, highest):
            if gains.rate_filter < corner <= highest and stable(gains._replace(rate_filter=corner)):
                return f"rates are filtered at {gains.rate_filter:.4g} Hz; with rate_filter={corner:.4g} it is stable"
    for factor in (1.5, 2.0, 3.0, 5.0) if falls else (0.7, 0.5, 0.3, 0.2, 0.1):
        scaled = (gains.error * factor**2, gains.rate_error * factor, gains.integral * factor**3)
        if stable(gains._replace(error=scaled[0], rate_error=scaled[1], integral=scaled[2])):
            return f"with frequencies {factor:g} times as high it is stable"
    if falls:
        return "raise the frequencies, or support the weight by springs"
    return "lower the frequencies, measure rates, or feed back the deformation (state_feedback on an observer)"


def _feedforward(
    model: JointModel, target: AnyReference, feedforward: Feedforward, drives: ForceCommands
) -> Reference | None:
    """Return the commands of the precomputed forces; None without any."""
    if isinstance(feedforward, Reference):
        forces = feedforward
    elif not is_text(feedforward, "none", "gravity", "rigid"):
        raise InputError(
            f"unknown value {value_text(feedforward)}",
            part="feedforward",
            hint='give "none", "gravity", "rigid" or a Reference',
        )
    elif feedforward == "none":
        return None
    else:
        forces = model.forces_along(target, still=feedforward == "gravity")
    if drives.plain or forces.coordinates != model.actuators:  # the controller refuses other names
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
    """Return the coordinates whose rates have no sensor; none if measurements are exact, without instruments."""
    named = {} if sensors is None else sensors
    if not known:
        return ()
    return tuple(name for name in coordinates if name not in known.rate_sensors and f"{name}.rate" not in named)


def default_filter(M: Array, gains: JointGains, sample_time: float) -> float:
    """Return the corner frequency f, Hz, for gains in forces of θ."""
    squared = np.abs(np.linalg.eigvals(np.linalg.solve(M, gains.proportional))).max()
    first = np.abs(np.linalg.eigvals(np.linalg.solve(M, gains.derivative))).max()
    omega = float(np.sqrt(squared)) or float(first)
    return min(_ABOVE * omega / (2.0 * np.pi) or np.inf, OF_SAMPLING / sample_time)


# Gains of joint loops, from frequencies and the mass at a configuration, or as given.
#
# K_P = M ω²,   K_V = M 2 ξ ω                                     so that M ë + K_V ė + K_P e = 0
# with an integral: (s + ω_I)(s² + 2 ξ ω s + ω²):  K_P = M (ω² + 2 ξ ω ω_I),  K_V = M (2 ξ ω + ω_I),  K_I = M ω² ω_I


Matrix = float | Mapping[str, float] | ArrayLike


class JointGains(NamedTuple):
    """Gains (s, s) in forces: per position, per rate, and per integral of the error."""

    proportional: Array
    derivative: Array
    integral: Array


def gains_of_frequencies(
    M: Array, frequencies: PerCoordinate, damping_ratios: PerCoordinate, integral: PerCoordinate, names: tuple[str, ...]
) -> JointGains:
    """Return gains from ω (rad/s), ξ and the frequencies ω_I of the integral (rad/s, 0 for none)."""
    omega = per_coordinate("frequencies", frequencies, names)
    xi = per_coordinate("damping ratios", damping_ratios, names)
    slow = per_coordinate("integral frequencies", integral, names)
    for part, values, least in (("frequencies", omega, 0.0), ("damping ratios", xi, 0.0)):
        if not (values > least).all():
            worst = int(values.argmin())
            raise InputError(
                f'"{names[worst]}" has {values[worst]:g}, not a positive number', part=part, hint="give numbers above 0"
            )
    return JointGains(M * (omega**2 + 2.0 * xi * omega * slow), M * (2.0 * xi * omega + slow), M * (omega**2 * slow))


def gain_matrix(part: str, values: Matrix, names: tuple[str, ...]) -> Array:
    """Return a gain (s, s) from one number for all, numbers by name or in order, or a matrix."""
    s = len(names)
    if isinstance(values, int | float):
        return float(values) * np.eye(s)
    found = in_order(part, values, names)
    if found.ndim == 1:
        return np.diag(found)
    if found.shape != (s, s):
        raise InputError(f"wrong shape {found.shape}", part=part, hint=f"give ({s},) or ({s}, {s})")
    return found
