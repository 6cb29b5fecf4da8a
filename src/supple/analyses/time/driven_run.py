"""A run whose inputs are commands: what drives do is computed beforehand, and then leads or pushes the mechanism."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.analyses.linear_models.operating_point import holding_inputs
from supple.analyses.time.driven_start import drive_springs, driven_start
from supple.analyses.time.prescribed import Piecewise, Prescribed
from supple.description.mechanism import Mechanism
from supple.formulations.coefficients import Yield
from supple.hardware.drive_bank import DriveBank
from supple.hardware.drive_course import drive_course, first_commands, keeping_commands
from supple.hardware.hardware import Hardware
from supple.integration.input_course import Inputs, input_course
from supple.kinematics.configuration import At, Configuration
from supple.kinematics.rest import rest
from supple.parameterization.local_model import local

Array = NDArray[np.float64]


class DrivenRun(NamedTuple):
    """Where a run begins, the forces of its inputs, the course of what is led, and what drives yield with."""

    here: Configuration
    forces: Piecewise
    course: Prescribed
    yields: tuple[Yield, ...]


class Commands(NamedTuple):
    """As `simulate` takes them: inputs, and the times of their values; results (N,), s; the longest step and, of
    callables, the longest time between samples."""

    inputs: Inputs
    times: ArrayLike | None
    grid: Array
    largest: float
    spacing: float


def driven_run(
    mechanism: Mechanism, hardware: Hardware, start: At | Configuration, rates: Array, given: Commands, *, rigid: bool
) -> DrivenRun:
    """rates : (s,) of θ at the start; what is led sets out with them.

    Commands that are not given keep drives that move where they are; of others they are zero, as forces are.
    """
    names, actuators = rest(mechanism).numbering.coordinates, tuple(mechanism.actuators)
    bank = DriveBank(hardware, actuators, names, hardware.actuator_coordinates)
    moved = tuple(sorted({place for place, block in zip(bank.places, bank.blocks, strict=True) if block.moves} - {-1}))
    here = driven_start(mechanism, start, np.zeros(len(actuators)), moved, rigid)
    held = held_forces(here, bank)
    bank.reset(here.theta, rates, forces=held)
    inputs = keeping_commands(bank, given.inputs)
    breaks, values = input_course(actuators, inputs, given.times, given.grid, given.spacing)
    begin, end = float(given.grid[0]), float(given.grid[-1])
    bank.reset(here.theta, rates, first_commands(bank, breaks, values, begin), held)
    found = drive_course(bank, breaks, values, (begin, end, given.largest))
    springs = drive_springs(here, np.column_stack([bank.stiffness, bank.damping]))
    forces = found.forces
    for number, spring in springs.items():
        forces[3, :, number] -= spring.stiffness * spring.relaxed
    targets = (found.breaks, found.led) if bank.led else (np.array([begin, end]), np.zeros((4, 1, 0)))
    accelerations = found.accelerations if bank.led else np.zeros((2, 0))
    course = Prescribed(bank.led, targets, found.rates, accelerations)
    return DrivenRun(here, (found.breaks, forces), course, tuple(springs.values()))


def held_forces(here: Configuration, bank: DriveBank) -> Array:
    """(a,) of drives that yield, where they stand: what holds the mechanism there at rest; zero of all others."""
    yields = [i for i, block in enumerate(bank.blocks) if block.moves and not block.leads]
    if not yields:
        return np.zeros(len(bank.inputs))
    model = local(here.mechanism, here.theta, rigid=True)
    still = np.zeros(len(here.theta))
    needed, B = model.required_forces(still, still), model.input_map
    found = holding_inputs(here.mechanism, here.theta[None], needed[None], B[None], np.full((1, len(still)), np.inf))[0]
    return np.where(np.isin(np.arange(len(found)), yields), found, 0.0)
