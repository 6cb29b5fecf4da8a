"""Resonance frequencies that a run shows, by a fit of damped oscillations to what vibrates in it.

    e(t) = Σ_k c_k exp(s_k t),   s_k = -ζ_k ω_k ± i ω_k √(1 - ζ_k²)

The poles are those of the shift that carries the signal subspace of a Hankel matrix of samples one step on (matrix
pencil; Hua and Sarkar 1990). Second differences stand for the samples, so that slow motion weighs little.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array

_SAMPLES = 600  # at most, from the beginning
_LEAST = 24  # samples: fewer show nothing
_RANK = 1e-5  # of the largest singular value: below, it is no signal
_MOST = 24  # poles
_WEAK = 0.01  # of the largest amplitude
_DAMPED = 0.3  # ratio above which a pole is no resonance
_CYCLES = 2.0  # within the samples: what is slower is the motion itself
_ONE = 0.02  # of a frequency: closer ones are one
_SAME = 0.1  # of a frequency: how far its counterpart may be


def resonances(time: Array, signals: Array) -> Array:
    """Undamped frequencies |s_k|/2π (r,), Hz, rising, of the oscillations in signals (N, k) at even times (N,)."""
    if len(time) < _LEAST or not signals.shape[1]:
        return np.zeros(0)
    even = np.linspace(time[0], time[-1], len(time))
    x = np.stack([np.interp(even, time, column) for column in signals.T], axis=1)
    a = np.diff(x, 2, axis=0)[:_SAMPLES]
    size = np.abs(a).max(axis=0)
    a = a[:, size > _RANK * size.max(initial=0.0)]
    if not a.size:
        return np.zeros(0)
    step, count = float(even[1] - even[0]), len(a)
    poles, amplitudes = _poles(a)
    s = np.log(poles) / step
    omega = np.abs(s)
    kept = (s.imag > 0.0) & (-s.real < _DAMPED * omega) & (omega * step * count > 2.0 * np.pi * _CYCLES)
    kept &= amplitudes > _WEAK * amplitudes[s.imag > 0.0].max(initial=0.0)
    kept &= omega * step < 0.5 * np.pi  # four samples a period at least
    found: list[float] = []
    for k in np.flatnonzero(kept)[np.argsort(-amplitudes[kept])]:  # of poles that stand for one resonance the strongest
        if all(abs(omega[k] - other) > _ONE * other for other in found):
            found.append(float(omega[k]))
    return np.sort(found) / (2.0 * np.pi)


def _poles(a: Array) -> tuple[NDArray[np.complex128], Array]:
    """z_k of samples a (n, m) = Σ_k c_k z_k^i, and how much each has of them."""
    n = len(a)
    rows = n // 2
    hankel = np.hstack([np.lib.stride_tricks.sliding_window_view(column, n - rows + 1) for column in a.T])
    U, sigma, _ = np.linalg.svd(hankel, full_matrices=False)
    rank = min(_MOST, int((sigma > _RANK * sigma[0]).sum()))
    shift = np.linalg.lstsq(U[:-1, :rank], U[1:, :rank], rcond=None)[0]
    z = np.linalg.eigvals(shift).astype(complex)
    z = z[np.abs(z) > 1e-6]
    powers = z[None, :] ** np.arange(n)[:, None]
    shares = np.linalg.lstsq(powers, a.astype(complex), rcond=None)[0]
    return z, np.sqrt((np.abs(shares[:, None, :] * powers.T[:, :, None]) ** 2).sum(axis=(1, 2)))


def counterparts(wanted: Array, among: Array) -> Array:
    """Of each wanted frequency (r,) the nearest among others, where that is close; else nan."""
    if not len(among):
        return np.full(len(wanted), np.nan)
    nearest = among[np.abs(among[None, :] - wanted[:, None]).argmin(axis=1)]
    return np.where(np.abs(nearest - wanted) <= _SAME * wanted, nearest, np.nan)
