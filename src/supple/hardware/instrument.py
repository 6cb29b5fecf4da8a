"""Instrument between an output of the mechanism and the number that a controller reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import hypot, sqrt
from typing import Any

import numpy as np

from supple.diagnostics import InputError
from supple.diagnostics.errors import quote

# Checks of the numbers of drives and instruments, from any source.


_ABOVE = ("stiffness", "rate_limit", "frequency", "noise_frequency", "sample_time")  # above zero if given
_AT_LEAST = ("delay", "dead_band", "resolution", "noise", "walk")  # zero or more
_FINITE = ("damping", "bias", "D")


def require_valid_hardware(item: Any, part: str) -> None:
    """Raise InputError for the first invalid number of a drive or an instrument."""
    for name in (*_ABOVE, *_AT_LEAST, *_FINITE):
        value = getattr(item, name, None)
        if value is None:
            continue
        above, least = name in _ABOVE, name in _AT_LEAST
        if not np.isfinite(value) or (above and value <= 0.0) or (least and value < 0.0):
            valid = "above 0" if above else "of 0 or more" if least else "that is finite"
            raise InputError(f"invalid {name} {value:g}", part=part, hint=f"give a value {valid}")
    if item.limits is not None and not item.limits[0] < item.limits[1]:
        raise InputError(
            f"the lower limit {item.limits[0]:g} is not below the upper limit {item.limits[1]:g}", part=part,
            hint="give the lower limit first",
        )  # fmt: skip


@dataclass(frozen=True)
class Instrument:
    """Instrument of one output, in the output's SI unit (docs/theory/hardware.md).

        true output -> low-pass -> delay -> its own samples -> + bias + walk + noise -> limits -> resolution

    Attributes
    ----------
    output : str
        Name of the output.
    noise : float
        RMS noise.
    noise_frequency : float, optional
        Corner frequency of the first-order noise spectrum, Hz; None: white from reading to reading.
    walk : float
        Drift of the zero, RMS per √s.
    bias : float
        Constant bias.
    delay : float
        Delay, s.
    resolution : float
        Resolution of the reading.
    limits : (float, float), optional
        Lower and upper limit of the reading.
    frequency : float, optional
        Corner frequency of the low-pass, Hz.
    damping : float, optional
        Damping ratio of a second-order low-pass; None: first order.
    sample_time : float, optional
        Time between its own readings, s; None: it reads at every sample of the loop.
    """

    output: str
    noise: float = 0.0
    noise_frequency: float | None = None
    walk: float = 0.0
    bias: float = 0.0
    delay: float = 0.0
    resolution: float = 0.0
    limits: tuple[float, float] | None = None
    frequency: float | None = None
    damping: float | None = None
    sample_time: float | None = None

    def __post_init__(self) -> None:
        require_valid_hardware(self, f'instrument of output "{self.output}"')

    @property
    def uncertainty(self) -> float:
        """RMS random error of a reading: √(noise² + resolution²/12), with uniformly distributed rounding."""
        return hypot(self.noise, self.resolution / sqrt(12.0))

    @property
    def summary(self) -> str:
        """Summary, such as `noise 0.02, delay 1 ms`."""
        order = "first" if self.damping is None else "second"
        parts = [
            self.noise and f"noise {self.noise:g}",
            self.walk and f"walk {self.walk:g} per √s",
            self.bias and f"bias {self.bias:g}",
            self.frequency and f"{order}-order low-pass at {self.frequency:g} Hz",
            self.delay and f"delay {1e3 * self.delay:g} ms",
            self.resolution and f"resolution {self.resolution:g}",
            self.limits and f"{self.limits[0]:g} ... {self.limits[1]:g}",
            self.sample_time and f"every {1e3 * self.sample_time:g} ms",
        ]
        return ", ".join(part for part in parts if part) or "exact"

    def data(self) -> dict[str, Any]:
        """Return the instrument as JSON data."""
        return asdict(self)


def instrument_from(data: Mapping[str, Any]) -> Instrument:
    """Return the instrument of JSON data, checked."""
    optional = ("noise_frequency", "frequency", "damping", "sample_time")
    try:
        values = {key: None if data[key] is None else float(data[key]) for key in optional}
        values |= {key: float(data[key]) for key in ("noise", "walk", "bias", "delay", "resolution")}
        limits = data["limits"]
        return Instrument(
            output=str(data["output"]),
            limits=None if limits is None else (float(limits[0]), float(limits[1])),
            **values,  # type: ignore[arg-type]
        )
    except (TypeError, KeyError, ValueError, IndexError):
        raise InputError(f"{quote(data)} is not the data of an instrument", hint="reduce again") from None
