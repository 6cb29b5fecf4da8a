"""A run whose inputs are commands: what drives do is computed beforehand, and then leads or pushes the mechanism."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from supple.array_types import Array
from supple.description.mechanism import Mechanism
from supple.formulations.coefficients import Yield
from supple.hardware.coupled_drives import Intervals, interval_commands, intervals
from supple.hardware.drive_bank import DriveBank
from supple.hardware.drive_course import drive_course, first_commands, keeping_commands
from supple.hardware.hardware import Hardware
from supple.integration.input_course import Inputs, input_course
from supple.kinematics.configuration import At, Configuration
from supple.kinematics.rest import rest
from supple.linearization.operating_point import holding_inputs
from supple.parameterization.local_model import local
from supple.simulation.driven_start import drive_springs, driven_start
from supple.simulation.prescribed import Prescribed, nothing_led
from supple.time_functions.function_of_time import PiecewisePolynomial


class DrivenRun(NamedTuple):
    """Where a run begins, the forces of its inputs, the course of what is led, and the springs of drives that yield."""

    here: Configuration
    forces: PiecewisePolynomial
    course: Prescribed
    springs: dict[int, Yield]


class DriveCommands(NamedTuple):
    """As `simulate` takes them: inputs, and the times of their values; results (N,), s; of callables, the longest time
    between samples, s."""

    inputs: Inputs
    times: ArrayLike | None
    grid: Array
    spacing: float


class Commanded(NamedTuple):
    """Drives settled where a run begins, and its commands (B, a), linear between breaks (B,)."""

    bank: DriveBank
    here: Configuration
    breaks: Array
    values: Array


def commanded(
    mechanism: Mechanism,
    hardware: Hardware,
    start: At | Configuration,
    rates: Array,
    given: DriveCommands,
    *,
    rigid: bool,
) -> Commanded:
    """rates : (s,) of θ at the start; what is led sets out with them.

    Commands that are not given keep drives that move where they are; of others they are zero, as forces are.
    """
    names, actuators = rest(mechanism).numbering.coordinates, tuple(mechanism.actuators)
    bank = DriveBank(hardware, actuators, names, hardware.actuator_coordinates)
    moved = tuple(sorted({place for place, block in zip(bank.places, bank.blocks, strict=True) if block.moves} - {-1}))
    here = driven_start(mechanism, start, np.zeros(len(actuators)), moved, rigid)
    held = holding_forces(here, bank)
    bank.reset(here.theta, rates, forces=held)
    inputs = keeping_commands(bank, given.inputs)
    breaks, values = input_course(actuators, inputs, given.times, given.grid, given.spacing)
    bank.reset(here.theta, rates, first_commands(bank, breaks, values, float(given.grid[0])), held)
    return Commanded(bank, here, breaks, values)


def driven_run(made: Commanded, begin: float, end: float, largest: float) -> DrivenRun:
    """What drives that feel nothing of the motion do from `begin` to `end`, s; largest : step."""
    bank, here, breaks, values = made
    found = drive_course(bank, breaks, values, (begin, end, largest))
    springs = drive_springs(here, np.column_stack([bank.stiffness, bank.damping]))
    times, names = begin + found.times, here.rest.numbering.coordinates
    forces = PiecewisePolynomial(bank.inputs, times, found.forces)
    if not bank.led:
        return DrivenRun(here, forces, nothing_led(begin, end), springs)
    targets = PiecewisePolynomial(tuple(names[i] for i in bank.led), times, found.led)
    accelerations = np.vstack([found.accelerations[:, 0], found.accelerations[-1:, 1]])
    return DrivenRun(here, forces, Prescribed(bank.led, targets, accelerations), springs)


def coupled_intervals(made: Commanded, grid: Array, largest: float) -> tuple[Intervals, Array]:
    """Intervals of drives that feel the motion, and a command (a,) for each of them; largest : step, s."""
    model = local(made.here.mechanism, made.here.theta, rigid=True)
    light = np.einsum("ia,ia->a", model.input_map, np.linalg.solve(model.M, model.input_map))
    cut = intervals(made.bank, grid, largest, light)
    return cut, interval_commands(cut.times, made.breaks, made.values)


def holding_forces(here: Configuration, bank: DriveBank, *, standing: bool = False) -> Array:
    """(a,) of drives that yield, where they stand: what holds the mechanism there at rest; zero of all others.

    standing : of all that lead nothing, where they can hold it
    """
    yields = bank.holding(standing=standing)
    if not yields:
        return np.zeros(len(bank.inputs))
    model = local(here.mechanism, here.theta, rigid=True)
    still = np.zeros(len(here.theta))
    needed, B = model.required_forces(still, still), model.input_map
    found = holding_inputs(here.mechanism, here.theta[None], needed[None], B[None], np.full((1, len(still)), np.inf))[0]
    return np.where(np.isin(np.arange(len(found)), yields), found, 0.0)
