"""What sensors should have shown: the commands of a logged run sent once more, to a model with its drives."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from supple.array_types import Array
from supple.control.plants.sampled import sampled
from supple.diagnostics import InputError, NumericalError
from supple.hardware.drive_bank import DriveBank
from supple.hardware.hardware import Hardware
from supple.hardware.instrument_bank import InstrumentBank
from supple.identification.logged_runs import LoggedRun
from supple.reduced.model import ReducedModel
from supple.simulation.driven_system import Sent
from supple.simulation.driver import drive
from supple.simulation.model_run import ModelRun


def predicted(model: ReducedModel, hardware: Hardware, run: LoggedRun, outputs: Sequence[str]) -> Array:
    """(N, outputs) of a run from rest, with these drives and instruments."""
    layout = model.layout
    names = layout.coordinates[: layout.theta]
    commands = commands_of(run, layout.inputs)
    bank = DriveBank(hardware, layout.inputs, names, hardware.actuator_coordinates)
    yields = np.zeros((layout.size, 2))
    for i, name in enumerate(layout.inputs):
        if name in hardware.actuator_coordinates:
            yields[names.index(hardware.actuator_coordinates[name])] += bank.stiffness[i], bank.damping[i]
    plant = ModelRun(model, run.time, start=standing(run, hardware, names), led=bank.led, yields=yields)
    theta, rates = (part[: plant.theta] for part in plant.state)
    held = model.inverse(plant.eta[None, : layout.theta], delta=plant.eta[None, layout.theta :])[0]
    bank.reset(theta, rates, None, np.linalg.lstsq(model.evaluate(theta).input_map, held)[0])
    seen = InstrumentBank(hardware, layout.outputs, run.sample_time, len(run.time))
    durations = np.diff(run.time)
    samples = sampled(plant, bank, seen, np.append(durations, durations[-1]), np.zeros((0, len(layout.inputs))))
    drive(samples, Sent(commands[:-1]))
    if plant.reason:
        raise NumericalError(
            f"with the numbers that are tried, {plant.reason}", part="identify",
            hint="begin closer (start=), or bound the unknowns (bounds=)",
        )  # fmt: skip
    return samples.readings[:, [layout.outputs.index(name) for name in outputs]]


def commands_of(run: LoggedRun, inputs: Sequence[str]) -> Array:
    """(N, a), in the order of the inputs."""
    missing = [name for name in inputs if name not in run.commands]
    if missing:
        raise InputError(
            f'actuator "{missing[0]}" has no command', part="logged run", hint=f'log "{missing[0]}.command"'
        )
    return np.column_stack([run.commands[name] for name in inputs])


def standing(run: LoggedRun, hardware: Hardware, names: Sequence[str]) -> dict[str, float]:
    """θ at the start: as told, or as encoders saw it before the first command was felt."""
    found = {}
    for name in names:
        encoder = hardware.encoders.get(name, name)
        if name in run.start:
            found[name] = float(run.start[name])
        elif encoder in run.measured:
            found[name] = float(run.measured[encoder][0])
        else:
            raise InputError(
                f'where "{name}" stood at first is not known', part="logged run",
                hint=f"log an encoder of it, or give start={{{name!r}: ...}}",
            )  # fmt: skip
    return found
