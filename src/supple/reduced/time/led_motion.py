"""Deformation of a reduced model whose coordinates θ are led along a course: the rows of δ alone are left to solve.

    M_δδ δ̈ = -[M_δθ θ̈ + Γ[η̇, η̇] + D_d η̇ + K η - p]_δ,     Q_θ = [M η̈ + Γ[η̇, η̇] + D_d η̇ + K η - p]_θ

Q_θ is what keeps θ on its course. Quasi-statically δ̇ = δ̈ = 0, and δ balances the inertia of θ and the loads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from supple.compilation import compiled
from supple.diagnostics import InputError, NumericalError
from supple.diagnostics.quoting import quoted
from supple.reduced.kernels import INSIDE, OUTSIDE
from supple.reduced.time.led_march import LedCourse, LedOptions, led_march
from supple.reduced.time.model_motion import ModelMotion
from supple.results.simulation import Simulation

if TYPE_CHECKING:
    from scipy.interpolate import PPoly

    from supple.reduced.model import ReducedModel

Array = NDArray[np.float64]

_TOLERANCE = 1e-9  # of a step, of the largest quasi-static deformation
_INSTANTS = 64  # at least, if there are as many, of a course that tell how far it will bend
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


def _course_at(course: Led, time: Array) -> Course:
    """The course at other times, by the quintics that meet its values, rates and accelerations."""
    if time[0] < course.time[0] or time[-1] > course.time[-1] * (1.0 + 1e-9):
        raise InputError(
            f"it lasts from {course.time[0]:.6g} to {course.time[-1]:.6g} s, and results are wanted from {time[0]:.6g} "
            f"to {time[-1]:.6g} s", part="motion", hint="ask for results that it covers",
        )  # fmt: skip
    pieces = quintics(course)
    theta = np.clip(pieces(time), course.theta.min(axis=0), course.theta.max(axis=0))
    return Course(course.coordinates, time, theta, np.asarray(pieces(time, 1)), np.asarray(pieces(time, 2)))


def _require_course(course: Any) -> None:
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


def led_motion(
    model: ReducedModel,
    course: Led,
    times: Array | None = None,
    *,
    step: float | None = None,
    tolerance: float | None = None,
    friction_speed: float = 1e-3,
    delta: Array | None = None,
) -> Simulation:
    """θ as the course says, δ free: from where it rests at the start, integrated to the tolerance (Dormand-Prince).

    times : (N,) s, of the results, within the course; its own if left out
    delta : (n - s,) where else it starts, at rest
    step : s, the longest; `driving_forces` of the result are Q_θ, N or N m along each coordinate
    """
    _require_course(course)
    layout = model.layout
    s, n = layout.theta, layout.size
    if course.coordinates != layout.coordinates[:s]:
        raise InputError(
            f"it moves {', '.join(course.coordinates)}, and the model has {', '.join(layout.coordinates[:s])}",
            part="motion", hint="make it for this model",
        )  # fmt: skip
    model.evaluate(course.theta)  # says so where the motion leaves the region
    asked = course if times is None else _course_at(course, times)
    time = np.asarray(asked.time, dtype=float)
    eta, v, a = (np.hstack([part, np.zeros((len(time), n - s))]) for part in _parts(asked))
    steps, works = 0, None
    if n > s and len(time) > 1:
        limits = (step or float(time[-1] - time[0]), tolerance or _TOLERANCE, friction_speed)
        found = _followed(model, course, time, limits, delta)
        eta[:, s:], v[:, s:], a[:, s:], works, steps = found
    motion = ModelMotion(model, time, eta, v, np.zeros((len(time), 0)), friction_speed, a, works)
    return Simulation(
        model.name, time, motion, stopped=float(time[-1]), steps=steps, tolerance=tolerance or _TOLERANCE,
        rigid=model.rigid, basis=model.basis,
    )  # fmt: skip


def _followed(
    model: ReducedModel, course: Led, time: Array, limits: tuple[float, float, float], delta: Array | None
) -> tuple[Array, Array, Array, Array, int]:
    """δ, δ̇, δ̈ (N, n - s) at the times, works (N, 2) put in and lost, and how many steps it took.

    limits : a step, s; its error, of the deformation to expect and what there is; the speed of dry friction
    """
    s, m = model.layout.theta, model.layout.size - model.layout.theta
    pieces = quintics(course)
    lowest, highest = course.theta.min(axis=0), course.theta.max(axis=0)
    still = np.zeros_like(course.theta)
    if delta is None:
        begin = np.clip(pieces(time[:1]), lowest, highest)
        delta = quasi_static(model, begin, still[:1], still[:1])[0]
    some = slice(None, None, max(1, len(course.theta) // _INSTANTS))
    typical = np.abs(quasi_static(model, course.theta[some], still[some], still[some])).max(axis=0)
    moving = quasi_static(model, *(part[some] for part in _parts(course)))
    typical = np.maximum(typical, np.abs(moving).max(axis=0))
    typical = np.maximum(typical, max(1e-6 * float(typical.max()), 1e-12))
    typical = np.maximum(typical, np.abs(delta))
    c = model.evaluate(course.theta[0])
    fast = np.sqrt(np.maximum(np.diag(c.K)[s:] / np.diag(c.M)[s:], 1e-12))
    longest, tolerance, speed = limits
    options = LedOptions(float(longest), float(tolerance), float(speed), np.append(typical, typical * fast))
    ascending = np.ascontiguousarray(pieces.c[::-1].transpose(1, 0, 2))
    led = LedCourse(np.ascontiguousarray(course.time, dtype=float), ascending, lowest, highest)
    record = np.empty((len(time), 3 * m + 2))
    state = np.concatenate([delta, np.zeros(m + 2)])
    status, stopped, steps = compiled(led_march)(*model.arrays, options, led, time, state, record)
    if status == OUTSIDE:
        model.evaluate(np.clip(pieces(stopped), lowest, highest))  # says where the region ends
    if status != INSIDE:
        raise NumericalError(
            f"its deformation cannot be followed beyond {stopped:.6g} s", part=f'model "{model.name}"',
            hint="check the motion for jumps, or give a larger tolerance",
        )  # fmt: skip
    bent, rates, works, seconds = np.split(record, [m, 2 * m, 2 * m + 2], axis=1)
    return bent, rates, seconds, works, int(steps)


def _parts(course: Led) -> tuple[Array, Array, Array]:
    return course.theta, course.rates, course.accelerations
