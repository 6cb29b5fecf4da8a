"""Shaped references: with impulses at fixed delays, or at delays that follow the modes along the motion.

The frequencies of a mechanism change on its way. A vibration that was raised at time τ has at t the phase
φ(t) - φ(τ), φ = ∫ ω_d dt; parts of the motion cancel if they are half a turn of it apart, not half a period:

    θ_s(t) = Σ_i A_i θ_d(g_i(t)),   φ(g_i(t)) = φ(t) - i π,   ġ = ω_d(t)/ω_d(g),   g̈ = (ω̇_d(t) - ω̇_d(g) ġ²)/ω_d(g)

with ω_d along θ_s itself, found by iteration. Amplitudes are those of the mean damping along the motion.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import CubicSpline

from supple.array_types import Array
from supple.control.feedforward.reference import Reference, finite_reference
from supple.diagnostics import InputError
from supple.diagnostics.arguments import real_numbers, require_arguments
from supple.kinds.registry import Registry
from supple.reduced.model import ReducedModel
from supple.results.result import brief
from supple.time_functions.function_of_time import Trajectory, common_breaks

# Vibrations of a reduced model with θ led: frequencies and damping ratios of its deformation along a course of θ.
#
# K_δδ(θ) φ = ω² M_δδ(θ) φ,   ζ = φᵀ D_δδ φ / (2 ω φᵀ M_δδ φ)


class LocalModes(NamedTuple):
    """frequencies : ω (N, k) rad/s, rising; damping : ζ (N, k); shapes : φ (N, m, k), with φᵀ M_δδ φ = 1."""

    frequencies: Array
    damping: Array
    shapes: Array


def local_modes(model: ReducedModel, theta: Array) -> LocalModes:
    """Vibrations of the deformation at θ (N, s), with θ led."""
    s = model.layout.theta
    if model.layout.size == s:
        raise InputError(
            "it does not deform, and has nothing to vibrate", part=f'model "{model.name}"',
            hint="reduce the mechanism with internal_modes=",
        )  # fmt: skip
    c = model.evaluate(np.ascontiguousarray(theta))
    M, K, D = (part[:, s:, s:] for part in (c.M, c.K, c.damping))
    L = np.linalg.inv(np.linalg.cholesky(M))
    squares, V = np.linalg.eigh(L @ K @ np.swapaxes(L, 1, 2))
    if not (squares > 0.0).all():
        raise InputError(
            "its stiffness is not positive along the motion", part=f'model "{model.name}"',
            hint="reduce with a smaller tolerance",
        )  # fmt: skip
    shapes, omega = np.swapaxes(L, 1, 2) @ V, np.sqrt(squares)
    return LocalModes(omega, np.einsum("nik,nij,njk->nk", shapes, D, shapes) / (2.0 * omega), shapes)


# Shaped references.


_STEP = 1e-3  # s: pieces of a scheduled reference
_ROUNDS = 4  # of the iteration for ω along the shaped motion: each shrinks its error by the relative change of ω


def shaped(
    motion: Any,
    model: ReducedModel | None = None,
    *,
    kind: str = "zv",
    modes: int | Sequence[tuple[float, float]] | None = None,
    tolerance: float = 0.05,
    scheduled: bool = True,
    frequency_factor: float = 1.0,
) -> Reference:
    """A motion that leaves no vibration behind, later by about half a period of each mode (ZV; ZVD and EI: a period).

    motion    : as `reference` takes it
    model     : a flexible reduced model, whose modes with θ led are shaped, as they change along the motion
    kind      : "zv", "zvd", "zvdd", "ei"; tolerance : of "ei", see `shaper`
    modes     : how many of the model's, the lowest first (all if left out); or [(Hz, damping ratio), ...] instead
    scheduled : delays follow the modes along the motion; otherwise they are those of the middle of its way
    frequency_factor : by which the model's frequencies are multiplied, to see what wrong ones do
    """
    require_arguments(shaped, locals())
    given = finite_reference(motion, model, "input shaping")
    if modes is not None and not isinstance(modes, int):
        hertz, ratios = [pair[0] for pair in modes], [pair[1] for pair in modes]
        return superposed(given, shaper(kind, hertz, ratios, tolerance=tolerance))
    if model is None:
        raise InputError(
            "nothing says which vibrations it shall leave out", part="input shaping",
            hint="give a flexible reduced model, or modes=[(Hz, damping ratio), ...]",
        )  # fmt: skip
    if not frequency_factor > 0.0:
        raise InputError(f"it is {frequency_factor:g}", part="frequency factor", hint="give a number above 0")
    course = given.sampled(np.linspace(given.begin, given.end, 201))[:, 0]
    found = local_modes(model, course)
    count = found.frequencies.shape[1] if modes is None else modes
    if not 1 <= count <= found.frequencies.shape[1]:
        raise InputError(
            f"{count} modes are asked for, and the model has {found.frequencies.shape[1]}",
            part="input shaping", hint="reduce it with more",
        )  # fmt: skip
    ratios = found.damping.mean(axis=0)[:count].tolist()
    if not scheduled:
        hertz = (frequency_factor * found.frequencies[len(course) // 2, :count] / (2.0 * np.pi)).tolist()
        return superposed(given, shaper(kind, hertz, ratios, tolerance=tolerance))
    parts = [amplitudes(kind, ratio, tolerance) for ratio in ratios]
    return _scheduled(given, model, parts, np.array(ratios), frequency_factor)


def superposed(given: Reference, by: Shaper) -> Reference:
    """Σ A_i θ_d(t - t_i), exactly: polynomials stay polynomials."""
    breaks = common_breaks([given.breaks + t for t in by.delays])
    parts = [A * given.delayed(t).on(breaks) for A, t in zip(by.amplitudes, by.delays, strict=True)]
    return Reference(given.coordinates, breaks, np.sum(parts, axis=0), given.units)


def _scheduled(given: Reference, model: ReducedModel, parts: list[Array], ratios: Array, factor: float) -> Reference:
    """parts : amplitudes of each mode, at multiples of half a turn of its phase; ratios : ζ of each."""
    reached = given
    slow = np.sqrt(1.0 - ratios**2) * factor
    for _ in range(_ROUNDS):
        inside = np.linspace(reached.begin, reached.end, max(201, round(reached.duration / _STEP) + 1))
        omega = local_modes(model, reached.sampled(inside)[:, 0]).frequencies[:, : len(parts)] * slow
        late = float(sum((len(A) - 1) * np.pi / omega[:, k].min() for k, A in enumerate(parts)))
        phases = [_Phase(inside, omega[:, k], 2.0 * late) for k in range(len(parts))]
        end = given.end
        for k, A in enumerate(parts):
            end = phases[k].later(end, (len(A) - 1) * np.pi)
        times = np.linspace(given.begin, end, max(2, round((end - given.begin) / _STEP)) + 1)
        reached = _delayed(given, parts, phases, times).function
    return reached


class _Phase:
    """φ(t) = ∫ ω dt of a frequency ω (N,) at times (N,), the same before and after, for `long` seconds."""

    def __init__(self, times: Array, omega: Array, long: float):
        ends = long * np.linspace(0.0, 1.0, 9)[1:]
        t = np.concatenate([times[0] - ends[::-1], times, times[-1] + ends])
        self.omega = CubicSpline(t, np.concatenate([np.full(8, omega[0]), omega, np.full(8, omega[-1])]))
        self.value = self.omega.antiderivative()

    def before(self, t: Array, turn: float) -> Array:
        """g with φ(g) = φ(t) - turn, by Newton's method."""
        phase = self.value(t) - turn
        g = t - turn / self.omega(t)
        for _ in range(6):
            g = g - (self.value(g) - phase) / self.omega(g)
        return np.asarray(g)

    def later(self, t: float, turn: float) -> float:
        """When the phase is a turn further than at t."""
        return float(self.before(np.array([t]), -turn)[0])


def _delayed(given: Reference, parts: list[Array], phases: list[_Phase], times: Array) -> Trajectory:
    """Σ A_i θ_d(g_i(t)) over all products of the modes' delays, with its rates and accelerations."""
    shape = (len(times), len(given.coordinates))
    theta, rates, accelerations = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    maps = [(1.0, times, np.ones_like(times), np.zeros_like(times))]
    for A, phase in zip(reversed(parts), reversed(phases), strict=True):  # the last mode's delays act first
        maps = [
            (factor * float(a), *_earlier(phase, i * np.pi, g, slope, bend))
            for factor, g, slope, bend in maps
            for i, a in enumerate(A)
        ]
    for factor, g, slope, bend in maps:
        value, rate, second, _ = given.sampled(g).transpose(1, 0, 2)
        theta += factor * value
        rates += factor * rate * slope[:, None]
        accelerations += factor * (second * slope[:, None] ** 2 + rate * bend[:, None])
    return Trajectory(given.coordinates, times, theta, rates, accelerations, given.units)


def _earlier(phase: _Phase, turn: float, t: Array, slope: Array, bend: Array) -> tuple[Array, Array, Array]:
    """g(t(·)), its slope and its second derivative."""
    if turn == 0.0:
        return t, slope, bend
    g = phase.before(t, turn)
    w, here = phase.omega(g), phase.omega(t)
    first = here / w
    second = (phase.omega(t, 1) - phase.omega(g, 1) * first**2) / w
    return g, first * slope, second * slope**2 + first * bend


# Input shapers: a motion is given in parts, so that the vibrations that they raise cancel each other.
#
#     θ_s(t) = Σ_i A_i θ_d(t - t_i),   Σ_i A_i = 1
#
# For a mode of frequency ω and damping ratio ζ, with K = exp(-ζπ/√(1 - ζ²)) what half a period leaves of it and x the
# delay by half a damped period, a shaper is a polynomial in x with P(1) = 1 and zeros at or about x = -1/K:
#
#     ZV    (1 + K x) / (1 + K)                             nothing is left at ω                     [Singer 1990]
#     ZVD   ZV², ZVDD  ZV³                                  nor does it begin to grow beside it
#     EI    (1 + 2 K c x + K² x²) / (1 + 2 K c + K²)        V is left at ω, nothing at two beside it that decay as fast
#           c = (2 K² - V (1 + K²)) / (2 K (K + V))                                                 [Singhose 1994]
#
# With ζ = 0 the last is Singhose's (1 + V)/4, (1 - V)/2, (1 + V)/4. Shapers of several modes follow one another.


@dataclass(frozen=True, eq=False)
class ShaperKind:
    """A way of shaping one mode.

    polynomial : (K, V) -> coefficients of 1, x, x², ..., whose sum may be anything; V is what may be left at ω
    """

    name: str
    says: str
    polynomial: Callable[[float, float], Sequence[float]]


def _apart(K: float, V: float) -> Sequence[float]:
    c = (2.0 * K**2 - V * (1.0 + K**2)) / (2.0 * K * (K + V))
    return 1.0, 2.0 * K * c, K**2


SHAPERS = Registry(
    "shaper", ShaperKind,
    ShaperKind("zv", "Nothing is left at the frequency.", lambda K, V: (1.0, K)),
    ShaperKind("zvd", "Nor does it grow at first beside it.", lambda K, V: (1.0, 2.0 * K, K**2)),
    ShaperKind("zvdd", "Nor at second.", lambda K, V: (1.0, 3.0 * K, 3.0 * K**2, K**3)),
    ShaperKind("ei", "V is left at the frequency, and nothing at two beside it.", _apart),
)  # fmt: skip


def amplitudes(kind: str, damping: float, tolerance: float) -> Array:
    """Of the impulses of a kind for one mode, the first without delay, each of the others half a period later."""
    if not 0.0 <= damping < 1.0:
        raise InputError(
            f"the damping ratio is {damping:g}", part="input shaping", hint="shape modes that vibrate: 0 <= ratio < 1"
        )
    if not 0.0 < tolerance < 1.0:
        raise InputError(
            f"{tolerance:g} of the vibration may be left", part="input shaping", hint="give a fraction, like 0.05"
        )
    K = float(np.exp(-damping * np.pi / np.sqrt(1.0 - damping**2)))
    A = np.array(SHAPERS[kind].polynomial(K, tolerance), dtype=float)
    return np.asarray(A / A.sum())


@dataclass(frozen=True, eq=False, repr=False)
class Shaper:
    """Impulses: amplitudes (q,) that add up to one, delays (q,) rising from 0, s."""

    amplitudes: Array
    delays: Array

    def __repr__(self) -> str:
        return brief("Shaper", f"of {len(self.amplitudes)} impulses, {self.delay:.4g} s")

    @property
    def delay(self) -> float:
        """By how much later a motion ends, s."""
        return float(self.delays[-1])

    def then(self, other: Shaper) -> Shaper:
        """Both, one after the other: their impulses are convolved."""
        A = np.multiply.outer(self.amplitudes, other.amplitudes).ravel()
        t = np.add.outer(self.delays, other.delays).ravel()
        order = np.argsort(t)
        return Shaper(A[order], t[order])

    def residual(self, frequency_hz: ArrayLike, damping_ratio: float = 0.0) -> Array:
        """What is left of the vibration of a mode after the last impulse, of that without shaping.

        |Σ A_i e^{(ζω + i ω_d)(t_i - t_q)}|
        """
        w = 2.0 * np.pi * np.asarray(frequency_hz, dtype=float)
        s = damping_ratio * w + 1j * w * np.sqrt(1.0 - damping_ratio**2)
        return np.asarray(np.abs(np.exp(np.multiply.outer(s, self.delays - self.delay)) @ self.amplitudes))


def shaper(
    kind: str, frequencies_hz: float | Sequence[float], damping_ratios: ArrayLike = 0.0, *, tolerance: float = 0.05
) -> Shaper:
    """A shaper for one or several modes.

    kind      : "zv", "zvd", "zvdd" or "ei": each forgives more wrong frequencies and arrives later
    tolerance : of "ei": the part of the vibration that may be left at the mode's own frequency
    """
    require_arguments(shaper, locals())
    frequencies = np.atleast_1d(np.asarray(frequencies_hz, dtype=float))
    ratios = real_numbers("damping ratios", damping_ratios)
    if ratios.shape not in ((), (1,), frequencies.shape):
        raise InputError(
            f"{ratios.size} for {len(frequencies)} frequencies", part="damping ratios", hint="give one, or one of each"
        )
    ratios = np.broadcast_to(ratios, frequencies.shape)
    found = Shaper(np.ones(1), np.zeros(1))
    for hertz, ratio in zip(frequencies.tolist(), ratios.tolist(), strict=True):
        if not (np.isfinite(hertz) and hertz > 0.0):
            raise InputError(f"a frequency is {hertz:g} Hz", part="input shaping", hint="give frequencies above 0")
        A = amplitudes(kind, ratio, tolerance)
        half = 0.5 / (hertz * np.sqrt(1.0 - ratio**2))
        found = found.then(Shaper(A, half * np.arange(len(A))))
    return found
