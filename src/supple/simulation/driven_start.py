"""A mechanism where a run with drives begins: its configuration, and the springs of drives that yield."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.interpolate import PPoly

from supple.array_types import Array
from supple.description.mechanism import Mechanism
from supple.formulations.coefficients import Yield
from supple.hardware.drive_bank import DriveBank
from supple.hardware.drive_course import drive_course
from supple.hardware.hardware import Hardware
from supple.integration.step_options import StepOptions
from supple.kinematics.configuration import At, Configuration
from supple.kinematics.measures import key_of
from supple.simulation.mechanism_run import Continuous, MechanismRun, begin, require_held
from supple.simulation.prescribed import Prescribed, nothing_led
from supple.simulation.start import start_configuration
from supple.statics.equilibrium import equilibrium
from supple.systems.system import System, system_of
from supple.time_functions.function_of_time import PiecewisePolynomial


@dataclass(frozen=True)
class MechanismStart:
    """A mechanism where a run behind its drives begins. Implements `DrivenStart`.

    here : where it begins; rates : (s,) of θ there, with which what is led sets out; options : the step must be given
    """

    here: Configuration
    rates: Array
    bank: DriveBank
    options: StepOptions
    delta: None = None

    @property
    def theta(self) -> Array:
        return self.here.theta

    @property
    def system(self) -> System:
        return system_of(self.here.mechanism)

    @property
    def springs(self) -> dict[int, Yield]:
        """Springs of the drives that yield, by the number of the actuator."""
        return drive_springs(self.here, np.column_stack([self.bank.stiffness, self.bank.damping]))

    def run(self, times: Array) -> MechanismRun:
        """Return the mechanism ready at the first of its result times (N,), s."""
        require_held(times, self.options)
        led, springs = self.bank.led, self.springs
        begun = begin(self.here, times, self.rates, self.options, led=led, springs=springs)
        return MechanismRun(begun, self.options.tolerance)


def mechanism_start(
    mechanism: Mechanism,
    start: At | Configuration,
    rates: Array,
    bank: DriveBank,
    options: StepOptions,
    *,
    standing: bool = False,
) -> MechanismStart:
    """Return a mechanism where a run behind its drives begins; arguments as of `driven_start`."""
    moved = {place for place, block in zip(bank.places, bank.blocks, strict=True) if block.moves} - {-1}
    idle = np.zeros(len(bank.inputs))
    here = driven_start(mechanism, start, idle, tuple(sorted(moved)), options.rigid, standing=standing)
    return MechanismStart(here, rates, bank, options)


def driven_course(
    begun: MechanismStart, breaks: Array, values: Array, span: tuple[float, float], largest: float
) -> Continuous:
    """Return what drives that feel nothing of the motion do under commands (B, a), linear between breaks (B,).

    span : s, from when until when; largest : step, s
    """
    bank, names = begun.bank, begun.here.rest.numbering.coordinates
    found = drive_course(bank, breaks, values, (*span, largest))
    times = span[0] + found.times
    forces = PiecewisePolynomial.of_pieces(bank.inputs, PPoly(found.forces, times))
    if not bank.led:
        return Continuous(forces, nothing_led(*span))
    targets = PiecewisePolynomial.of_pieces(tuple(names[i] for i in bank.led), PPoly(found.led, times))
    accelerations = np.vstack([found.accelerations[:, 0], found.accelerations[-1:, 1]])
    return Continuous(forces, Prescribed(bank.led, targets, accelerations))


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
