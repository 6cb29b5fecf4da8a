"""Forces of the actuators over a run: linear between breaks, constant before the first and after the last."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.diagnostics import InputError, nearest
from supple.diagnostics.arguments import real_numbers
from supple.integration.result_times import require_rising

Array = NDArray[np.float64]
Signal = float | ArrayLike | Callable[[float], float]
Inputs = Mapping[str, Signal] | ArrayLike | None

_SAME = 1e-6  # of the interval between two times: closer ones are one


def input_course(
    names: Sequence[str], inputs: Inputs, times: ArrayLike | None, grid: Array, spacing: float | None
) -> tuple[Array, Array]:
    """Breaks (B,) and values there (B, a).

    names   : of the actuators; inputs : by name a number, values at `times` or a callable, or (a,) or (N, a) values
    times   : (N,) s, of the values; those of the results, `grid`, if left out
    spacing : s, at most, between samples of callables; None samples them at the results alone
    """
    given = _by_name(names, inputs)
    knots = grid if times is None else _knots(times)
    if any(callable(signal) for signal in given.values()):
        fine = grid if spacing is None else _divided(grid, spacing)
        breaks = fine if times is None else merged(fine, knots, _SAME * float(np.diff(fine).min()))
    elif all(np.ndim(signal) == 0 for signal in given.values()):  # type: ignore[arg-type]
        breaks = grid[[0, -1]]
    else:
        breaks = _snapped(knots, grid)
    values = np.zeros((len(breaks), len(names)))
    for i, name in enumerate(names):
        values[:, i] = _sampled(name, given.get(name, 0.0), breaks, knots)
    if not np.isfinite(values).all():
        raise InputError("it holds values that are not finite", part="inputs", hint="check the file or the callable")
    return breaks, values


def _by_name(names: Sequence[str], inputs: Inputs) -> Mapping[str, Signal]:
    if inputs is None:
        return {}
    if isinstance(inputs, Mapping):
        for name in inputs:
            if name not in names:
                raise InputError(f'there is no actuator "{name}"', part="inputs", hint=nearest(name, names))
        return inputs
    rows = real_numbers("inputs", inputs)
    if rows.ndim not in (1, 2) or rows.shape[-1] != len(names):
        raise InputError(
            f"has the shape {rows.shape}", part="inputs", hint=f"give ({len(names)},) or (N, {len(names)}) values"
        )
    return dict(zip(names, rows.T, strict=True))


def _knots(times: ArrayLike) -> Array:
    knots = real_numbers("input_times", times, finite=False)
    require_rising("input_times", knots)
    return knots


def _sampled(name: str, signal: Signal, breaks: Array, knots: Array) -> Array:
    if callable(signal):
        return np.array([float(signal(float(time))) for time in breaks])
    array = real_numbers(f'input "{name}"', signal)
    if array.ndim == 0:
        return np.full(len(breaks), float(array))
    if array.shape != knots.shape:
        raise InputError(
            f"it has {array.shape} values for {len(knots)} times", part=f'input "{name}"',
            hint="give input_times of the same length, a number, or a callable of time",
        )  # fmt: skip
    return np.interp(breaks, knots, array)


def _snapped(knots: Array, grid: Array) -> Array:
    """Knots, those that differ from a result by rounding at that result: a step between the two would be no step."""
    after = np.clip(np.searchsorted(grid, knots), 1, len(grid) - 1)
    near = np.where(np.abs(knots - grid[after - 1]) < np.abs(knots - grid[after]), grid[after - 1], grid[after])
    apart = _SAME * min(float(np.diff(knots).min()), float(np.diff(grid).min()))
    return np.where(np.abs(knots - near) <= apart, near, knots)


def _divided(grid: Array, spacing: float) -> Array:
    """The grid, each of its intervals divided into equal ones of at most the spacing, as steps that end there do."""
    counts = np.maximum(1, np.ceil(np.diff(grid) / spacing - _SAME)).astype(int)
    parts = [np.linspace(a, b, n, endpoint=False) for a, b, n in zip(grid[:-1], grid[1:], counts, strict=True)]
    return np.concatenate([*parts, grid[-1:]])


def merged(first: Array, second: Array, apart: float) -> Array:
    """All of the first times, and those of the second that are further from each of them."""
    after = np.searchsorted(first, second)
    left, right = first[np.maximum(after - 1, 0)], first[np.minimum(after, len(first) - 1)]
    new = second[np.minimum(np.abs(second - left), np.abs(second - right)) > apart]
    return np.sort(np.concatenate([first, new]))
