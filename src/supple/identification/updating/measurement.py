"""What was measured of a machine at one posture: frequencies, shapes, antiresonances, deflections, responses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from supple.diagnostics import InputError

Array = NDArray[np.float64]

Pairing = Literal["order", "closest", "mac"]
FREQUENCY_NOISE = 0.005  # of a frequency, where nothing is said
SHAPE_NOISE = 0.05  # of a shape of length one
DEFLECTION_NOISE = 0.01  # of the largest deflection of a load


@dataclass(frozen=True, eq=False)
class Measurement:
    """One posture, brakes on.

    at             : anything `assemble` takes: a configuration's name, coordinates, where a place is
    frequencies_hz : (k,) natural frequencies, rising; noise of each, relative
    shapes         : (k, channels) at `channels`, `platform.x`, ...; real or complex
    pairing        : with the model's distinct frequencies: `order` (first with first), `closest` in rising order,
                     or `mac` by shapes; by shapes if there are any, else by order
    antiresonances : {(output, input): frequencies, Hz}
    force          : {`E.z`: N, or N m about an axis}, put on after the gauges were set to zero
    deflections    : {`E.x`: m} that it causes along each gauge; noise: 1σ, m
    responses      : `Responses`, measured frequency responses; band : Hz, of lines that count
    """

    at: Any = None
    frequencies_hz: Sequence[float] = ()
    shapes: Any = None
    channels: Sequence[str] = ()
    frequency_noise: float = FREQUENCY_NOISE
    shape_noise: float = SHAPE_NOISE
    pairing: Pairing | None = None
    antiresonances: Mapping[tuple[str, str], Sequence[float]] = field(default_factory=dict)
    force: Mapping[str, float] = field(default_factory=dict)
    deflections: Mapping[str, float] = field(default_factory=dict)
    deflection_noise: float | None = None
    responses: Any = None
    band: tuple[float, float] | None = None
    name: str = ""

    def __post_init__(self) -> None:
        hertz = np.asarray(self.frequencies_hz, float)
        part = f"measurement {self.label}".strip()
        if hertz.ndim != 1 or not np.isfinite(hertz).all() or (hertz <= 0.0).any():
            raise InputError("its frequencies are not all above 0 Hz", part=part, hint="give natural frequencies in Hz")
        if (np.diff(hertz) < 0.0).any():
            raise InputError("its frequencies do not rise", part=part, hint="sort them, shapes with them")
        if self.shapes is not None:
            shape = np.asarray(self.shapes).shape
            if shape != (len(hertz), len(self.channels)):
                raise InputError(
                    f"its shapes are {shape}, not {len(hertz)} frequencies by {len(self.channels)} channels", part=part,
                    hint="give one row a frequency, one column a channel",
                )  # fmt: skip
            if not np.isfinite(np.asarray(self.shapes)).all():
                raise InputError("a shape has entries that are no numbers", part=part, hint="leave the channel out")
        if self.pairing == "mac" and self.shapes is None:
            raise InputError("it has no shapes to be paired by", part=part, hint="pair by order, or give shapes")
        if bool(self.force) != bool(self.deflections):
            what = "deflections" if self.force else "force"
            raise InputError(f"it has no {what}", part=part, hint="a gauge shows what a force does: give both")
        values = [*self.force.values(), *self.deflections.values()]
        if not np.isfinite(np.asarray(values, float)).all():
            raise InputError("a force or deflection is no number", part=part, hint="leave the gauge out")
        if not (hertz.size or self.deflections or self.antiresonances or self.responses is not None):
            raise InputError("nothing was measured", part=part, hint="give frequencies, deflections or responses")
        for noise in (self.frequency_noise, self.shape_noise, self.deflection_noise):
            if noise is not None and not noise > 0.0:
                raise InputError(f"a noise of {noise:g} is not above 0", part=part, hint="give its standard deviation")

    @property
    def label(self) -> str:
        return self.name or (self.at if isinstance(self.at, str) else "")

    @property
    def paired_by(self) -> Pairing:
        return self.pairing or ("mac" if self.shapes is not None else "order")

    @property
    def highest_hz(self) -> float:
        """What the model has to reach up to."""
        lines = [*self.frequencies_hz, *(f for group in self.antiresonances.values() for f in group)]
        if self.responses is not None:
            lines.append(min(float(np.max(self.responses.frequencies_hz)), (self.band or (0.0, np.inf))[1]))
        return max(lines, default=0.0)

    @property
    def gauge_noise(self) -> float:
        """1σ of a deflection, m."""
        largest = max((abs(value) for value in self.deflections.values()), default=0.0)
        return self.deflection_noise or DEFLECTION_NOISE * largest
