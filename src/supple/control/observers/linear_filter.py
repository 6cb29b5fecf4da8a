"""A Kalman filter about one state: of a linear model, whose drives and delays are among its states.

    X̂⁻ = X⁰ + F (X̂ - X⁰) + G (c₋ - c⁰),   X̂ = X̂⁻ + L (y - y⁰ - H (X̂⁻ - X⁰))

with F, G, H of the sampled plant (`sampled_plant`) and the steady gain L (`steady_gain`). The noise of the process is
an acceleration of each θ, by which what is elastic is moved too: δ̈ = -M_δδ⁻¹ M_δθ θ̈, as in the filter of a reduced
model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, solve_discrete_are

from supple.array_types import Array
from supple.control.gains.feedback_gain import PerCoordinate, per_coordinate, require_continuous_time
from supple.control.observers.sampled_plant import SampledPlant, held, sampled_plant
from supple.diagnostics import InputError, nearest
from supple.results.linear_model import LinearModel
from supple.results.result import brief
from supple.results.text import listed

# The steady gain of a Kalman filter in discrete time.
#
#     P = F (P - P Hᵀ S⁻¹ H P) Fᵀ + Q,   S = H P Hᵀ + R,   L = P Hᵀ S⁻¹                        [Kalman 1960]
#
# P is the covariance of X before the measurement, and X̂ ← X̂ + L (y - ŷ) what the measurement makes of it.


_KEPT = 1e-9  # a part of the error that stays longer than this many samples' inverse is not seen


class SteadyGain(NamedTuple):
    """The gain of a filter: L (N, o).

    P (N, N) is the covariance before the measurement, after it (I - L H) P; S (o, o) that of the innovation.
    """

    L: Array
    P: Array
    S: Array

    @property
    def errors(self) -> Array:
        """RMS error of each state after the measurement, (N,)."""
        kept = np.diag(self.P) - np.einsum("ij,jk,ik->i", self.L, self.S, self.L)
        return np.asarray(np.sqrt(np.maximum(kept, 0.0)))


def steady_gain(F: Array, H: Array, Q: Array, R: Array, names: tuple[str, ...]) -> SteadyGain:
    """The gain for a plant with process noise Q (N, N) between samples and measurement noise R (o, o).

    names : of the states, for what nothing measures
    """
    size = _sizes(F, Q)
    F_, H_, Q_ = F * size / size[:, None], H * size, Q / np.outer(size, size)
    try:
        P = solve_discrete_are(F_.T, H_.T, Q_, R)
    except (LinAlgError, ValueError):
        P = np.full_like(F, np.nan)
    S = H_ @ P @ H_.T + R
    L = np.linalg.solve(S, H_ @ P).T if np.isfinite(P).all() else P[:, : len(H)]
    left = F_ - L @ H_ @ F_
    if not np.isfinite(L).all() or np.abs(np.linalg.eigvals(left)).max(initial=0.0) > 1.0 - _KEPT:
        raise InputError(
            f"nothing that is measured tells {_unseen(F, H, names)}, or nothing disturbs it", part="Kalman filter",
            hint="add a sensor that feels it, or give noise to its coordinate",
        )  # fmt: skip
    return SteadyGain(size[:, None] * L, P * np.outer(size, size), S)


def _sizes(F: Array, Q: Array) -> Array:
    """What each state may be disturbed by within some samples, so that units do not decide what is small."""
    P = Q.copy()
    for _ in range(8):
        P = F @ P @ F.T + Q
    size = np.sqrt(np.maximum(np.diag(P), 0.0))
    return np.asarray(np.where(size > 0.0, size, 1.0))


def _unseen(F: Array, H: Array, names: tuple[str, ...]) -> str:
    """The state that takes most part in what the measurements see least."""
    size = np.linalg.norm(H, axis=1, keepdims=True)
    rows = [H / np.where(size > 0.0, size, 1.0)]
    for _ in range(len(F) - 1):
        rows.append(rows[-1] @ F)
    least = np.linalg.svd(np.vstack(rows))[2][-1]
    return f'"{names[int(np.abs(least).argmax())]}"'


# The filter.


_STILL = 1e-6  # of the accelerations that the inputs give: what may be left of one at rest


@dataclass(frozen=True, eq=False, repr=False)
class LinearFilter:
    """A Kalman filter of a linear model; made by `kalman_filter`.

    linear      : the model, with the state and the inputs that it is about
    sample_time : s
    measured    : what it is told, y
    biased      : which of these have a bias, a state behind the others
    plant       : F, G, H of the samples; gain : L, and the covariances P and S
    """

    linear: LinearModel
    sample_time: float
    measured: tuple[str, ...]
    biased: tuple[str, ...]
    plant: SampledPlant
    gain: SteadyGain

    def __repr__(self) -> str:
        told = f"from {listed(self.measured)} every {1e3 * self.sample_time:g} ms"
        return brief("LinearFilter", f"of {len(self.linear.states)} states {told}")

    @property
    def shown(self) -> tuple[tuple[int, str], ...]:
        """Which states of the plant are read directly, and from which measurement: (place in X, name)."""
        places = {name: i for i, name in enumerate(self.linear.states)}
        return tuple((places[name], name) for name in self.measured if name in places)

    @property
    def errors(self) -> dict[str, float]:
        """RMS error of each state of the model after a measurement, for the noise that was given."""
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
    """The filter; arguments as those of `kalman_filter`."""
    require_continuous_time(linear)
    _require_rest(linear)
    theta = rigid_coordinate_names(linear)
    told = theta if measured is None else tuple(measured)
    believed, wander = dict.fromkeys(told, 0.0), dict.fromkeys(told, 0.0)
    take_values(believed, noise, "noise")
    take_values(wander, bias, "bias")
    require_noise(believed)
    seen = _with_outputs(linear, told)
    delays = dict.fromkeys(linear.inputs, computation_delay)
    biased = tuple(name for name in told if wander[name] > 0.0)
    plant = with_biases(sampled_plant(seen, sample_time, told, delays), biased)
    pushed = held(linear.A, _pushing(linear, theta), sample_time)[1]
    pushed = pushed * per_coordinate("accelerations", accelerations, theta)
    Q = np.zeros_like(plant.F)
    Q[: plant.model, : plant.model] = pushed @ pushed.T
    first = len(Q) - len(biased)
    Q[first:, first:] = np.diag([wander[name] ** 2 * sample_time for name in biased])
    gain = known_commands(plant, Q, np.diag([believed[name] ** 2 for name in told]))
    return LinearFilter(linear, sample_time, told, biased, plant, gain)


def _require_rest(linear: LinearModel) -> None:
    """Refuse a model about a motion: the state that it is about would move on, and the filter would not know."""
    about = linear.at.get("states", {})
    pushed = np.abs(linear.B) @ np.abs([linear.at.get("inputs", {}).get(name, 0.0) for name in linear.inputs])
    limit = _STILL * max(1.0, float(pushed.max(initial=0.0)))
    for name in linear.coordinates:
        rate, acceleration = about.get(f"{name}.rate", 0.0), linear.at.get("accelerations", {}).get(name, 0.0)
        if max(abs(rate), abs(acceleration)) > limit:
            raise InputError(
                f'the linear model is about a motion: "{name}" has the rate {rate:.4g} and the acceleration '
                f"{acceleration:.4g}", part="Kalman filter", hint="linearize at rest",
            )  # fmt: skip


def rigid_coordinate_names(linear: LinearModel) -> tuple[str, ...]:
    """θ of a linear model: its coordinates without those of deformation."""
    elastic = 0 if linear.basis is None else len(linear.basis.constraint) + linear.basis.internal
    return linear.coordinates[: len(linear.coordinates) - elastic]


def _with_outputs(linear: LinearModel, names: tuple[str, ...]) -> LinearModel:
    """The model with these outputs; a state is an output of its own."""
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
            raise InputError(
                f'"{name}" is neither an output nor a state of the linear model', part="Kalman filter",
                hint=nearest(name, (*linear.outputs, *linear.states)),
            )  # fmt: skip
    if not rows:
        raise InputError("nothing is measured", part="Kalman filter", hint="name outputs or coordinates in measured=")
    about = {key: dict(linear.at.get(key, {})) for key in ("states", "inputs")}
    return replace(
        linear, C=np.array(rows), D=np.array(direct), outputs=names, at={**linear.at, **about, "outputs": values},
        slopes={},
    )  # fmt: skip


def _pushing(linear: LinearModel, theta: tuple[str, ...]) -> Array:
    """What an acceleration of each θ does to the rates of all states, (x, s); elastic ones follow by their inertia."""
    n, s = len(linear.coordinates), len(theta)
    found = np.zeros((len(linear.states), s))
    found[n : n + s] = np.eye(s)
    if linear.second_order is not None and n > s:
        M = linear.second_order.M
        found[n + s : 2 * n] = -np.linalg.solve(M[s:, s:], M[s:, :s])
    return found


def take_values(known: dict[str, float], given: float | Mapping[str, float] | None, what: str) -> None:
    """Numbers for all that is measured, or by name, in the place of those that are known."""
    if isinstance(given, int | float):
        given = dict.fromkeys(known, float(given))
    for name, value in (given or {}).items():
        if name not in known:
            raise InputError(
                f'"{name}" is not among what is measured', part=f"{what} of the filter", hint=nearest(name, known)
            )
        known[name] = float(value)


def require_noise(believed: Mapping[str, float]) -> None:
    """Refuse a measurement without noise."""
    for name, value in believed.items():
        if not value > 0.0:
            raise InputError(
                f'"{name}" has no noise, and a filter would believe nothing else', part="Kalman filter",
                hint=f'describe the noise or the resolution of its sensor, or give noise={{"{name}": ...}}',
            )  # fmt: skip


def with_biases(plant: SampledPlant, biased: tuple[str, ...]) -> SampledPlant:
    """Each bias a state that stays as it is, shown by its output: (the outputs in the order of H)."""
    if not biased:
        return plant
    size, extra = len(plant.F), len(biased)
    F = np.eye(size + extra)
    F[:size, :size] = plant.F
    below = ((0, extra), (0, 0))
    shown = np.array([[1.0 if name == output else 0.0 for name in biased] for output in plant.outputs])
    return plant._replace(
        F=F, G=np.pad(plant.G, below), E=np.pad(plant.E, below), H=np.hstack([plant.H, shown]),
        state=np.append(plant.state, np.zeros(extra)),
        names=(*plant.names, *(f"{name}.bias" for name in biased)),
    )  # fmt: skip


def known_commands(plant: SampledPlant, Q: Array, R: Array) -> SteadyGain:
    """The gain; commands of samples before are known, and nothing corrects them."""
    unknown = np.ones(len(plant.F), dtype=bool)
    unknown[plant.commands] = False
    where = np.flatnonzero(unknown)
    names = tuple(plant.names[i] for i in where)
    L, P, S = steady_gain(plant.F[np.ix_(where, where)], plant.H[:, where], Q[np.ix_(where, where)], R, names)
    whole_L, whole_P = np.zeros((len(plant.F), len(R))), np.zeros_like(plant.F)
    whole_L[where], whole_P[np.ix_(where, where)] = L, P
    return SteadyGain(whole_L, whole_P, S)
