"""A Kalman filter over a region: the state of a machine, deformed, from encoders, accelerometers and commands.

At every θ the reduced model is linearized about where it rests there, with its drives and instruments, and sampled with
exact delays (`sampled_plant`). Then

    X̂⁻ = X⁰ + F (X̂ - X⁰) + G (c₋ - c⁰) + E w,   X̂ = X̂⁻ + L (y - y⁰ - H (X̂⁻ - X⁰) - Y w)

with everything a function of θ as encoders show it: gravity stands in X⁰ and y⁰ (a tilted accelerometer feels it), the
rates of the wanted motion in w (`with_swept_forces`). Biases of instruments are states that wander.

The noise of the process is an acceleration of each θ that nobody knows, white from sample to sample, by which what is
elastic is moved too: δ̈ = -M_δδ⁻¹ M_δθ θ̈.
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
    known_commands,
    linear_filter,
    require_noise,
    take_values,
    with_biases,
)
from supple.control.observers.sampled_plant import SampledPlant, Sampling, held, require_sample_time, sampled_plant
from supple.diagnostics import InputError, nearest
from supple.diagnostics.arguments import require_arguments
from supple.equations.forces import FRICTION_SPEED
from supple.hardware.hardware import Hardware
from supple.hardware.linear_hardware import with_hardware
from supple.reduced.holding import resting
from supple.reduced.model import ReducedModel
from supple.reduced.observed import ObservedMotion, outputs_along
from supple.results.linear_model import LinearModel, SecondOrder
from supple.results.result import brief
from supple.results.text import listed

# What rates do beyond first order: centrifugal and Coriolis forces, and accelerations that sensors see.
#
# At θ and δ, with v = (θ̇, 0) and what is odd in v (damping, friction) taken off,
#
#     Q(v) = ½ [τ(v) + τ(-v)] - τ(0) = Γ[v, v],    ψ(v) = ½ [y(v) + y(-v)] - y(0)
#
# Both are quadratic forms: Σ_{i <= j} Q_ij θ̇_i θ̇_j. A linear model about rest knows nothing of them; with the
# products of wanted rates as inputs that are known it does.


def pairs(s: int) -> list[tuple[int, int]]:
    """(i, j), i <= j: the order of the products θ̇_i θ̇_j."""
    return [(i, j) for i in range(s) for j in range(i, s)]


def with_swept_forces(model: ReducedModel, linear: LinearModel) -> tuple[LinearModel, tuple[str, ...]]:
    """The model about rest with products of rates as further inputs, and their names."""
    assert linear.second_order is not None
    s = model.layout.theta
    eta = np.array([linear.at["states"][name] for name in linear.coordinates])
    u = np.array(list(linear.at["inputs"].values()))
    forces, seen, by_acceleration = _quadratic(model, eta, u)
    M, P3 = linear.second_order.M, linear.second_order.P3
    accelerations = -np.linalg.solve(M, forces)
    B = np.vstack([np.zeros_like(forces), accelerations])
    coordinates = linear.coordinates
    names = tuple(f"{coordinates[i]}.rate {coordinates[j]}.rate" for i, j in pairs(s))
    return replace(
        linear, B=np.hstack([linear.B, B]), D=np.hstack([linear.D, seen + by_acceleration @ accelerations]),
        inputs=(*linear.inputs, *names), second_order=linear.second_order._replace(P3=np.hstack([P3, -forces])),
    ), names  # fmt: skip


def _quadratic(model: ReducedModel, eta: Array, u: Array) -> tuple[Array, Array, Array]:
    """Q (n, p) and ψ (o, p) of all pairs, by polarization, and ∂y/∂η̈ (o, n), in which y is linear."""
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


_REMEMBERED = 2000  # designs


class FilterAt(NamedTuple):
    """The filter at one θ: the plant that it believes in, biases behind its states, and its gain.

    linear : M, P₂, P₁, P₃ of the reduced model there, without drives; behind the inputs, products of rates
    """

    plant: SampledPlant
    gain: SteadyGain
    linear: SecondOrder


class SampledRests(NamedTuple):
    """X⁰ (N, ...) with biases of zero, c⁰ (N, a), y⁰ (N, o) at N configurations."""

    states: Array
    commands: Array
    outputs: Array


@dataclass(frozen=True, eq=False, repr=False)
class KalmanFilter:
    """A design at every θ of a reduced model; made by `kalman_filter`.

    measured      : outputs that it is told
    encoders      : outputs among them that tell θ, in the order of the coordinates
    accelerations : (s,) RMS, of what is not known of θ̈
    noise         : (o,) RMS, of each measurement
    wander        : (o,) RMS in a second, of biases; zero where there is none
    delays        : s, of commands and outputs
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
        told = f"from {listed(self.measured)} every {1e3 * self.sample_time:g} ms"
        return brief("KalmanFilter", f'of model "{self.model.name}" {told}')

    def at(self, theta: ArrayLike) -> FilterAt:
        """The filter at θ (s,). Laws on one filter are fitted from the same places, so that these are remembered."""
        where = np.asarray(theta, dtype=float)
        key = where.tobytes()
        if key not in self._known:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            self._known[key] = self._designed(where)
        return self._known[key]

    @property
    def shown(self) -> tuple[tuple[int, str], ...]:
        """Which states of the plant are read directly, and from which measurement: (place in X, name)."""
        return tuple(enumerate(self.encoders))

    @cached_property
    def _known(self) -> dict[bytes, FilterAt]:
        return {}

    def rests(self, theta: Array) -> SampledRests:
        """Where the machine rests at θ (N, s), as the filter counts it: exactly, for what laws on it stand on.

        States of drives and commands are affine in forces, coordinates and outputs, so that they are found once.
        """
        found = resting(self.model, theta)
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
        felt = self._felt(middle)
        names = (layout.coordinates, inputs, outputs)
        ends = np.cumsum([n, len(inputs), len(outputs)])

        def at(numbers: Array) -> Array:
            parts = (
                dict(zip(keys, part.tolist(), strict=True))
                for keys, part in zip(names, np.split(numbers, ends[:-1]), strict=True)
            )
            states, forces, seen = parts
            states |= {f"{name}.rate": 0.0 for name in layout.coordinates}
            about = {**middle.at, "states": states, "inputs": forces, "outputs": seen}
            driven = with_hardware(replace(middle, at=about), self._prompt)
            state, command, output = Sampling(driven, self.sample_time, self.measured, self.delays, felt=felt).about()
            return np.concatenate([state, np.zeros(len(self.biased)), command, output])

        constant = at(np.zeros(int(ends[-1])))
        return constant, np.array([at(unit) - constant for unit in np.eye(int(ends[-1]))])

    def _designed(self, theta: Array) -> FilterAt:
        model, T = self.model, self.sample_time
        linear = model.linearize(theta, drives=False)
        assert linear.second_order is not None
        swept, known = with_swept_forces(model, linear)
        assert swept.second_order is not None
        driven = with_hardware(swept, self._prompt)
        plant = sampled_plant(driven, T, self.measured, self.delays, known=known, felt=self._felt(swept))
        plant = with_biases(plant, self.biased)
        n, s = model.layout.size, model.layout.theta
        M = linear.second_order.M
        W = np.zeros((plant.model, s))
        W[n : n + s] = np.eye(s)
        W[n + s : 2 * n] = -np.linalg.solve(M[s:, s:], M[s:, :s])
        Q = np.zeros_like(plant.F)
        pushed = held(driven.A, W, T)[1] * self.accelerations
        Q[: plant.model, : plant.model] = pushed @ pushed.T
        wandering = len(self.biased)
        Q[len(Q) - wandering :, len(Q) - wandering :] = np.diag(self.wander[self.wander > 0.0] ** 2 * T)
        return FilterAt(plant, known_commands(plant, Q, np.diag(self.noise**2)), swept.second_order)

    def _felt(self, linear: LinearModel) -> Array:
        """(outputs, inputs) not zero where an output can feel a command at once, wherever θ is: an acceleration that a
        force changes nothing of at one θ is felt at another, and the filter keeps its states."""
        observation = self.model.layout.observation
        direct = [observation is not None and observation.feels_inputs(name) for name in linear.outputs]
        everywhere = np.outer(direct, np.ones(len(linear.inputs)))
        return with_hardware(replace(linear, D=everywhere), self._prompt).D

    @property
    def biased(self) -> tuple[str, ...]:
        """Outputs whose bias is a state."""
        return tuple(name for name, wander in zip(self.measured, self.wander, strict=True) if wander > 0.0)

    @cached_property
    def _prompt(self) -> Hardware:
        """The hardware without delays, which the sampled plant has itself."""
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
    """The filter of a reduced model over its region, or of a linear model about its state.

    model         : a reduced model, with its drives and instruments; or a linear model in continuous time, whose drives
                    and instruments are in it already
    sample_time   : s
    accelerations : RMS of what is not known of θ̈, m/s² or rad/s², for all coordinates or each
    measured      : outputs; of a linear model also coordinates and rates among its states. If left out, outputs of a
                    reduced model with instruments or that are encoders, and the coordinates θ of a linear model
    noise         : RMS of measurements that is to be believed, for all or by name; that of their instruments where left
                    out, √(noise² + resolution²/12). More makes it deaf, for what the model does not know: modes beyond
    bias          : RMS in a second by which a bias wanders, of outputs that have one; `walk` of their instruments where
                    left out
    hardware      : the reduced model's own if left out; a linear model takes none
    computation_delay : s, of the loop
    """
    require_arguments(kalman_filter, locals())
    require_sample_time(sample_time)
    if isinstance(model, LinearModel):
        if hardware is not None:
            raise InputError(
                "drives and instruments of a linear model are in it already", part="hardware of the filter",
                hint="leave hardware out; linearize the machine with its drives instead",
            )  # fmt: skip
        return linear_filter(model, sample_time, accelerations, measured, noise, bias, computation_delay)
    if not isinstance(model, ReducedModel):
        raise InputError(
            f"{type(model).__name__} is neither a reduced nor a linear model", part="Kalman filter",
            hint="give supple.reduce(mechanism, internal_modes=...) or supple.linearize(mechanism, at)",
        )  # fmt: skip
    known = model.hardware if hardware is None else hardware
    names = model.layout.coordinates[: model.layout.theta]
    encoders = tuple(_encoder(known, name) for name in names)
    told = _measured(model, known, encoders, measured)
    instruments = [known.instrument(name) for name in told]
    believed = {name: item.uncertainty if item else 0.0 for name, item in zip(told, instruments, strict=True)}
    wander = {name: item.walk if item else 0.0 for name, item in zip(told, instruments, strict=True)}
    take_values(believed, noise, "noise")
    take_values(wander, bias, "bias")
    require_noise(believed)
    delays = known.delays(model.layout.inputs, computation_delay)
    _require_prompt(known, told, sample_time)
    return KalmanFilter(
        model, known, sample_time, told, encoders, per_coordinate("accelerations", accelerations, names),
        np.array([believed[name] for name in told]), np.array([wander[name] for name in told]), delays,
    )  # fmt: skip


def _encoder(hardware: Hardware, coordinate: str) -> str:
    if coordinate not in hardware.encoders:
        raise InputError(
            f'no sensor measures "{coordinate}"', part="Kalman filter",
            hint="add one of its joint, or between the places of its actuator",
        )  # fmt: skip
    return hardware.encoders[coordinate]


def _measured(
    model: ReducedModel, hardware: Hardware, encoders: tuple[str, ...], given: Sequence[str] | None
) -> tuple[str, ...]:
    outputs = model.layout.outputs
    if given is None:
        described = {item.output for item in hardware.instruments}
        return tuple(name for name in outputs if name in described or name in encoders)
    for name in given:
        if name not in outputs:
            raise InputError(f'"{name}" is not measured', part="Kalman filter", hint=nearest(name, outputs))
    missing = [name for name in encoders if name not in given]
    return (*missing, *given)


def _require_prompt(hardware: Hardware, told: tuple[str, ...], sample_time: float) -> None:
    for name in told:
        item = hardware.instrument(name)
        if item and item.sample_time is not None and item.sample_time > sample_time * (1.0 + 1e-9):
            raise InputError(
                f'"{name}" is read every {item.sample_time:g} s only, and the filter runs every {sample_time:g} s',
                part="Kalman filter", hint="give the filter the slower sample time, or leave that output out",
            )  # fmt: skip
