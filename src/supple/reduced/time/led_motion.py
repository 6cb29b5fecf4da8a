"""Deformation of a reduced model whose coordinates θ are led along a course: the rows of δ alone are left to solve.

    M_δδ δ̈ = -[M_δθ θ̈ + Γ[η̇, η̇] + D_d η̇ + K η - p]_δ,     Q_θ = [M η̈ + Γ[η̇, η̇] + D_d η̇ + K η - p]_θ

Q_θ is what keeps θ on its course. Quasi-statically δ̇ = δ̈ = 0, and δ balances the inertia of θ and the loads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from supple.diagnostics import InputError, NumericalError
from supple.diagnostics.quoting import quoted
from supple.reduced.time.model_motion import ModelMotion
from supple.results.simulation import Simulation

if TYPE_CHECKING:
    from supple.reduced.model import ReducedModel

Array = NDArray[np.float64]

_TOLERANCE = 1e-9  # of a step, of the largest quasi-static deformation
_ANY = np.full(2, 1e30)  # J: works have no say in the steps
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
    _require_course(course)
    if time[0] < course.time[0] or time[-1] > course.time[-1] * (1.0 + 1e-9):
        raise InputError(
            f"it lasts from {course.time[0]:.6g} to {course.time[-1]:.6g} s, and results are wanted from {time[0]:.6g} "
            f"to {time[-1]:.6g} s", part="motion", hint="ask for results that it covers",
        )  # fmt: skip
    return Course(course.coordinates, time, *(np.asarray(part(time)) for part in _quintics(course)))


def _require_course(course: Any) -> None:
    if not isinstance(getattr(course, "theta", None), np.ndarray):
        raise InputError(
            f"a reduced model is led along a Trajectory of its own coordinates, not {quoted(course)}", part="motion",
            hint="make one with supple.trajectory, or `supple simulate ROM --motion NAME`",
        )  # fmt: skip


def _quintics(course: Led) -> tuple[Any, Any, Any]:
    """θ, θ̇ and θ̈ as functions of time."""
    from scipy.interpolate import BPoly

    pieces = BPoly.from_derivatives(course.time, np.stack(_parts(course), axis=1))
    return pieces, pieces.derivative(1), pieces.derivative(2)


def led_motion(
    model: ReducedModel,
    course: Led,
    *,
    step: float | None = None,
    tolerance: float | None = None,
    friction_speed: float = 1e-3,
    delta: Array | None = None,
) -> Simulation:
    """θ as the course says, δ free: from where it rests at the start, integrated to the tolerance (Dormand-Prince, 8).

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
    time = np.asarray(course.time, dtype=float)
    model.evaluate(course.theta)  # says so where the motion leaves the region
    eta, v, a = (np.hstack([part, np.zeros((len(time), n - s))]) for part in _parts(course))
    steps, works = 0, None
    if n > s and len(time) > 1:
        found = _followed(model, course, time, (tolerance or _TOLERANCE, step or np.inf), friction_speed, delta)
        eta[:, s:], v[:, s:], a[:, s:], works, steps = found
    motion = ModelMotion(model, time, eta, v, np.zeros((len(time), 0)), friction_speed, a, works)
    return Simulation(
        model.name, time, motion, stopped=float(time[-1]), steps=steps, tolerance=tolerance or _TOLERANCE,
        rigid=model.rigid, basis=model.basis,
    )  # fmt: skip


def _followed(
    model: ReducedModel,
    course: Led,
    time: Array,
    limits: tuple[float, float],
    friction_speed: float,
    delta: Array | None,
) -> tuple[Array, Array, Array, Array, int]:
    """δ, δ̇, δ̈ (N, n - s) at the times, works (N, 2) put in and lost, and how many steps it took; limits : of a step's
    error, and of a step, s."""
    tolerance, longest = limits
    from scipy.integrate import solve_ivp

    s, n = model.layout.theta, model.layout.size
    m = n - s
    slopes = _quintics(course)
    lowest, highest = course.theta.min(axis=0), course.theta.max(axis=0)
    units = np.vstack([np.zeros(m), np.eye(m)])

    def moved(t: float, delta: Array, rate: Array) -> tuple[Array, Array]:
        """δ̈, and the powers put in and lost."""
        theta, v, a = (np.asarray(part(t)) for part in slopes)
        theta = np.clip(theta, lowest, highest)  # at the end of a path, rounding would leave the region
        whole = np.append(v, rate)
        # Affine in δ̈: once without it, once for each, whatever M depends on.
        tau = model.inverse(
            np.tile(theta, (m + 1, 1)), np.tile(whole, (m + 1, 1)), np.hstack([np.tile(a, (m + 1, 1)), units]),
            delta=np.tile(delta, (m + 1, 1)), friction_speed=friction_speed,
        )  # fmt: skip
        second = -np.linalg.solve((tau[1:, s:] - tau[0, s:]).T, tau[0, s:])
        driving = tau[0, :s] + second @ (tau[1:, :s] - tau[0, :s])
        c = model.evaluate(theta)
        drag, _ = c.dry_friction(whole, friction_speed)
        lost = whole @ (c.damping @ whole + c.friction_forces(drag))
        return np.asarray(second), np.array([driving @ v, lost])

    def slope(t: float, state: Array) -> Array:
        return np.concatenate([state[m : 2 * m], *moved(t, state[:m], state[m : 2 * m])])

    still = np.zeros((len(time), s))
    typical = np.abs(quasi_static(model, course.theta, still, still)).max(axis=0)
    typical = np.maximum(typical, np.abs(quasi_static(model, *_parts(course))).max(axis=0))
    typical = np.maximum(typical, max(1e-6 * float(typical.max()), 1e-12))
    c = model.evaluate(course.theta[0])
    fast = np.sqrt(np.maximum(np.diag(c.K)[s:] / np.diag(c.M)[s:], 1e-12))
    start = quasi_static(model, course.theta[:1], still[:1], still[:1])[0] if delta is None else delta
    typical = np.maximum(typical, np.abs(start))
    found = solve_ivp(
        slope, (time[0], time[-1]), np.concatenate([start, np.zeros(m + 2)]), method="DOP853", t_eval=time,
        max_step=longest, rtol=tolerance, atol=np.append(tolerance * np.append(typical, typical * fast), _ANY),
    )  # fmt: skip
    if not found.success:
        raise NumericalError(
            f"its deformation cannot be followed beyond {found.t[-1]:.6g} s: {found.message}",
            part=f'model "{model.name}"', hint="check the motion for jumps, or give a larger tolerance",
        )  # fmt: skip
    states = found.y.T
    seconds = [moved(float(t), y[:m], y[m : 2 * m])[0] for t, y in zip(time, states, strict=True)]
    return states[:, :m], states[:, m : 2 * m], np.array(seconds), states[:, 2 * m :], int(found.nfev) // 12


def _parts(course: Led) -> tuple[Array, Array, Array]:
    return course.theta, course.rates, course.accelerations
