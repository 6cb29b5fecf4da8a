"""What sensors should have shown: the commands of a logged run sent once more, to a model with its drives."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from supple.diagnostics import InputError, NumericalError
from supple.hardware.drive_bank import DriveBank
from supple.hardware.hardware import Hardware
from supple.hardware.instrument_bank import InstrumentBank
from supple.identification.logged_runs import LoggedRun
from supple.reduced.model import ReducedModel
from supple.reduced.time.driven_model import DrivenModel

Array = NDArray[np.float64]


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
    plant = DrivenModel(model, run.time, start=standing(run, hardware, names), led=bank.led, yields=yields)
    held = model.inverse(plant.eta[None, : layout.theta], delta=plant.eta[None, layout.theta :])[0]
    bank.reset(plant.theta, plant.rates, None, np.linalg.lstsq(model.evaluate(plant.theta).input_map, held)[0])
    seen = InstrumentBank(hardware, layout.outputs, run.sample_time, len(run.time))
    shown = np.empty((len(run.time), len(layout.outputs)))
    shown[0] = seen.read(0, plant.outputs)
    for k in range(len(run.time) - 1):
        bank.applied(commands[k])
        if not plant.advance(bank.pieces(float(run.time[k + 1] - run.time[k]), plant.rates)):
            raise NumericalError(
                f"with the numbers that are tried, {plant.reason}", part="identify",
                hint="begin closer (start=), or bound the unknowns (bounds=)",
            )  # fmt: skip
        shown[k + 1] = seen.read(k + 1, plant.outputs)
    return shown[:, [layout.outputs.index(name) for name in outputs]]


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
