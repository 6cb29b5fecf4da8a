"""Resonance frequencies that a run shows: peaks of the spectrum of what vibrates in it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_PADDED = 8  # times as long with zeros behind: as many more points of the spectrum
_LEAST = 10.0**-3  # of the largest power: below, a peak may be a side lobe of Hann's window, whose first is at -31 dB
_CYCLES = 3.0  # within the run: what is slower is no vibration but the motion itself
_SAME = 0.1  # of a frequency: how far its counterpart may be
_SLOW = 3  # degree of the polynomial that stands for the slow part


def power_spectrum(time: Array, signals: Array) -> tuple[Array, Array]:
    """Frequencies (F,), Hz, and the power there of all signals (N, k) together, each of unit size: (F,).

    The slow part is taken off as a cubic, and what is left weighed with Hann's window.
    """
    if len(time) < 2 * _SLOW + 2 or not signals.shape[1]:
        return np.zeros(0), np.zeros(0)
    even = np.linspace(time[0], time[-1], len(time))
    x = np.stack([np.interp(even, time, column) for column in signals.T], axis=1)
    unit = np.linspace(-1.0, 1.0, len(even))
    x = x - np.polynomial.chebyshev.chebval(unit, np.polynomial.chebyshev.chebfit(unit, x, _SLOW)).T
    size = np.abs(x).max(axis=0)
    x = x[:, size > 1e-9 * size.max(initial=0.0)] / size[size > 1e-9 * size.max(initial=0.0)]
    points = _PADDED * 2 ** int(np.ceil(np.log2(len(even))))
    spectrum = np.fft.rfft(x * np.hanning(len(even))[:, None], points, axis=0)
    return np.fft.rfftfreq(points, even[1] - even[0]), np.asarray((np.abs(spectrum) ** 2).sum(axis=1))


def resonances(time: Array, signals: Array) -> Array:
    """Frequencies (r,), Hz, rising, of the peaks of the power spectrum of signals (N, k) at times (N,).

    A parabola through the logarithms of three points gives the place of a peak between them.
    """
    frequency, power = power_spectrum(time, signals)
    if not len(power) or not power.max() > 0.0:
        return np.zeros(0)
    inner = np.arange(1, len(power) - 1)
    high = power[inner]
    peak = (high > power[:-2]) & (high >= power[2:]) & (high > _LEAST * power.max())
    found = inner[peak & (frequency[inner] * (time[-1] - time[0]) > _CYCLES)]
    low, middle, up = (np.log(power[found + shift]) for shift in (-1, 0, 1))
    offset = 0.5 * (low - up) / (low - 2.0 * middle + up)
    return np.asarray(frequency[1] * (found + offset))


def counterparts(wanted: Array, among: Array) -> Array:
    """Of each wanted frequency (r,) the nearest among others, where that is close; else nan."""
    if not len(among):
        return np.full(len(wanted), np.nan)
    nearest = among[np.abs(among[None, :] - wanted[:, None]).argmin(axis=1)]
    return np.where(np.abs(nearest - wanted) <= _SAME * wanted, nearest, np.nan)
