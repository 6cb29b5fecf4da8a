"""Kalman filter over a region: state and deformation from encoders, accelerometers and commands.

At every θ the reduced model is linearized about its rest, with its drives and instruments, and sampled with exact
delays (`sampled_plant`). Then

    X̂⁻ = X⁰ + F (X̂ - X⁰) + G (c₋ - c⁰) + E w,   X̂ = X̂⁻ + L (y - y⁰ - H (X̂⁻ - X⁰) - Y w)

with all terms as functions of θ from the encoders. Gravity is included in X⁰ and y⁰ (a tilted accelerometer measures
it), the rates of the reference motion in w (`with_centrifugal_inputs`). Biases of instruments are states of a random
walk.

The process noise is an unknown acceleration of each θ, white from sample to sample, which also moves elastic
coordinates: δ̈ = -M_δδ⁻¹ M_δθ θ̈.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike

from supple.array_types import Array
from supple.control.gains.feedback_gain import PerCoordinate, per_coordinate
from supple.control.observers.linear_filter import (
    LinearFilter,
    SteadyGain,
    add_biases,
    gain_with_known_commands,
    linear_filter,
    require_noise,
    update_values,
)
from supple.control.observers.sampled_plant import (
    SampledPlant,
    Sampling,
    discretize,
    require_sample_time,
    sampled_plant,
)
from supple.diagnostics import InputError, require_known
from supple.diagnostics.arguments import require_arguments
from supple.equations.forces import FRICTION_SPEED
from supple.hardware.hardware import Hardware
from supple.hardware.linear_hardware import with_hardware
from supple.reduced.holding import find_rest
from supple.reduced.model import ReducedModel
from supple.reduced.observed import ObservedMotion, outputs_along
from supple.results.linear_model import LinearModel, SecondOrder
from supple.results.result import brief
from supple.results.text import list_names

# Second-order effects of rates: centrifugal and Coriolis forces, and the accelerations that sensors measure.
#
# At θ and δ, with v = (θ̇, 0) and without the terms that are odd in v (damping, friction),
#
#     Q(v) = ½ [τ(v) + τ(-v)] - τ(0) = Γ[v, v],    ψ(v) = ½ [y(v) + y(-v)] - y(0)
#
# Both are quadratic forms: Σ_{i <= j} Q_ij θ̇_i θ̇_j. A linear model about rest does not include them; with the
# products of reference rates as known inputs it does.


def pairs(s: int) -> list[tuple[int, int]]:
    """Return the pairs (i, j), i <= j, in the order of the products θ̇_i θ̇_j."""
    return [(i, j) for i in range(s) for j in range(i, s)]


def with_centrifugal_inputs(model: ReducedModel, linear: LinearModel) -> tuple[LinearModel, tuple[str, ...]]:
    """Return the model about rest with products of rates as further inputs, and their names."""
    assert linear.second_order is not None
    s = model.layout.theta
    eta = np.array([linear.at["states"][name] for name in linear.coordinates])
    u = np.array(list(linear.at["inputs"].values()))
    forces, outputs, by_acceleration = _quadratic(model, eta, u)
    M, P3 = linear.second_order.M, linear.second_order.P3
    accelerations = -np.linalg.solve(M, forces)
    B = np.vstack([np.zeros_like(forces), accelerations])
    coordinates = linear.coordinates
    names = tuple(f"{coordinates[i]}.rate {coordinates[j]}.rate" for i, j in pairs(s))
    return replace(
        linear, B=np.hstack([linear.B, B]), D=np.hstack([linear.D, outputs + by_acceleration @ accelerations]),
        inputs=(*linear.inputs, *names), second_order=linear.second_order._replace(P3=np.hstack([P3, -forces])),
    ), names  # fmt: skip


def _quadratic(model: ReducedModel, eta: Array, u: Array) -> tuple[Array, Array, Array]:
    """Return Q (n, p) and ψ (o, p) of all pairs, by polarization, and ∂y/∂η̈ (o, n), in which y is linear."""
    n, s = model.layout.size, model.layout.theta
    couples = pairs(s)
    rates = [np.zeros(n)]
    for i, j in couples:
        v = np.zeros(n)
        v[i] = 1.0
        v[j] = 1.0
        rates += [v, -v]
    v = np.array(rates)
    count = len(v)
    states = np.tile(eta, (count + n, 1))
    tau = model.inverse(states[:count, :s], v, np.zeros((count, n)), delta=states[:count, s:])
    v, a = np.vstack([v, np.zeros((n, n))]), np.vstack([np.zeros((count, n)), np.eye(n)])
    y = outputs_along(model, ObservedMotion(states, v, a, np.tile(u, (count + n, 1)), FRICTION_SPEED))
    by_acceleration = (y[count:] - y[0]).T
    whole = [0.5 * (part[1:count:2] + part[2:count:2]) - part[0] for part in (tau, y)]
    own = {i: whole_at for whole_at, (i, j) in enumerate(couples) if i == j}
    for at, (i, j) in enumerate(couples):
        if i != j:
            for part in whole:
                part[at] -= part[own[i]] + part[own[j]]
    return whole[0].T, whole[1].T, by_acceleration


# The filter.


_REMEMBERED = 2000  # cached designs


class FilterAt(NamedTuple):
    """Filter at one θ: the plant with biases behind its states, and the gain.

    linear : M, P₂, P₁, P₃ of the reduced model there, without drives; products of rates follow the inputs
    """

    plant: SampledPlant
    gain: SteadyGain
    linear: SecondOrder


class SampledRests(NamedTuple):
    """Rest at N configurations: X⁰ (N, ...) with biases of zero, c⁰ (N, a), y⁰ (N, o)."""

    states: Array
    commands: Array
    outputs: Array


@dataclass(frozen=True, eq=False, repr=False)
class KalmanFilter:
    """Kalman filter of a reduced model, designed at every θ; made by `kalman_filter`.

    Attributes
    ----------
    model : ReducedModel
        Plant model.
    hardware : Hardware
        Drives and instruments.
    sample_time : float
        Sample time, s.
    measured : tuple of str
        Measured outputs.
    encoders : tuple of str
        Outputs among them that measure θ, in the order of the coordinates.
    accelerations : ndarray of shape (s,)
        RMS of the unknown part of θ̈.
    noise : ndarray of shape (o,)
        RMS noise of each measurement.
    wander : ndarray of shape (o,)
        Drift of biases, RMS per √s; zero without a bias.
    delays : mapping of str to float
        Delays of commands and outputs, s.
    """

    model: ReducedModel
    hardware: Hardware
    sample_time: float
    measured: tuple[str, ...]
    encoders: tuple[str, ...]
    accelerations: Array
    noise: Array
    wander: Array
    delays: Mapping[str, float]

    def __repr__(self) -> str:
        inputs = f"from {list_names(self.measured)} every {1e3 * self.sample_time:g} ms"
        return brief("KalmanFilter", f'of model "{self.model.name}" {inputs}')

    def at(self, theta: ArrayLike) -> FilterAt:
        """Return the filter at θ (s,).

        Laws on one filter are fitted from the same points, so that designs are cached.
        """
        where = np.asarray(theta, dtype=float)
        key = where.tobytes()
        if key not in self._known_filters:
            if len(self._known_filters) >= _REMEMBERED:
                self._known_filters.clear()
            self._known_filters[key] = self._design_filter(where)
        return self._known_filters[key]

    @property
    def direct_states(self) -> tuple[tuple[int, str], ...]:
        """States of the plant that are measured directly: (position in X, name of the measurement)."""
        return tuple(enumerate(self.encoders))

    @cached_property
    def _known_filters(self) -> dict[bytes, FilterAt]:
        return {}

    def rests(self, theta: Array) -> SampledRests:
        """Return the rest of the machine at θ (N, s) in the states of the filter, without approximation.

        States of drives and commands are affine in forces, coordinates and outputs, so that this map is computed once.
        """
        found = find_rest(self.model, theta)
        whole = np.hstack([found.eta, found.inputs, found.outputs])
        constant, slopes = self._rest_map
        rows = constant + whole @ slopes
        N, a = len(constant) - len(self.model.layout.inputs) - len(self.measured), len(self.model.layout.inputs)
        return SampledRests(rows[:, :N], rows[:, N : N + a], rows[:, N + a :])

    @cached_property
    def _rest_map(self) -> tuple[Array, Array]:
        """X⁰, c⁰, y⁰ for η, u, y of the model all zero, and their slopes, (n + a + o, ...)."""
        layout = self.model.layout
        n, inputs, outputs = layout.size, layout.inputs, layout.outputs
        middle = self.model.linearize(self.model.fitted.arrays.roots_f[0].mean(axis=0), drives=False)
        direct = self._direct(middle)
        names = (layout.coordinates, inputs, outputs)
        ends = np.cumsum([n, len(inputs), len(outputs)])

        def at(numbers: Array) -> Array:
            parts = (
                dict(zip(keys, part.tolist(), strict=True))
                for keys, part in zip(names, np.split(numbers, ends[:-1]), strict=True)
            )
            states, forces, outputs_at = parts
            states |= {f"{name}.rate": 0.0 for name in layout.coordinates}
            about = {**middle.at, "states": states, "inputs": forces, "outputs": outputs_at}
            driven = with_hardware(replace(middle, at=about), self._prompt)
            state, command, output = Sampling(driven, self.sample_time, self.measured, self.delays, felt=direct).about()
            return np.concatenate([state, np.zeros(len(self.biased_outputs)), command, output])

        constant = at(np.zeros(int(ends[-1])))
        return constant, np.array([at(unit) - constant for unit in np.eye(int(ends[-1]))])

    def _design_filter(self, theta: Array) -> FilterAt:
        model, T = self.model, self.sample_time
        linear = model.linearize(theta, drives=False)
        assert linear.second_order is not None
        centrifugal, known = with_centrifugal_inputs(model, linear)
        assert centrifugal.second_order is not None
        driven = with_hardware(centrifugal, self._prompt)
        plant = sampled_plant(driven, T, self.measured, self.delays, known=known, felt=self._direct(centrifugal))
        plant = add_biases(plant, self.biased_outputs)
        n, s = model.layout.size, model.layout.theta
        M = linear.second_order.M
        W = np.zeros((plant.model, s))
        W[n : n + s] = np.eye(s)
        W[n + s : 2 * n] = -np.linalg.solve(M[s:, s:], M[s:, :s])
        Q = np.zeros_like(plant.F)
        noise_map = discretize(driven.A, W, T)[1] * self.accelerations
        Q[: plant.model, : plant.model] = noise_map @ noise_map.T
        wandering = len(self.biased_outputs)
        Q[len(Q) - wandering :, len(Q) - wandering :] = np.diag(self.wander[self.wander > 0.0] ** 2 * T)
        return FilterAt(plant, gain_with_known_commands(plant, Q, np.diag(self.noise**2)), centrifugal.second_order)

    def _direct(self, linear: LinearModel) -> Array:
        """Return (outputs, inputs), nonzero where an output can depend on a command without delay at some θ.

        An acceleration that a force does not change at one θ depends on it at another; the filter keeps its states
        everywhere.
        """
        observation = self.model.layout.observation
        direct = [observation is not None and observation.feels_inputs(name) for name in linear.outputs]
        everywhere = np.outer(direct, np.ones(len(linear.inputs)))
        return with_hardware(replace(linear, D=everywhere), self._prompt).D

    @property
    def biased_outputs(self) -> tuple[str, ...]:
        """Outputs whose bias is a state."""
        return tuple(name for name, wander in zip(self.measured, self.wander, strict=True) if wander > 0.0)

    @cached_property
    def _prompt(self) -> Hardware:
        """Hardware without delays, which are part of the sampled plant."""
        return self.hardware.prompt()


@overload
def kalman_filter(
    model: ReducedModel,
    *,
    sample_time: float,
    accelerations: PerCoordinate,
    measured: Sequence[str] | None = None,
    noise: float | Mapping[str, float] | None = None,
    bias: Mapping[str, float] | None = None,
    hardware: Hardware | None = None,
    computation_delay: float = 0.0,
) -> KalmanFilter: ...


@overload
def kalman_filter(
    model: LinearModel,
    *,
    sample_time: float,
    accelerations: PerCoordinate,
    measured: Sequence[str] | None = None,
    noise: float | Mapping[str, float] | None = None,
    bias: Mapping[str, float] | None = None,
    hardware: Hardware | None = None,
    computation_delay: float = 0.0,
) -> LinearFilter: ...


def kalman_filter(
    model: ReducedModel | LinearModel,
    *,
    sample_time: float,
    accelerations: PerCoordinate,
    measured: Sequence[str] | None = None,
    noise: float | Mapping[str, float] | None = None,
    bias: Mapping[str, float] | None = None,
    hardware: Hardware | None = None,
    computation_delay: float = 0.0,
) -> KalmanFilter | LinearFilter:
    """Create a Kalman filter of a reduced model over its region, or of a linear model about its operating point.

    Parameters
    ----------
    model : ReducedModel or LinearModel
        Reduced model with its drives and instruments; or linear model in continuous time, which includes its drives and
        instruments.
    sample_time : float
        Sample time, s.
    accelerations : float, mapping of str to float, or array_like
        RMS of the unknown part of θ̈, m/s² or rad/s²; for all coordinates or each.
    measured : sequence of str, optional
        Measured outputs; of a linear model also coordinates and rates among its states.

        Default: outputs with instruments or encoders for a reduced model, the coordinates θ for a linear one.
    noise : float or mapping of str to float, optional
        RMS noise of the measurements, for all or by name. Default: that of their instruments, √(noise² +
        resolution²/12).

        More noise makes the filter less sensitive to what the model does not include, such as higher modes.
    bias : mapping of str to float, optional
        Drift of the biases of outputs that have one, RMS per √s. Default: `walk` of their instruments.
    hardware : Hardware, optional
        Drives and instruments of a reduced model. Default: its own. A linear model takes none.
    computation_delay : float, optional
        Computation delay of the loop, s. Default: 0.

    Returns
    -------
    KalmanFilter or LinearFilter
        Filter, for `two_time_scales`, `state_feedback` and `observer_law`.

    Raises
    ------
    InputError
        If a coordinate has no sensor, a measurement has no noise, or the measurements do not observe all states.

    See Also
    --------
    observer_law : The filter as a law, to run over measurements.
    lqg : Regulator on a filter of a linear model.

    Notes
    -----
    Steady gain L = P Hᵀ S⁻¹ of P = F (P - P Hᵀ S⁻¹ H P) Fᵀ + Q, S = H P Hᵀ + R [Kalman 1960]; docs/theory/observers.md.

    Examples
    --------
    >>> import supple
    >>> from supple import control
    >>> linear = supple.linearize(supple.load("two-link"), "near")
    >>> observer = control.kalman_filter(linear, sample_time=0.01, accelerations=1.0, noise=1e-4)
    >>> observer.measured
    ('shoulder', 'elbow')
    """
    require_arguments(kalman_filter, locals())
    require_sample_time(sample_time)
    if isinstance(model, LinearModel):
        if hardware is not None:
            raise InputError(
                "a linear model already includes its drives and instruments", part="hardware of the filter",
                hint="leave hardware= out, and linearize the machine with its drives instead",
            )  # fmt: skip
        return linear_filter(model, sample_time, accelerations, measured, noise, bias, computation_delay)
    if not isinstance(model, ReducedModel):
        raise InputError(
            f"the model is a {type(model).__name__}, not a reduced or a linear model", part="Kalman filter",
            hint="give supple.reduce(mechanism, internal_modes=...) or supple.linearize(mechanism, at)",
        )  # fmt: skip
    known = model.hardware if hardware is None else hardware
    names = model.layout.coordinates[: model.layout.theta]
    encoders = tuple(_encoder(known, name) for name in names)
    outputs = _choose_outputs(model, known, encoders, measured)
    instruments = [known.instrument(name) for name in outputs]
    noise_rms = {name: item.uncertainty if item else 0.0 for name, item in zip(outputs, instruments, strict=True)}
    wander = {name: item.walk if item else 0.0 for name, item in zip(outputs, instruments, strict=True)}
    update_values(noise_rms, noise, "noise")
    update_values(wander, bias, "bias")
    require_noise(noise_rms)
    delays = known.delays(model.layout.inputs, computation_delay)
    _require_prompt(known, outputs, sample_time)
    return KalmanFilter(
        model, known, sample_time, outputs, encoders, per_coordinate("accelerations", accelerations, names),
        np.array([noise_rms[name] for name in outputs]), np.array([wander[name] for name in outputs]), delays,
    )  # fmt: skip


def _encoder(hardware: Hardware, coordinate: str) -> str:
    if coordinate not in hardware.encoders:
        raise InputError(
            f'no sensor measures the coordinate "{coordinate}"', part="Kalman filter",
            hint="add a sensor of its joint, or between the points of its actuator",
        )  # fmt: skip
    return hardware.encoders[coordinate]


def _choose_outputs(
    model: ReducedModel, hardware: Hardware, encoders: tuple[str, ...], given: Sequence[str] | None
) -> tuple[str, ...]:
    outputs = model.layout.outputs
    if given is None:
        described = {item.output for item in hardware.instruments}
        return tuple(name for name in outputs if name in described or name in encoders)
    for name in given:
        require_known("output", name, outputs, part="Kalman filter")
    missing = [name for name in encoders if name not in given]
    return (*missing, *given)


def _require_prompt(hardware: Hardware, outputs: tuple[str, ...], sample_time: float) -> None:
    for name in outputs:
        item = hardware.instrument(name)
        if item and item.sample_time is not None and item.sample_time > sample_time * (1.0 + 1e-9):
            raise InputError(
                f'"{name}" is read every {item.sample_time:g} s, but the filter runs every {sample_time:g} s',
                part="Kalman filter", hint="use the longer sample time for the filter, or leave that output out",
            )  # fmt: skip
