"""Run of a controller in Python whose numbers the tests of exported controllers compare with."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from supple.array_types import Array
from supple.control.controller_measurement import Measurement
from supple.diagnostics import EarlyEnd, InputError
from supple.export.c.motion_table import GivenMotion, MotionTable
from supple.hardware.hardware import Hardware
from supple.integration.time_steps import StepOptions

if TYPE_CHECKING:
    from supple.control.laws.affine_controller import AffineController
    from supple.reduced.model import ReducedModel
    from supple.results.closed_loop import ClosedLoop

_SHORT = 0.2  # s, at least, of a run without a motion
_AFTER = 0.5  # s of a run after the end of the motion
_FEWEST, _MOST = 50, 1000  # samples of a run without a plant
_FOUND = 1e-9  # tolerance of the integrator
_MOVED = 0.01  # amplitude of invented measurements, of the range of a schedule or of the largest value


class SettledDrives(NamedTuple):
    """Drives at the start: states (a, n) and commands (a,), coordinates that they act on (-1: none) and prescribe."""

    x: Array
    command: Array
    places: tuple[int, ...]
    led: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class ControllerRun:
    """Samples of a run: measurements (N, m), commands and applied commands (N, a).

    effect  : largest change of a command, of the largest one, if the controller follows the given motion, not the
              tables
    With a plant:
    loop    : result of the closed loop
    settled : its drives at the start
    signals : places of the law's measurements among the numbers of a measurement
    inputs  : places of the law's actuators among the inputs
    """

    sample_time: float
    measured: Array
    commands: Array
    applied: Array
    effect: float
    loop: ClosedLoop | None = None
    settled: SettledDrives | None = None
    signals: tuple[int, ...] = ()
    inputs: tuple[int, ...] = ()


def record_run(
    controller: AffineController, motion: MotionTable | None, feedforward: MotionTable | None,
    model: ReducedModel | None,
) -> ControllerRun:  # fmt: skip
    """Run a controller along the tables of its motion, in a loop with a model or on invented measurements."""
    from supple.control.laws.affine_controller import AffineController

    law = controller.law
    loop, recorder = None, _Recorder(AffineController(law, motion, feedforward))
    if model is None:
        _follow(recorder, _invented(controller, motion))
    else:
        loop = _closed_loop(recorder, model, motion)
    measured, commands, applied = recorder.arrays
    reference, fed = (
        None if table is None else GivenMotion(given, law.ports.sample_time)
        for given, table in ((controller.reference, motion), (controller.feedforward, feedforward))
    )  # fmt: skip
    original = _Recorder(AffineController(law, reference, fed))
    _follow(original, measured, applied)
    largest = np.abs(commands).max() or 1.0
    effect = float(np.abs(original.arrays[1] - commands).max() / largest)
    run = ControllerRun(recorder.sample_time, measured, commands, applied, effect, loop)
    if model is None or loop is None:
        return run
    inputs = tuple(model.layout.inputs.index(name) for name in controller.actuators)
    settled = _settled_drives(model, loop)
    return replace(run, settled=settled, signals=recorder.signals, inputs=inputs)


class _Given:
    """Measurement of a law: its numbers in the order of the law."""

    def __init__(self, time: float, numbers: Array) -> None:
        self.time, self._numbers = time, numbers

    def array(self, names: Sequence[str]) -> Array:
        """Return the numbers."""
        return self._numbers


class _Recorder:
    """Controller that records its measurements and commands.

    signals : places of its measurements among the numbers of a `Measurement`
    """

    def __init__(self, controller: AffineController) -> None:
        self._controller, self.reference = controller, controller.reference
        self.actuators, self.sample_time = controller.actuators, controller.sample_time
        self.commanded_actuators, self.undriven = controller.commanded_actuators, controller.undriven
        self._measured: list[Array] = []
        self._commands: list[Array] = []
        self._applied: list[Array] = []
        self.signals: tuple[int, ...] = ()

    @property
    def arrays(self) -> tuple[Array, Array, Array]:
        """Measurements, commands and applied commands; a command that nothing replaced was applied."""
        return np.array(self._measured), np.array(self._commands), np.array(self._applied)

    def step(self, t: float, measurement: Any) -> Array:
        """Return the commands."""
        if isinstance(measurement, Measurement) and not self._measured:
            self.signals = tuple(measurement.panel.among(self._controller.law.ports.measured).tolist())
        self._measured.append(measurement.array(self._controller.law.ports.measured).copy())
        self._commands.append(self._controller.step(t, measurement))
        self._applied.append(self._commands[-1])
        return self._commands[-1]

    def record_command(self, command: Array) -> None:
        """Record the commands as applied."""
        self._applied[-1] = np.array(command)
        self._controller.record_command(command)


def _follow(recorder: _Recorder, measured: Array, applied: Array | None = None) -> None:
    """Pass measurements to a controller, and the applied commands if they are known."""
    for k, numbers in enumerate(measured):
        t = k * recorder.sample_time
        recorder.step(t, _Given(t, numbers))
        if applied is not None:
            recorder.record_command(applied[k])


def _invented(controller: AffineController, motion: MotionTable | None) -> Array:
    """Return measurements (N, m) near the motion and inside the region of the law, with small oscillations."""
    law, T = controller.law, controller.sample_time
    end = _SHORT if motion is None else motion.end + _AFTER
    count = int(np.clip(np.ceil(end / T), _FEWEST, _MOST))
    time = T * np.arange(count)
    found = np.zeros((count, len(law.ports.measured)))
    along = (
        {}
        if motion is None
        else dict(zip(motion.coordinates, np.array([motion.at(t)[0] for t in time]).T, strict=True))
    )
    region = {} if law.bounds is None else dict(zip(law.scheduled_by, law.bounds.T, strict=True))
    for i, name in enumerate(law.ports.measured):
        values = along.get(name, np.zeros(count))
        size = np.abs(values).max() or 1.0
        if name in region:
            low, high = region[name]
            size = high - low
            values = np.clip(along.get(name, np.full(count, 0.5 * (low + high))), low + 0.05 * size, high - 0.05 * size)
        found[:, i] = values + _MOVED * size * np.sin(2.0 * np.pi * (3.0 + i) * time / time[-1])
    return found


def silent(hardware: Hardware) -> Hardware:
    """Return drives and instruments without noise."""
    return replace(hardware, instruments=tuple(replace(item, noise=0.0, walk=0.0) for item in hardware.instruments))


def _closed_loop(recorder: _Recorder, model: ReducedModel, motion: MotionTable | None) -> ClosedLoop:
    from supple.control.closed_loop import closed_loop

    T = recorder.sample_time
    end = _SHORT if motion is None else motion.end
    until = T * max(_FEWEST, np.ceil((end + _AFTER) / T - 1e-6))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EarlyEnd)  # it is refused below
        loop = closed_loop(model, recorder, until=float(until), hardware=silent(model.hardware), tolerance=_FOUND)
    if loop.reason:
        raise InputError(
            f"the closed loop with the model ends early: {loop.reason}", part="export",
            hint="export the controller without model=, or simulate control.closed_loop(model, controller) first",
        )  # fmt: skip
    return loop


def _settled_drives(model: ReducedModel, loop: ClosedLoop) -> SettledDrives:
    """Return the drives at the start of a closed loop."""
    from supple.control.plants.plants import PlantOptions, drives_of, plant_in

    bank = drives_of(model, silent(model.hardware), 0.0)
    names = model.layout.coordinates
    start, rates = ({name: float(part[name][0]) for name in names} for part in (loop.coordinates, loop.rates))
    plant_in(model, bank, PlantOptions(loop.time[:2], start, rates, StepOptions()))
    return SettledDrives(bank.state.x.copy(), bank.active_commands, tuple(bank.places), tuple(bank.led))


def as_columns(signals: Mapping[str, Array], names: Sequence[str]) -> Array:
    """Return signals by name as columns (N, k)."""
    count = len(next(iter(signals.values()))) if len(signals) else 0
    return np.stack([signals[name] for name in names], axis=1) if names else np.zeros((count, 0))
