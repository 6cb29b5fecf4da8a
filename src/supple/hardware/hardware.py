"""Drives and instruments of a machine, by the names of its actuators and outputs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from supple.diagnostics import InputError
from supple.diagnostics.errors import quote
from supple.hardware.drive_block import DriveBlock, drive_from
from supple.hardware.instrument import Instrument, instrument_from


@dataclass(frozen=True, eq=False, repr=False)
class Hardware:
    """Drives and instruments of a machine.

    False if there are none: commands are then forces, and measurements exact.

    Attributes
    ----------
    drives : tuple of DriveBlock
        Drives of the actuators that have one.
    instruments : tuple of Instrument
        Instruments of the outputs that are not exact.
    encoders : mapping of str to str
        Output that measures each coordinate, {coordinate: output}.
    rate_sensors : mapping of str to str
        Output that measures the rate of each coordinate, {coordinate: output}.
    actuator_coordinates : mapping of str to str
        Coordinate along which each actuator acts, {actuator: coordinate}.

    See Also
    --------
    supple.hardware_of : Drives and instruments of a mechanism.
    """

    drives: tuple[DriveBlock, ...] = ()
    instruments: tuple[Instrument, ...] = ()
    encoders: Mapping[str, str] = field(default_factory=dict)
    rate_sensors: Mapping[str, str] = field(default_factory=dict)
    actuator_coordinates: Mapping[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.drives or self.instruments)

    def __repr__(self) -> str:
        drives = "; ".join(block.summary for block in self.drives) or "no drives"
        read = ", ".join(item.output for item in self.instruments) or "no output"
        return f"<Hardware: {drives}; instruments of {read}>"

    def drive(self, actuator: str) -> DriveBlock | None:
        """Return the drive of an actuator; None if its command is its force."""
        return next((block for block in self.drives if block.actuator == actuator), None)

    def instrument(self, output: str) -> Instrument | None:
        """Return the instrument of an output; None if it is read exactly."""
        return next((item for item in self.instruments if item.output == output), None)

    @property
    def measuring_outputs(self) -> dict[str, str]:
        """Outputs that measure coordinates and rates: {"name" or "name.rate": output}."""
        return {**self.encoders, **{f"{name}.rate": output for name, output in self.rate_sensors.items()}}

    def delays(self, inputs: Iterable[str] = (), late: float = 0.0) -> dict[str, float]:
        """Return delays of inputs and outputs by name, s.

        Parameters
        ----------
        inputs : iterable of str, optional
            Inputs that have the computation delay. Default: only those with a drive.
        late : float, optional
            Computation delay, s. Default: 0.

        Returns
        -------
        dict of str to float
            Delays, s.
        """
        found = dict.fromkeys(inputs, late) | {block.actuator: block.delay + late for block in self.drives}
        return found | {item.output: item.delay for item in self.instruments}

    def prompt(self) -> Hardware:
        """Return the hardware without delays, and without the nonlinear effects that no linear model includes."""
        drives = tuple(replace(block, delay=0.0, dead_band=0.0, resolution=0.0) for block in self.drives)
        return replace(self, drives=drives, instruments=tuple(replace(item, delay=0.0) for item in self.instruments))

    def data(self) -> dict[str, Any]:
        """Return the hardware as JSON data."""
        parts = {"drives": [block.data() for block in self.drives], "instruments": [x.data() for x in self.instruments]}
        return {**parts, **{name: dict(getattr(self, name)) for name in _NAMED}}


NO_HARDWARE = Hardware()
_NAMED = ("encoders", "rate_sensors", "actuator_coordinates")


def hardware_from(data: Any) -> Hardware:
    """Return the hardware of JSON data, checked."""
    try:
        drives, instruments = list(data["drives"]), list(data["instruments"])
        named = [{str(k): str(v) for k, v in data[key].items()} for key in _NAMED]
    except (TypeError, KeyError, AttributeError):
        raise InputError(f"{quote(data)} is not the data of drives and instruments", hint="reduce again") from None
    return Hardware(tuple(map(drive_from, drives)), tuple(map(instrument_from, instruments)), *named)
