"""The instrument between an output of the mechanism and the number that a controller reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import hypot, sqrt
from typing import Any

import numpy as np

from supple.diagnostics import InputError
from supple.diagnostics.errors import quoted

# Checks of the numbers of drives and instruments, however they were made.


_ABOVE = ("stiffness", "rate_limit", "frequency", "noise_frequency", "sample_time")  # above zero where they are given
_AT_LEAST = ("delay", "dead_band", "resolution", "noise", "walk")  # zero or more
_FINITE = ("damping", "bias", "D")


def require_valid_hardware(item: Any, part: str) -> None:
    """Raise InputError for the first number of a drive or an instrument that cannot be."""
    for name in (*_ABOVE, *_AT_LEAST, *_FINITE):
        value = getattr(item, name, None)
        if value is None:
            continue
        above, least = name in _ABOVE, name in _AT_LEAST
        if not np.isfinite(value) or (above and value <= 0.0) or (least and value < 0.0):
            wanted = "above 0" if above else "of 0 or more" if least else "that is finite"
            raise InputError(f"its {name} is {value:g}", part=part, hint=f"give a value {wanted}")
    if item.limits is not None and not item.limits[0] < item.limits[1]:
        raise InputError(f"its limits are {item.limits[0]:g} and {item.limits[1]:g}", part=part, hint="let them rise")


@dataclass(frozen=True)
class Instrument:
    """The instrument of one output, in the output's SI unit; what is left out is ideal (docs/theory/hardware.md).

        true output -> low-pass -> delay -> its own samples -> + bias + walk + noise -> limits -> resolution

    noise           : RMS; noise_frequency : Hz, corner of its first-order spectrum; None: white from reading to reading
    walk            : RMS that its zero wanders in one second, growing with the root of time
    bias            : what it shows of zero
    delay           : s
    resolution      : what it can tell apart; limits : least and largest reading
    frequency       : Hz, of its own low-pass; damping : ratio of a second-order one; None: first order
    sample_time     : s between its own readings; None: it reads whenever it is asked
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
        """RMS by which a reading is off at random: √(noise² + resolution²/12), rounding being evenly likely."""
        return hypot(self.noise, self.resolution / sqrt(12.0))

    @property
    def said(self) -> str:
        """In words: `noise 0.02, 1 ms late`."""
        order = "first" if self.damping is None else "second"
        parts = [
            self.noise and f"noise {self.noise:g}",
            self.walk and f"walk {self.walk:g} a √s",
            self.bias and f"bias {self.bias:g}",
            self.frequency and f"low-pass of {self.frequency:g} Hz, {order} order",
            self.delay and f"{1e3 * self.delay:g} ms late",
            self.resolution and f"resolution {self.resolution:g}",
            self.limits and f"{self.limits[0]:g} ... {self.limits[1]:g}",
            self.sample_time and f"every {1e3 * self.sample_time:g} ms",
        ]
        return ", ".join(part for part in parts if part) or "exact"

    def data(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)


def instrument_from(data: Mapping[str, Any]) -> Instrument:
    """Back from JSON, checked."""
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
        raise InputError(f"{quoted(data)} is no instrument", hint="reduce again") from None
