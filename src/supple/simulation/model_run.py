"""Runs of a reduced model, advanced from event to event: free under known forces, or behind its drives."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.approximation.piecewise.packing import NOWHERE
from supple.array_types import Array
from supple.compilation import compile_kernel
from supple.diagnostics import InputError
from supple.diagnostics.limits import require_memory
from supple.hardware.drive_bank import DriveBank
from supple.hardware.pieces import Pieces, between
from supple.integration.input_course import InputCourse
from supple.integration.time_steps import StepOptions, alpha_of, require_positive
from supple.reduced.kernels import INSIDE
from supple.reduced.model import ReducedModel
from supple.reduced.observing_kernel import observed_arrays
from supple.reduced.state_arguments import Values
from supple.reduced.time.begin import begin_state, early_end
from supple.reduced.time.driven_march import (
    CLASSICAL,
    FIFTH,
    STEPS,
    WANTED,
    Driven,
    DrivenOptions,
    driven_march,
    kept_size,
)
from supple.reduced.time.explicit_march import explicit_march
from supple.reduced.time.implicit_march import ImplicitOptions, implicit_march
from supple.reduced.time.model_motion import ModelMotion
from supple.results.simulation import Simulation
from supple.simulation.driver import DrivenStart
from supple.systems.protocols import system_of

TOLERANCE = 1e-9  # error of a step of a free run: default without a step and a tolerance
ENERGIES = 2  # kinetic and potential, behind the outputs


def model_result(motion: ModelMotion, reason: str, stopped: float, steps: int, tolerance: float | None) -> Simulation:
    """Return the simulation of a motion.

    reason, stopped : cause and time (s) of an early end, or ""; steps : of the march
    """
    model = motion.model
    return Simulation(
        model.name, motion.time, motion, reason, stopped, steps, tolerance=tolerance, rigid=model.rigid,
        basis=model.basis,
    )  # fmt: skip


class FreeRun:
    """η through result times (N,), under an `InputCourse`. Implements `Advancing`.

    start : η and η̇ (n,); implicit : by generalized-α, else by Dormand-Prince
    """

    def __init__(
        self, model: ReducedModel, times: Array, start: tuple[Array, Array], options: StepOptions, *, implicit: bool
    ) -> None:
        size = model.layout.size
        self._model, self._times, self._last, self._steps, self._count = model, times, 0, 0, 1
        self._state = np.concatenate([*start, np.zeros(2)])
        require_memory(16.0 * len(times) * (size + 1), f"{len(times)} results take", part="t", hint="request fewer")
        self._record = np.empty((len(times), 2 * size + 2))
        self._error = options.choose_tolerance(TOLERANCE) or 0.0
        longest = options.step if options.step is not None else float(times[-1] - times[0])
        self._friction_speed, self._stopped, self._reason = options.friction_speed, float(times[0]), ""
        limits = (float(longest), float(self._error), float(options.friction_speed))
        self._march: Any = explicit_march
        self._options: Any = limits
        if implicit:
            self._march, self._options = implicit_march, ImplicitOptions(*limits, alpha_of(options.spectral_radius))

    def advance(self, acting: InputCourse, until: int) -> bool:
        """Advance to the result time of number `until`; see `Advancing`."""
        part = slice(self._last, until + 1)
        status, count, time, steps = compile_kernel(self._march)(
            *self._model.arrays, self._options, self._times[part], acting, self._state, self._record[part]
        )
        self._count, self._stopped = self._last + int(count), float(time)
        self._last, self._steps = until, self._steps + int(steps)
        if status != INSIDE:
            self._reason = early_end(self._model, int(status), self._stopped, self._state)
        return bool(status == INSIDE)

    def result(self, inputs: Array) -> Simulation:
        """Return the motion so far, under inputs (N, a) at the result times."""
        n, count = self._model.layout.size, self._count
        eta, v, works = (np.ascontiguousarray(part) for part in np.split(self._record[:count], [n, 2 * n], axis=1))
        motion = ModelMotion(
            self._model, self._times[:count], eta, v, inputs[:count], self._friction_speed, works=works
        )
        return model_result(motion, self._reason, self._stopped, self._steps, self._error or None)


class ModelRun:
    """η through result times (N,), under the `Pieces` of drives; the state is in arrays that are filled in place.

    Implements `Plant`.

    start, rates : as in `simulate`. With prescribed coordinates, δ starts by default at rest with θ held
    step         : s, fixed, or with a tolerance the longest; by default steps follow the tolerance
    led          : numbers of the coordinates that drives prescribe
    yields       : stiffness and damping (coordinates, 2) of compliant drives, along η: -k η - c η̇ is added

    eta, rates : (n,), views of the present state; accelerations : (n,); present_outputs : (o,), before inputs jump
    """

    def __init__(
        self,
        model: ReducedModel,
        times: Array,
        *,
        start: Values | str | None = None,
        rates: Values | None = None,
        step: float | None = None,
        tolerance: float | None = None,
        friction_speed: float = 1e-3,
        led: Sequence[int] = (),
        yields: Array | None = None,
    ) -> None:
        require_positive(tolerance=tolerance, friction_speed=friction_speed, step=step)
        self.model, self.times, self.reason = model, np.ascontiguousarray(times, dtype=float), ""
        self.stopped = float(times[0])
        layout, n, s, count = model.layout, model.layout.size, model.layout.theta, len(times)
        self.system = system_of(model)
        pair = CLASSICAL if set(range(s)) <= set(led) else FIFTH
        allowed = tolerance if tolerance is not None else (0.0 if step is not None else pair.tolerance)
        self.tolerance = allowed or None
        longest = float(step if step is not None else np.diff(self.times).max())
        self.options = DrivenOptions(longest, float(allowed), float(friction_speed), pair)
        along = np.zeros((n, 2)) if yields is None else np.asarray(yields, dtype=float)
        leading = np.array(led, dtype=np.int64)
        self.driven = Driven(
            leading, np.setdiff1d(np.arange(n), leading), *(np.ascontiguousarray(part) for part in along.T)
        )
        self.observed = observed_arrays(model)
        eta, v = begin_state(model, start, rates, np.zeros(len(layout.inputs)), held=len(leading) > 0)
        self._width = 2 * n + 2
        self.memory = np.concatenate([eta, v, np.zeros(4)])
        self.memory[self._width + WANTED] = longest
        self.kept = np.full(int(kept_size(model.arrays.integers)), float(NOWHERE))
        self.now = np.zeros(2 * n + len(layout.outputs) + ENERGIES)
        self.states, self.found = np.empty((count, self._width)), np.empty((count, len(self.now)))
        self._look()
        self._march, self._arrays, self.interval = compile_kernel(driven_march), model.arrays, 0
        k, a = len(leading), len(layout.inputs)
        self._take(Pieces(np.zeros(1), np.zeros((0, 4, a)), np.zeros((0, 4, k)), np.zeros((0, 2, k))))
        self.states[0], self.found[0] = self.memory[: self._width], self.now

    def _look(self) -> None:
        n = self.model.layout.size
        self.eta, self.rates = self.memory[:n], self.memory[n : 2 * n]
        self.accelerations, self.present_outputs = self.now[:n], self.now[2 * n : -ENERGIES]

    @property
    def state(self) -> tuple[Array, Array]:
        """η and η̇ (n,) at the present time, as views."""
        return self.eta, self.rates

    def adopt(self, memory: Array, kept: Array, now: Array, states: Array, found: Array) -> None:
        """Use arrays of another owner with the same contents instead of its own; records begin anew."""
        states[0], found[0] = self.states[0], self.found[0]
        self.memory, self.kept, self.now, self.states, self.found = memory, kept, now, states, found
        self._look()

    def end(self, status: int, time: float) -> None:
        """Record that the run could not continue, at a time (s) after the last instant."""
        self.stopped = float(self.times[self.interval] + time)
        self.reason = early_end(self.model, status, self.stopped, self.memory)

    def _take(self, pieces: Pieces) -> bool:
        status, time = self._march(
            self._arrays, self.options, self.driven, pieces, self.observed, self.memory, self.kept, self.now
        )
        if status != INSIDE:
            self.end(int(status), float(time))
        return bool(status == INSIDE)

    def advance(self, acting: Pieces, until: int) -> bool:
        """Advance to the result time of number `until`; see `Advancing`. Pieces end at all result times up to there."""
        if until == self.interval + 1:
            return self._take(acting) and self._record_result(until)
        times = self.times[self.interval : until + 1]
        for first, last in pairwise(np.searchsorted(acting.times, times - times[0])):
            if not self._take(between(acting, first, last)):
                return False
            self._record_result(self.interval + 1)
        return True

    def _record_result(self, n: int) -> bool:
        """Record the result of number n."""
        self.interval, self.stopped = n, float(self.times[n])
        self.states[n], self.found[n] = self.memory[: self._width], self.now
        return True

    @property
    def steps(self) -> int:
        return int(self.memory[self._width + STEPS])

    def motion(self, forces: Array, at: NDArray[np.int64] | None = None) -> ModelMotion:
        """Return the motion so far, at all instants or those of these numbers.

        forces : (N, a) of the inputs, those from each instant on
        """
        n = self.model.layout.size
        kept = np.arange(self.interval + 1) if at is None else at[at <= self.interval]
        parts = np.split(self.states[kept], [n, 2 * n], axis=1)
        eta, v, works = (np.ascontiguousarray(part) for part in parts)
        names = tuple(self.model.layout.coordinates[i] for i in self.driven.led)
        led = np.ascontiguousarray(self.found[kept, :n]) if names else None
        return ModelMotion(
            self.model,
            self.times[kept],
            eta,
            v,
            forces,
            self.options.speed,
            led,
            works,
            names if names else None,
            self.found[kept, -ENERGIES:],
        )

    def result(self, forces: Array, at: NDArray[np.int64] | None = None) -> Simulation:
        """Return the motion so far, under forces (N, a) of the inputs from each result time on.

        at : numbers of the result times to keep, to which the forces belong. Default: all
        """
        return model_result(self.motion(forces, at), self.reason, self.stopped, self.steps, self.tolerance)


def model_start(
    model: ReducedModel,
    start: Values | str | None,
    rates: Values | None,
    bank: DriveBank,
    options: StepOptions,
    *,
    standing: bool = False,
) -> DrivenStart[ModelRun]:
    """Return a reduced model at the start of a run behind its drives; arguments as of `begin_state`.

    If drives move θ, δ starts by default at rest with θ held.
    """
    system, moved = system_of(model), any(block.moves for block in bank.blocks)
    eta, v = begin_state(model, start, rates, np.zeros(len(system.inputs)), held=moved, standing=standing)
    s, yields = system.theta, yields_along(model, bank)

    def run(times: Array) -> ModelRun:
        return ModelRun(
            model, times, start=eta, rates=v, step=options.step, tolerance=options.tolerance,
            friction_speed=options.friction_speed, led=bank.led, yields=yields,
        )  # fmt: skip

    return DrivenStart(system, bank, eta[:s], v[:s], eta[s:] if len(eta) > s else None, run)


def yields_along(model: ReducedModel, drives: DriveBank) -> Array:
    """Return stiffness and damping (n, 2) of drives along the model's coordinates."""
    found = np.zeros((model.layout.size, 2))
    for name, place, stiffness, damping in zip(
        drives.inputs, drives.places, drives.stiffness, drives.damping, strict=True
    ):
        if not (stiffness or damping):
            continue
        if place < 0:
            raise InputError(
                "its compliance acts along a motion that is not a coordinate of the model",
                part=f'drive of actuator "{name}"',
                hint="reduce with that coordinate, or simulate the mechanism",
            )  # fmt: skip
        found[place] += stiffness, damping
    return found
