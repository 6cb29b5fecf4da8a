"""Planned motion: a motion planned with a flexible model, with the deformation of the mechanism along it.

This module also contains the two parts that its planners share: outputs that follow a path (`LedOutputs`), and linear
two-point boundary value problems (`TwoPoint`).
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
from supple.diagnostics import InputError, NumericalError, unknown_name
from supple.reduced.model import ReducedModel
from supple.reduced.observed import ObservedMotion, measures_along
from supple.reduced.time.begin import quasi_static
from supple.results.result import Result, picture
from supple.results.signals import Signals, gather_signals, label_signals
from supple.results.table import Table
from supple.results.text import list_names
from supple.time_functions.function_of_time import Trajectory, side_by_side

# Outputs that follow a path, as functions of θ and δ: as many as there are coordinates θ.
#
#     y = ρ_o(θ) + Ψ_o(θ) δ,   J = ∂y/∂θ
#
# θ, θ̇ and θ̈ for given y, ẏ, ÿ and δ, δ̇, δ̈ are found order by order, in a few
# sweeps with J. Values, rates and accelerations of k functions at N instants are one array (3, N, k).


_SWEEPS = 40
_CLOSED = 1e-11  # of the largest coordinate: change at convergence


class LedOutputs:
    """Outputs of a model that are led along a path, as many as coordinates (s)."""

    def __init__(self, model: ReducedModel, outputs: str | Sequence[str] | None):
        if model.layout.size == model.layout.theta:
            raise InputError(
                "the model is rigid, so that its outputs already follow the path of the motion",
                part=f'model "{model.name}"',
                hint="reduce the mechanism with internal_modes=, or use the motion unchanged",
            )  # fmt: skip
        self.model = model
        self.names = _chosen(model, outputs)
        observed = model.labels.output_composition
        self._numbers = np.array([number for name in self.names if (number := observed.measure_of(name)) is not None])

    def along(self, theta: Array, delta: Array) -> Array:
        """Return y, ẏ, ÿ (3, N, s)."""
        eta, v, a = np.concatenate([theta, delta], axis=2)
        found = measures_along(self.model, ObservedMotion(eta, v, a, np.zeros((len(eta), 0)), 1.0))
        return np.stack([np.asarray(part, dtype=float) for part in found])[..., self._numbers]

    def slopes(self, theta: Array, delta: Array) -> Array:
        """Return ∂y/∂θ (N, s, s) at θ (N, s) and δ (N, m), from rates of the outputs with single coordinates moving."""
        moving, deformed = constant_motion(theta), constant_motion(delta)
        columns = []
        for unit in np.eye(theta.shape[1]):
            moving[1] = unit
            columns.append(self.along(moving, deformed)[1])
        J = np.stack(columns, axis=-1)
        if not (np.linalg.cond(J) < 1e8).all():
            raise InputError(
                f"{list_names(self.model.layout.coordinates[: J.shape[-1]])} cannot move {list_names(self.names)}: "
                "the configuration is singular", part=f'model "{self.model.name}"', hint="keep the path away from it",
            )  # fmt: skip
        return J

    def closer(self, theta: Array, target: Array, delta: Array, J: Array) -> tuple[Array, float]:
        """Return θ, θ̇, θ̈ (3, N, s) improved by one sweep towards given outputs, and the change of θ."""
        steps = np.linalg.solve(J, (target - self.along(theta, delta))[..., None])[..., 0]
        return theta + steps, float(np.abs(steps[0]).max())

    def solve_coordinates(self, target: Array, delta: Array, guess: Array) -> Array:
        """Return θ, θ̇, θ̈ (3, N, s) for given outputs."""
        theta, last, J = guess, np.inf, self.slopes(guess[0], delta[0])
        size = np.abs(theta[0]).max() + np.abs(target[0]).max()
        for _ in range(_SWEEPS):
            theta, moved = self.closer(theta, target, delta, J)
            if moved <= _CLOSED * size:
                return theta
            if not np.isfinite(moved) or moved > 10.0 * last:
                break
            last = moved
        raise NumericalError(
            f"no coordinates were found with {list_names(self.names)} on the path",
            part=f'model "{self.model.name}"', hint="keep the path within reach, and away from singular configurations",
        )  # fmt: skip


def constant_motion(values: Array) -> Array:
    """Return constant values (N, k) with zero rates and accelerations, (3, N, k)."""
    return np.stack([values, np.zeros_like(values), np.zeros_like(values)])


def position_outputs(model: ReducedModel, given: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return the names of outputs that are positions (measures without processing).

    A sensor's name selects all its outputs; None selects all positions.
    """
    observed = model.labels.output_composition
    known = [name for name in model.labels.outputs if observed.measure_of(name) is not None]
    if given is None:
        return tuple(known)
    found: list[str] = []
    for name in (given,) if isinstance(given, str) else given:
        matches = [item for item in known if item == name or item.startswith(f"{name}.")]
        if not matches:
            raise unknown_name("position output", name, known, part=f'model "{model.name}"')
        found += matches
    return tuple(found)


def _chosen(model: ReducedModel, outputs: str | Sequence[str] | None) -> tuple[str, ...]:
    s, names = model.layout.theta, position_outputs(model, outputs)
    if len(names) != s or len(set(names)) != s:
        raise InputError(
            f"{s} coordinates can lead {s} outputs, but {len(names)} are given: {list_names(names)}",
            part=f'model "{model.name}"', hint=f"choose {s} positions: outputs=[...], or the name of a sensor",
        )  # fmt: skip
    return names


# The planned motion.


_SAMPLE = 1e-3  # s


@dataclass(frozen=True, eq=False, repr=False)
class PlannedMotion(Result):
    """Motion planned with a flexible model, with the deformation along it.

    Attributes
    ----------
    reference : Reference
        Motion θ_d(t) of the coordinates, beginning at 0.
    deformation : Reference
        Elastic coordinates δ_d(t); from the end of the motion on the static ones.
    model : ReducedModel
        Model of the plan.
    wanted : Reference, optional
        Path y_d(t) of the outputs; None if no outputs are prescribed.
    lead : float
        Time when the path of the outputs begins, s.

        The coordinates begin to move earlier by it; a causal plan follows the path later by it.
    error : float
        Largest distance of the model's outputs from y_d in a simulation along θ_d, m or rad.
    exponents : ndarray of complex, optional
        Exponents of the zero dynamics at the beginning, 1/s.
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
        """Duration from the first movement of a coordinate to the last, s."""
        return self.reference.end

    @cached_property
    def whole(self) -> Reference:
        """Motion of all coordinates of the model, θ_d and δ_d, which controllers of vibration follow."""
        return side_by_side([self.reference, self.deformation])

    def forces(self, times: ArrayLike | None = None) -> Signals:
        """Return the forces along θ that the drives must apply.

        Parameters
        ----------
        times : array_like, optional
            Times, s. Default: every millisecond.

        Returns
        -------
        Signals
            Q = [M η̈ + Γ[η̇, η̇] + D η̇ + K η - p]_θ by coordinate, N or N m.
        """
        t = self._times(times)
        names = self.reference.coordinates
        eta, v, a = self.whole.derivatives(t)
        theta, delta = (np.ascontiguousarray(part) for part in np.split(eta, [len(names)], axis=1))
        Q = self.model.inverse(theta, v, a, delta=delta)
        return label_signals(t, names, Q[:, : len(names)], self.model.units.inputs)

    def summary(self) -> str:
        path = (
            "" if self.wanted is None else f", from {self.lead:.3g} s on {list_names(self.wanted.coordinates)} within "
        )
        within = "" if self.wanted is None else f"{self.error:.2g} of their path"
        return f"of {list_names(self.reference.coordinates)} in {self.duration:.4g} s{path}{within}"

    def table(self) -> Table:
        """Return a table of θ and δ with rates and accelerations, every millisecond."""
        t = self._times(None)
        parts = self.whole.derivatives(t)
        names, units = self.model.layout.coordinates, self.model.units
        kinds = (units.coordinates, units.rates, units.accelerations)
        value, rate, second = (label_signals(t, names, parts[k], kinds[k]) for k in range(3))
        return gather_signals(t, value, rate=rate, acceleration=second)

    def plot(self, *names: str, axes: Any = None) -> Any:
        """Draw coordinates, deformation and forces over time (matplotlib); return the panels."""
        t, units = self._times(None), self.model.units.coordinates
        theta, delta = (one.sample(t)[:, 0] for one in (self.reference, self.deformation))
        groups = {
            "value": label_signals(t, self.reference.coordinates, theta, units),
            "deformation": label_signals(t, self.deformation.coordinates, delta, units),
            "force": self.forces(t),
        }
        return picture("view.time_plot.time_plot")(groups, names, axes)

    def _times(self, times: ArrayLike | None) -> Array:
        if times is not None:
            return np.asarray(times, dtype=float)
        return np.linspace(0.0, self.duration, max(2, round(self.duration / _SAMPLE)) + 1)


def deformation_along(model: ReducedModel, run: Any) -> tuple[Array, Array, Array]:
    """Return δ, δ̇ and δ̈ of a run, (N, m) each."""
    names = model.layout.coordinates[model.layout.theta :]
    signals = (run.coordinates, run.rates, run.accelerations)
    delta, rate, second = (np.stack([part[name] for name in names], axis=1) for part in signals)
    return delta, rate, second


def rest_after(deformation: Reference, model: ReducedModel, theta: Array) -> Reference:
    """Return δ_d that is the static deflection at θ (s,) from the end of the motion on.

    Residual vibration is not part of the plan: a law that followed it would hold the machine off its goal.
    """
    return replace(deformation, final=quasi_static(model, *constant_motion(np.asarray(theta, dtype=float)[None]))[0])


def plan_result(
    model: ReducedModel,
    led: LedOutputs,
    target: Reference,
    times: Array,
    courses: tuple[Array, Array],
    exponents: NDArray[np.complex128],
) -> PlannedMotion:
    """Return the result of θ and δ (3, N, ...) at times (N,), with a clock that begins with them.

    The model is simulated along the motion to determine the error.
    """
    lead = float(target.begin - times[0])
    clock = times - times[0]
    s, names = model.layout.theta, model.layout.coordinates
    theta, delta = (
        Trajectory.of_derivatives(part, clock, course, model.units).function
        for part, course in zip((names[:s], names[s:]), courses, strict=True)
    )
    path = target.ahead(float(times[0]))
    run = model.follow(theta.trajectory(clock))
    outputs = np.stack([run.outputs[name] for name in led.names], axis=1)
    error = float(np.linalg.norm(outputs - path.sample(run.time)[:, 0], axis=1).max())
    delta = rest_after(delta, model, theta.at(theta.end)[0])
    return PlannedMotion(theta, delta, model, path, lead, error, exponents)


# Linear two-point boundary value problems of second order, at all samples together.
#
#     M(t) ë + D(t) ė + K(t) e = r(t),   L_a (e, ė)(t_0) = g_a,   L_b (e, ė)(t_N) = g_b
#
# Between samples h apart, with the accelerations as unknowns, to fourth order:
#
#     ė_{k+1} - ė_k = h/24 (-ë_{k-1} + 13 ë_k + 13 ë_{k+1} - ë_{k+2})
#     e_{k+1} - e_k = h/2 (ė_k + ė_{k+1}) - h²/12 (ë_{k+1} - ë_k)


class TwoPoint:
    """Linear two-point boundary value problem of second order, factored.

    times      : (N,) evenly spaced
    matrices   : M, D, K (N, m, m)
    begin, end : L_a, L_b, 2m rows together
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
        """Return the rows of both conditions over (e, ė, ë)."""
        N, m = self._N, self._m
        found = np.zeros((2 * m, 3, N, m))
        for part in range(2):
            found[: len(begin), part, 0] = begin[:, part * m : (part + 1) * m]
            found[len(begin) :, part, -1] = end[:, part * m : (part + 1) * m]
        self._rows = (begin, end)
        return found.reshape(2 * m, -1)

    def solve(self, r: Array, begin: Array, end: Array) -> Array:
        """Return e, ė, ë (3, N, m) for r (N, m) and end values (2m,), to which L_a and L_b are applied."""
        N, m = self._N, self._m
        none = np.zeros(2 * (N - 1) * m)
        right = np.concatenate([r.ravel(), none, self._rows[0] @ begin, self._rows[1] @ end])
        return np.asarray(self._factor.solve(right).reshape(3, N, m))
