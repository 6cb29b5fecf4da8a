"""Active damping of vibration modes by filters, whose commands are added to those of a joint loop.

**Positive position feedback** filters a signal of displacement (a strain, a position) by a filter tuned to the mode.
The filter shifts it by 90° at resonance: u = k₁ ξ. This adds damping without differentiation and rolls off above the
filter. **Acceleration feedback** does the same from accelerometers. It uses two gains, so that the phase lag of drives
and delays is compensated. Both are the law of `modal_feedback`, constant, or scheduled over θ.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from supple.array_types import Array, Complex
from supple.control.controllers.needed_forces import motion_series
from supple.control.feedforward.reference import AnyReference
from supple.control.laws.affine_controller import AffineController
from supple.control.laws.affine_law import AffineLaw, constant_law
from supple.control.laws.affine_matrices import ORDERS, AffineMatrices, Ports, empty
from supple.control.laws.law_equilibrium import Equilibria, EquilibriaOf
from supple.control.laws.linear_law import closed_poles, continuous_poles, linear_law
from supple.control.laws.scheduling import Ranges, scheduled_law
from supple.control.margins.open_loop import held_input_model
from supple.control.observers.sampled_plant import discretize
from supple.diagnostics import InputError, NumericalError
from supple.diagnostics.arguments import require_arguments
from supple.reduced.holding import find_rest
from supple.reduced.model import ReducedModel
from supple.results.linear_model import LinearModel

Plant = LinearModel | Callable[[Array], LinearModel]

_GROWS = 1e-6  # of the mode's frequency: limit of unstable real parts, above the rounding of a joint at rest


def positive_position_feedback(
    plant: Plant,
    sensors: Sequence[str],
    frequencies_hz: ArrayLike,
    *,
    sample_time: float,
    damping: ArrayLike = 0.1,
    actuators: Sequence[str] | None = None,
    motion: AnyReference | None = None,
    tuning: float = 1.0,
    filter_damping: float = 0.5,
    washout_hz: float | None = None,
    beside: Sequence[AffineController] = (),
    region: ReducedModel | Ranges | None = None,
    tolerance: float = 1e-3,
) -> AffineController:
    """Damp modes by positive position feedback from displacement sensors.

    Parameters
    ----------
    plant : LinearModel or callable
        Linear model from commands to sensors, with drives and delays; or a function from θ to it, with a `region`.
    sensors : sequence of str
        Outputs that measure displacement, such as positions or strains.
    frequencies_hz : array_like of float
        Approximate frequencies of the modes to damp, Hz.
    sample_time : float
        Sample time, s.
    damping : array_like of float, optional
        Damping ratio that is added to each mode, to first order. Default: 0.1.
    actuators : sequence of str, optional
        Actuators that the law drives. Default: all inputs of the plant.
    motion : Reference, optional
        Reference motion, whose slow effect on the sensors is subtracted. Default: none.
    tuning : float, optional
        Frequency ω_f of the filter over that of the mode. Default: 1.
    filter_damping : float, optional
        Damping ratio ζ_f of the filter. Default: 0.5.
    washout_hz : float, optional
        Corner frequency of the high-pass filter of the sensors, Hz. Default: a tenth of the lowest mode.
    beside : sequence of AffineController, optional
        Controllers that run in parallel, included in the check of stability. Default: none.
    region : ReducedModel, or mapping of str to (float, float), optional
        Region over which gains are scheduled, {coordinate: (lower, upper)}. Default: constant gains.
    tolerance : float, optional
        Relative error of the scheduled matrices. Default: 1e-3.

    Returns
    -------
    AffineController
        Controller whose commands are added to those of a joint loop in `closed_loop`.

    Raises
    ------
    InputError
        If an argument is not positive, or the linear loop is unstable with the law.
    NumericalError
        If sensors or actuators do not couple to a mode.

    See Also
    --------
    acceleration_feedback : The same from accelerometers.

    Notes
    -----
    u = Σ w vᵀ k₁ ξ over the modes, ξ̈ + 2 ζ_f ω_f ξ̇ + ω_f² ξ = ω_f² (y - y_d).

    The gains move the eigenvalue of each mode,
    to first order, to the left by ζ |λ|; docs/theory/laws.md.
    """
    require_arguments(positive_position_feedback, locals())
    choice = _choice(frequencies_hz, damping, tuning, filter_damping, washout_hz, two_gains=False)
    ports = _ports(plant, sensors, actuators, motion, sample_time, region)
    law = _law("positive position feedback", plant, choice, ports, region, tolerance, beside)
    return AffineController(law, motion)


def acceleration_feedback(
    plant: Plant,
    sensors: Sequence[str],
    frequencies_hz: ArrayLike,
    *,
    sample_time: float,
    damping: ArrayLike = 0.1,
    actuators: Sequence[str] | None = None,
    motion: AnyReference | None = None,
    tuning: float = 1.0,
    filter_damping: float = 0.5,
    washout_hz: float | None = None,
    beside: Sequence[AffineController] = (),
    region: ReducedModel | Ranges | None = None,
    tolerance: float = 1e-3,
) -> AffineController:
    """Damp modes by filtered feedback from accelerometers.

    Parameters
    ----------
    plant : LinearModel or callable
        Linear model from commands to sensors, with drives and delays; or a function from θ to it, with a `region`.
    sensors : sequence of str
        Outputs that measure acceleration.
    frequencies_hz : array_like of float
        Approximate frequencies of the modes to damp, Hz.
    sample_time : float
        Sample time, s.
    damping : array_like of float, optional
        Damping ratio that is added to each mode, to first order. Default: 0.1.
    actuators : sequence of str, optional
        Actuators that the law drives. Default: all inputs of the plant.
    motion : Reference, optional
        Reference motion, whose slow effect on the sensors is subtracted. Default: none.
    tuning : float, optional
        Frequency ω_f of the filter over that of the mode. Default: 1.
    filter_damping : float, optional
        Damping ratio ζ_f of the filter. Default: 0.5.
    washout_hz : float, optional
        Corner frequency of the high-pass filter of the sensors, Hz. Default: a tenth of the lowest mode.
    beside : sequence of AffineController, optional
        Controllers that run in parallel, included in the check of stability. Default: none.
    region : ReducedModel, or mapping of str to (float, float), optional
        Region over which gains are scheduled, {coordinate: (lower, upper)}. Default: constant gains.
    tolerance : float, optional
        Relative error of the scheduled matrices. Default: 1e-3.

    Returns
    -------
    AffineController
        Controller whose commands are added to those of a joint loop in `closed_loop`.

    Raises
    ------
    InputError
        If an argument is not positive, or the linear loop is unstable with the law.
    NumericalError
        If sensors or actuators do not couple to a mode.

    See Also
    --------
    positive_position_feedback : The same from displacement sensors.

    Notes
    -----
    u = Σ w vᵀ (k₁ ξ + k₂ ξ̇ / ω_f) over the modes. Both gains together compensate the phase lag of drives and delays.
    """
    require_arguments(acceleration_feedback, locals())
    choice = _choice(frequencies_hz, damping, tuning, filter_damping, washout_hz, two_gains=True)
    ports = _ports(plant, sensors, actuators, motion, sample_time, region)
    law = _law("acceleration feedback", plant, choice, ports, region, tolerance, beside)
    return AffineController(law, motion)


def _choice(
    frequencies_hz: ArrayLike, damping: ArrayLike, tuning: float, filter_damping: float, washout_hz: float | None,
    *, two_gains: bool,
) -> FilterChoice:  # fmt: skip
    omega = 2.0 * np.pi * np.atleast_1d(np.asarray(frequencies_hz, dtype=float))
    added = np.broadcast_to(np.asarray(damping, dtype=float), omega.shape)
    named: tuple[tuple[str, Any], ...] = (
        ("frequencies", omega), ("damping", added), ("tuning", tuning), ("filter damping", filter_damping)
    )  # fmt: skip
    for part, values in named:
        if not (np.isfinite(values) & (np.asarray(values) > 0.0)).all() or not np.size(values):
            raise InputError(f"must be positive (got {values})", part=part, hint="give numbers above 0")
    slow = 0.1 * float(omega.min()) if washout_hz is None else 2.0 * np.pi * washout_hz
    return FilterChoice(omega, added, tuning, filter_damping, slow, two_gains)


def _ports(
    plant: Plant,
    sensors: Sequence[str],
    actuators: Sequence[str] | None,
    motion: AnyReference | None,
    sample_time: float,
    region: ReducedModel | Ranges | None,
) -> Ports:
    if isinstance(plant, LinearModel) != (region is None):
        raise InputError(
            "a region is needed if, and only if, the plant is a function of θ", part="active damping",
            hint="give a function from θ to a linear model together with region=",
        )  # fmt: skip
    here = plant if isinstance(plant, LinearModel) else plant(_center(region))
    driven = here.inputs if actuators is None else tuple(actuators)
    return Ports(tuple(sensors), () if motion is None else motion.coordinates, driven, sample_time)


def _center(region: ReducedModel | Ranges | None) -> Array:
    assert region is not None
    if isinstance(region, ReducedModel):
        roots = region.fitted.arrays.roots_f
        return np.asarray(0.5 * (roots[0, 0] + roots[0, 1]))
    return np.array([0.5 * (low + high) for low, high in region.values()])


def _law(
    name: str,
    plant: Plant,
    choice: FilterChoice,
    ports: Ports,
    region: ReducedModel | Ranges | None,
    tolerance: float,
    beside: Sequence[AffineController],
) -> AffineLaw:
    if isinstance(plant, LinearModel):
        law = constant_law(modal_matrices(plant, choice, ports), ports, name=name)
        _require_stable(law, plant, beside, None)
        return law
    assert region is not None
    linear_at = plant
    names = region.layout.coordinates[: region.layout.theta] if isinstance(region, ReducedModel) else tuple(region)
    measured = tuple(dict.fromkeys([*ports.measured, *names]))
    wide_ports = Ports(measured, ports.coordinates, ports.actuators, ports.sample_time)

    def matrices_of(theta: Array) -> AffineMatrices:
        here = linear_at(theta)
        found = modal_matrices(here, choice, ports)
        _require_stable(constant_law(found, ports, name=name), here, beside, theta)
        return widen(found, ports, wide_ports)

    return scheduled_law(
        matrices_of, region, wide_ports, tolerance=tolerance, name=name,
        equilibria=_equilibria(linear_at, choice, ports, wide_ports, region),
    )  # fmt: skip


def _equilibria(
    plant: Callable[[Array], LinearModel],
    choice: FilterChoice,
    ports: Ports,
    wide_ports: Ports,
    region: ReducedModel | Ranges,
) -> EquilibriaOf | None:
    """Return the equilibria of the law: its washout cancels the sensor signals at rest, and its commands are zero.

    They are known if the region is that of the model whose linear models the plant returns; None otherwise.
    """
    if not isinstance(region, ReducedModel):
        return None
    layout = region.layout
    names = (*layout.coordinates, *layout.outputs)
    if any(name not in names for name in (*wide_ports.measured, *wide_ports.coordinates)):
        return None

    def signals(theta: Array, selected: tuple[str, ...]) -> Array:
        found = find_rest(region, theta)
        return np.hstack([found.eta, found.outputs])[:, [names.index(name) for name in selected]]

    middle = _center(region)
    known = {**plant(middle).at.get("states", {}), **plant(middle).at.get("outputs", {})}
    expected = np.array([known.get(name, np.nan) for name in wide_ports.measured])
    if not np.allclose(signals(middle[None], wide_ports.measured)[0], expected, rtol=1e-6, atol=1e-9):
        return None  # a plant of another model, such as the mechanism

    def equilibria(theta: Array) -> Equilibria:
        y = signals(theta, wide_ports.measured)
        z = np.zeros((len(theta), wide_ports.size))
        z[:, wide_ports.y] = y
        if wide_ports.coordinates:
            z[:, wide_ports.wanted(0)] = signals(theta, wide_ports.coordinates)
        o, n = len(ports.measured), modal_states(choice, ports)
        x = np.zeros((len(theta), n))
        if (
            not wide_ports.coordinates
        ):  # otherwise the signals at rest are those of the motion, and are subtracted before
            x[:, :o] = -washout_gain(choice, ports) * y[:, :o]
        return Equilibria(x, z, np.zeros((len(theta), len(wide_ports.outputs))))

    return equilibria


def widen(matrices: AffineMatrices, ports: Ports, wide_ports: Ports) -> AffineMatrices:
    """Return the law with more measurements: `wide_ports.measured` begins with `ports.measured`."""
    more = len(wide_ports.measured) - len(ports.measured)

    def insert_columns(part: Array) -> Array:
        return np.insert(part, np.full(more, len(ports.measured)), 0.0, axis=1)

    return matrices._replace(B=insert_columns(matrices.B), D=insert_columns(matrices.D), A0=insert_columns(matrices.A0))


def _require_stable(
    law: AffineLaw, plant: LinearModel, beside: Sequence[AffineController], theta: Array | None
) -> None:
    before = [linear_law(item.law, None if theta is None else _sigma(item.law, plant)) for item in beside]
    poles = closed_poles(plant, [*before, linear_law(law)])
    worst = poles[int(poles.real.argmax())]
    if worst.real > max(_GROWS * abs(worst), 1e-6):
        raise InputError(
            f"the linear loop is unstable with this law: {worst.real:.3g} 1/s at {abs(worst.imag) / (2 * np.pi):.3g} Hz"
            + ("" if theta is None else f", at {np.array2string(theta, precision=5)}"),
            part=law.name, hint="request less damping, a wider filter, or fewer modes",
        )  # fmt: skip


def _sigma(law: AffineLaw, plant: LinearModel) -> Array:
    known = {**plant.at.get("states", {}), **plant.at.get("outputs", {})}
    return np.array([known[name] for name in law.scheduled_by])


# Active damping of modes by second-order filters, designed on a linear model of the plant with its drives.
#
# For every mode with the eigenvalue μ = e^{λT} of the samples, r and l its right and left eigenvectors (lᵀ r = 1),
#
#     ξ̈ + 2 ζ_f ω_f ξ̇ + ω_f² ξ = ω_f² W (y - y_d)         W: s / (s + ω_W), without feedback at rest
#     u = w vᵀ (k₁ ξ + k₂ ξ̇ / ω_f)                        v, w: real directions closest to C r and lᵀ B
#
# k₁ and k₂ move the mode to first order as requested: dμ = (lᵀ B w)(vᵀ C r)(k₁ F₁(μ) + k₂ F₂(μ)) = μ T dλ, and
# dλ = -ζ |λ| adds the damping ζ and keeps the frequency. With k₂ = 0 only the real part of dλ can be chosen. Every
# sensor has its filter, so that only w vᵀ, which has no free sign, changes with the configuration.
#
# y_d is y where the plant follows a slow motion, y_d = H₀ (θ_d - θ₀) + H₁ θ̇_d + H₂ θ̈_d + H₃ θ⃛_d, the
# series of y(s) θ(s)⁻¹ at s = 0: a controller that damps vibration does not resist the motion.


_ROUNDING = 1e-8  # of the terms of a sum: a smaller sum is rounding
_BLIND = 1e-9  # of the largest residue: a mode with a smaller one cannot be moved


class FilterChoice(NamedTuple):
    """Parameters of the filters, for each mode: approximate frequency (rad/s), added damping ζ, ω_f / |λ| and ζ_f.

    washout   : ω_W, rad/s
    two_gains : whether k₂ is used
    """

    frequencies: Array
    damping: Array
    tuning: float
    filter_damping: float
    washout: float
    two_gains: bool


class Mode(NamedTuple):
    """Mode of the samples: eigenvalue λ, directions v (o,) and w (a,), and residue (lᵀ B w)(vᵀ C r)."""

    pole: complex
    shape: Array
    driven: Array
    residue: complex


def modal_matrices(plant: LinearModel, choice: FilterChoice, ports: Ports) -> AffineMatrices:
    """Return the law on a linear plant; states are those of the washout, then ξ and ξ̇ of each mode, (o,) each."""
    T, o = ports.sample_time, len(ports.measured)
    found = _modes(plant, choice, ports)
    m = empty(modal_states(choice, ports), ports)
    washout = float(np.exp(-choice.washout * T))
    # W in samples: ỹ_w = (1 + α) / 2 (y_k - y_{k-1}) + α ỹ_w; the states are the terms of the previous sample.
    passed = washout_gain(choice, ports)
    known = _sensor_deviation(plant, ports)
    low = slice(0, o)
    m.A[low, low] = washout * np.eye(o)
    m.B[low], m.b[low] = passed * (washout - 1.0) * known.B, passed * (washout - 1.0) * known.b
    m.A0[low], m.a0[low] = -passed * known.B, -passed * known.b  # after a long time at rest
    for k, (mode, damping) in enumerate(zip(found, choice.damping, strict=True)):
        omega = choice.tuning * abs(mode.pole)
        A = np.array([[0.0, 1.0], [-(omega**2), -2.0 * choice.filter_damping * omega]])
        F, G = discretize(A, np.array([[0.0], [omega**2]]), T)
        at = slice(o + 2 * o * k, o + 2 * o * (k + 1))
        each = np.kron(G, np.eye(o))
        m.A[at, at], m.A[at, low] = np.kron(F, np.eye(o)), each
        m.B[at], m.b[at] = passed * each @ known.B, passed * (each @ known.b)
        out = np.array([1.0, 1.0 / omega])
        gains = _gains(mode, damping, (F, G, out), (washout, passed), T, two_gains=choice.two_gains)
        m.C[:, at] = np.kron(gains * out, np.outer(mode.driven, mode.shape))
    return m


def modal_states(choice: FilterChoice, ports: Ports) -> int:
    """Return the number of states of the law."""
    return len(ports.measured) * (1 + 2 * len(choice.frequencies))


def washout_gain(choice: FilterChoice, ports: Ports) -> float:
    """Return (1 + α) / 2 of the washout, α = exp(-ω_W T)."""
    return 0.5 * (1.0 + float(np.exp(-choice.washout * ports.sample_time)))


class _SensorDeviation(NamedTuple):
    """Deviation of the sensors from the motion: y - y_d = B z + b."""

    B: Array
    b: Array


def _sensor_deviation(plant: LinearModel, ports: Ports) -> _SensorDeviation:
    o, s = len(ports.measured), len(ports.coordinates)
    B, b = np.zeros((o, ports.size)), np.zeros(o)
    B[:, ports.y] = np.eye(o)
    if s:
        series = slow_series(plant, ports)
        for order in range(ORDERS):
            B[:, ports.wanted(order)] = -series[order]
        states, outputs = plant.at.get("states", {}), plant.at.get("outputs", {})
        theta = np.array([states.get(name, 0.0) for name in ports.coordinates])
        y = np.array([outputs.get(name, states.get(name, 0.0)) for name in ports.measured])
        b = series[0] @ theta - y
    return _SensorDeviation(B, b)


def slow_series(plant: LinearModel, ports: Ports) -> Array:
    """Return H₀ ... H₃ (4, o, s) of y = H(s) θ, from the responses of both to the actuators."""
    coordinates = _rows(plant, ports.coordinates)
    outputs = _rows(plant, ports.measured)
    driven = [plant.inputs.index(name) for name in ports.actuators]
    if len(driven) != len(ports.coordinates):
        raise InputError(
            f"{len(driven)} actuators do not match {len(ports.coordinates)} coordinates of the motion",
            part="modal feedback",
            hint="name as many actuators as coordinates, or leave the motion out",
        )  # fmt: skip
    series = motion_series(plant.A, plant.B[:, driven], coordinates.C)
    found = outputs.C @ series.states + outputs.D[:, driven] @ series.inputs
    parts = np.abs(outputs.C) @ np.abs(series.states) + np.abs(outputs.D[:, driven]) @ np.abs(series.inputs)
    return np.where(np.abs(found) > _ROUNDING * parts, found, 0.0)


class _OutputRows(NamedTuple):
    C: Array
    D: Array


def _rows(plant: LinearModel, names: tuple[str, ...]) -> _OutputRows:
    """Return the rows of C and D of outputs or states by name."""
    n, a = plant.B.shape
    C, D = np.zeros((len(names), n)), np.zeros((len(names), a))
    for i, name in enumerate(names):
        if name in plant.outputs:
            C[i], D[i] = plant.C[plant.outputs.index(name)], plant.D[plant.outputs.index(name)]
        elif name in plant.states:
            C[i, plant.states.index(name)] = 1.0
        else:
            raise InputError(
                f'the linear model has no output or state "{name}"', part="modal feedback",
                hint=f"its outputs are {', '.join(plant.outputs)}",
            )  # fmt: skip
    return _OutputRows(C, D)


def _modes(plant: LinearModel, choice: FilterChoice, ports: Ports) -> list[Mode]:
    T = ports.sample_time
    at_samples = held_input_model(plant, T)
    driven = [plant.inputs.index(name) for name in ports.actuators]
    C = _rows(at_samples, ports.measured).C
    mu, right = np.linalg.eig(at_samples.A)
    left = np.linalg.inv(right)
    poles = continuous_poles(mu, T)
    found: list[Mode] = []
    for frequency in choice.frequencies:
        swings = np.where(poles.imag > 0.5 * np.abs(poles), np.abs(np.abs(poles) - frequency), np.inf)
        n = int(swings.argmin())
        if not np.isfinite(swings[n]):
            raise InputError(
                "the linear model has no oscillating mode", part="modal feedback", hint="inspect supple.modes()"
            )
        shape, drives = C @ right[:, n], left[n] @ at_samples.B[:, driven]
        v, w = _direction(shape), _direction(drives)
        residue = complex((drives @ w) * (v @ shape))
        if not abs(residue) > _BLIND * np.linalg.norm(shape) * np.linalg.norm(drives):
            raise NumericalError(
                f"the mode at {abs(poles[n]) / (2 * np.pi):.4g} Hz is not observable or not controllable",
                part="modal feedback", hint="choose other sensors or actuators",
            )  # fmt: skip
        found.append(Mode(complex(poles[n]), v, w, residue))
    return found


def _direction(vector: Complex) -> Array:
    """Return the real unit vector closest to a complex one times any phase; its sign is arbitrary."""
    rotated = (vector * np.exp(-0.5j * np.angle((vector**2).sum()))).real
    size = float(np.linalg.norm(rotated))
    return np.asarray(rotated / (size if size > 0.0 else 1.0))


def _gains(
    mode: Mode, damping: float, filters: tuple[Array, Array, Array], washes: tuple[float, float], T: float,
    *, two_gains: bool,
) -> Array:  # fmt: skip
    """Return k₁, k₂ that shift the mode by -ζ |λ|."""
    (F, G, out), (washout, passed) = filters, washes
    mu = np.exp(mode.pole * T)
    wash = passed * (mu - 1.0) / (mu - washout)
    each = out * np.linalg.solve(mu * np.eye(2) - F, G[:, 0]) * wash * mode.residue / (mu * T)
    shift = -damping * abs(mode.pole)
    if not two_gains:
        if abs(each[0].real) < 1e-3 * abs(each[0]):
            raise NumericalError(
                f"at {abs(mode.pole) / (2 * np.pi):.4g} Hz the filter only shifts the frequency", part="modal feedback",
                hint="use acceleration_feedback, which has two gains, or change tuning=",
            )  # fmt: skip
        return np.array([shift / each[0].real, 0.0])
    return np.asarray(np.linalg.solve(np.array([each.real, each.imag]), [shift, 0.0]))
