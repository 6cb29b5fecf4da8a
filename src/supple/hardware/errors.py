"""Errors of instruments: noise with its spectrum, a bias, and a zero that wanders, all drawn from a seed."""

from __future__ import annotations

from zlib import crc32

import numpy as np

from supple.array_types import Array
from supple.hardware.instrument import Instrument

_NOISE, _WALK = 0, 1  # streams of their own: more of one leaves the other as it is


def reading_errors(instrument: Instrument, sample_time: float, count: int, seed: int) -> Array:
    """bias + walk + noise (count,) of its readings, `sample_time` apart.

    Coloured noise of the RMS σ and the corner f is the first-order process that keeps σ from the first reading on,

        n_k+1 = φ n_k + σ √(1 - φ²) w_k,   φ = exp(-2π f T),   n_0 = σ w_0

    white noise has φ = 0, and the walk is b_k+1 = b_k + walk √T w_k from the bias on. w_k are standard normal numbers
    that hang on the seed, on the output's name and on k alone, whatever else is measured and however long.
    """
    found = np.full(count, instrument.bias)
    if instrument.noise > 0.0:
        w = _normal(instrument.output, _NOISE, seed, count)
        f = instrument.noise_frequency
        phi = 0.0 if f is None else float(np.exp(-2.0 * np.pi * f * sample_time))
        w[1:] *= np.sqrt(1.0 - phi**2)
        from scipy.signal import lfilter

        found += instrument.noise * lfilter([1.0], [1.0, -phi], w)
    if instrument.walk > 0.0:
        steps = _normal(instrument.output, _WALK, seed, count)
        found[1:] += instrument.walk * np.sqrt(sample_time) * np.cumsum(steps[:-1])
    return found


def _normal(output: str, stream: int, seed: int, count: int) -> Array:
    return np.random.default_rng([seed, crc32(output.encode()), stream]).standard_normal(count)
