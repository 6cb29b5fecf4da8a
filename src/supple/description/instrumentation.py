"""What a sensor makes of the true value: noise, delay, resolution and the like, whatever it measures."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import model_validator

from supple.description.quantities.dimension import FREQUENCY, RATIO, TIME
from supple.description.quantities.quantity import (
    Duration,
    Interval,
    NotNegative,
    NotNegativeOfCoordinate,
    OfCoordinate,
    Part,
    Positive,
    PositiveOfCoordinate,
    of,
)
from supple.hardware.instrument import Instrument

Hertz = Annotated[Positive, of(FREQUENCY)]


class Noise(Part):
    """Noise with its spectrum."""

    rms: NotNegativeOfCoordinate = 0.0
    """Root mean square of the noise, in the unit of what is measured."""
    frequency: Hertz | None = None
    """Corner of its spectrum, flat below and falling as 1/f above, Hz; white from reading to reading if left out."""
    walk: NotNegativeOfCoordinate = 0.0
    """RMS that its zero wanders in one second, growing with the root of time; in the unit of what is measured."""


class Bandwidth(Part):
    """A low-pass of its own."""

    frequency: Hertz
    """Hz."""
    damping: Annotated[Positive, of(RATIO)] | None = None
    """Damping ratio of one of second order; of first order if left out."""


class Instrumented(Part):
    """Keys that every sensor may have; one without any is exact."""

    noise: NotNegativeOfCoordinate | Noise | None = None
    """RMS of white noise, in the unit of what is measured; or {rms:, frequency:, walk:}."""
    bias: OfCoordinate = 0.0
    """What it shows beside the true value."""
    delay: Annotated[NotNegative, of(TIME)] = 0.0
    """s."""
    resolution: PositiveOfCoordinate | None = None
    """Readings are multiples of it."""
    range: Interval | None = None
    """Least and largest reading."""
    bandwidth: Hertz | Bandwidth | None = None
    """Of its own low-pass, Hz, of first order; or {frequency:, damping:}."""
    sample_time: Duration | None = None
    """s between its own readings; it reads whenever it is asked if left out."""

    @model_validator(mode="after")
    def _range_rises(self) -> Self:
        if self.range is not None and not self.range[0] < self.range[1]:
            raise ValueError(f"range must rise: {self.range[0]:g} is not below {self.range[1]:g}")
        return self

    @property
    def spectrum(self) -> Noise:
        """Its noise, however it is written."""
        return self.noise if isinstance(self.noise, Noise) else Noise(rms=self.noise or 0.0)

    @property
    def exact(self) -> bool:
        """Whether nothing is said of it."""
        return self.instrument("") == Instrument("")

    def instrument(self, output: str) -> Instrument:
        """Of one of its outputs."""
        noise, low_pass = self.spectrum, self.bandwidth
        if isinstance(low_pass, float):
            low_pass = Bandwidth(frequency=low_pass)
        return Instrument(
            output,
            noise=float(noise.rms), noise_frequency=noise.frequency, walk=float(noise.walk), bias=float(self.bias),
            delay=self.delay, resolution=float(self.resolution or 0.0),
            limits=None if self.range is None else (float(self.range[0]), float(self.range[1])),
            frequency=None if low_pass is None else low_pass.frequency,
            damping=None if low_pass is None else low_pass.damping, sample_time=self.sample_time,
        )  # fmt: skip
