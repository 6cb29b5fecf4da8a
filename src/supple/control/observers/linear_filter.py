"""Kalman filter of a linear model, whose drives and delays are among its states.

    X̂⁻ = X⁰ + F (X̂ - X⁰) + G (c₋ - c⁰),   X̂ = X̂⁻ + L (y - y⁰ - H (X̂⁻ - X⁰))

with F, G, H of the sampled plant (`sampled_plant`) and the steady gain L (`steady_gain`). The process noise is an
acceleration of each θ, which also moves elastic coordinates: δ̈ = -M_δδ⁻¹ M_δθ θ̈, as in the filter of a reduced model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, solve_discrete_are

from supple.array_types import Array
from supple.control.gains.feedback_gain import PerCoordinate, per_coordinate, require_continuous_time
from supple.control.observers.sampled_plant import SampledPlant, discretize, sampled_plant
from supple.diagnostics import InputError, require_known, unknown_name
from supple.results.linear_model import LinearModel
from supple.results.result import brief
from supple.results.text import list_names

# The steady gain of a Kalman filter in discrete time.
#
#     P = F (P - P Hᵀ S⁻¹ H P) Fᵀ + Q,   S = H P Hᵀ + R,   L = P Hᵀ S⁻¹                        [Kalman 1960]
#
# P is the covariance of X before the measurement, and X̂ ← X̂ + L (y - ŷ) the update by the measurement.


_KEPT = 1e-9  # decay per sample below which an error counts as not observable


class SteadyGain(NamedTuple):
    """Steady gain L (N, o) of a filter.

    P (N, N) is the covariance before the measurement, (I - L H) P after it; S (o, o) is that of the innovation.
    """

    L: Array
    P: Array
    S: Array

    @property
    def errors(self) -> Array:
        """RMS error (N,) of each state after the measurement."""
        kept = np.diag(self.P) - np.einsum("ij,jk,ik->i", self.L, self.S, self.L)
        return np.asarray(np.sqrt(np.maximum(kept, 0.0)))


def steady_gain(F: Array, H: Array, Q: Array, R: Array, names: tuple[str, ...]) -> SteadyGain:
    """Return the gain for process noise Q (N, N) between samples and measurement noise R (o, o).

    names : of the states, for messages
    """
    size = _sizes(F, Q)
    F_, H_, Q_ = F * size / size[:, None], H * size, Q / np.outer(size, size)
    try:
        P = solve_discrete_are(F_.T, H_.T, Q_, R)
    except (LinAlgError, ValueError):
        P = np.full_like(F, np.nan)
    S = H_ @ P @ H_.T + R
    L = np.linalg.solve(S, H_ @ P).T if np.isfinite(P).all() else P[:, : len(H)]
    error_map = F_ - L @ H_ @ F_
    if not np.isfinite(L).all() or np.abs(np.linalg.eigvals(error_map)).max(initial=0.0) > 1.0 - _KEPT:
        raise InputError(
            f"the state {_least_observable(F, H, names)} is not observable, or not disturbed by noise",
            part="Kalman filter", hint="add a sensor that depends on it, or give noise to its coordinate",
        )  # fmt: skip
    return SteadyGain(size[:, None] * L, P * np.outer(size, size), S)


def _sizes(F: Array, Q: Array) -> Array:
    """Return the size of each state's disturbance within some samples, for scaling."""
    P = Q.copy()
    for _ in range(8):
        P = F @ P @ F.T + Q
    size = np.sqrt(np.maximum(np.diag(P), 0.0))
    return np.asarray(np.where(size > 0.0, size, 1.0))


def _least_observable(F: Array, H: Array, names: tuple[str, ...]) -> str:
    """Return the state with the largest part in the least observable direction."""
    size = np.linalg.norm(H, axis=1, keepdims=True)
    rows = [H / np.where(size > 0.0, size, 1.0)]
    for _ in range(len(F) - 1):
        rows.append(rows[-1] @ F)
    least = np.linalg.svd(np.vstack(rows))[2][-1]
    return f'"{names[int(np.abs(least).argmax())]}"'


# The filter.


_STILL = 1e-6  # of the accelerations by the inputs: largest acceleration at rest


@dataclass(frozen=True, eq=False, repr=False)
class LinearFilter:
    """Kalman filter of a linear model; made by `kalman_filter`.

    Attributes
    ----------
    linear : LinearModel
        Model with its operating point.
    sample_time : float
        Sample time, s.
    measured : tuple of str
        Measurements y.
    biased : tuple of str
        Measurements with a bias, which is a state behind the others.
    plant : SampledPlant
        F, G, H of the samples.
    gain : SteadyGain
        Gain L, and the covariances P and S.
    """

    linear: LinearModel
    sample_time: float
    measured: tuple[str, ...]
    biased_outputs: tuple[str, ...]
    plant: SampledPlant
    gain: SteadyGain

    def __repr__(self) -> str:
        inputs = f"from {list_names(self.measured)} every {1e3 * self.sample_time:g} ms"
        return brief("LinearFilter", f"of {len(self.linear.states)} states {inputs}")

    @property
    def direct_states(self) -> tuple[tuple[int, str], ...]:
        """States of the plant that are measured directly: (position in X, name of the measurement)."""
        places = {name: i for i, name in enumerate(self.linear.states)}
        return tuple((places[name], name) for name in self.measured if name in places)

    @property
    def errors(self) -> dict[str, float]:
        """RMS error of each state of the model after a measurement, for the given noise."""
        return dict(zip(self.linear.states, self.gain.errors.tolist(), strict=False))


def linear_filter(
    linear: LinearModel,
    sample_time: float,
    accelerations: PerCoordinate,
    measured: Sequence[str] | None,
    noise: float | Mapping[str, float] | None,
    bias: Mapping[str, float] | None,
    computation_delay: float,
) -> LinearFilter:
    """Return the filter; arguments as in `kalman_filter`."""
    require_continuous_time(linear)
    _require_rest(linear)
    theta = rigid_coordinate_names(linear)
    outputs = theta if measured is None else tuple(measured)
    noise_rms, wander = dict.fromkeys(outputs, 0.0), dict.fromkeys(outputs, 0.0)
    update_values(noise_rms, noise, "noise")
    update_values(wander, bias, "bias")
    require_noise(noise_rms)
    measured_model = _with_outputs(linear, outputs)
    delays = dict.fromkeys(linear.inputs, computation_delay)
    biased_outputs = tuple(name for name in outputs if wander[name] > 0.0)
    plant = add_biases(sampled_plant(measured_model, sample_time, outputs, delays), biased_outputs)
    noise_map = discretize(linear.A, _acceleration_map(linear, theta), sample_time)[1]
    noise_map = noise_map * per_coordinate("accelerations", accelerations, theta)
    Q = np.zeros_like(plant.F)
    Q[: plant.model, : plant.model] = noise_map @ noise_map.T
    first = len(Q) - len(biased_outputs)
    Q[first:, first:] = np.diag([wander[name] ** 2 * sample_time for name in biased_outputs])
    gain = gain_with_known_commands(plant, Q, np.diag([noise_rms[name] ** 2 for name in outputs]))
    return LinearFilter(linear, sample_time, outputs, biased_outputs, plant, gain)


def _require_rest(linear: LinearModel) -> None:
    """Refuse a model about a motion: its operating point moves on, which the filter does not include."""
    about = linear.at.get("states", {})
    scale = np.abs(linear.B) @ np.abs([linear.at.get("inputs", {}).get(name, 0.0) for name in linear.inputs])
    limit = _STILL * max(1.0, float(scale.max(initial=0.0)))
    for name in linear.coordinates:
        rate, acceleration = about.get(f"{name}.rate", 0.0), linear.at.get("accelerations", {}).get(name, 0.0)
        if max(abs(rate), abs(acceleration)) > limit:
            raise InputError(
                f'the linear model is about a motion: "{name}" has the rate {rate:.4g} and the acceleration '
                f"{acceleration:.4g}", part="Kalman filter", hint="linearize at rest",
            )  # fmt: skip


def rigid_coordinate_names(linear: LinearModel) -> tuple[str, ...]:
    """Return the coordinates θ of a linear model: its coordinates without the elastic ones."""
    elastic = 0 if linear.basis is None else len(linear.basis.constraint) + linear.basis.internal
    return linear.coordinates[: len(linear.coordinates) - elastic]


def _with_outputs(linear: LinearModel, names: tuple[str, ...]) -> LinearModel:
    """Return the model with given outputs; a state is an output of its own."""
    rows, direct, values = [], [], {}
    for name in names:
        if name in linear.outputs:
            at = linear.outputs.index(name)
            rows.append(linear.C[at])
            direct.append(linear.D[at])
            values[name] = linear.at.get("outputs", {}).get(name, 0.0)
        elif name in linear.states:
            rows.append(np.eye(len(linear.states))[linear.states.index(name)])
            direct.append(np.zeros(len(linear.inputs)))
            values[name] = linear.at.get("states", {}).get(name, 0.0)
        else:
            known = (*linear.outputs, *linear.states)
            raise unknown_name("output or state", name, known, part="Kalman filter")
    if not rows:
        raise InputError("nothing is measured", part="Kalman filter", hint="name outputs or coordinates in measured=")
    about = {key: dict(linear.at.get(key, {})) for key in ("states", "inputs")}
    return replace(
        linear, C=np.array(rows), D=np.array(direct), outputs=names, at={**linear.at, **about, "outputs": values},
        slopes={},
    )  # fmt: skip


def _acceleration_map(linear: LinearModel, theta: tuple[str, ...]) -> Array:
    """Return the effect (x, s) of an acceleration of each θ on the rates of all states, elastic ones by inertia."""
    n, s = len(linear.coordinates), len(theta)
    found = np.zeros((len(linear.states), s))
    found[n : n + s] = np.eye(s)
    if linear.second_order is not None and n > s:
        M = linear.second_order.M
        found[n + s : 2 * n] = -np.linalg.solve(M[s:, s:], M[s:, :s])
    return found


def update_values(known: dict[str, float], given: float | Mapping[str, float] | None, what: str) -> None:
    """Replace known numbers by given ones, for all measurements or by name."""
    if isinstance(given, int | float):
        given = dict.fromkeys(known, float(given))
    for name, value in (given or {}).items():
        require_known("measurement", name, known, part=f"{what} of the filter")
        known[name] = float(value)


def require_noise(noise_rms: Mapping[str, float]) -> None:
    """Refuse a measurement without noise."""
    for name, value in noise_rms.items():
        if not value > 0.0:
            raise InputError(
                f'"{name}" has no noise, so the filter would rely on it alone and ignore all others',
                part="Kalman filter",
                hint=f'describe the noise or the resolution of its sensor, or give noise={{"{name}": ...}}',
            )  # fmt: skip


def add_biases(plant: SampledPlant, biased_outputs: tuple[str, ...]) -> SampledPlant:
    """Return the plant with a constant state for each bias, which is added to its output."""
    if not biased_outputs:
        return plant
    size, extra = len(plant.F), len(biased_outputs)
    F = np.eye(size + extra)
    F[:size, :size] = plant.F
    below = ((0, extra), (0, 0))
    by_bias = np.array([[1.0 if name == output else 0.0 for name in biased_outputs] for output in plant.outputs])
    return plant._replace(
        F=F, G=np.pad(plant.G, below), E=np.pad(plant.E, below), H=np.hstack([plant.H, by_bias]),
        state=np.append(plant.state, np.zeros(extra)),
        names=(*plant.names, *(f"{name}.bias" for name in biased_outputs)),
    )  # fmt: skip


def gain_with_known_commands(plant: SampledPlant, Q: Array, R: Array) -> SteadyGain:
    """Return the gain with zero rows for commands of previous samples, which are known."""
    unknown = np.ones(len(plant.F), dtype=bool)
    unknown[plant.commands] = False
    where = np.flatnonzero(unknown)
    names = tuple(plant.names[i] for i in where)
    L, P, S = steady_gain(plant.F[np.ix_(where, where)], plant.H[:, where], Q[np.ix_(where, where)], R, names)
    whole_L, whole_P = np.zeros((len(plant.F), len(R))), np.zeros_like(plant.F)
    whole_L[where], whole_P[np.ix_(where, where)] = L, P
    return SteadyGain(whole_L, whole_P, S)
