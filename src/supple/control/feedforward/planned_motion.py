"""Motions that were planned with a flexible model: what θ shall do, and how the mechanism deforms meanwhile."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.array_types import Array
from supple.control.feedforward.led_outputs import LedOutputs, constant_motion
from supple.control.feedforward.reference import Reference
from supple.reduced.model import ReducedModel
from supple.reduced.time.led_motion import quasi_static
from supple.results.names import listed
from supple.results.picture import picture
from supple.results.result import Result
from supple.results.signals import Signals, gathered, labelled
from supple.results.table import Table
from supple.time_functions.function_of_time import Trajectory, side_by_side

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
