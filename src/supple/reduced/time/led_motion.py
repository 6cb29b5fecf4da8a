"""Courses of θ that lead a reduced model, and its quasi-static deformation along them: δ̇ = δ̈ = 0, and δ balances the
inertia of θ and the loads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from supple.array_types import Array
from supple.diagnostics import InputError, NumericalError
from supple.diagnostics.quoting import quoted
from supple.time_functions.function_of_time import Trajectory

if TYPE_CHECKING:
    from supple.reduced.model import ReducedModel


_ITERATIONS = 50
_SETTLED = 1e-12  # of the largest deformation: the last change


def quasi_static(model: ReducedModel, theta: Array, rates: Array, accelerations: Array) -> Array:
    """δ (N, n - s) at θ, θ̇, θ̈ (N, s) with δ̇ = δ̈ = 0, by iteration with K and what inertia adds to it."""
    s, n = model.layout.theta, model.layout.size
    v, a = (np.hstack([part, np.zeros((len(theta), n - s))]) for part in (rates, accelerations))
    delta = np.zeros((len(theta), n - s))
    c = model.evaluate(theta)
    K = c.K[:, s:, s:] + c.inertia_slope(v, a)[:, s:]
    last = np.inf
    for _ in range(_ITERATIONS):
        left = model.inverse(theta, v, a, delta=delta)[:, s:]
        change = np.linalg.solve(K, left[..., None])[..., 0]
        delta = delta - change
        size = float(np.abs(change).max())
        if size <= _SETTLED * float(np.abs(delta).max()) or size == 0.0:
            return delta
        if not size < last:
            break
        last = size
    if size <= 1e-9 * float(np.abs(delta).max()):  # rounding stands in the way of more
        return delta
    raise NumericalError(
        "its deformation under the inertia of the motion was not found: it moves too fast for its stiffness",
        part=f'model "{model.name}"', hint="move more slowly, or simulate it along the motion",
    )  # fmt: skip


def course_at(course: Trajectory, time: Array) -> Trajectory:
    """The course at other times, by the quintics that meet its values, rates and accelerations."""
    if time[0] < course.time[0] or time[-1] > course.time[-1] * (1.0 + 1e-9):
        raise InputError(
            f"it lasts from {course.time[0]:.6g} to {course.time[-1]:.6g} s, and results are wanted from {time[0]:.6g} "
            f"to {time[-1]:.6g} s", part="motion", hint="ask for results that it covers",
        )  # fmt: skip
    theta, rates, accelerations = course.function.derivatives(np.minimum(time, course.time[-1]), closed=True)
    theta = np.clip(theta, course.theta.min(axis=0), course.theta.max(axis=0))
    return Trajectory(course.coordinates, time, theta, rates, accelerations)


def require_course(course: Any) -> None:
    """Refuse what is no course of θ."""
    if not isinstance(course, Trajectory):
        raise InputError(
            f"a reduced model is led along a Trajectory of its own coordinates, not {quoted(course)}", part="motion",
            hint="make one with supple.trajectory, or `supple simulate ROM --motion NAME`",
        )  # fmt: skip
