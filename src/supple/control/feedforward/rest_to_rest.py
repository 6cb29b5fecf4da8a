"""Rest to rest: the motion changed as little as possible, so that a flexible model arrives at rest with it.

    θ(t) = θ_d(t) + Σ_k c_k b_k(t),   min ∫ |Σ c_k b̈_k|² dt,   δ(T) = δ_static(θ(T)),   δ̇(T) = 0

b_k : B-splines of degree five that vanish with rates and accelerations at both ends, so that neither the ends nor the
duration change. What c does to the deformation at the end is, but for the small rest that Newton's method takes,

    M_δδ ë + D_δδ ė + K_δδ e = -M_δθ b̈_k - D_δθ ḃ_k

`robust` also asks that the deformation at the end does not change, to first order, with the stiffness: ∂/∂κ of
M_δδ ë + D_δδ ė + (1 + κ) K_δδ e = f is M_δδ ë' + D_δδ ė' + K_δδ e' = -K_δδ e.

`deforming` changes nothing: it gives a motion with the deformation that the model has along it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.interpolate import BSpline

from supple.array_types import Array
from supple.control.feedforward.input_shaping import local_modes
from supple.control.feedforward.planned_motion import PlannedMotion, TwoPoint, deformation_along, resting_after
from supple.control.feedforward.reference import finite_reference
from supple.diagnostics import NumericalError
from supple.diagnostics.arguments import require_arguments
from supple.reduced.model import ReducedModel
from supple.reduced.time.begin import quasi_static
from supple.time_functions.function_of_time import Trajectory

_STEP = 1e-3  # s, between instants of a motion
_DEGREE = 5
_FASTER = 3.0  # knots of the change: so many in a period of the fastest mode
_FEWEST = 8  # functions for each coordinate
_ITERATIONS = 20
_REST = 1e-8  # of the largest deformation: what may be left at the end


def rest_to_rest(model: ReducedModel, motion: Any, *, robust: bool = False) -> PlannedMotion:
    """A motion of the same duration and ends after which the model stands still.

    motion : as `reference` takes it, from rest to rest
    robust : nor does it vibrate, to first order, if its frequencies are a little wrong; the change is then larger
    """
    require_arguments(rest_to_rest, locals())
    given = finite_reference(motion, model)
    count = max(5, int(np.ceil(given.duration / _STEP)))
    times = np.linspace(given.begin, given.end, count + 1)
    course = given.trajectory(times)
    modes = local_modes(model, course.theta[:: max(1, count // 50)])
    basis = _basis(times, float(modes.frequencies.max()), robust, model)
    effect = _effect(model, course, times, basis)
    c, weight = np.zeros((basis.shape[2], len(given.coordinates))), _weights(course, basis)
    led, last = course, np.inf
    for _ in range(_ITERATIONS):
        run = model.follow(led)
        left = _left(model, led, run)
        size = float(np.abs(left[: len(left) // 2]).max()) / _largest(model, run)
        if size <= _REST:
            return _result(model, led, run)
        if size > 10.0 * last:
            break
        last = size
        rows, right = effect.rows, -left
        if robust:
            rows = np.concatenate([rows, effect.slopes])
            right = np.concatenate([right, -(effect.slope + np.einsum("rks,ks->r", effect.slopes, c))])
        c = c + _least(rows, right, weight)
        led = _changed(course, basis, c)
    raise NumericalError(
        f"the model was brought to rest only to {size:.2g} of its deformation", part=f'model "{model.name}"',
        hint="give the motion more time: a period of its slowest mode at least",
    )  # fmt: skip


class _Effect(NamedTuple):
    """rows : ∂(δ, δ̇)(T)/∂c (2m, k, s); slopes : the same of their derivative with the stiffness; slope (2m,) : that of
    the motion as it was given."""

    rows: Array
    slopes: Array
    slope: Array


def _basis(times: Array, fastest: float, robust: bool, model: ReducedModel) -> Array:
    """b, ḃ, b̈ (3, N, k)."""
    duration = float(times[-1] - times[0])
    need = (4 if robust else 2) * (model.layout.size - model.layout.theta)
    inner = max(_FEWEST, need, int(np.ceil(_FASTER * duration * fastest / (2.0 * np.pi)))) + _DEGREE + 1
    knots = np.linspace(times[0], times[-1], inner - _DEGREE + 1)
    knots = np.concatenate([np.full(_DEGREE, times[0]), knots, np.full(_DEGREE, times[-1])])
    kept = np.eye(inner)[:, 3:-3]  # the first and last three move the ends, their rates or accelerations
    spline = BSpline(knots, kept, _DEGREE)
    return np.stack([spline(times, order) for order in range(3)])


def _effect(model: ReducedModel, course: Trajectory, times: Array, basis: Array) -> _Effect:
    s, m = model.layout.theta, model.layout.size - model.layout.theta
    c = model.evaluate(course.theta)
    M, D, K = (part[:, s:, s:] for part in (c.M, c.damping, c.K))
    start = TwoPoint(times, (M, D, K), np.eye(2 * m), np.zeros((0, 2 * m)))
    still = np.zeros(2 * m)

    def end(force: Array) -> tuple[Array, Array]:
        """(δ, δ̇)(T) and its derivative with the stiffness, of a force (N, m)."""
        e = start.solve(force, still, still)
        slope = start.solve(-np.einsum("nij,nj->ni", K, e[0]), still, still)
        return tuple(part[:2, -1].ravel() for part in (e, slope))  # type: ignore[return-value]

    k = basis.shape[2]
    rows, slopes = np.empty((2 * m, k, s)), np.empty((2 * m, k, s))
    for j in range(k):
        for i in range(s):
            force = -c.M[:, s:, i] * basis[2, :, j, None] - c.damping[:, s:, i] * basis[1, :, j, None]
            rows[:, j, i], slopes[:, j, i] = end(force)
    given = np.einsum("nij,nj->ni", c.M[:, s:, :s], course.accelerations)
    return _Effect(rows, slopes, end(-given)[1])


def _weights(course: Trajectory, basis: Array) -> tuple[Array, Array]:
    """∫ b̈ b̈ᵀ (k, k), and how much each coordinate may change (s,): as it moves."""
    G = basis[2].T @ basis[2]
    way = np.ptp(course.theta, axis=0)
    return G, np.maximum(way, 1e-3 * way.max()) ** 2


def _least(rows: Array, right: Array, weight: tuple[Array, Array]) -> Array:
    """c (k, s) of least weight with rows · c = right."""
    G, way = weight
    eased = np.linalg.solve(G, rows.transpose(1, 0, 2).reshape(len(G), -1)).reshape(len(G), *rows.shape[::2])
    eased = eased.transpose(1, 0, 2) * way  # (r, k, s)
    S = np.einsum("rks,qks->rq", rows, eased)
    scale = 1.0 / np.sqrt(np.diag(S))
    multipliers = scale * np.linalg.lstsq(S * np.outer(scale, scale), scale * right, rcond=1e-12)[0]
    return np.asarray(np.einsum("r,rks->ks", multipliers, eased))


def _changed(course: Trajectory, basis: Array, c: Array) -> Trajectory:
    return Trajectory.of_derivatives(course.coordinates, course.time, np.stack(course.parts) + basis @ c, course.units)


def _left(model: ReducedModel, led: Trajectory, run: Any) -> Array:
    """(δ - δ_static, δ̇) at the end, (2m,)."""
    delta, rate, _ = deformation_along(model, run)
    still = np.zeros_like(led.theta[-1:])
    return np.concatenate([delta[-1] - quasi_static(model, led.theta[-1:], still, still)[0], rate[-1]])


def _largest(model: ReducedModel, run: Any) -> float:
    return float(np.abs(deformation_along(model, run)[0]).max()) + 1e-300


def _result(model: ReducedModel, led: Trajectory, run: Any) -> PlannedMotion:
    clock = led.time - led.time[0]
    theta = Trajectory(led.coordinates, clock, *led.parts, led.units).function
    names = model.layout.coordinates[model.layout.theta :]
    delta = Trajectory(names, clock, *deformation_along(model, run), model.units).function
    return PlannedMotion(theta, resting_after(delta, model, led.theta[-1]), model)


def deforming(motion: Any, model: ReducedModel) -> PlannedMotion:
    """A motion with the deformation that a flexible model has along it: what a controller of vibration leaves alone.

    The coordinates are led along the motion, and δ_d(t) is how the model moves then. Of a motion that was shaped, so
    that it leaves nothing behind, δ_d is not quasi-static on the way; a controller that held δ to what is would work
    against it.

    motion : shaped as a rule, as `reference` takes it; it must end
    From its end on δ_d is the static deflection there. What still vibrates then is no part of the plan.
    """
    require_arguments(deforming, locals())
    given = finite_reference(motion, model, otherwise="it never ends")
    times = np.linspace(given.begin, given.end, max(5, int(np.ceil(given.duration / _STEP))) + 1)
    run = model.follow(given.trajectory(times))
    names = model.layout.coordinates[model.layout.theta :]
    bending = Trajectory(names, times, *deformation_along(model, run), model.units).function
    return PlannedMotion(given, resting_after(bending, model, given.at(given.end)[0]), model)
