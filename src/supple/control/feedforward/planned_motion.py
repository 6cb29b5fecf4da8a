"""Motions that were planned with a flexible model: what θ shall do, and how the mechanism deforms meanwhile.

Beside the planned motion this file has the two parts that its planners share: outputs that are led along a path
(`LedOutputs`), and linear two-point problems (`TwoPoint`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import block_array, block_diag, diags_array, eye_array, kron, vstack
from scipy.sparse.linalg import splu

from supple.array_types import Array
from supple.control.feedforward.reference import Reference
from supple.diagnostics import InputError, NumericalError, nearest
from supple.reduced.model import ReducedModel
from supple.reduced.observed import ObservedMotion, measures_along
from supple.reduced.time.begin import quasi_static
from supple.results.result import Result, picture
from supple.results.signals import Signals, gathered, labelled
from supple.results.table import Table
from supple.results.text import listed
from supple.time_functions.function_of_time import Trajectory, side_by_side

# Outputs that shall follow a path, as functions of θ and δ: as many as there are coordinates θ.
#
#     y = ρ_o(θ) + Ψ_o(θ) δ,   J = ∂y/∂θ
#
# What θ must do so that y, ẏ and ÿ are what is wanted while δ, δ̇ and δ̈ are given follows order by order, in a few
# sweeps with J. Values, rates and accelerations of k functions at N instants are one array (3, N, k).


_SWEEPS = 40
_CLOSED = 1e-11  # of the largest coordinate: a change that is rounding


class LedOutputs:
    """Some outputs of a model, s of them."""

    def __init__(self, model: ReducedModel, outputs: str | Sequence[str] | None):
        if model.layout.size == model.layout.theta:
            raise InputError(
                "it does not deform: its outputs follow the path of the motion itself", part=f'model "{model.name}"',
                hint="reduce the mechanism with internal_modes=, or take the motion as it is",
            )  # fmt: skip
        self.model = model
        self.names = _chosen(model, outputs)
        observed = model.labels.observed
        self._numbers = np.array([number for name in self.names if (number := observed.measure_of(name)) is not None])

    def along(self, theta: Array, delta: Array) -> Array:
        """y, ẏ, ÿ (3, N, s)."""
        eta, v, a = np.concatenate([theta, delta], axis=2)
        found = measures_along(self.model, ObservedMotion(eta, v, a, np.zeros((len(eta), 0)), 1.0))
        return np.stack([np.asarray(part, dtype=float) for part in found])[..., self._numbers]

    def slopes(self, theta: Array, delta: Array) -> Array:
        """∂y/∂θ (N, s, s) at θ (N, s) and δ (N, m): rates of the outputs with one coordinate moving at a time."""
        moving, bent = constant_motion(theta), constant_motion(delta)
        columns = []
        for unit in np.eye(theta.shape[1]):
            moving[1] = unit
            columns.append(self.along(moving, bent)[1])
        J = np.stack(columns, axis=-1)
        if not (np.linalg.cond(J) < 1e8).all():
            raise InputError(
                f"{listed(self.names)} cannot be led there by {listed(self.model.layout.coordinates[: J.shape[-1]])}: "
                "the configuration is singular", part=f'model "{self.model.name}"', hint="keep the path away from it",
            )  # fmt: skip
        return J

    def closer(self, theta: Array, wanted: Array, delta: Array, J: Array) -> tuple[Array, float]:
        """One sweep towards θ, θ̇, θ̈ (3, N, s) with which the outputs are as wanted, and how far it moved θ."""
        steps = np.linalg.solve(J, (wanted - self.along(theta, delta))[..., None])[..., 0]
        return theta + steps, float(np.abs(steps[0]).max())

    def leading(self, wanted: Array, delta: Array, guess: Array) -> Array:
        """θ, θ̇, θ̈ (3, N, s) with which the outputs are as wanted."""
        theta, last, J = guess, np.inf, self.slopes(guess[0], delta[0])
        size = np.abs(theta[0]).max() + np.abs(wanted[0]).max()
        for _ in range(_SWEEPS):
            theta, moved = self.closer(theta, wanted, delta, J)
            if moved <= _CLOSED * size:
                return theta
            if not np.isfinite(moved) or moved > 10.0 * last:
                break
            last = moved
        raise NumericalError(
            f"no coordinates were found that lead {listed(self.names)} along the path",
            part=f'model "{self.model.name}"', hint="keep the path within reach, and away from singular configurations",
        )  # fmt: skip


def constant_motion(values: Array) -> Array:
    """Values (N, k) that do not change, with their rates and accelerations, (3, N, k)."""
    return np.stack([values, np.zeros_like(values), np.zeros_like(values)])


def position_outputs(model: ReducedModel, given: str | Sequence[str] | None) -> tuple[str, ...]:
    """Names of outputs that are positions (measures as they stand): a sensor's name stands for all of its own, None for
    all there are."""
    observed = model.labels.observed
    known = [name for name in model.labels.outputs if observed.measure_of(name) is not None]
    if given is None:
        return tuple(known)
    found: list[str] = []
    for name in (given,) if isinstance(given, str) else given:
        of_sensor = [item for item in known if item == name or item.startswith(f"{name}.")]
        if not of_sensor:
            raise InputError(
                f'it has no output "{name}" that is a position', part=f'model "{model.name}"', hint=nearest(name, known)
            )
        found += of_sensor
    return tuple(found)


def _chosen(model: ReducedModel, outputs: str | Sequence[str] | None) -> tuple[str, ...]:
    s, names = model.layout.theta, position_outputs(model, outputs)
    if len(names) != s or len(set(names)) != s:
        raise InputError(
            f"{len(names)} outputs are to be led, {listed(names)}, and {s} coordinates lead {s}",
            part=f'model "{model.name}"', hint=f"choose {s} positions: outputs=[...], or the name of a sensor",
        )  # fmt: skip
    return names


# The planned motion.


_SAMPLE = 1e-3  # s


@dataclass(frozen=True, eq=False, repr=False)
class PlannedMotion(Result):
    """reference : θ_d(t), which begins at 0; deformation : δ_d(t), with their rates; from the end on the static one

    model  : it was planned with
    wanted : y_d(t) of the outputs that it leads, None if it leads none
    lead   : s, when the path begins: so much earlier the coordinates begin to move, or so late a path is followed that
             was not known before
    error  : the largest distance of the model's outputs from y_d when θ is led along it, m or rad
    exponents : of the zero dynamics where it begins, 1/s
    """

    reference: Reference
    deformation: Reference
    model: ReducedModel
    wanted: Reference | None = None
    lead: float = 0.0
    error: float = 0.0
    exponents: NDArray[np.complex128] | None = None

    @property
    def duration(self) -> float:
        """s, from the first movement of a coordinate to the last."""
        return self.reference.end

    @cached_property
    def whole(self) -> Reference:
        """θ_d and δ_d as one motion of all coordinates of the model, as controllers of vibration follow it."""
        return side_by_side([self.reference, self.deformation])

    def forces(self, times: ArrayLike | None = None) -> Signals:
        """What drives must supply along θ, Q = [M η̈ + Γ[η̇, η̇] + D η̇ + K η - p]_θ, N or N m."""
        t = self._times(times)
        names = self.reference.coordinates
        eta, v, a = self.whole.derivatives(t)
        theta, delta = (np.ascontiguousarray(part) for part in np.split(eta, [len(names)], axis=1))
        Q = self.model.inverse(theta, v, a, delta=delta)
        return labelled(t, names, Q[:, : len(names)], self.model.units.inputs)

    def summary(self) -> str:
        path = "" if self.wanted is None else f", from {self.lead:.3g} s on {listed(self.wanted.coordinates)} within "
        within = "" if self.wanted is None else f"{self.error:.2g} of their path"
        return f"of {listed(self.reference.coordinates)} in {self.duration:.4g} s{path}{within}"

    def table(self) -> Table:
        """θ and δ with their rates and accelerations, each millisecond."""
        t = self._times(None)
        parts = self.whole.derivatives(t)
        names, units = self.model.layout.coordinates, self.model.units
        kinds = (units.coordinates, units.rates, units.accelerations)
        value, rate, second = (labelled(t, names, parts[k], kinds[k]) for k in range(3))
        return gathered(t, value, rate=rate, acceleration=second)

    def plot(self, *names: str, axes: Any = None) -> Any:
        """Draw coordinates, deformation and forces over time (matplotlib); returns the panels."""
        t, units = self._times(None), self.model.units.coordinates
        theta, delta = (one.sampled(t)[:, 0] for one in (self.reference, self.deformation))
        groups = {
            "value": labelled(t, self.reference.coordinates, theta, units),
            "deformation": labelled(t, self.deformation.coordinates, delta, units),
            "force": self.forces(t),
        }
        return picture("view.time_plot.time_plot")(groups, names, axes)

    def _times(self, times: ArrayLike | None) -> Array:
        if times is not None:
            return np.asarray(times, dtype=float)
        return np.linspace(0.0, self.duration, max(2, round(self.duration / _SAMPLE)) + 1)


def deformation_along(model: ReducedModel, run: Any) -> tuple[Array, Array, Array]:
    """δ, δ̇ and δ̈ of a run, (N, m) each."""
    names = model.layout.coordinates[model.layout.theta :]
    signals = (run.coordinates, run.rates, run.accelerations)
    delta, rate, second = (np.stack([part[name] for name in names], axis=1) for part in signals)
    return delta, rate, second


def resting_after(deformation: Reference, model: ReducedModel, theta: Array) -> Reference:
    """δ_d that from its end on is the static deflection at θ (s,), where the motion ends.

    What a motion leaves vibrating at its end is no part of the plan: a law that went on to want it would hold the
    machine off its goal.
    """
    return replace(deformation, final=quasi_static(model, *constant_motion(np.asarray(theta, dtype=float)[None]))[0])


def planned(
    model: ReducedModel,
    led: LedOutputs,
    wanted: Reference,
    times: Array,
    courses: tuple[Array, Array],
    exponents: NDArray[np.complex128],
) -> PlannedMotion:
    """The result of θ and δ (3, N, ...) at times (N,), on a clock that begins with them; the model is led along it."""
    lead = float(wanted.begin - times[0])
    clock = times - times[0]
    s, names = model.layout.theta, model.layout.coordinates
    theta, delta = (
        Trajectory.of_derivatives(part, clock, course, model.units).function
        for part, course in zip((names[:s], names[s:]), courses, strict=True)
    )
    path = wanted.ahead(float(times[0]))
    run = model.follow(theta.trajectory(clock))
    seen = np.stack([run.outputs[name] for name in led.names], axis=1)
    error = float(np.linalg.norm(seen - path.sampled(run.time)[:, 0], axis=1).max())
    delta = resting_after(delta, model, theta.at(theta.end)[0])
    return PlannedMotion(theta, delta, model, path, lead, error, exponents)


# Linear two-point problems of second order, at all instants together.
#
#     M(t) ë + D(t) ė + K(t) e = r(t),   L_a (e, ė)(t_0) = g_a,   L_b (e, ė)(t_N) = g_b
#
# Between instants h apart, with the accelerations as unknowns, to fourth order:
#
#     ė_{k+1} - ė_k = h/24 (-ë_{k-1} + 13 ë_k + 13 ë_{k+1} - ë_{k+2})
#     e_{k+1} - e_k = h/2 (ė_k + ė_{k+1}) - h²/12 (ë_{k+1} - ë_k)


class TwoPoint:
    """A linear two-point problem of second order, factored.

    times : (N,) equally far apart; matrices : M, D, K (N, m, m); begin, end : L_a, L_b, 2m rows together
    """

    def __init__(self, times: Array, matrices: tuple[Array, Array, Array], begin: Array, end: Array):
        M, D, K = matrices
        self._N, self._m = len(times), M.shape[1]
        h, unit = float(times[1] - times[0]), eye_array(self._m)
        shape = (self._N - 1, self._N)
        step = diags_array([-1.0, 1.0], offsets=[0, 1], shape=shape)
        both = diags_array([0.5 * h, 0.5 * h], offsets=[0, 1], shape=shape)
        inner = diags_array([-1.0, 13.0, 13.0, -1.0], offsets=[-1, 0, 1, 2], shape=shape).tolil()
        inner[0, :2] = inner[-1, -2:] = 12.0  # the trapezoidal rule at the ends
        rows = [
            [block_diag(K), block_diag(D), block_diag(M)],
            [None, kron(step, unit), kron(h / 24.0 * inner, -unit)],
            [kron(step, unit), kron(both, -unit), kron(h**2 / 12.0 * step, unit)],
        ]
        whole = vstack([block_array(rows), self._ends(begin, end)])
        self._factor = splu(whole.tocsc())
        self._counts = (len(begin), len(end))

    def _ends(self, begin: Array, end: Array) -> object:
        """Rows of both conditions over (e, ė, ë)."""
        N, m = self._N, self._m
        found = np.zeros((2 * m, 3, N, m))
        for part in range(2):
            found[: len(begin), part, 0] = begin[:, part * m : (part + 1) * m]
            found[len(begin) :, part, -1] = end[:, part * m : (part + 1) * m]
        self._rows = (begin, end)
        return found.reshape(2 * m, -1)

    def solve(self, r: Array, begin: Array, end: Array) -> Array:
        """e, ė, ë (3, N, m) for r (N, m) and ends (2m,) that L_a and L_b are taken of."""
        N, m = self._N, self._m
        none = np.zeros(2 * (N - 1) * m)
        right = np.concatenate([r.ravel(), none, self._rows[0] @ begin, self._rows[1] @ end])
        return np.asarray(self._factor.solve(right).reshape(3, N, m))
