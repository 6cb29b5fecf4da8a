"""Choice of the drives and instruments of a plant or a controller design: its own, given ones, or none."""

from __future__ import annotations

from dataclasses import replace

from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError
from supple.hardware.hardware import NO_HARDWARE, Hardware
from supple.reduced.model import ReducedModel
from supple.results.linear_model import LinearModel
from supple.systems.protocols import system_of


def hardware_in(plant: Mechanism | ReducedModel | LinearModel, given: Hardware | bool) -> Hardware:
    """Return the drives and instruments of a plant: its own, or given ones with the plant's own sensor names."""
    own = system_of(plant).hardware
    if given is True:
        return own
    if given is False:
        return NO_HARDWARE
    if not isinstance(given, Hardware):
        raise InputError(
            f"must be True, False or a Hardware (got {type(given).__name__})",
            part="hardware",
            hint="use True for the plant's own, False for none, or a supple.Hardware",
        )
    if isinstance(plant, LinearModel) and given.drives:
        raise InputError(
            "a linear model accepts no drives: its states include them, or they were omitted", part="hardware",
            hint="linearize the mechanism with its drives, and give instruments only",
        )  # fmt: skip
    return replace(
        given, encoders={**own.encoders, **given.encoders}, rate_sensors={**own.rate_sensors, **given.rate_sensors},
        actuator_coordinates={**own.actuator_coordinates, **given.actuator_coordinates},
    )  # fmt: skip
