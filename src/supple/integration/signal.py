"""Forces over time by kind of signal: a step, a sine or a chirp, as breaks between which they are linear.

    step   f(t) = F
    sine   f(t) = F sin(2π f τ + φ),                               τ = t - t_0
    chirp  f(t) = F sin(2π (f_0 τ + ½ (f_1 - f_0) τ²/T) + φ),      T = t_1 - t_0

for t_0 ≤ t ≤ t_1, and zero before and after. With a rise, F grows linearly from zero at the beginning.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from supple.array_types import Array

KINDS = ("step", "sine", "chirp")
JUMP = 1e-6  # s: default duration of a jump of a force
SAMPLES = 40  # samples per period without a step


def signal_breaks(signal: Mapping[str, Any], end: float, spacing: float | None) -> tuple[Array, Array]:
    """Return times (B,) and values there (B,) of a signal over a run.

    signal  : one of step, sine and chirp with its size, N or N m, and its data: at, until, rise (s), frequency, from,
    to
              (Hz), phase (rad)
    end     : of the run, s, and of a signal without an end
    spacing : s, of the samples of oscillating signals, whose times are its multiples; SAMPLES per period if None
    """
    kind = next(name for name in KINDS if signal.get(name) is not None)
    size, begin, last = float(signal[kind]), float(signal.get("at") or 0.0), float(signal.get("until") or end)
    rise = float(signal.get("rise") or 0.0)
    if kind == "step":
        knots = [(begin, 0.0 if begin > 0.0 or rise > 0.0 else size), (begin + (rise or JUMP), size)]
        if signal.get("until") is not None and last < end:
            knots += [(last, size), (last + (rise or JUMP), 0.0)]
        times, values = (np.array(column) for column in zip(*knots, strict=True))
        return times, values
    first = float(signal["frequency" if kind == "sine" else "from"])
    final = first if kind == "sine" else float(signal["to"])
    fine = spacing if spacing is not None else 1.0 / (SAMPLES * max(first, final))
    inner = fine * np.arange(np.floor(begin / fine) + 1.0, np.ceil(last / fine))
    times = np.concatenate([[begin], inner, [last]])
    passed = times - begin
    turns = first * passed + 0.5 * (final - first) * passed**2 / (last - begin)
    values = size * np.sin(2.0 * np.pi * turns + float(signal.get("phase") or 0.0))
    if rise > 0.0:
        values *= np.minimum(1.0, passed / rise)
    if last < end and values[-1] != 0.0:
        times, values = np.append(times, last + JUMP), np.append(values, 0.0)
    if begin > 0.0 and values[0] != 0.0:
        times, values = np.insert(times, 0, begin - JUMP), np.insert(values, 0, 0.0)
    return times, values


def joined_inputs(
    inputs: Mapping[str, Any], times: Any, end: float, spacing: float | None
) -> tuple[dict[str, Any], Array | None]:
    """Return numbers, values at `times` and signals, all on the same times; None as times if all are numbers."""
    given = None if times is None else np.asarray(times, dtype=float)
    courses: dict[str, tuple[Any, Array]] = {
        name: signal_breaks(value, end, spacing) if isinstance(value, Mapping) else (given, np.asarray(value, float))
        for name, value in inputs.items()
        if isinstance(value, Mapping) or np.ndim(value)
    }
    if not any(isinstance(value, Mapping) for value in inputs.values()):
        return {name: list(value) if np.ndim(value) else float(value) for name, value in inputs.items()}, given
    knots = np.unique(np.concatenate([breaks for breaks, _ in courses.values()]))
    knots = knots[np.append(True, np.diff(knots) > 1e-3 * JUMP)]
    values = {name: np.interp(knots, breaks, course) for name, (breaks, course) in courses.items()}
    return {name: values.get(name, value) for name, value in inputs.items()}, knots
