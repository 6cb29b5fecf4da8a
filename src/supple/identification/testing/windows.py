"""Windows of a hammer test, and the damping that one of them adds (docs/theory/measurements.md)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.array_types import Array
from supple.diagnostics import InputError

_EDGE = 0.1  # of a force window: its end falls by half a cosine


def force_window(time: Array, length: float) -> Array:
    """One around the blow, zero behind it: (samples,).                                                [measurements, 7]

    time : s from the trigger; length : s that it lasts, its last tenth falling by half a cosine
    """
    if not length > 0.0:
        raise InputError(f"a force window of {length:g} s has no length", part="force_window", hint="such as 0.02 s")
    edge = _EDGE * length
    fall = 0.5 * (1.0 + np.cos(np.pi * np.clip((time - (length - edge)) / edge, 0.0, 1.0)))
    return np.asarray(np.where(time < length, fall, 0.0))


def exponential_rate(share: float, duration: float) -> float:
    """σ, 1/s, of the window exp(-σt) that has fallen to a share at the end of a record.         [measurements, 8]"""
    if not 0.0 < share <= 1.0:
        raise InputError(
            f"an exponential window cannot fall to {share:g} of its beginning", part="exponential",
            hint="give what is left at the end of a record, such as 0.01; 1 is no window",
        )  # fmt: skip
    return -float(np.log(share)) / duration + 0.0


def exponential_window(time: Array, rate: float) -> Array:
    """exp(-σ (t - t₀)) from the first sample on, on force and response alike: what is left of H is H(σ + iω)."""
    return np.asarray(np.exp(-rate * (time - time[0])))


def without_window(poles: ArrayLike, rate: float) -> NDArray[np.complex128]:
    """Poles of the machine, 1/s, from those found behind an exponential window: s + σ.               [measurements, 9]

    The frequency Im s is not changed; the damping ratio falls by σ/|s|.
    """
    return np.asarray(np.asarray(poles, dtype=complex) + rate, dtype=np.complex128)


def damping_without_window(ratios: ArrayLike, frequencies_hz: ArrayLike, rate: float) -> Array:
    """Damping ratios of the machine, from those found behind an exponential window at their |s|/2π.   [measurements, 9]

    With s = -ζω + iω√(1 - ζ²) that was found, the machine has s + σ.
    """
    zeta, omega = np.asarray(ratios, float), 2.0 * np.pi * np.asarray(frequencies_hz, float)
    s = without_window(omega * (-zeta + 1j * np.sqrt(np.maximum(1.0 - zeta**2, 0.0))), rate)
    size = np.abs(s)
    return np.asarray(np.divide(-s.real, size, out=np.zeros(np.shape(size)), where=size > 0.0))
