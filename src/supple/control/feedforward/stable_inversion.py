"""Stable inversion: what the coordinates must do so that outputs follow a path exactly, deformation included.

The zero dynamics ẋ = f(t, x), x = (δ, δ̇), have exponents that grow; of all their solutions one alone stays bounded. It
leaves rest before the path begins, along what grows, and returns to it after the path ends, along what decays:

    L_s (x(-T₁) - x_begin) = 0,   L_u (x(T + T₂) - x_end) = 0                                     [Devasia 1996]

a two-point problem, solved at all instants together. Joints begin to move before the tip: pre-actuation, of a few 1/λ.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array
from supple.control.feedforward.causal_path import causal_path
from supple.control.feedforward.led_outputs import Course, LedOutputs
from supple.control.feedforward.output_path import output_path
from supple.control.feedforward.planned_motion import PlannedMotion, planned
from supple.control.feedforward.two_point import TwoPoint
from supple.control.feedforward.zero_dynamics import Split, ZeroDynamics
from supple.diagnostics import InputError, NumericalError, SuppleNote
from supple.diagnostics.arguments import require_arguments
from supple.reduced.model import ReducedModel

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
    last = _standstill(model, ends, courses[0].value)
    theta, delta = (Course(*(part[:last] for part in course)) for course in courses)
    return planned(model, led, wanted.delayed(late), times[:last], (theta, delta), starts.exponents)


def _bounded(
    zero: ZeroDynamics, times: Array, splits: tuple[Split, Split], rests: tuple[Array, Array]
) -> tuple[Course, Course]:
    """θ and δ at times (N,): Newton's method, from the deformation at rest."""
    wanted = Course(*zero.wanted.sampled(times).transpose(1, 0, 2)[:3])
    theta = Course(*zero.nominal.sampled(times).transpose(1, 0, 2)[:3])
    none = np.zeros((len(times), zero.m))
    delta = Course(none + rests[0], none, none)
    still = np.zeros(zero.m)
    aims = [np.concatenate([delta, still]) for delta in rests]
    solver, last = None, np.inf
    for round_ in range(_ITERATIONS):
        theta, left = zero.led(wanted, delta, theta)
        if solver is None or round_ == 1:  # the second time about the deformed motion
            solver = TwoPoint(
                times, _matrices(zero, times, wanted, theta, delta), splits[0].decaying, splits[1].growing
            )
        ends = [np.concatenate([delta.value[k], delta.rate[k]]) for k in (0, -1)]
        change = solver.solve(-left, aims[0] - ends[0], aims[1] - ends[1])
        delta = Course(*(part + step for part, step in zip(delta, change, strict=True)))
        size = float(np.abs(change.value).max()) / float(np.abs(delta.value).max() + 1e-300)
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
    zero: ZeroDynamics, times: Array, wanted: Course, theta: Course, delta: Course
) -> tuple[Array, Array, Array]:
    """M̃, D̃, K̃ (N, m, m) at all instants, from some of them: they change slowly, and Newton's method forgives."""
    some = np.unique(np.linspace(0, len(times) - 1, min(len(times), _SLOPES)).astype(int))
    found = zero.matrices(*(Course(*(part[some] for part in course)) for course in (wanted, theta, delta)))
    M, D, K = (
        np.stack([np.interp(times, times[some], entry) for entry in part.reshape(len(some), -1).T], axis=-1).reshape(
            len(times), zero.m, zero.m
        )
        for part in found
    )
    return M, D, K


def _standstill(model: ReducedModel, ends: Split, theta: Array) -> int:
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
