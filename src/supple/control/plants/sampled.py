"""Sampled system: a plant with drives at its inputs and instruments at its outputs, advanced from sample to sample."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from supple.array_types import Array
from supple.compilation import compile_kernel
from supple.compilation.bundle import Bundle
from supple.control.plants import loop_kernel as slots
from supple.hardware.drive_bank import DriveBank
from supple.hardware.drive_kernels import DELAY
from supple.hardware.instrument_bank import InstrumentBank
from supple.reduced.kernels import INSIDE
from supple.simulation.driver import DrivenSystem
from supple.simulation.model_run import ModelRun
from supple.systems.advancing import Advancing, Plant

_SPARE = 4  # room in the queue of commands beyond those that a delay holds


class Sampled(Advancing[Array], Protocol):
    """Protocol of a plant with drives and instruments that `advance` takes from sample to sample under commands (a,).

    seen, readings : (N, outputs) true outputs and readings, filled up to the present sample
    applied, forces : (N, inputs) commands as applied and forces of the drives, filled up to the present sample
    """

    seen: Array
    readings: Array
    applied: Array
    forces: Array


class StagedSamples(DrivenSystem):
    """Sampled system for any plant: drives, plant and instruments one after another. Implements `Sampled`."""

    def __init__(
        self, plant: Plant, drives: DriveBank, instruments: InstrumentBank, durations: Array, pushes: Array
    ) -> None:
        super().__init__(plant, drives, durations, pushes)
        self._instruments = instruments
        self.seen, self.readings = np.zeros((2, len(durations), len(plant.system.outputs)))
        self._read(0)

    def _read(self, k: int) -> None:
        self.seen[k] = self.plant.present_outputs
        self.readings[k] = self._instruments.read(k, self.seen[k])

    def advance(self, command: Array, until: int) -> bool:
        """Advance under a command (a,) to sample `until`, and read the instruments there."""
        last = until == self._event
        if not super().advance(command, until):
            return False
        if not last:
            self._read(until)
        return True


class CompiledSamples:
    """Sampled system for a reduced model: one compiled call per sample on one array. Implements `Sampled`."""

    def __init__(
        self, plant: ModelRun, drives: DriveBank, instruments: InstrumentBank, durations: Array, pushes: Array
    ) -> None:
        self._run = run = plant
        layout, count = run.model.layout, len(durations)
        outputs, inputs, n = len(layout.outputs), len(layout.inputs), layout.size
        room = int(np.ceil(float(drives.arrays.facts[:, DELAY].max(initial=0.0)) / durations.min())) + _SPARE
        queue = np.zeros((2, inputs, max(room, drives.state.queue.shape[2])))
        queue[:, :, : drives.state.queue.shape[2]] = drives.state.queue
        options, observed = run.options, run.observed
        sizes = np.array([observed.measures, observed.efforts, observed.order], dtype=np.int64)
        limits = (options.largest, options.tolerance, options.speed, options.pair.power)
        bundle = Bundle(
            *drives.arrays, drives.state.x, drives.state.held, queue, drives.state.motion,
            np.array(drives.places, dtype=np.int64), drives.stiffness, drives.damping,
            *run.driven, observed.columns, observed.constants, sizes, observed.terms, observed.weights,
            options.pair.A, options.pair.nodes, options.pair.errors, limits, run.memory, run.kept, run.now,
            *instruments.arrays, *instruments.state, pushes, durations,
            np.zeros((count, 2 * n + 2)), np.zeros((count, len(run.now))), np.zeros((count, outputs)),
            np.zeros((count, inputs)), np.zeros((count, inputs)), np.zeros(1),
        )  # fmt: skip
        parts = bundle.parts
        run.adopt(*(parts[slot] for slot in (slots.STATE, slots.KEPT, slots.FOUND, slots.STATES, slots.FOUND_AT)))
        self.seen, self.readings = run.found[:, 2 * n : 2 * n + outputs], parts[slots.READINGS]
        self.applied, self.forces = parts[slots.APPLIED], parts[slots.FORCES]
        self.readings[0] = instruments.read(0, self.seen[0])
        for slot, part in ((slots.MEMORY, instruments.state.memory), (slots.HISTORY, instruments.state.history)):
            parts[slot][...] = part
        self._stopped, self._bundle = parts[slots.STOPPED], bundle
        self._kernel, self._memory, self._loop = compile_kernel(slots.loop_sample), run.model.memory, bundle.memory

    def advance(self, command: Array, until: int) -> bool:
        """Advance under a command (a,) to sample `until`: the next one or, at the last, itself."""
        status = self._kernel(self._memory, self._loop, command, self._run.interval)
        if status == INSIDE:
            self._run.interval = until
            return True
        self._run.end(int(status), float(self._stopped[0]))
        return False


def sampled_system(
    plant: Plant, drives: DriveBank, instruments: InstrumentBank, durations: Array, pushes: Array
) -> Sampled:
    """Return the fastest sampled system for a plant.

    durations : (N,) s from each sample to the next
    pushes    : external forces at the samples, (N, a) or (0, a)
    """
    make = CompiledSamples if isinstance(plant, ModelRun) else StagedSamples
    return make(plant, drives, instruments, durations, pushes)  # type: ignore[arg-type]
