"""The drives and instruments of a machine, by the names of its actuators and outputs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from supple.diagnostics import InputError
from supple.diagnostics.errors import quoted
from supple.hardware.drive_block import DriveBlock, drive_from
from supple.hardware.instrument import Instrument, instrument_from


@dataclass(frozen=True, eq=False, repr=False)
class Hardware:
    """False where nothing is described: commands are forces then, and measurements exact.

    drives       : of the actuators that have one
    instruments  : of the outputs that are not exact
    encoders     : coordinate -> the output that measures it
    rate_sensors : coordinate -> the output that measures its rate
    actuator_coordinates : actuator -> the coordinate that it acts along, where that is one
    """

    drives: tuple[DriveBlock, ...] = ()
    instruments: tuple[Instrument, ...] = ()
    encoders: Mapping[str, str] = field(default_factory=dict)
    rate_sensors: Mapping[str, str] = field(default_factory=dict)
    actuator_coordinates: Mapping[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.drives or self.instruments)

    def __repr__(self) -> str:
        drives = "; ".join(block.said for block in self.drives) or "no drives"
        read = ", ".join(item.output for item in self.instruments) or "no output"
        return f"<Hardware: {drives}; instruments of {read}>"

    def drive(self, actuator: str) -> DriveBlock | None:
        """Of an actuator; None if its command is its force."""
        return next((block for block in self.drives if block.actuator == actuator), None)

    def instrument(self, output: str) -> Instrument | None:
        """Of an output; None if it is read exactly."""
        return next((item for item in self.instruments if item.output == output), None)

    @property
    def measured_as(self) -> dict[str, str]:
        """Coordinate, or its rate as "name.rate" -> the output that measures it."""
        return {**self.encoders, **{f"{name}.rate": output for name, output in self.rate_sensors.items()}}

    def delays(self, inputs: Iterable[str] = (), late: float = 0.0) -> dict[str, float]:
        """Delays of inputs and outputs by name, s; `late` is that of the computation, which every input has."""
        found = dict.fromkeys(inputs, late) | {block.actuator: block.delay + late for block in self.drives}
        return found | {item.output: item.delay for item in self.instruments}

    def prompt(self) -> Hardware:
        """The same without delays, and without what no linear model knows."""
        drives = tuple(replace(block, delay=0.0, dead_band=0.0, resolution=0.0) for block in self.drives)
        return replace(self, drives=drives, instruments=tuple(replace(item, delay=0.0) for item in self.instruments))

    def data(self) -> dict[str, Any]:
        """As JSON."""
        parts = {"drives": [block.data() for block in self.drives], "instruments": [x.data() for x in self.instruments]}
        return {**parts, **{name: dict(getattr(self, name)) for name in _NAMED}}


NO_HARDWARE = Hardware()
_NAMED = ("encoders", "rate_sensors", "actuator_coordinates")


def hardware_from(data: Any) -> Hardware:
    """Back from JSON, checked."""
    try:
        drives, instruments = list(data["drives"]), list(data["instruments"])
        named = [{str(k): str(v) for k, v in data[key].items()} for key in _NAMED]
    except (TypeError, KeyError, AttributeError):
        raise InputError(f"{quoted(data)} is no hardware", hint="reduce again") from None
    return Hardware(tuple(map(drive_from, drives)), tuple(map(instrument_from, instruments)), *named)
