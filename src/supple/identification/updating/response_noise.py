"""Noise of measured responses: that of each channel, and that of the force, which all channels of a line share.

    H_m - H = -ε H + n,   E|n_o|² = w a_o,   E|ε|² = w b,   C = w (diag a + b H Hᴴ)            (updating, eqs. 25-27)

w says how noise changes along the lines, as a blow fades towards high frequencies. Variances are of complex numbers: of
their real and imaginary parts each has half.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array, Complex
from supple.identification.modal_parameters.noise import running_mean
from supple.results.responses import Responses

_SWEEPS = 40  # of expectation and maximum: b, the slowest, is then known to a part of its own scatter
_ABOUT = 400  # numbers that say how noise is about a line
_FEWEST = 11  # lines, however many channels there are
_LEAST = 1e-9  # of the largest response: no channel is known better


@dataclass(frozen=True, eq=False)
class ResponseNoise:
    """Of responses (L, o, i).

    channels (1, o, i) a, by channel; force (1, 1, i) b, relative; lines (L, 1, 1) w, 1 on average
    along (L, o, i) : the unit vector of what the force's noise does to whitened channels; less (L, 1, i) : by how much
    shown (L, 1, i) : what the estimator shows of a response on average
    """

    channels: Array
    force: Array
    lines: Array
    along: Complex
    less: Array
    shown: Array

    def white(self, values: NDArray[Any]) -> Complex:
        """C^-½ times values (..., L, o, i), so that real and imaginary parts of noise have the variance 1.  (eq. 26)"""
        u = values / np.sqrt(0.5 * self.channels * self.lines)
        return np.asarray(u - self.less * self.along * np.sum(self.along.conj() * u, axis=-2, keepdims=True))


def uniform_noise(measured: Responses, share: float) -> ResponseNoise:
    """A share of the size of all responses, before anything is known."""
    one = np.ones((1, 1, 1))
    level = 2.0 * (share**2) * float(np.mean(np.abs(measured.H) ** 2))
    return ResponseNoise(level * one, 0.0 * one, one, one.astype(complex), 0.0 * one, one)


def response_noise(measured: Responses, H: Complex, numbers: int) -> ResponseNoise:
    """The most likely noise, if H is what there is without it and so many numbers were fitted.

    By expectation and maximisation [Dempster, Laird and Rubin 1977] over ε, which is not seen:
        ε̂ = -b HᴴV⁻¹e/(1 + bρ),   P = b/(1 + bρ),   ρ = HᴴV⁻¹H,   V = diag a
        b ← mean(|ε̂|² + P),   a ← mean(|e + ε̂H|² + P|H|²),   e of lines with w = 1
    """
    left = measured.H - H
    L, o, i = H.shape
    least = (_LEAST * float(np.abs(measured.H).max())) ** 2
    w = np.ones((L, 1, 1))
    a = np.maximum(np.mean(np.abs(left) ** 2, axis=0, keepdims=True), least)
    b = np.mean(np.abs(left) ** 2) / np.maximum(np.mean(np.abs(H) ** 2, axis=(0, 1), keepdims=True), least)
    for _ in range(_SWEEPS):
        e = left / np.sqrt(w)
        rho = np.sum(np.abs(H) ** 2 / a, axis=1, keepdims=True)
        y = np.sum(H.conj() * e / a, axis=1, keepdims=True)
        P = b / (1.0 + b * rho)
        power = np.sum(np.abs(e) ** 2 / a, axis=1, keepdims=True) - P * np.abs(y) ** 2
        w = _smooth(w[:, 0, 0] * power.mean(axis=(1, 2)) / o, o * i)
        w = w / w.mean()
        b = np.mean(np.abs(P * y) ** 2 + P, axis=0, keepdims=True)
        a = np.maximum(np.mean(np.abs(e - P * y * H) ** 2 + P * np.abs(H) ** 2, axis=0, keepdims=True), least)
    free = max(1.0 - 0.5 * numbers / left.size, 0.1)
    rho = np.sum(np.abs(H) ** 2 / a, axis=1, keepdims=True)
    along = H / np.sqrt(np.where(rho > 0.0, a * rho, 1.0))
    return ResponseNoise(
        a / free, b / free, w, along, 1.0 - 1.0 / np.sqrt(1.0 + b * rho), 1.0 - _lost(measured, b / free * w)
    )


def _lost(measured: Responses, relative: Array) -> Array:
    """What H1 loses on average of every response to noise on the force: (N - 1) b of N averages.  (updating, eq. 27)

    The coherence loses as much at least, and is the limit: what is wrong with the model may look like noise.
    """
    count = measured.averages / max(1, len(measured.references))
    if measured.estimator != "H1" or measured.coherence is None or count <= 1.0:
        return np.zeros_like(relative)
    incoherent = float((1.0 - measured.coherence).mean(axis=0).min())
    return np.asarray((count - 1.0) * relative * min(1.0, incoherent / max((count - 1.0) * relative.mean(), 1e-300)))


def _smooth(power: Array, channels: int) -> Array:
    """Means over the lines about each: (L, 1, 1)."""
    return np.maximum(running_mean(power, max(_FEWEST, -(-_ABOUT // channels))), 1e-6)[:, None, None]
