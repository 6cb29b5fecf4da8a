"""Whether what a controller answers is what the plant takes: volts are not newtons.

Controllers that know drives say which (`commanded`), those that were designed without drives that the machine has say
so too (`undriven`). What says nothing is taken at its word.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from supple.diagnostics import InputError
from supple.hardware.hardware import Hardware
from supple.results.linear_model import LinearModel


def require_fitting(controllers: Any, plant: Any, hardware: Hardware) -> None:
    """Refuse commands of drives on a plant without them, and forces on one that has them."""
    for controller in controllers if isinstance(controllers, Sequence) else (controllers,):
        for name in getattr(controller, "commanded", ()):
            if _takes_forces(plant, name, hardware):
                raise InputError(
                    f'it answers with commands of the drive of "{name}", and this plant takes forces there',
                    part="controller", hint="make it with hardware=False, or close the loop with the drives",
                )  # fmt: skip
        for name in getattr(controller, "undriven", ()):
            block = hardware.drive(name)
            if block is not None:
                raise InputError(
                    f'it answers with the force of "{name}", and the {block.kind} drive there takes {block.unit}',
                    part="controller",
                    hint="make it with the drives: regulator(hardware=supple.hardware_of(mechanism)), or close the "
                    "loop with hardware=False",
                )  # fmt: skip


def _takes_forces(plant: Any, name: str, hardware: Hardware) -> bool:
    if isinstance(plant, LinearModel):  # drives are in it, or were left out
        return name in plant.undriven
    return hardware.drive(name) is None
