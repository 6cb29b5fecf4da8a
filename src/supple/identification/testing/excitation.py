"""Excitation of tests: hammer impacts and shaker signals (docs/theory/measurements.md)."""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy import signal

from supple.array_types import Array, Complex
from supple.diagnostics import InputError, require_known

Shaker = Literal["random", "burst", "chirp", "multisine"]
SHAKERS = ("random", "burst", "chirp", "multisine")
_BURST = 0.6  # of a record: duration of a burst, so that the motion decays within the record
_EDGES = 0.05  # of a record: duration of the rise and fall of a burst


def impact_spectrum(frequencies_hz: Array, peak: float, duration: float, start: float) -> Complex:
    """Return the spectrum F(ω) of a half-sine impact that begins at `start`, N s (measurements, eq. 10).

    F = P τ (2/π) cos(ωτ/2) / (1 - (ωτ/π)²) exp(-iω(t₀ + τ/2)), with peak P, N, and duration τ, s
    """
    a = 2.0 * frequencies_hz * duration  # ωτ/π
    near = np.abs(a - 1.0) < 1e-6
    with np.errstate(divide="ignore", invalid="ignore"):
        shape = np.where(near, np.pi / 4.0, np.cos(0.5 * np.pi * a) / (1.0 - a**2))
    return np.asarray(
        peak * duration * 2.0 / np.pi * shape * np.exp(-2j * np.pi * frequencies_hz * (start + duration / 2))
    )


def shaker_signals(
    kind: Shaker,
    *,
    sampling_hz: float,
    samples: int,
    records: int = 1,
    inputs: int = 1,
    band_hz: tuple[float, float] | None = None,
    rms: float = 1.0,
    seed: int = 0,
) -> Array:
    """Return shaker forces (records, inputs, samples) in a band, each with the given RMS, N, over its record.

    random, burst    : band-limited noise, independent for every input; a burst decays within its record chirp,
    multisine : periodic in a record. For several inputs, each is multiplied in record n by column n of a Hadamard
                       or Fourier matrix, so that over as many records as inputs they are orthogonal
    """
    require_known("shaker signal", kind, SHAKERS, part="shaker")
    low, high = band_hz or usual_band(sampling_hz, samples)
    if not 0.0 <= low < high <= 0.5 * sampling_hz:
        raise InputError(
            f"must be two increasing frequencies up to half the sample rate, {0.5 * sampling_hz:g} Hz "
            f"(got {low:g}, {high:g} Hz)", part="band_hz",
        )  # fmt: skip
    rng = np.random.default_rng(seed)
    lines = np.fft.rfftfreq(samples, 1.0 / sampling_hz)
    inside = (lines >= low) & (lines <= high) & (lines > 0.0)
    if not inside.any():
        raise InputError(
            f"no frequency line is within {low:g} to {high:g} Hz", part="band_hz", hint="widen it, or record longer"
        )
    if kind in ("random", "burst"):
        spectrum = rng.normal(size=(records, inputs, len(lines))) + 1j * rng.normal(size=(records, inputs, len(lines)))
        found = np.fft.irfft(spectrum * inside, samples, axis=2)
        if kind == "burst":
            count = round(_BURST * samples)
            taper = np.zeros(samples)
            taper[:count] = signal.windows.tukey(count, min(1.0, 2.0 * _EDGES / _BURST))
            found *= taper
    else:
        time = np.arange(samples) / sampling_hz
        if kind == "chirp":
            base = np.array(
                [signal.chirp(time, low, time[-1], high, phi=phase) for phase in rng.uniform(0, 360, inputs)]
            )
        else:
            phases = rng.uniform(0.0, 2.0 * np.pi, (inputs, len(lines)))
            base = np.fft.irfft(inside * np.exp(1j * phases), samples, axis=1)
        found = base[None] * np.array([_signs(inputs)[:, n % inputs] for n in range(records)])[:, :, None]
    size = np.sqrt(np.mean(found**2, axis=2, keepdims=True))
    return np.asarray(rms * found / np.where(size > 0.0, size, 1.0))


def usual_band(sampling_hz: float, samples: int) -> tuple[float, float]:
    """Return the default band, Hz: from the first line to four fifths of half the sample rate."""
    return sampling_hz / samples, 0.4 * sampling_hz


def _signs(inputs: int) -> Array:
    """Return orthogonal real columns: of a Hadamard matrix if there is one, else an orthonormal cosine basis."""
    if inputs & (inputs - 1) == 0:
        from scipy.linalg import hadamard

        return np.asarray(hadamard(inputs), dtype=float)
    k = np.arange(inputs)
    return np.asarray(np.cos(np.pi * np.outer(k, k + 0.5) / inputs) * np.where(k == 0, 1.0, np.sqrt(2.0))[:, None])
