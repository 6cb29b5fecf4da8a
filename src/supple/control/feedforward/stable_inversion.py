"""Stable inversion: the motion of the coordinates with which outputs follow a path exactly, including deformation.

The zero dynamics ẋ = f(t, x), x = (δ, δ̇), have growing exponents, and only one of their solutions stays bounded. It
leaves rest before the path begins, along growing directions, and returns to it after the path ends, along decaying
ones:

    L_s (x(-T₁) - x_begin) = 0,   L_u (x(T + T₂) - x_end) = 0                                     [Devasia 1996]

a two-point boundary value problem, solved at all samples together. Joints begin to move before the tip: pre-actuation,
by a few 1/λ.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import make_interp_spline
from scipy.linalg import schur
from scipy.signal import ZerosPolesGain, lsim

from supple.array_types import Array
from supple.control.feedforward.planned_motion import LedOutputs, PlannedMotion, TwoPoint, constant_motion, plan_result
from supple.control.feedforward.reference import Reference, finite_reference
from supple.diagnostics import InputError, NumericalError, SuppleNote
from supple.diagnostics.arguments import require_arguments
from supple.reduced.model import ReducedModel
from supple.reduced.time.begin import quasi_static
from supple.time_functions.function_of_time import Trajectory

# Paths of outputs, from a motion of the coordinates or given directly.


_PATH_STEP = 1e-3  # s: pieces of a path
_FEW = 200  # breaks that are kept as samples; more are those of sampled data, not of a profile
_KNOTS = 200  # along a path, at which θ is solved one after the other


def output_path(led: LedOutputs, path: Any, compensate_sag: bool) -> tuple[Reference, Reference]:
    """Return y_d(t) of the outputs, and a motion of θ close to the solution."""
    model = led.model
    if isinstance(path, Reference) and path.coordinates == led.names:
        return path, _follow_outputs(led, path)
    nominal = finite_reference(path, model, "path")
    times = instants(nominal, nominal.begin, nominal.end, _PATH_STEP)
    theta = nominal.derivatives(times)
    theta[2, -1] = nominal.derivatives(times[-1:], closed=True)[2]  # the end of the motion, not the standstill after it
    delta = np.zeros((3, len(times), model.layout.size - model.layout.theta))
    if not compensate_sag:
        sag = quasi_static(model, *constant_motion(theta[0]))
        delta = np.stack([make_interp_spline(times, sag, k=5)(times, order) for order in range(3)])
    return Trajectory(led.names, times, *led.along(theta, delta)).function, nominal


def instants(course: Reference, begin: float, end: float, step: float) -> Array:
    """Return times at most a step apart, including the breaks of a course if these are few."""
    times = np.linspace(begin, end, max(2, round((end - begin) / step)) + 1)
    if len(course.breaks) > _FEW:
        return times
    inside = course.breaks[(course.breaks > begin) & (course.breaks < end)]
    clear = np.abs(times[:, None] - inside[None]).min(axis=1, initial=np.inf) > 0.2 * step
    clear[[0, -1]] = True
    return np.unique(np.concatenate([times[clear], inside]))


def _follow_outputs(led: LedOutputs, path: Reference) -> Reference:
    """Return θ of the undeformed model along a path of its outputs, starting from the middle of its region."""
    model = led.model
    s, m = model.layout.theta, model.layout.size - model.layout.theta
    times = np.linspace(path.begin, path.end, _KNOTS + 1)
    known = {} if model.repertoire is None else model.repertoire.configurations
    names = model.layout.coordinates[:s]
    if "rest" in known:
        theta = np.array([known["rest"][name] for name in names])
    else:
        boxes = [(box.lower, box.upper) for box in model.fitted.leaves]
        theta = 0.5 * (np.min([box[0] for box in boxes], axis=0) + np.max([box[1] for box in boxes], axis=0))
    found = np.empty((3, len(times), s))
    for n, y in enumerate(path.sample(times)[:, :3, None]):
        found[:, [n]] = led.solve_coordinates(y, np.zeros((3, 1, m)), constant_motion(theta[None]))
        theta = found[0, n]
    return Trajectory.of_derivatives(names, times, found, model.units).function


# Causal paths: those filtered by the all-pass of the growing exponents need no preview.
#
#     y_a = A(s) y_d,   A(s) = Π_λ (1 - s/λ)/(1 + s/λ),   λ the exponents of the zero dynamics that grow
#
# Inverting y_a, the zeros of A cancel the pre-actuation. Every frequency keeps its amplitude, |A(iω)| = 1, and
# is delayed by τ = Σ 2/λ, less by O((ω/|λ|)²) of it for fast ones: the tip follows y_d(t - τ) apart from this.
#                                                                           [zero magnitude error, Butterworth 2012]


_FILTER_STEP = 0.05  # of 1/|λ|: step of the filtered path
_TAIL = 1e-8  # of the path: residual at the end of the filtered path


def causal_path(path: Reference, exponents: NDArray[np.complex128]) -> tuple[Reference, float]:
    """Return y_a(t) and its delay, s; exponents : of the zero dynamics, of which the growing ones are used."""
    growing = exponents[exponents.real > 0.0]
    if not len(growing):
        return path, 0.0
    late = float((2.0 / growing).sum().real)
    end = path.end - np.log(_TAIL) / float(growing.real.min())
    count = int(np.ceil((end - path.begin) / (_FILTER_STEP / float(np.abs(growing).max()))))
    times = np.linspace(path.begin, end, count + 1)
    system = ZerosPolesGain(growing, -growing, float((-1.0) ** len(growing))).to_ss()
    outputs = path.sample(times)[:, :3]
    outputs[:, 0] -= outputs[0, 0]
    filtered = np.stack(
        [
            np.stack([lsim(system, outputs[:, order, i], times - times[0])[1] for i in range(outputs.shape[2])], axis=1)
            for order in range(3)
        ]
    )
    filtered[0] += path.at(path.begin)[0]
    return Trajectory.of_derivatives(path.coordinates, times, filtered, path.units).function, late


_STEP = 5e-4  # s: largest step of the two-point problem
_FINE = 0.2  # of the shortest time constant of the exponents: the step
_MOST = 2500  # samples; faster dynamics are quasi-static
_SLOPES = 300  # samples at which slopes are computed
_LEFT = 1e-6  # of the deformation: truncated before and after the path
_LONGEST = 2.0  # s: longest motion before or after the path
_ITERATIONS = 30
_SETTLED = 1e-7  # of the largest deformation: change at convergence


def stable_inversion(
    model: ReducedModel,
    path: Any,
    outputs: str | Sequence[str] | None = None,
    *,
    compensate_sag: bool = True,
    causal: bool = False,
) -> PlannedMotion:
    """Compute the motion of the coordinates under which outputs of a flexible model follow a path exactly.

    Parameters
    ----------
    model : ReducedModel
        Flexible reduced model.
    path : str, Motion, Trajectory, path, callable or Reference
        Motion with an end, as in `reference`, or a Reference of the outputs.

        With a motion of the coordinates, the outputs move as those of the rigid mechanism.
    outputs : str or sequence of str, optional
        As many position outputs as coordinates, or the name of a sensor. Default: all positions of the model.
    compensate_sag : bool, optional
        Compensate the deflection by weight, so that the path is exact in space. Default: True.

        Otherwise the deflected tip follows the path shape, from and to the θ of the motion.
    causal : bool, optional
        Start no earlier than the path, so that it need not be known in advance. Default: False.

        The path is then followed `lead` seconds late, and the `error` of the result refers to the delayed path.

    Returns
    -------
    PlannedMotion
        Motion θ(t) with the deformation δ(t). Its clock begins with the first movement of the joints; the path begins
        `lead` seconds later.

    Raises
    ------
    InputError
        If the model is rigid, the outputs are not positions or not as many as coordinates, the zero dynamics are
        undamped or change their type along the path, or a configuration is singular.
    NumericalError
        If no bounded motion is found.

    Warns
    -----
    SuppleNote
        If vibrations with the outputs at rest decay so slowly that they are truncated.

    See Also
    --------
    rest_to_rest : Motion with a prescribed duration, without residual vibration.
    compensated : Quasi-static compensation.

    Notes
    -----
    [Devasia 1996]; causal paths by zero magnitude error [Butterworth 2012]; docs/theory/feedforward.md.
    """
    require_arguments(stable_inversion, locals())
    led = LedOutputs(model, outputs)
    target, nominal = output_path(led, path, compensate_sag)
    zero, late = ZeroDynamics(led, target, nominal), 0.0
    if causal:
        filtered, late = causal_path(target, zero.split(0.5 * (target.begin + target.end)).exponents)
        zero = ZeroDynamics(led, filtered, nominal)
    starts, ends = zero.split(target.begin), zero.split(zero.target.end)
    if len(starts.decaying) != len(ends.decaying):
        raise InputError(
            f"the zero dynamics have {len(starts.growing)} growing exponents where the path begins, but "
            f"{len(ends.growing)} where it ends", part=f'model "{model.name}"', hint="choose other outputs",
        )  # fmt: skip
    begin = target.begin - (0.0 if causal else _decay(starts.exponents[starts.exponents.real > 0.0]))
    end = zero.target.end + _decay(ends.exponents[ends.exponents.real < 0.0])
    fastest = float(np.abs(np.concatenate([starts.exponents, ends.exponents]).real).max())
    count = int(np.ceil((end - begin) / min(_STEP, max(_FINE / fastest, (end - begin) / _MOST))))
    times = np.linspace(begin, end, count + 1)
    rests = (zero.rest(target.begin)[1], zero.rest(zero.target.end)[1])
    courses = _solve_bounded(zero, times, (starts, ends), rests)
    last = _standstill(model, ends, courses[0][0])
    theta, delta = (course[:, :last] for course in courses)
    return plan_result(model, led, target.delay(late), times[:last], (theta, delta), starts.exponents)


def _solve_bounded(
    zero: ZeroDynamics, times: Array, splits: tuple[StableSplit, StableSplit], rests: tuple[Array, Array]
) -> tuple[Array, Array]:
    """Return θ and δ (3, N, ...) at times (N,) by Newton's method, from the deformation at rest."""
    target, theta = zero.target.derivatives(times), zero.nominal.derivatives(times)
    delta = constant_motion(np.tile(rests[0], (len(times), 1)))
    aims = [np.concatenate([delta, np.zeros(zero.m)]) for delta in rests]
    solver, last = None, np.inf
    for round_ in range(_ITERATIONS):
        theta, residual = zero.solve_coordinates(target, delta, theta)
        if solver is None or round_ == 1:  # the second time about the deformed motion
            solver = TwoPoint(
                times, _matrices(zero, times, target, theta, delta), splits[0].decaying, splits[1].growing
            )
        ends = [delta[:2, k].ravel() for k in (0, -1)]
        change = solver.solve(-residual, aims[0] - ends[0], aims[1] - ends[1])
        delta = delta + change
        size = float(np.abs(change[0]).max()) / float(np.abs(delta[0]).max() + 1e-300)
        if size <= _SETTLED:
            return zero.solve_coordinates(target, delta, theta)[0], delta
        if not np.isfinite(size) or size > 10.0 * last:
            break
        last = size
    raise NumericalError(
        "no bounded motion along the path was found: the path is too demanding for the model",
        part=f'model "{zero.model.name}"', hint="follow the path more slowly",
    )  # fmt: skip


def _matrices(
    zero: ZeroDynamics, times: Array, target: Array, theta: Array, delta: Array
) -> tuple[Array, Array, Array]:
    """Return M̃, D̃, K̃ (N, m, m) at all samples, interpolated between some.

    They change slowly, and Newton's method corrects the error.
    """
    some = np.unique(np.linspace(0, len(times) - 1, min(len(times), _SLOPES)).astype(int))
    found = zero.matrices(*(course[:, some] for course in (target, theta, delta)))
    M, D, K = (
        np.stack([np.interp(times, times[some], entry) for entry in part.reshape(len(some), -1).T], axis=-1).reshape(
            len(times), zero.m, zero.m
        )
        for part in found
    )
    return M, D, K


def _standstill(model: ReducedModel, ends: StableSplit, theta: Array) -> int:
    """Return the number of samples of θ (N, s) that are kept.

    These are all samples; or, if vibrations hardly decay, those until they have decayed.
    """
    decaying = ends.exponents[ends.exponents.real < 0.0]
    slow = decaying[np.abs(decaying.real) * _LONGEST < -np.log(_LEFT)]
    if not len(slow):
        return len(theta)
    smallest = _LEFT * np.maximum(np.ptp(theta, axis=0), 1e-12)
    moving = np.flatnonzero((np.abs(theta - theta[-1]) > smallest).any(axis=1))
    last = min(int(moving[-1]) + 2, len(theta)) if len(moving) else len(theta)
    if last >= len(theta) - 1:
        warnings.warn(
            f'model "{model.name}": with outputs at rest it vibrates at {abs(slow[0].imag) / (2.0 * np.pi):.3g} Hz, '
            f"and {np.exp(_LONGEST * slow[0].real):.1g} of this remains where the motion is truncated {_LONGEST:g} s "
            "after the path; use a model with more damping, or with fewer modes", SuppleNote, stacklevel=3,
        )  # fmt: skip
    return last


def _decay(exponents: NDArray[np.complex128]) -> float:
    """Return the time until all exponents have decayed to _LEFT, s."""
    if not len(exponents):
        return 0.0
    return min(_LONGEST, float(-np.log(_LEFT) / np.abs(exponents.real).min()))


# Zero dynamics: the deformation of a model while its outputs are held on a path.
#
# With θ such that y(θ, δ) = y_d(t), θ̈ = J⁻¹(ÿ_d - Ψ_o δ̈ - ...), and the rows of δ become
#
#     M̃ δ̈ + D̃ δ̇ + K δ = f(t, δ, δ̇),   M̃ = M_δδ - M_δθ J⁻¹ Ψ_o,   D̃ = D_δδ - D_δθ J⁻¹ Ψ_o
#
# A non-collocated tip begins to move in the wrong direction: M̃ is not positive, and half of the exponents of the zero
# dynamics grow.


_SWEEPS = 30
_SLOPE_SWEEPS = 2  # with a constant J: each squares the last error
_ON_THE_AXIS = 1e-6  # of the fastest exponent: one that neither grows nor decays


class StableSplit(NamedTuple):
    """Split of the zero dynamics into decaying and growing parts.

    decaying, growing : rows (k, 2m) that are zero on all growing, and on all decaying, directions
    exponents         : (2m,), 1/s
    """

    decaying: Array
    growing: Array
    exponents: NDArray[np.complex128]


class ZeroDynamics:
    """Zero dynamics of a model whose outputs follow `target`; nominal : θ close to the solution."""

    def __init__(self, outputs: LedOutputs, target: Reference, nominal: Reference):
        self.outputs, self.model, self.target, self.nominal = outputs, outputs.model, target, nominal
        self.s, self.m = self.model.layout.theta, self.model.layout.size - self.model.layout.theta

    def solve_coordinates(self, target: Array, delta: Array, guess: Array) -> tuple[Array, Array]:
        """Return θ for given outputs, and the residual in the rows of δ, (N, m)."""
        theta = self.outputs.solve_coordinates(target, delta, guess)
        return theta, self.defect(theta, delta)

    def defect(self, theta: Array, delta: Array) -> Array:
        """Return the residual in the rows of δ, (N, m)."""
        _, v, a = np.concatenate([theta, delta], axis=2)
        return self.model.inverse(theta[0], v, a, delta=delta[0])[:, self.s :]

    def matrices(self, target: Array, theta: Array, delta: Array) -> tuple[Array, Array, Array]:
        """Return M̃, D̃, K̃ (N, m, m): slopes of the defect with δ̈, δ̇ and δ for given outputs, by differences.

        M̃ is a small difference of large numbers if the tip carries most of the mass, so that no term may be neglected.
        """
        J = self.outputs.slopes(theta[0], delta[0])
        size = float(np.abs(delta[0]).max()) + 1e-9
        steps = (1e-4 * size, 1e-2 * size, size)  # of δ, δ̇ (1/s), δ̈ (1/s²): the defect is close to linear in each
        here = self.defect(theta, delta)
        found = []
        for order, step in enumerate(steps):
            columns = []
            for unit in np.eye(self.m):
                moved, led = delta.copy(), theta
                moved[order] += step * unit
                for _ in range(_SLOPE_SWEEPS):
                    led, _ = self.outputs.closer(led, target, moved, J)
                columns.append((self.defect(led, moved) - here) / step)
            found.append(np.stack(columns, axis=-1))
        K, D, M = found
        return M, D, K

    def rest(self, t: float) -> tuple[Array, Array]:
        """Return θ (s,) and δ (m,) at which the outputs are at rest on the path at time t."""
        goal = self.target.at(t)[0]
        theta = self.nominal.at(t)[0]
        delta = np.zeros(self.m)
        for _ in range(_SWEEPS):
            delta = quasi_static(self.model, *constant_motion(theta[None]))[0]
            y = self.outputs.along(constant_motion(theta[None]), constant_motion(delta[None]))[0, 0]
            step = np.linalg.solve(self.outputs.slopes(theta[None], delta[None])[0], goal - y)
            theta = theta + step
            if float(np.abs(step).max()) <= 1e-13 * float(np.abs(theta).max()):
                break
        return theta, delta

    def split(self, t: float) -> StableSplit:
        """Return the growing and decaying parts of the dynamics about rest at time t of the path."""
        at = (self.target.at(t)[0], *self.rest(t))
        M, D, K = (part[0] for part in self.matrices(*(constant_motion(values[None]) for values in at)))
        A = np.block([[np.zeros_like(M), np.eye(self.m)], [-np.linalg.solve(M, K), -np.linalg.solve(M, D)]])
        exponents = np.linalg.eigvals(A)
        slow = exponents[np.abs(exponents.real) <= _ON_THE_AXIS * np.abs(exponents).max()]
        if len(slow):
            raise InputError(
                f"with the outputs on the path the model vibrates undamped at {np.abs(slow[0]) / (2 * np.pi):.4g} Hz",
                part=f'model "{self.model.name}"', hint="add damping, or choose other outputs",
            )  # fmt: skip
        return StableSplit(_left_rows(A, "lhp"), _left_rows(A, "rhp"), exponents)


def _left_rows(A: Array, half: str) -> Array:
    """Return rows L with L A = Λ L, where Λ has the exponents of one half-plane: the components of x in it."""
    _, Z, count = schur(A.T, sort=half)
    return np.asarray(Z[:, :count].T)
