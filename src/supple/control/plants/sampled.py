"""A plant with drives before it and instruments behind it, from sample to sample."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from supple.compilation import compiled
from supple.compilation.bundle import Bundle
from supple.control.plants import loop_kernel as slots
from supple.control.plants.model_plant import ModelPlant
from supple.control.plants.plant import Plant
from supple.hardware.drive_bank import DriveBank
from supple.hardware.drive_kernels import DELAY
from supple.hardware.instrument_bank import InstrumentBank
from supple.hardware.pieces import Pieces
from supple.reduced.kernels import INSIDE

Array = NDArray[np.float64]

_SPARE = 4  # commands that may wait beside those that a delay holds


class Sampled(Protocol):
    """seen, readings (N, outputs), applied, forces (N, inputs) : filled up to the sample that was reached."""

    seen: Array
    readings: Array
    applied: Array
    forces: Array

    def act(self, k: int, command: Array) -> bool:
        """Take the command of sample k, and go on to the next one; False where the plant cannot."""
        ...


class StagedSamples:
    """Any plant: one after the other."""

    def __init__(
        self, plant: Plant, drives: DriveBank, instruments: InstrumentBank, durations: Array, pushes: Array
    ) -> None:
        self._plant, self._drives, self._instruments = plant, drives, instruments
        self._durations, self._pushes, count = durations.tolist(), pushes, len(durations)
        self.seen, self.readings = np.zeros((2, count, len(plant.outputs)))
        self.applied, self.forces = np.zeros((2, count, len(plant.inputs)))
        acting = [i for i, place in enumerate(drives.places) if place >= 0]
        self._acting, self._places = acting, [drives.places[i] for i in acting]
        self._stiffness, self._damping = drives.stiffness[acting], drives.damping[acting]
        self._read(0)

    def _read(self, k: int) -> None:
        self.seen[k] = self._plant.seen
        self.readings[k] = self._instruments.read(k, self.seen[k])

    def act(self, k: int, command: Array) -> bool:
        plant, duration, last = self._plant, self._durations[k], len(self._durations) - 1
        self.applied[k] = self._drives.applied(command)
        eta, rates = plant.state
        pieces = self._drives.pieces(duration, rates[: plant.theta])
        if len(self._pushes):
            _push(pieces, duration, self._pushes[k], self._pushes[min(k + 1, last)])
        self.forces[k] = pieces.forces[3, 0]
        places = self._places
        self.forces[k, self._acting] -= self._stiffness * eta[places] + self._damping * rates[places]
        if k == last:
            return True
        if not plant.advance(pieces):
            return False
        self._read(k + 1)
        return True


def _push(pieces: Pieces, duration: float, before: Array, after: Array) -> None:
    """Add what grows linearly from sample to sample to the forces of pieces."""
    slope = (after - before) / duration
    pieces.forces[3] += before + pieces.times[:-1, None] * slope
    pieces.forces[2] += slope


class CompiledSamples:
    """A reduced model: one compiled call a sample, which everything it needs is bundled for."""

    def __init__(
        self, plant: ModelPlant, drives: DriveBank, instruments: InstrumentBank, durations: Array, pushes: Array
    ) -> None:
        self._run = run = plant.run
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
            options.pair.A, options.pair.nodes, options.pair.errors, limits, run.state, run.kept, run.now,
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
        self._stopped, self._bundle, self._last = parts[slots.STOPPED], bundle, count - 1
        self._kernel, self._memory, self._loop = compiled(slots.loop_sample), run.model.memory, bundle.memory

    def act(self, k: int, command: Array) -> bool:
        status = self._kernel(self._memory, self._loop, command, k)
        if status == INSIDE:
            if k < self._last:
                self._run.interval = k + 1
            return True
        self._run.end(int(status), float(self._stopped[0]))
        return False


def sampled(plant: Plant, drives: DriveBank, instruments: InstrumentBank, durations: Array, pushes: Array) -> Sampled:
    """The fastest way there is; durations : (N,) s from each sample to the next; pushes : forces from outside, (N, a)
    or (0, a)."""
    way = CompiledSamples if isinstance(plant, ModelPlant) else StagedSamples
    return way(plant, drives, instruments, durations, pushes)  # type: ignore[arg-type]
