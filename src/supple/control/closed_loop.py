"""A controller in the loop with a plant: it measures, decides, and drives act on that until it does so again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.control.commands import Commands
from supple.control.controller import Controller
from supple.control.loop_record import LoopRecord
from supple.control.measurement import Measurement, exact_panel, instrument_panel
from supple.control.plants.choice import PlantOptions, drives_of, hardware_in, plant_in
from supple.control.plants.plant import Plant
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError, SuppleError
from supple.hardware.drive_bank import DriveBank
from supple.hardware.hardware import Hardware
from supple.hardware.instrument_bank import InstrumentBank
from supple.hardware.pieces import Pieces
from supple.integration.input_course import Inputs, input_course
from supple.reduced.model import ReducedModel
from supple.results.closed_loop import ClosedLoop
from supple.results.linear_model import LinearModel
from supple.results.simulation import warn_of

Array = NDArray[np.float64]


def closed_loop(
    plant: Mechanism | ReducedModel | LinearModel,
    controller: Controller | Sequence[Controller],
    *,
    until: float,
    sample_time: float,
    start: Any = None,
    rates: Mapping[str, float] | ArrayLike | None = None,
    step: float | None = None,
    tolerance: float | None = None,
    spectral_radius: float = 0.9,
    friction_speed: float = 1e-3,
    rigid: bool = False,
    hardware: Hardware | bool = True,
    computation_delay: float = 0.0,
    seed: int = 0,
    disturbances: Inputs = None,
) -> ClosedLoop:
    """Run a controller on a mechanism (the full nonlinear equations), a reduced model, or a linear one.

    controller  : an object with step(t, measurement) -> commands of the actuators, by name or in order; or several,
                  each at a sample time of its own if it has one, whose commands add up (`Controller`)
    sample_time : s between two calls; commands are held in between (zero-order hold). Feedback without pause is the
                  limit of small ones: the delay is half a sample on average
    start       : as in `simulate`: θ by name or in order, a configuration's name, "equilibrium" (without forces). A
                  linear model starts from its own state where nothing else is said. States of linear models
                  (`at["states"]`) bring their rates, and must be in the plant's basis; so must gains. Where drives
                  lead coordinates, what deforms starts at rest there, unless the start says how it is deformed
    rates       : of the coordinates at the start
    step        : s, of the integrator, fixed, or with a tolerance the longest: at most a sample. If left out, steps
                  follow the motion, of a mechanism with at most a tenth of the sample or 1 ms, whichever is longer
    tolerance   : as in `simulate`: 1e-6 for a mechanism where neither it nor a step is given, 1e-9 for a reduced model,
                  1e-8 where all its θ are led
    spectral_radius : of a mechanism, as in `simulate`; friction_speed : as in `simulate`
    rigid       : elastic parts of a mechanism are taken as rigid; otherwise they deform, and controllers measure θ and
                  outputs of the deformed mechanism
    hardware    : drives and instruments: the plant's own, others, or False for none: commands are forces then, and
                  measurements exact. With any, a measurement holds what sensors show alone. Those of a linear model are
                  in it already
    computation_delay : s from a measurement to the command that answers it
    seed        : of the instruments' noise
    disturbances : forces of actuators (N or N m) that are added behind drives, as `simulate` takes inputs, sampled as
                  often as the controller measures

    A controller that fails, or a plant that cannot go on, ends the run with what there is; see `ClosedLoop.reason`.
    """
    times = _samples(until, sample_time)
    around = hardware_in(plant, hardware)
    options = PlantOptions(times, start, rates, step, tolerance, spectral_radius, friction_speed, rigid)
    drives = drives_of(plant, around, computation_delay)
    loop = _Loop(plant_in(plant, drives, options), around, drives, times, seed, disturbances)
    commands = Commands(controller, loop.plant.inputs, float(times[1] - times[0]))
    run = loop.run(commands)
    warn_of(run)
    return run


class _Loop:
    """A plant with drives before it and instruments behind it."""

    def __init__(
        self, plant: Plant, hardware: Hardware, drives: DriveBank, times: Array, seed: int, disturbances: Inputs
    ) -> None:
        self.plant, self._drives, self._times = plant, drives, times
        self._hardware, self._instruments = hardware, None
        self._panel = exact_panel(plant.coordinates, plant.outputs, plant.basis)
        if hardware:
            self._panel = instrument_panel(plant.coordinates[: plant.theta], plant.outputs, hardware)
            self._instruments = InstrumentBank(hardware, plant.outputs, float(times[1] - times[0]), len(times), seed)
        self._pushes: Array | None = None
        if disturbances is not None:
            breaks, values = input_course(plant.inputs, disturbances, None, times, None)
            columns = [np.interp(times, breaks, column) for column in values.T]
            self._pushes = np.array(columns).T.reshape(len(times), len(plant.inputs))

    def run(self, commands: Commands) -> ClosedLoop:
        """Until the end, or until something fails."""
        plant, drives, times = self.plant, self._drives, self._times
        record = LoopRecord(plant, self._hardware, drives, times)
        steps, failed = np.diff(times).tolist(), ""
        steps.append(steps[-1])  # what drives begin to do at the last sample is told, and nobody feels it
        for k, t in enumerate(times.tolist()):
            seen = plant.seen
            measurement = self._measured(k, t, seen)
            try:
                if k == 0:
                    commands.reset(measurement)
                command = commands.at(k, t, measurement)
                applied = drives.applied(command)
                commands.applied(applied)
            except SuppleError as error:
                if k == 0:  # nothing has been computed yet
                    raise
                failed = f"the controller failed at {t:.6g} s: {error}"
                record.stop(k, seen, measurement)
                break
            record.keep(k, seen, measurement, command, applied)
            rates = plant.state[1][: plant.theta]
            pieces = drives.pieces(steps[k], rates)
            if self._pushes is not None:
                _push(pieces, steps[k], self._pushes[k], self._pushes[min(k + 1, len(times) - 1)])
            record.drive(k, pieces)
            if t == times[-1] or not plant.advance(pieces):
                break
        return record.result(commands.reference, failed)

    def _measured(self, k: int, t: float, seen: Array) -> Measurement:
        if self._instruments is not None:
            return Measurement.shown(self._panel, self._instruments.read(k, seen), t)
        return Measurement.shown(self._panel, np.concatenate([*self.plant.state, seen]), t)


def _push(pieces: Pieces, duration: float, before: Array, after: Array) -> None:
    """Add what grows linearly from sample to sample to the forces of pieces."""
    slope = (after - before) / duration
    pieces.forces[3] += before + pieces.times[:-1, None] * slope
    pieces.forces[2] += slope


def _samples(until: float, sample_time: float) -> Array:
    if not (np.isfinite(until) and until > 0.0):
        raise InputError(f"the simulation ends at {until:g} s", hint="give a time after 0")
    if not 0.0 < sample_time <= until:
        raise InputError(
            f"it is {sample_time:g} s for {until:g} s",
            part="sample time", hint="give one above 0 and at most the whole",
        )  # fmt: skip
    count = int(np.floor(until / sample_time * (1.0 + 1e-9)))
    times: Array = sample_time * np.arange(count + 1, dtype=float)
    if until - times[-1] > 1e-6 * sample_time:
        return np.concatenate([times, [until]])
    times[-1] = until
    return times
