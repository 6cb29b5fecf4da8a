"""Forces of the actuators over a run: linear between breaks, constant before the first and after the last.

Callables become piecewise polynomials that are fine enough for any step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from supple.array_types import Array
from supple.diagnostics import InputError, require_known
from supple.diagnostics.arguments import real_numbers
from supple.integration.time_steps import longest_step, require_rising

Signal = float | ArrayLike | Callable[[float], float]
Inputs = Mapping[str, Signal] | ArrayLike | None

_SAME = 1e-6  # fraction of an interval below which two times are equal
_INTERVALS = 8  # intervals of a piece of a callable, sampled at their ends; also the degree of its polynomial
_RESOLVED = 1e-9  # largest error of a polynomial of two degrees less at the samples, over the largest value
_NARROWEST = 1.0 / 512.0  # of the longest step: pieces around a jump or a kink are not halved any further
_LOTS = 2000  # pieces shorter than the longest step that are halved together: more are noise, linear between samples


class InputCourse(NamedTuple):
    """Inputs as polynomials on pieces, continuous: samples for the marches that follow a tolerance.

    x runs from 0 to 1 over each piece, unlike τ of `PolynomialPieces` in s: coefficients of degree 8 then have similar
    magnitude, however short the pieces around a jump are. Outside the pieces, inputs are constant.

    stops  : (S,) times at which a step must end, s: where the inputs may have kinks
    breaks : (B,) ends of the pieces, s
    pieces : (B - 1, degree + 1, a) coefficients of 1, x, x², ..., x = 0 ... 1 over the piece
    """

    stops: Array
    breaks: Array
    pieces: Array

    def at(self, times: Array) -> Array:
        """Return the inputs (N, a) at times (N,)."""
        piece = np.clip(np.searchsorted(self.breaks, times, side="right") - 1, 0, len(self.pieces) - 1)
        begin, end = self.breaks[piece], self.breaks[piece + 1]
        x = np.clip((times - begin) / (end - begin), 0.0, 1.0)[:, None]
        found = self.pieces[piece, -1]
        for power in range(self.pieces.shape[1] - 2, -1, -1):
            found = found * x + self.pieces[piece, power]
        return found


def followed_course(
    names: Sequence[str], inputs: Inputs, times: ArrayLike | None, grid: Array, step: float | None, *, fixed: bool
) -> InputCourse:
    """Return inputs for steps that follow a tolerance, or for fixed steps.

    Values at times are linear between them. For fixed steps callables are too, between samples at every step. Otherwise
    they are polynomials of degree 8 through 9 samples on pieces that are halved until a polynomial of degree 6
    deviates from the samples by less than 1e-9 of the largest value; around jumps and kinks they are linear between
    samples about 1/4000 of the longest step apart.

    names, inputs, times, grid : as of `input_course`; step : longest or fixed one, s; None leaves it open
    """
    if fixed or not has_callables(inputs):
        return _linear(*input_course(names, inputs, times, grid, step))
    given = _by_name(names, inputs)
    knots = grid if times is None else _knots(times)
    begin, end = float(grid[0]), float(grid[-1])
    longest = min(longest_step(end - begin), step or np.inf)
    arrays = any(not callable(signal) and np.ndim(signal) for signal in given.values())
    ends = np.concatenate([[begin], knots[(knots > begin) & (knots < end)] if arrays else [], [end]])

    def sample_inputs(at: Array) -> Array:
        found = np.stack([_sample_signal(name, given.get(name, 0.0), at, knots) for name in names], axis=-1)
        _require_finite(found)
        return found

    return _resolve(sample_inputs, _divide(ends, _INTERVALS * longest), longest, ends)


def _linear(breaks: Array, values: Array) -> InputCourse:
    pieces = np.empty((len(breaks) - 1, 2, values.shape[1]))
    pieces[:, 0], pieces[:, 1] = values[:-1], values[1:] - values[:-1]
    return InputCourse(breaks, breaks, pieces)


def _resolve(sampled: Callable[[Array], Array], ends: Array, longest: float, kinks: Array) -> InputCourse:
    """Return pieces between ends (B,), halved until polynomials follow `sampled`, (N,) -> (N, a)."""
    powers = np.linspace(0.0, 1.0, _INTERVALS + 1)[:, None] ** np.arange(_INTERVALS + 1)
    through, lower = np.linalg.inv(powers), powers[:, :-2]
    missed = np.eye(_INTERVALS + 1) - lower @ np.linalg.pinv(lower)
    begin, width = ends[:-1], np.diff(ends)
    inner = begin[:, None] + width[:, None] * np.linspace(0.0, 1.0, _INTERVALS + 1)
    first = sampled(np.append(inner[:, :-1], ends[-1]))
    at = np.arange(len(begin))[:, None] * _INTERVALS + np.arange(_INTERVALS + 1)
    V = first[at]
    size = np.abs(first).max(axis=0)
    begins, coefficients, stops = [], [], [kinks]
    while len(begin):
        rough = (np.abs(missed @ V).max(axis=1) > _RESOLVED * size).any(axis=1)
        begins.append(begin[~rough])
        coefficients.append(through @ V[~rough])
        few = rough.sum() <= _LOTS
        ended = rough & (width <= (1.0 + _SAME) * (_NARROWEST if few else 1.0) * longest)
        knots = begin[ended, None] + width[ended, None] * np.linspace(0.0, 1.0, _INTERVALS + 1)
        straight = np.zeros((knots.shape[0], _INTERVALS, _INTERVALS + 1, V.shape[2]))
        straight[:, :, 0], straight[:, :, 1] = V[ended, :-1], np.diff(V[ended], axis=1)
        begins.append(knots[:, :-1].reshape(-1))
        coefficients.append(straight.reshape(-1, *straight.shape[2:]))
        stops.append(knots.reshape(-1))
        begin, width, V = _halve(sampled, begin[rough & ~ended], width[rough & ~ended], V[rough & ~ended])
        size = np.maximum(size, np.abs(V).max(axis=(0, 1), initial=0.0))
    starts, pieces = np.concatenate(begins), np.concatenate(coefficients)
    order = np.argsort(starts)
    return InputCourse(
        np.unique(np.concatenate(stops)), np.append(starts[order], ends[-1]), np.ascontiguousarray(pieces[order])
    )


def _halve(sampled: Callable[[Array], Array], begin: Array, width: Array, V: Array) -> tuple[Array, Array, Array]:
    """Return both halves of pieces with samples V (N, 9, a), of which every second sample is known."""
    if not len(begin):
        return begin, width, V
    half = _INTERVALS // 2
    between = (np.arange(_INTERVALS) + 0.5) / _INTERVALS
    new = sampled((begin[:, None] + width[:, None] * between).reshape(-1)).reshape(len(begin), _INTERVALS, -1)
    halves = np.empty((len(begin), 2, *V.shape[1:]))
    for side, first in enumerate((0, half)):
        halves[:, side, ::2] = V[:, first : first + half + 1]
        halves[:, side, 1::2] = new[:, first : first + half]
    begins = np.stack([begin, begin + 0.5 * width], axis=1)
    return begins.reshape(-1), np.repeat(0.5 * width, 2), halves.reshape(-1, *V.shape[1:])


def input_course(
    names: Sequence[str], inputs: Inputs, times: ArrayLike | None, grid: Array, spacing: float | None
) -> tuple[Array, Array]:
    """Return breaks (B,) and values there (B, a).

    names   : of the actuators; inputs : by name a number, values at `times` or a callable, or (a,) or (N, a) values
    times   : (N,) s, of the values. Default: those of the results, `grid`
    spacing : longest time between samples of callables, s; None samples them at the results alone
    """
    given = _by_name(names, inputs)
    knots = grid if times is None else _knots(times)
    if has_callables(given):
        fine = grid if spacing is None else _divide(grid, spacing)
        breaks = fine if times is None else merge_times(fine, knots, _SAME * float(np.diff(fine).min()))
    elif all(np.ndim(signal) == 0 for signal in given.values()):  # type: ignore[arg-type]
        breaks = grid[[0, -1]]
    else:
        breaks = _snap_to_results(knots, grid)
    values = np.zeros((len(breaks), len(names)))
    for i, name in enumerate(names):
        values[:, i] = _sample_signal(name, given.get(name, 0.0), breaks, knots)
    _require_finite(values)
    return breaks, values


def _require_finite(values: Array) -> None:
    if not np.isfinite(values).all():
        raise InputError("values are not finite", part="inputs", hint="check the file or the callable")


def has_callables(inputs: Inputs) -> bool:
    """Return whether any of the inputs is a callable of time."""
    return isinstance(inputs, Mapping) and any(callable(signal) for signal in inputs.values())


def _by_name(names: Sequence[str], inputs: Inputs) -> Mapping[str, Signal]:
    if inputs is None:
        return {}
    if isinstance(inputs, Mapping):
        for name in inputs:
            require_known("actuator", name, names, part="inputs")
        return inputs
    rows = real_numbers("inputs", inputs)
    if rows.ndim not in (1, 2) or rows.shape[-1] != len(names):
        raise InputError(
            f"the shape is {rows.shape}", part="inputs", hint=f"give ({len(names)},) or (N, {len(names)}) values"
        )
    return dict(zip(names, rows.T, strict=True))


def _knots(times: ArrayLike) -> Array:
    knots = real_numbers("input_times", times, finite=False)
    require_rising("input_times", knots)
    return knots


def _sample_signal(name: str, signal: Signal, breaks: Array, knots: Array) -> Array:
    if callable(signal):
        return np.array([float(signal(float(time))) for time in breaks])
    array = real_numbers(f'input "{name}"', signal)
    if array.ndim == 0:
        return np.full(len(breaks), float(array))
    if array.shape != knots.shape:
        raise InputError(
            f"values of shape {array.shape} for {len(knots)} times", part=f'input "{name}"',
            hint="give input_times of the same length, a number, or a callable of time",
        )  # fmt: skip
    return np.interp(breaks, knots, array)


def _snap_to_results(knots: Array, grid: Array) -> Array:
    """Return the knots, with those that equal a result up to rounding moved to it, to avoid steps of zero length."""
    after = np.clip(np.searchsorted(grid, knots), 1, len(grid) - 1)
    near = np.where(np.abs(knots - grid[after - 1]) < np.abs(knots - grid[after]), grid[after - 1], grid[after])
    apart = _SAME * min(float(np.diff(knots).min()), float(np.diff(grid).min()))
    return np.where(np.abs(knots - near) <= apart, near, knots)


def _divide(grid: Array, spacing: float) -> Array:
    """Return the grid with each interval divided into equal ones of at most the spacing, as by steps that end there."""
    counts = np.maximum(1, np.ceil(np.diff(grid) / spacing - _SAME)).astype(int)
    parts = [np.linspace(a, b, n, endpoint=False) for a, b, n in zip(grid[:-1], grid[1:], counts, strict=True)]
    return np.concatenate([*parts, grid[-1:]])


def merge_times(first: Array, second: Array, apart: float) -> Array:
    """Return all of the first times, and those of the second that are further from each of them."""
    after = np.searchsorted(first, second)
    left, right = first[np.maximum(after - 1, 0)], first[np.minimum(after, len(first) - 1)]
    new = second[np.minimum(np.abs(second - left), np.abs(second - right)) > apart]
    return np.sort(np.concatenate([first, new]))
