"""Amplitudes of signals over frequency."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from supple.array_types import Array
from supple.diagnostics import InputError, require_known
from supple.results.names import listed
from supple.results.picture import picture
from supple.results.result import Result
from supple.results.table import Table

_FEWEST = 8  # samples


@dataclass(frozen=True, eq=False, repr=False)
class Spectrum(Result):
    """Of evenly sampled signals: `spectrum["tip.x"]` is (F,), the amplitude of a sine at each of the frequencies.

    frequencies_hz : (F,), from one over the duration up to half the sampling frequency
    amplitudes     : by name, in the units of the signals
    """

    frequencies_hz: Array
    amplitudes: dict[str, Array]
    units: dict[str, str] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Array:
        require_known("signal", name, self.amplitudes)
        return self.amplitudes[name]

    def summary(self) -> str:
        return f"of {listed(self.amplitudes)}, {self.frequencies_hz[0]:.4g} to {self.frequencies_hz[-1]:.4g} Hz"

    def peak(self, name: str | None = None) -> float:
        """Where a signal is strongest, Hz; left out, where all of them together are."""
        power = sum(x**2 for x in self.amplitudes.values()) if name is None else self[name]
        return float(self.frequencies_hz[int(np.argmax(power))])

    def table(self) -> Table:
        return Table({"frequency": self.frequencies_hz, **self.amplitudes}, {"frequency": "Hz", **self.units},
                     index="frequency")  # fmt: skip

    def plot(self, *, axes: Any = None) -> Any:
        """Draw all amplitudes over frequency (matplotlib); returns the panels."""
        return picture("control.plot.spectrum_plot")(self, axes)


def spectrum_of(time: Array, names: Sequence[str], values: Array, units: Mapping[str, str]) -> Spectrum:
    """Of signals (N, k) at evenly spaced times, about their means, behind Hann's window.

    A(f) = 2 |Σ_n w_n x_n e^{-2πi f n T}| / Σ_n w_n
    """
    if len(time) < _FEWEST:
        raise InputError(
            f"there are {len(time)} samples from then on", part="spectrum", hint="ask from an earlier time on"
        )
    spacing = np.diff(time)
    if not np.allclose(spacing[:-1], spacing[0], rtol=1e-6):
        raise InputError("its samples are not evenly spaced", part="spectrum", hint="sample it evenly")
    window = np.hanning(len(time) + 1)[:-1]
    x = np.fft.rfft(window[:, None] * (values - values.mean(axis=0)), axis=0)
    lines: Array = np.asarray(np.fft.rfftfreq(len(time), float(spacing[0])), dtype=float)
    sizes = 2.0 * np.abs(x) / window.sum()
    return Spectrum(lines[1:], {name: sizes[1:, i] for i, name in enumerate(names)}, dict(units))
