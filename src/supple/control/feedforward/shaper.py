"""Input shapers: a motion is given in parts, so that the vibrations that they raise cancel each other.

    θ_s(t) = Σ_i A_i θ_d(t - t_i),   Σ_i A_i = 1

For a mode of frequency ω and damping ratio ζ, with K = exp(-ζπ/√(1 - ζ²)) what half a period leaves of it and x the
delay by half a damped period, a shaper is a polynomial in x with P(1) = 1 and zeros at or about x = -1/K:

    ZV    (1 + K x) / (1 + K)                             nothing is left at ω                     [Singer 1990]
    ZVD   ZV², ZVDD  ZV³                                  nor does it begin to grow beside it
    EI    (1 + 2 K c x + K² x²) / (1 + 2 K c + K²)        V is left at ω, nothing at two beside it that decay as fast
          c = (2 K² - V (1 + K²)) / (2 K (K + V))                                                 [Singhose 1994]

With ζ = 0 the last is Singhose's (1 + V)/4, (1 - V)/2, (1 + V)/4. Shapers of several modes follow one another.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from supple.array_types import Array
from supple.diagnostics import InputError
from supple.diagnostics.arguments import real_numbers, require_arguments
from supple.kinds.registry import Registry
from supple.results.result import brief


@dataclass(frozen=True, eq=False)
class ShaperKind:
    """A way of shaping one mode.

    polynomial : (K, V) -> coefficients of 1, x, x², ..., whose sum may be anything; V is what may be left at ω
    """

    name: str
    says: str
    polynomial: Callable[[float, float], Sequence[float]]


def _apart(K: float, V: float) -> Sequence[float]:
    c = (2.0 * K**2 - V * (1.0 + K**2)) / (2.0 * K * (K + V))
    return 1.0, 2.0 * K * c, K**2


SHAPERS = Registry(
    "shaper", ShaperKind,
    ShaperKind("zv", "Nothing is left at the frequency.", lambda K, V: (1.0, K)),
    ShaperKind("zvd", "Nor does it grow at first beside it.", lambda K, V: (1.0, 2.0 * K, K**2)),
    ShaperKind("zvdd", "Nor at second.", lambda K, V: (1.0, 3.0 * K, 3.0 * K**2, K**3)),
    ShaperKind("ei", "V is left at the frequency, and nothing at two beside it.", _apart),
)  # fmt: skip


def amplitudes(kind: str, damping: float, tolerance: float) -> Array:
    """Of the impulses of a kind for one mode, the first without delay, each of the others half a period later."""
    if not 0.0 <= damping < 1.0:
        raise InputError(
            f"the damping ratio is {damping:g}", part="input shaping", hint="shape modes that vibrate: 0 <= ratio < 1"
        )
    if not 0.0 < tolerance < 1.0:
        raise InputError(
            f"{tolerance:g} of the vibration may be left", part="input shaping", hint="give a fraction, like 0.05"
        )
    K = float(np.exp(-damping * np.pi / np.sqrt(1.0 - damping**2)))
    A = np.array(SHAPERS[kind].polynomial(K, tolerance), dtype=float)
    return np.asarray(A / A.sum())


@dataclass(frozen=True, eq=False, repr=False)
class Shaper:
    """Impulses: amplitudes (q,) that add up to one, delays (q,) rising from 0, s."""

    amplitudes: Array
    delays: Array

    def __repr__(self) -> str:
        return brief("Shaper", f"of {len(self.amplitudes)} impulses, {self.delay:.4g} s")

    @property
    def delay(self) -> float:
        """By how much later a motion ends, s."""
        return float(self.delays[-1])

    def then(self, other: Shaper) -> Shaper:
        """Both, one after the other: their impulses are convolved."""
        A = np.multiply.outer(self.amplitudes, other.amplitudes).ravel()
        t = np.add.outer(self.delays, other.delays).ravel()
        order = np.argsort(t)
        return Shaper(A[order], t[order])

    def residual(self, frequency_hz: ArrayLike, damping_ratio: float = 0.0) -> Array:
        """What is left of the vibration of a mode after the last impulse, of that without shaping.

        |Σ A_i e^{(ζω + i ω_d)(t_i - t_q)}|
        """
        w = 2.0 * np.pi * np.asarray(frequency_hz, dtype=float)
        s = damping_ratio * w + 1j * w * np.sqrt(1.0 - damping_ratio**2)
        return np.asarray(np.abs(np.exp(np.multiply.outer(s, self.delays - self.delay)) @ self.amplitudes))


def shaper(
    kind: str, frequencies_hz: float | Sequence[float], damping_ratios: ArrayLike = 0.0, *, tolerance: float = 0.05
) -> Shaper:
    """A shaper for one or several modes.

    kind      : "zv", "zvd", "zvdd" or "ei": each forgives more wrong frequencies and arrives later
    tolerance : of "ei": the part of the vibration that may be left at the mode's own frequency
    """
    require_arguments(shaper, locals())
    frequencies = np.atleast_1d(np.asarray(frequencies_hz, dtype=float))
    ratios = real_numbers("damping ratios", damping_ratios)
    if ratios.shape not in ((), (1,), frequencies.shape):
        raise InputError(
            f"{ratios.size} for {len(frequencies)} frequencies", part="damping ratios", hint="give one, or one of each"
        )
    ratios = np.broadcast_to(ratios, frequencies.shape)
    found = Shaper(np.ones(1), np.zeros(1))
    for hertz, ratio in zip(frequencies.tolist(), ratios.tolist(), strict=True):
        if not (np.isfinite(hertz) and hertz > 0.0):
            raise InputError(f"a frequency is {hertz:g} Hz", part="input shaping", hint="give frequencies above 0")
        A = amplitudes(kind, ratio, tolerance)
        half = 0.5 / (hertz * np.sqrt(1.0 - ratio**2))
        found = found.then(Shaper(A, half * np.arange(len(A))))
    return found
