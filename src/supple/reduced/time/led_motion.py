"""Courses of θ that lead a reduced model, and its quasi-static deformation along them: δ̇ = δ̈ = 0, and δ balances the
inertia of θ and the loads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from supple.array_types import Array
from supple.diagnostics import InputError, NumericalError
from supple.diagnostics.quoting import quoted

if TYPE_CHECKING:
    from scipy.interpolate import PPoly

    from supple.reduced.model import ReducedModel


_ITERATIONS = 50
_SETTLED = 1e-12  # of the largest deformation: the last change


class Led(Protocol):
    """A course of θ: time (N,) s; theta, rates, accelerations (N, s) in the order of the model's coordinates."""

    @property
    def coordinates(self) -> tuple[str, ...]: ...
    @property
    def time(self) -> Array: ...
    @property
    def theta(self) -> Array: ...
    @property
    def rates(self) -> Array: ...
    @property
    def accelerations(self) -> Array: ...


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


class Course(NamedTuple):
    """A course of θ at some times; see `Led`."""

    coordinates: tuple[str, ...]
    time: Array
    theta: Array
    rates: Array
    accelerations: Array


def course_at(course: Led, time: Array) -> Course:
    """The course at other times, by the quintics that meet its values, rates and accelerations."""
    if time[0] < course.time[0] or time[-1] > course.time[-1] * (1.0 + 1e-9):
        raise InputError(
            f"it lasts from {course.time[0]:.6g} to {course.time[-1]:.6g} s, and results are wanted from {time[0]:.6g} "
            f"to {time[-1]:.6g} s", part="motion", hint="ask for results that it covers",
        )  # fmt: skip
    pieces = quintics(course)
    theta = np.clip(pieces(time), course.theta.min(axis=0), course.theta.max(axis=0))
    return Course(course.coordinates, time, theta, np.asarray(pieces(time, 1)), np.asarray(pieces(time, 2)))


def require_course(course: Any) -> None:
    """Refuse what is no course of θ."""
    if not isinstance(getattr(course, "theta", None), np.ndarray):
        raise InputError(
            f"a reduced model is led along a Trajectory of its own coordinates, not {quoted(course)}", part="motion",
            hint="make one with supple.trajectory, or `supple simulate ROM --motion NAME`",
        )  # fmt: skip


def quintics(course: Led) -> PPoly:
    """θ as a function of time, c (6, N - 1, s), the highest power first.

    With τ = (t - tᵢ)/h, e, e', e'' by how much θ, hθ̇, h²θ̈ at tᵢ₊₁ miss θᵢ + hθ̇ᵢτ + ½h²θ̈ᵢτ² there:
    θ = that + (10e - 4e' + ½e'')τ³ + (-15e + 7e' - e'')τ⁴ + (6e - 3e' + ½e'')τ⁵
    """
    from scipy.interpolate import PPoly

    h = np.diff(course.time)[:, None]
    theta, rate, second = course.theta, h * course.rates[:-1], h * h * course.accelerations[:-1]
    by = np.diff(theta, axis=0) - rate - 0.5 * second
    by_rate, by_second = h * course.rates[1:] - rate - second, h * h * course.accelerations[1:] - second
    powers = (
        6.0 * by - 3.0 * by_rate + 0.5 * by_second, -15.0 * by + 7.0 * by_rate - by_second,
        10.0 * by - 4.0 * by_rate + 0.5 * by_second, 0.5 * second, rate, theta[:-1],
    )  # fmt: skip
    return PPoly(np.stack([part / h ** (5 - k) for k, part in enumerate(powers)]), course.time)


def parts_of(course: Led) -> tuple[Array, Array, Array]:
    """θ, θ̇ and θ̈ (N, s)."""
    return course.theta, course.rates, course.accelerations
