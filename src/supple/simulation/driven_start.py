"""Start of a mechanism with drives: its configuration, and the springs of compliant drives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from supple.array_types import Array
from supple.description.mechanism import Mechanism
from supple.formulations.coefficients import Yield
from supple.hardware.drive_bank import DriveBank
from supple.hardware.drive_course import drive_course
from supple.hardware.hardware import Hardware
from supple.integration.time_steps import StepOptions
from supple.kinematics.configuration import At, Configuration
from supple.kinematics.measures import key_of
from supple.simulation.driver import DrivenStart
from supple.simulation.mechanism_run import Continuous, MechanismRun, begin, require_held
from supple.simulation.prescribed import Prescribed, no_prescribed_motion
from supple.simulation.start import start_configuration
from supple.statics.equilibrium import equilibrium
from supple.systems.protocols import system_of
from supple.time_functions.function_of_time import PiecewisePolynomial


def mechanism_start(
    here: Configuration, rates: Array, bank: DriveBank, options: StepOptions
) -> DrivenStart[MechanismRun]:
    """Return a mechanism at the start of a run behind its drives.

    here    : configuration at the start
    rates   : (s,) of θ there, also of coordinates with prescribed motion
    options : the step must be given
    """

    def run(times: Array) -> MechanismRun:
        require_held(times, options)
        begun = begin(here, times, rates, options, led=bank.led, springs=drive_springs(here, bank))
        return MechanismRun(begun, options.tolerance)

    return DrivenStart(system_of(here.mechanism), bank, here.theta, rates, None, run)


def driven_course(
    here: Configuration, bank: DriveBank, breaks: Array, values: Array, span: tuple[float, float], largest: float
) -> Continuous:
    """Return the output of drives without feedback from the motion under commands (B, a), linear between breaks (B,).

    span : s, start and end; largest : step, s
    """
    names = here.rest.numbering.coordinates
    found = drive_course(bank, breaks, values, (*span, largest))
    times = span[0] + found.times
    forces = PiecewisePolynomial(bank.inputs, times, found.forces)
    if not bank.led:
        return Continuous(forces, no_prescribed_motion(*span))
    targets = PiecewisePolynomial(tuple(names[i] for i in bank.led), times, found.led)
    accelerations = np.vstack([found.accelerations[:, 0], found.accelerations[-1:, 1]])
    return Continuous(forces, Prescribed(bank.led, targets, accelerations))


def driven_start(
    mechanism: Mechanism,
    start: At | Configuration,
    led: tuple[int, ...],
    rigid: bool,
    *,
    standing: bool = False,
) -> Configuration:
    """Return the start of a run in which drives prescribe some coordinates: without other inputs, with these held.

    An elastic mechanism that is not deformed settles first, with all coordinates held; without any prescribed
    coordinate only if it is `standing`.
    """
    u = np.zeros(len(mechanism.actuators))
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
    """Return the equilibrium, close to a start, under the first values of the inputs.

    Coordinates that drives move keep their values at the start, and commands of drives are no forces.
    """
    blocks = {block.actuator: block for block in hardware.drives}
    values = {
        name: 0.0 if name in blocks else float(np.ravel(inputs.get(name, 0.0))[0]) for name in mechanism.actuators
    }
    along = hardware.actuator_coordinates
    held = [along[name] for name, block in blocks.items() if block.moves and name in along]
    return equilibrium(mechanism, start, inputs=list(values.values()), held=held, rigid=rigid)


def held_start(
    mechanism: Mechanism, start: At | Configuration, bank: DriveBank, *, rigid: bool, standing: bool = False
) -> Configuration:
    """Return the start of a run behind drives, with the coordinates that they move held.

    The arguments are those of `driven_start`.
    """
    moved = {place for place, block in zip(bank.places, bank.blocks, strict=True) if block.moves} - {-1}
    return driven_start(mechanism, start, tuple(sorted(moved)), rigid, standing=standing)


def drive_springs(here: Configuration, bank: DriveBank) -> dict[int, Yield]:
    """Return the springs of compliant drives by number of the actuator, relaxed at their position.

    Relaxed springs start without energy, in which the energy of the run would be lost to rounding.
    """
    found: dict[int, Yield] = {}
    numbering = here.rest.numbering
    for number, actuator in enumerate(numbering.mechanism.actuators.values()):
        stiffness, damping = float(bank.stiffness[number]), float(bank.damping[number])
        if stiffness or damping:
            row = numbering.measures[key_of(numbering.mechanism, actuator)]
            relaxed = float(here.w[row - numbering.constraints]) if stiffness else 0.0
            found[number] = Yield(row, stiffness, damping, relaxed)
    return found
