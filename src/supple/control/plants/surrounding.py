"""The drives and instruments around a plant, or for which a controller is made: its own, others, or none."""

from __future__ import annotations

from dataclasses import replace

from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError
from supple.hardware.hardware import NO_HARDWARE, Hardware
from supple.reduced.model import ReducedModel
from supple.results.linear_model import LinearModel
from supple.systems.protocols import system_of


def hardware_in(plant: Mechanism | ReducedModel | LinearModel, given: Hardware | bool) -> Hardware:
    """Drives and instruments around a plant: its own, or those given, with its own names of what measures what."""
    own = system_of(plant).hardware
    if given is True:
        return own
    if given is False:
        return NO_HARDWARE
    if not isinstance(given, Hardware):
        raise InputError(
            f"{type(given).__name__} is none", part="hardware", hint="give True, False, or a supple.Hardware"
        )
    if isinstance(plant, LinearModel) and given.drives:
        raise InputError(
            "drives of a linear model are in it, or not at all", part="hardware",
            hint="linearize the mechanism with its drives, and give instruments alone",
        )  # fmt: skip
    return replace(
        given, encoders={**own.encoders, **given.encoders}, rate_sensors={**own.rate_sensors, **given.rate_sensors},
        actuator_coordinates={**own.actuator_coordinates, **given.actuator_coordinates},
    )  # fmt: skip
