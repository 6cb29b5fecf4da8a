"""Stable inversion: what the coordinates must do so that outputs follow a path exactly, deformation included.

The zero dynamics ẋ = f(t, x), x = (δ, δ̇), have exponents that grow; of all their solutions one alone stays bounded. It
leaves rest before the path begins, along what grows, and returns to it after the path ends, along what decays:

    L_s (x(-T₁) - x_begin) = 0,   L_u (x(T + T₂) - x_end) = 0                                     [Devasia 1996]

a two-point problem, solved at all instants together. Joints begin to move before the tip: pre-actuation, of a few 1/λ.
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
from supple.control.feedforward.planned_motion import LedOutputs, PlannedMotion, TwoPoint, constant_motion, planned
from supple.control.feedforward.reference import Reference, finite_reference
from supple.diagnostics import InputError, NumericalError, SuppleNote
from supple.diagnostics.arguments import require_arguments
from supple.reduced.model import ReducedModel
from supple.reduced.time.begin import quasi_static
from supple.time_functions.function_of_time import Trajectory

# Paths of outputs: what the tip shall do, from a motion of the coordinates or given as it stands.


_PATH_STEP = 1e-3  # s: pieces of a path
_FEW = 200  # breaks that are kept as instants; more are those of samples, not of a profile
_KNOTS = 200  # along a path, where θ is sought one after the other


def output_path(led: LedOutputs, path: Any, compensate_sag: bool) -> tuple[Reference, Reference]:
    """y_d(t) of the outputs, and a motion of θ close to what leads them."""
    model = led.model
    if isinstance(path, Reference) and path.coordinates == led.names:
        return path, _led_along(led, path)
    nominal = finite_reference(path, model, "path")
    times = instants(nominal, nominal.begin, nominal.end, _PATH_STEP)
    theta = nominal.derivatives(times)
    theta[2, -1] = nominal.derivatives(times[-1:], closed=True)[2]  # the end of the motion, not the standstill behind
    delta = np.zeros((3, len(times), model.layout.size - model.layout.theta))
    if not compensate_sag:
        sag = quasi_static(model, *constant_motion(theta[0]))
        delta = np.stack([make_interp_spline(times, sag, k=5)(times, order) for order in range(3)])
    return Trajectory(led.names, times, *led.along(theta, delta)).function, nominal


def instants(course: Reference, begin: float, end: float, step: float) -> Array:
    """Times at most a step apart, with the breaks of a course among them, if these are few."""
    times = np.linspace(begin, end, max(2, round((end - begin) / step)) + 1)
    if len(course.breaks) > _FEW:
        return times
    inside = course.breaks[(course.breaks > begin) & (course.breaks < end)]
    clear = np.abs(times[:, None] - inside[None]).min(axis=1, initial=np.inf) > 0.2 * step
    clear[[0, -1]] = True
    return np.unique(np.concatenate([times[clear], inside]))


def _led_along(led: LedOutputs, path: Reference) -> Reference:
    """θ of the undeformed model along a path of its outputs, from a configuration in the middle of its region on."""
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
    for n, y in enumerate(path.sampled(times)[:, :3, None]):
        found[:, [n]] = led.leading(y, np.zeros((3, 1, m)), constant_motion(theta[None]))
        theta = found[0, n]
    return Trajectory.of_derivatives(names, times, found, model.units).function


# Paths that can be followed without knowing what comes: those that went through the all-pass of the growing exponents.
#
#     y_a = A(s) y_d,   A(s) = Π_λ (1 - s/λ)/(1 + s/λ),   λ the exponents of the zero dynamics that grow
#
# Inverting y_a, the zeros of A cancel what would have to begin early. Every frequency keeps its size, |A(iω)| = 1, and
# is late by τ = Σ 2/λ, less by O((ω/|λ|)²) of that for fast ones: the tip follows y_d(t - τ) but for this.
#                                                                           [zero magnitude error, Butterworth 2012]


_FILTER_STEP = 0.05  # of 1/|λ|: instants of the filtered path
_TAIL = 1e-8  # of the path: where its end is cut off


def causal_path(path: Reference, exponents: NDArray[np.complex128]) -> tuple[Reference, float]:
    """y_a(t), and by how much it is late, s; exponents : of the zero dynamics, of which those that grow are taken."""
    growing = exponents[exponents.real > 0.0]
    if not len(growing):
        return path, 0.0
    late = float((2.0 / growing).sum().real)
    end = path.end - np.log(_TAIL) / float(growing.real.min())
    count = int(np.ceil((end - path.begin) / (_FILTER_STEP / float(np.abs(growing).max()))))
    times = np.linspace(path.begin, end, count + 1)
    system = ZerosPolesGain(growing, -growing, float((-1.0) ** len(growing))).to_ss()
    seen = path.sampled(times)[:, :3]
    seen[:, 0] -= seen[0, 0]
    passed = np.stack(
        [
            np.stack([lsim(system, seen[:, order, i], times - times[0])[1] for i in range(seen.shape[2])], axis=1)
            for order in range(3)
        ]
    )
    passed[0] += path.at(path.begin)[0]
    return Trajectory.of_derivatives(path.coordinates, times, passed, path.units).function, late


_STEP = 5e-4  # s, at most: instants of the two-point problem
_FINE = 0.2  # of the shortest time in which something grows or decays by e: the step
_MOST = 2500  # instants: what is faster than their steps follows at once
_SLOPES = 300  # instants at which slopes are taken
_LEFT = 1e-6  # of the deformation: what is cut off before and after
_LONGEST = 2.0  # s: before or after the path
_ITERATIONS = 30
_SETTLED = 1e-7  # of the largest deformation: the last change


def stable_inversion(
    model: ReducedModel,
    path: Any,
    outputs: str | Sequence[str] | None = None,
    *,
    compensate_sag: bool = True,
    causal: bool = False,
) -> PlannedMotion:
    """The motion of θ under which outputs follow a path, with δ(t) that goes with it.

    path      : a motion as `reference` takes it: outputs shall move as those of the rigid mechanism would; or a
                Reference of the outputs themselves
    outputs   : as many positions as there are coordinates, or the name of a sensor; left out, all that the model has
    compensate_sag : the path is meant in the world, and θ makes up for the sag under gravity. Otherwise the sagging
                tip follows it, from and to the θ of the motion
    causal    : nothing is done before the path begins, so that it need not be known before; it is followed `lead`
                seconds late, and the result's `error` is that against the late path
    The result's clock begins with the first movement of the joints; the path begins `lead` seconds later.
    """
    require_arguments(stable_inversion, locals())
    led = LedOutputs(model, outputs)
    wanted, nominal = output_path(led, path, compensate_sag)
    zero, late = ZeroDynamics(led, wanted, nominal), 0.0
    if causal:
        passed, late = causal_path(wanted, zero.split(0.5 * (wanted.begin + wanted.end)).exponents)
        zero = ZeroDynamics(led, passed, nominal)
    starts, ends = zero.split(wanted.begin), zero.split(zero.wanted.end)
    if len(starts.decaying) != len(ends.decaying):
        raise InputError(
            f"{len(starts.growing)} exponents of its zero dynamics grow where the path begins, and "
            f"{len(ends.growing)} where it ends", part=f'model "{model.name}"', hint="choose other outputs",
        )  # fmt: skip
    begin = wanted.begin - (0.0 if causal else _decay(starts.exponents[starts.exponents.real > 0.0]))
    end = zero.wanted.end + _decay(ends.exponents[ends.exponents.real < 0.0])
    fastest = float(np.abs(np.concatenate([starts.exponents, ends.exponents]).real).max())
    count = int(np.ceil((end - begin) / min(_STEP, max(_FINE / fastest, (end - begin) / _MOST))))
    times = np.linspace(begin, end, count + 1)
    rests = (zero.rest(wanted.begin)[1], zero.rest(zero.wanted.end)[1])
    courses = _bounded(zero, times, (starts, ends), rests)
    last = _standstill(model, ends, courses[0][0])
    theta, delta = (course[:, :last] for course in courses)
    return planned(model, led, wanted.delayed(late), times[:last], (theta, delta), starts.exponents)


def _bounded(
    zero: ZeroDynamics, times: Array, splits: tuple[StableSplit, StableSplit], rests: tuple[Array, Array]
) -> tuple[Array, Array]:
    """θ and δ (3, N, ...) at times (N,): Newton's method, from the deformation at rest."""
    wanted, theta = zero.wanted.derivatives(times), zero.nominal.derivatives(times)
    delta = constant_motion(np.tile(rests[0], (len(times), 1)))
    aims = [np.concatenate([delta, np.zeros(zero.m)]) for delta in rests]
    solver, last = None, np.inf
    for round_ in range(_ITERATIONS):
        theta, left = zero.led(wanted, delta, theta)
        if solver is None or round_ == 1:  # the second time about the deformed motion
            solver = TwoPoint(
                times, _matrices(zero, times, wanted, theta, delta), splits[0].decaying, splits[1].growing
            )
        ends = [delta[:2, k].ravel() for k in (0, -1)]
        change = solver.solve(-left, aims[0] - ends[0], aims[1] - ends[1])
        delta = delta + change
        size = float(np.abs(change[0]).max()) / float(np.abs(delta[0]).max() + 1e-300)
        if size <= _SETTLED:
            return zero.led(wanted, delta, theta)[0], delta
        if not np.isfinite(size) or size > 10.0 * last:
            break
        last = size
    raise NumericalError(
        "the bounded motion along the path was not found: it asks for more than the model can say",
        part=f'model "{zero.model.name}"', hint="follow the path more slowly",
    )  # fmt: skip


def _matrices(
    zero: ZeroDynamics, times: Array, wanted: Array, theta: Array, delta: Array
) -> tuple[Array, Array, Array]:
    """M̃, D̃, K̃ (N, m, m) at all instants, from some of them: they change slowly, and Newton's method forgives."""
    some = np.unique(np.linspace(0, len(times) - 1, min(len(times), _SLOPES)).astype(int))
    found = zero.matrices(*(course[:, some] for course in (wanted, theta, delta)))
    M, D, K = (
        np.stack([np.interp(times, times[some], entry) for entry in part.reshape(len(some), -1).T], axis=-1).reshape(
            len(times), zero.m, zero.m
        )
        for part in found
    )
    return M, D, K


def _standstill(model: ReducedModel, ends: StableSplit, theta: Array) -> int:
    """How many instants of θ (N, s) are kept: all, or where vibrations hardly decay, until nothing is left of them."""
    decaying = ends.exponents[ends.exponents.real < 0.0]
    slow = decaying[np.abs(decaying.real) * _LONGEST < -np.log(_LEFT)]
    if not len(slow):
        return len(theta)
    way = _LEFT * np.maximum(np.ptp(theta, axis=0), 1e-12)
    moving = np.flatnonzero((np.abs(theta - theta[-1]) > way).any(axis=1))
    last = min(int(moving[-1]) + 2, len(theta)) if len(moving) else len(theta)
    if last >= len(theta) - 1:
        warnings.warn(
            f'model "{model.name}": with its outputs at rest it vibrates on at {abs(slow[0].imag) / (2.0 * np.pi):.3g} '
            f"Hz, and {np.exp(_LONGEST * slow[0].real):.1g} of it is left where the motion is cut off {_LONGEST:g} s "
            "after its path; give it more damping, or fewer modes", SuppleNote, stacklevel=3,
        )  # fmt: skip
    return last


def _decay(exponents: NDArray[np.complex128]) -> float:
    """How long it takes until nothing is left of all of them, s."""
    if not len(exponents):
        return 0.0
    return min(_LONGEST, float(-np.log(_LEFT) / np.abs(exponents.real).min()))


# How a model deforms while its outputs are held on a path: the dynamics that inversion has to live with.
#
# With θ led so that y(θ, δ) = y_d(t), θ̈ = J⁻¹(ÿ_d - Ψ_o δ̈ - ...), and the rows of δ become
#
#     M̃ δ̈ + D̃ δ̇ + K δ = f(t, δ, δ̇),   M̃ = M_δδ - M_δθ J⁻¹ Ψ_o,   D̃ = D_δδ - D_δθ J⁻¹ Ψ_o
#
# A tip that is led from afar begins by moving the wrong way: M̃ is not positive, and half of the exponents of the zero
# dynamics grow.


_SWEEPS = 30
_SLOPE_SWEEPS = 2  # with J as it is: each leaves the square of the last error
_ON_THE_AXIS = 1e-6  # of the fastest exponent: one that neither grows nor decays


class StableSplit(NamedTuple):
    """Rows (k, 2m) that are zero on all that grows, and on all that decays; exponents (2m,), 1/s."""

    decaying: Array
    growing: Array
    exponents: NDArray[np.complex128]


class ZeroDynamics:
    """Of a model whose outputs follow `wanted`; nominal : θ close to what leads them."""

    def __init__(self, outputs: LedOutputs, wanted: Reference, nominal: Reference):
        self.outputs, self.model, self.wanted, self.nominal = outputs, outputs.model, wanted, nominal
        self.s, self.m = self.model.layout.theta, self.model.layout.size - self.model.layout.theta

    def led(self, wanted: Array, delta: Array, guess: Array) -> tuple[Array, Array]:
        """θ with which the outputs are as wanted, and what is then left in the rows of δ, (N, m)."""
        theta = self.outputs.leading(wanted, delta, guess)
        return theta, self.defect(theta, delta)

    def defect(self, theta: Array, delta: Array) -> Array:
        """What is left in the rows of δ, (N, m)."""
        _, v, a = np.concatenate([theta, delta], axis=2)
        return self.model.inverse(theta[0], v, a, delta=delta[0])[:, self.s :]

    def matrices(self, wanted: Array, theta: Array, delta: Array) -> tuple[Array, Array, Array]:
        """M̃, D̃, K̃ (N, m, m): slopes of the defect with δ̈, δ̇ and δ while the outputs are as wanted, by differences.

        M̃ is the small difference of large numbers where the tip carries most of the mass: no part may be left out.
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
                    led, _ = self.outputs.closer(led, wanted, moved, J)
                columns.append((self.defect(led, moved) - here) / step)
            found.append(np.stack(columns, axis=-1))
        K, D, M = found
        return M, D, K

    def rest(self, t: float) -> tuple[Array, Array]:
        """θ (s,) and δ (m,) at which the outputs stand as wanted at that time."""
        goal = self.wanted.at(t)[0]
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
        """What grows and what decays about rest as wanted at that time."""
        at = (self.wanted.at(t)[0], *self.rest(t))
        M, D, K = (part[0] for part in self.matrices(*(constant_motion(values[None]) for values in at)))
        A = np.block([[np.zeros_like(M), np.eye(self.m)], [-np.linalg.solve(M, K), -np.linalg.solve(M, D)]])
        exponents = np.linalg.eigvals(A)
        slow = exponents[np.abs(exponents.real) <= _ON_THE_AXIS * np.abs(exponents).max()]
        if len(slow):
            raise InputError(
                f"with the outputs on the path the model vibrates undamped at {np.abs(slow[0]) / (2 * np.pi):.4g} Hz",
                part=f'model "{self.model.name}"', hint="give it damping, or lead other outputs",
            )  # fmt: skip
        return StableSplit(_left_rows(A, "lhp"), _left_rows(A, "rhp"), exponents)


def _left_rows(A: Array, half: str) -> Array:
    """Rows L with L A = Λ L, Λ holding the exponents of one half of the plane: what x has of them."""
    _, Z, count = schur(A.T, sort=half)
    return np.asarray(Z[:, :count].T)
