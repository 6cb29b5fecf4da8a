"""Units of coordinates, as a region is spoken of, and the smaller ones that may have been meant."""

from __future__ import annotations

import math

Interval = tuple[float, float]

SMALLER = {"rad": {"deg": math.pi / 180.0}, "m": {"mm": 1e-3, "cm": 1e-2}}
"""unit -> units in which a number is easily written without saying so."""


def spoken(interval: Interval, unit: str) -> str:
    """`95 to 145 rad`, or one value where both are the same."""
    a, b = interval
    return f"{a:.6g} {unit}" if a == b else f"{a:.6g} to {b:.6g} {unit}"


def interval_text(name: str, interval: Interval, unit: str) -> str:
    """`left=95deg:145deg`, as the command line takes it."""
    a, b = interval
    return f"{name}={a:.6g}{unit}" if a == b else f"{name}={a:.6g}{unit}:{b:.6g}{unit}"
