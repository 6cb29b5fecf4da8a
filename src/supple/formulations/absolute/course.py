"""Courses in time: piecewise cubics for the inputs and the prescribed coordinates."""

from __future__ import annotations

import numpy as np

from supple.compilation import kernel


@kernel
def polynomial(breaks, coefficients, t, values):
    """Piecewise cubic at t: Σ_k c[k, piece] (t - breaks[piece])^(3 - k), values (n,)."""
    piece = np.searchsorted(breaks, t, side="right") - 1
    piece = min(max(piece, 0), breaks.shape[0] - 2)
    x = t - breaks[piece]
    for n in range(values.shape[0]):
        c = coefficients
        values[n] = ((c[0, piece, n] * x + c[1, piece, n]) * x + c[2, piece, n]) * x + c[3, piece, n]


@kernel
def slope(breaks, coefficients, t, values):
    """Rate of the same."""
    piece = np.searchsorted(breaks, t, side="right") - 1
    piece = min(max(piece, 0), breaks.shape[0] - 2)
    x = t - breaks[piece]
    for n in range(values.shape[0]):
        c = coefficients
        values[n] = (3.0 * c[0, piece, n] * x + 2.0 * c[1, piece, n]) * x + c[2, piece, n]
