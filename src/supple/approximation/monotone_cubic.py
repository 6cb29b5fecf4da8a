"""Monotone cubic interpolation through values at knots, and its slopes with respect to these values.

[Fritsch and Butland 1984]: slopes at knots are weighted harmonic means of those of the two spans, 0 at a turn, so that
the curve stays within its values; beyond the ends it is constant. It is the curve of tables in mechanism files.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array

_STEP = 1e-40  # complex step, with an error below rounding


class CubicAt(NamedTuple):
    """Value of the cubic at a point, its slope, and its slopes with respect to the values at the knots (n,)."""

    value: float
    slope: float
    by_values: Array


def monotone_cubic(at: Array, values: Array, x: float) -> CubicAt:
    """Evaluate the cubic at x; knots `at` (n,) rise."""
    at, values = np.asarray(at, float), np.asarray(values, float)
    n = len(at)
    found, slope = _at(at, values.astype(complex), x)
    by_values = np.empty(n)
    for i in range(n):
        stepped = values.astype(complex)
        stepped[i] += 1j * _STEP
        by_values[i] = _at(at, stepped, x)[0].imag / _STEP
    return CubicAt(float(found.real), float(slope.real), by_values)


def _at(at: Array, y: NDArray[np.complex128], x: float) -> tuple[Any, Any]:
    if x <= at[0] or x >= at[-1]:
        return y[0 if x <= at[0] else -1], 0j
    i = int(np.searchsorted(at, x, side="right")) - 1
    h, d = at[i + 1] - at[i], _slopes(at, y)
    u, rise = (x - at[i]) / h, y[i + 1] - y[i]
    one, other = d[i] * h - rise, rise - d[i + 1] * h
    bend = (1.0 - u) * one + u * other
    value = y[i] + u * rise + u * (1.0 - u) * bend
    return value, (rise + (1.0 - 2.0 * u) * bend + u * (1.0 - u) * (other - one)) / h


def _slopes(at: Array, y: NDArray[np.complex128]) -> NDArray[np.complex128]:
    h = np.diff(at)
    m = np.diff(y) / h
    if len(m) == 1:
        return np.array([m[0], m[0]])
    d = np.zeros(len(at), dtype=complex)
    for k in range(1, len(m)):
        if m[k - 1].real * m[k].real > 0.0:
            w1, w2 = 2.0 * h[k] + h[k - 1], h[k] + 2.0 * h[k - 1]
            d[k] = (w1 + w2) / (w1 / m[k - 1] + w2 / m[k])
    d[0] = _end(h[0], h[1], m[0], m[1])
    d[-1] = _end(h[-1], h[-2], m[-1], m[-2])
    return d


def _end(h0: float, h1: float, m0: complex, m1: complex) -> complex:
    """Return the slope of the parabola through three knots, limited where it would overshoot."""
    d = ((2.0 * h0 + h1) * m0 - h0 * m1) / (h0 + h1)
    if np.sign(d.real) != np.sign(m0.real):
        return 0j
    return 3.0 * m0 if np.sign(m0.real) != np.sign(m1.real) and abs(d.real) > 3.0 * abs(m0.real) else d
