"""Piecewise polynomials in time as arrays for kernels:  x(t) = Σ_k c_pk (t - t_p)^k,   t_p ≤ t < t_{p+1}."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.array_types import Array
from supple.compilation import kernel


class PolynomialPieces(NamedTuple):
    """Breaks and coefficients of n functions; the outer pieces extend beyond the first and the last break.

    breaks       : (P + 1,) rising times t_p, s
    coefficients : (P, d + 1, n) of 1, τ, τ², ..., τ = t - t_p
    """

    breaks: Array
    coefficients: Array

    def at(self, times: Array) -> Array:
        """Return values (N, n) at times (N,)."""
        piece = np.clip(np.searchsorted(self.breaks, times, side="right") - 1, 0, len(self.breaks) - 2)
        tau = (times - self.breaks[piece])[:, None]
        values = np.zeros((len(times), self.coefficients.shape[2]))
        for k in reversed(range(self.coefficients.shape[1])):
            values = values * tau + self.coefficients[piece, k]
        return values

    def add_constant(self, constant: Array) -> PolynomialPieces:
        """Return the functions plus a constant (n,)."""
        coefficients = np.array(self.coefficients)
        coefficients[:, 0] += constant
        return self._replace(coefficients=coefficients)


@kernel
def polynomial_value(pieces, t, values):
    """Compute x(t) into values (n,)."""
    breaks, c = pieces.breaks, pieces.coefficients
    piece = np.searchsorted(breaks, t, side="right") - 1
    piece = min(max(piece, 0), breaks.shape[0] - 2)
    tau, top = t - breaks[piece], c.shape[1] - 1
    for n in range(values.shape[0]):
        value = c[piece, top, n]
        for k in range(top - 1, -1, -1):
            value = value * tau + c[piece, k, n]
        values[n] = value


@kernel
def polynomial_rate(pieces, t, rates):
    """Compute ẋ(t) into rates (n,)."""
    breaks, c = pieces.breaks, pieces.coefficients
    piece = np.searchsorted(breaks, t, side="right") - 1
    piece = min(max(piece, 0), breaks.shape[0] - 2)
    tau, top = t - breaks[piece], c.shape[1] - 1
    for n in range(rates.shape[0]):
        rate = top * c[piece, top, n]
        for k in range(top - 1, 0, -1):
            rate = rate * tau + k * c[piece, k, n]
        rates[n] = rate
