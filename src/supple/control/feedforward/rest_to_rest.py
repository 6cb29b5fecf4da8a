"""Rest-to-rest motion: the smallest change of a motion after which a flexible model is at rest.

    θ(t) = θ_d(t) + Σ_k c_k b_k(t),   min ∫ |Σ c_k b̈_k|² dt,   δ(T) = δ_static(θ(T)),   δ̇(T) = 0

b_k are B-splines of degree five that vanish with rates and accelerations at both ends, so that neither the ends nor the
duration change. Apart from a small remainder, which Newton's method removes, the effect of c on the final deformation
is

    M_δδ ë + D_δδ ė + K_δδ e = -M_δθ b̈_k - D_δθ ḃ_k

`robust` also requires that the final deformation does not change, to first order, with the stiffness: ∂/∂κ of
M_δδ ë + D_δδ ė + (1 + κ) K_δδ e = f is M_δδ ë' + D_δδ ė' + K_δδ e' = -K_δδ e.

`add_deformation` does not change the motion: it adds the deformation of the model along it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.interpolate import BSpline

from supple.array_types import Array
from supple.control.feedforward.input_shaping import local_modes
from supple.control.feedforward.planned_motion import PlannedMotion, TwoPoint, deformation_along, rest_after
from supple.control.feedforward.reference import finite_reference
from supple.diagnostics import NumericalError
from supple.diagnostics.arguments import require_arguments
from supple.reduced.model import ReducedModel
from supple.reduced.time.begin import quasi_static
from supple.time_functions.function_of_time import Trajectory

_STEP = 1e-3  # s, between samples of a motion
_DEGREE = 5
_FASTER = 3.0  # knots of the change in a period of the fastest mode
_FEWEST = 8  # functions for each coordinate
_ITERATIONS = 20
_REST = 1e-8  # of the largest deformation: residual at the end


def rest_to_rest(model: ReducedModel, motion: Any, *, robust: bool = False) -> PlannedMotion:
    """Change a motion so that a flexible model is at rest after it, with the same duration and ends.

    Parameters
    ----------
    model : ReducedModel
        Flexible reduced model.
    motion : str, Motion, Trajectory, path, callable or Reference
        Motion from rest to rest with an end, as in `reference`.
    robust : bool, optional
        Also suppress vibration, to first order, if the frequencies of the model are slightly wrong. Default: False.

        The change of the motion is then larger.

    Returns
    -------
    PlannedMotion
        Motion with the deformation of the model along it.

    Raises
    ------
    InputError
        If the motion has no end, or the model is not flexible.
    NumericalError
        If the model does not come to rest, as with too short a duration.

    See Also
    --------
    shaped : Longer motion without residual vibration.
    deforming : Deformation along an unchanged motion.
    stable_inversion : Motion with exact outputs.
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
        residual = _final_vibration(model, led, run)
        size = float(np.abs(residual[: len(residual) // 2]).max()) / _largest_deformation(model, run)
        if size <= _REST:
            return _result(model, led, run)
        if size > 10.0 * last:
            break
        last = size
        rows, right = effect.rows, -residual
        if robust:
            rows = np.concatenate([rows, effect.slopes])
            right = np.concatenate([right, -(effect.slope + np.einsum("rks,ks->r", effect.slopes, c))])
        c = c + _least(rows, right, weight)
        led = _add_change(course, basis, c)
    raise NumericalError(
        f"the model does not come to rest: residual {size:.2g} of its deformation", part=f'model "{model.name}"',
        hint="use a longer motion: at least a period of the slowest mode",
    )  # fmt: skip


class _Effect(NamedTuple):
    """Effect of the coefficients c on the final deformation.

    rows   : ∂(δ, δ̇)(T)/∂c (2m, k, s)
    slopes : derivative of the rows with the stiffness
    slope  : (2m,) derivative of the final (δ, δ̇) of the given motion with the stiffness
    """

    rows: Array
    slopes: Array
    slope: Array


def _basis(times: Array, fastest: float, robust: bool, model: ReducedModel) -> Array:
    """Return b, ḃ, b̈ (3, N, k)."""
    duration = float(times[-1] - times[0])
    need = (4 if robust else 2) * (model.layout.size - model.layout.theta)
    inner = max(_FEWEST, need, int(np.ceil(_FASTER * duration * fastest / (2.0 * np.pi)))) + _DEGREE + 1
    knots = np.linspace(times[0], times[-1], inner - _DEGREE + 1)
    knots = np.concatenate([np.full(_DEGREE, times[0]), knots, np.full(_DEGREE, times[-1])])
    kept = np.eye(inner)[:, 3:-3]  # the first and last three change the ends, their rates or accelerations
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
    """Return ∫ b̈ b̈ᵀ (k, k), and the weight of changes of each coordinate (s,), by its range of motion."""
    G = basis[2].T @ basis[2]
    way = np.ptp(course.theta, axis=0)
    return G, np.maximum(way, 1e-3 * way.max()) ** 2


def _least(rows: Array, right: Array, weight: tuple[Array, Array]) -> Array:
    """Return c (k, s) of least weight with rows · c = right."""
    G, way = weight
    eased = np.linalg.solve(G, rows.transpose(1, 0, 2).reshape(len(G), -1)).reshape(len(G), *rows.shape[::2])
    eased = eased.transpose(1, 0, 2) * way  # (r, k, s)
    S = np.einsum("rks,qks->rq", rows, eased)
    scale = 1.0 / np.sqrt(np.diag(S))
    multipliers = scale * np.linalg.lstsq(S * np.outer(scale, scale), scale * right, rcond=1e-12)[0]
    return np.asarray(np.einsum("r,rks->ks", multipliers, eased))


def _add_change(course: Trajectory, basis: Array, c: Array) -> Trajectory:
    return Trajectory.of_derivatives(course.coordinates, course.time, np.stack(course.parts) + basis @ c, course.units)


def _final_vibration(model: ReducedModel, led: Trajectory, run: Any) -> Array:
    """Return (δ - δ_static, δ̇) at the end, (2m,)."""
    delta, rate, _ = deformation_along(model, run)
    still = np.zeros_like(led.theta[-1:])
    return np.concatenate([delta[-1] - quasi_static(model, led.theta[-1:], still, still)[0], rate[-1]])


def _largest_deformation(model: ReducedModel, run: Any) -> float:
    return float(np.abs(deformation_along(model, run)[0]).max()) + 1e-300


def _result(model: ReducedModel, led: Trajectory, run: Any) -> PlannedMotion:
    clock = led.time - led.time[0]
    theta = Trajectory(led.coordinates, clock, *led.parts, led.units).function
    names = model.layout.coordinates[model.layout.theta :]
    delta = Trajectory(names, clock, *deformation_along(model, run), model.units).function
    return PlannedMotion(theta, rest_after(delta, model, led.theta[-1]), model)


def add_deformation(motion: Any, model: ReducedModel) -> PlannedMotion:
    """Return a motion with the deformation that a flexible model has along it.

    A controller of vibration then follows this deformation instead of suppressing it. For a shaped motion, which leaves
    no residual vibration, the deformation during the motion is not quasi-static. A controller that held it at the
    quasi-static one would work against the motion.

    Parameters
    ----------
    motion : str, Motion, Trajectory, path, callable or Reference
        Motion with an end, as in `reference`; usually a shaped one.
    model : ReducedModel
        Flexible reduced model, simulated along the motion.

    Returns
    -------
    PlannedMotion
        Motion with δ_d(t). From the end on δ_d is the static deflection there; residual vibration is not included.

    Raises
    ------
    InputError
        If the motion has no end.

    See Also
    --------
    shaped : Motion without residual vibration.
    two_time_scales : Controller that uses the deformation.
    """
    require_arguments(add_deformation, locals())
    given = finite_reference(motion, model, otherwise="the motion has no end")
    times = np.linspace(given.begin, given.end, max(5, int(np.ceil(given.duration / _STEP))) + 1)
    run = model.follow(given.trajectory(times))
    names = model.layout.coordinates[model.layout.theta :]
    bending = Trajectory(names, times, *deformation_along(model, run), model.units).function
    return PlannedMotion(given, rest_after(bending, model, given.at(given.end)[0]), model)
