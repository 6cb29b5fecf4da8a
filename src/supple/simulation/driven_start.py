"""Where a run with drives begins: its configuration, and the springs of drives that yield."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from supple.array_types import Array
from supple.description.mechanism import Mechanism
from supple.formulations.coefficients import Yield
from supple.hardware.hardware import Hardware
from supple.kinematics.configuration import At, Configuration
from supple.kinematics.measures import key_of
from supple.simulation.start import start_configuration
from supple.statics.equilibrium import equilibrium


def driven_start(
    mechanism: Mechanism,
    start: At | Configuration,
    u: Array,
    led: tuple[int, ...],
    rigid: bool,
    *,
    standing: bool = False,
) -> Configuration:
    """Where a run begins of which drives lead some coordinates: under the inputs u (a,), with those held.

    An elastic mechanism that is not deformed settles first, all coordinates held; without any that is led only if it
    is `standing`.
    """
    settled = isinstance(start, str) and start == "equilibrium"
    if not led and (settled or not standing):
        return start_configuration(mechanism, start, u, rigid=rigid)
    here = start_configuration(mechanism, None if settled else start, u, rigid=rigid)
    names = here.rest.numbering.coordinates
    if settled:
        return equilibrium(mechanism, here, inputs=u, held=[names[i] for i in led], rigid=rigid)
    if here.deformed is not None or rigid or not mechanism.elastic:
        return here
    return equilibrium(mechanism, here, inputs=u, held=names)


def resting_start(
    mechanism: Mechanism, start: At, inputs: Mapping[str, Any], hardware: Hardware, *, rigid: bool
) -> Configuration:
    """The equilibrium, close to a start, under the first values of the inputs.

    What drives move stays where the start has it, and their commands are no forces.
    """
    told = {block.actuator: block for block in hardware.drives}
    values = {name: 0.0 if name in told else float(np.ravel(inputs.get(name, 0.0))[0]) for name in mechanism.actuators}
    along = hardware.actuator_coordinates
    held = [along[name] for name, block in told.items() if block.moves and name in along]
    return equilibrium(mechanism, start, inputs=list(values.values()), held=held, rigid=rigid)


def drive_springs(here: Configuration, yields: Array | None) -> dict[int, Yield]:
    """Of actuators that yield, by number; relaxed where they stand, or energies would drown in that of the start."""
    found: dict[int, Yield] = {}
    numbering = here.rest.numbering
    for number, actuator in enumerate(numbering.mechanism.actuators.values()):
        if yields is not None and np.any(yields[number]):
            row = numbering.measures[key_of(numbering.mechanism, actuator)]
            relaxed = float(here.w[row - numbering.constraints]) if yields[number, 0] else 0.0
            found[number] = Yield(row, float(yields[number, 0]), float(yields[number, 1]), relaxed)
    return found
