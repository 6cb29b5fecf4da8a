"""Shaped references: with impulses at fixed delays, or at delays that follow the modes along the motion.

The frequencies of a mechanism change on its way. A vibration that was raised at time τ has at t the phase
φ(t) - φ(τ), φ = ∫ ω_d dt; parts of the motion cancel if they are half a turn of it apart, not half a period:

    θ_s(t) = Σ_i A_i θ_d(g_i(t)),   φ(g_i(t)) = φ(t) - i π,   ġ = ω_d(t)/ω_d(g),   g̈ = (ω̇_d(t) - ω̇_d(g) ġ²)/ω_d(g)

with ω_d along θ_s itself, found by iteration. Amplitudes are those of the mean damping along the motion.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline, PPoly

from supple.array_types import Array
from supple.control.feedforward.local_modes import local_modes
from supple.control.feedforward.reference import Reference, reference, through
from supple.control.feedforward.shaper import Shaper, amplitudes, shaper
from supple.diagnostics import InputError
from supple.diagnostics.arguments import require_arguments
from supple.reduced.model import ReducedModel
from supple.trajectories.piecewise_polynomials import common_breaks, on_breaks
from supple.trajectories.trajectory import Trajectory

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
    given = _pieces(motion, model)
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
    long = by.delay + 1.0
    first, last = given.at(-np.inf)[0], given.at(np.inf)[0]
    degree = given.coefficients.shape[1]
    still = np.zeros((2, degree, 1, len(given.coordinates)))
    still[0, -1, 0], still[1, -1, 0] = first, last
    c = np.concatenate([still[0], given.pieces.c, still[1]], axis=1)
    x = np.concatenate([[given.begin - long], given.breaks, [given.end + long]])
    breaks = common_breaks([given.breaks + t for t in by.delays])
    total = np.zeros((degree, len(breaks) - 1, len(given.coordinates)))
    for A, t in zip(by.amplitudes, by.delays, strict=True):
        total += A * on_breaks(PPoly(c, x + t), breaks, degree)
    return Reference(given.coordinates, breaks, np.ascontiguousarray(total[::-1].transpose(1, 0, 2)), given.units)


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
        reached = through(_delayed(given, parts, phases, times))
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


def _pieces(motion: Any, model: ReducedModel | None) -> Reference:
    found = reference(motion, model)
    if not isinstance(found, Reference):
        raise InputError(
            "a callable motion has no end", part="input shaping", hint="give reference(motion, model, until=...)"
        )
    return found
