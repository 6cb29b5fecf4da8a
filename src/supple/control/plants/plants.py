"""Plants with drives (a mechanism, a reduced model or a linear model), and their rest at the end of a motion."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from supple.array_types import Array
from supple.control.gains.feedback_gain import operating_point, require_continuous_time
from supple.control.observers.sampled_plant import discretize
from supple.description.mechanism import Mechanism, treat_as_rigid
from supple.diagnostics import InputError, SuppleNote
from supple.formulations.absolute.time_damping import say_damping
from supple.hardware.drive_bank import DriveBank
from supple.hardware.hardware import Hardware
from supple.hardware.pieces import Pieces, at_end
from supple.integration.time_steps import LONGEST, StepOptions
from supple.kinematics.rest import rest
from supple.reduced.holding import find_rest
from supple.reduced.model import ReducedModel
from supple.reduced.repertoire import requests_equilibrium
from supple.reduced.state_arguments import in_order
from supple.results.basis import NamedState
from supple.results.closed_loop import Goal
from supple.results.linear_model import LinearModel
from supple.results.signals import Signals, label_signals
from supple.results.simulation import Simulation
from supple.simulation.adaptation import TOLERANCE
from supple.simulation.driven_start import driven_start, held_start, mechanism_start
from supple.simulation.driver import DrivenStart, Run, holding_forces
from supple.simulation.mechanism_run import MechanismRun, begin
from supple.simulation.model_run import ModelRun, model_start
from supple.systems.advancing import Plant, Values
from supple.systems.protocols import system_of

AnyPlant = Mechanism | ReducedModel | LinearModel

_STACKLEVEL = 4  # warn at the line that called closed_loop


# Construction of a plant from any of the three.


class PlantOptions(NamedTuple):
    """Options of the simulation, as in `closed_loop`; times : (N,) s of the samples."""

    times: Array
    start: Any
    rates: Values
    steps: StepOptions


def drives_of(plant: AnyPlant, hardware: Hardware, delay: float) -> DriveBank:
    """Return the drives of all inputs, with a computation delay in s."""
    if not (np.isfinite(delay) and delay >= 0.0):
        raise InputError(
            f"must not be negative (got {delay:g} s)", part="computation delay", hint="give a finite number from 0 on"
        )
    if not isinstance(plant, Mechanism | ReducedModel | LinearModel):
        raise InputError(
            f"cannot close a loop around a {type(plant).__name__}", part="closed loop",
            hint="give a mechanism, a reduced model or a linear model",
        )  # fmt: skip
    system = system_of(plant)
    return DriveBank(hardware, system.inputs, system.rigid_coordinates, hardware.actuator_coordinates, delay=delay)


def plant_in(plant: AnyPlant, drives: DriveBank, options: PlantOptions) -> Plant:
    """Return the plant at its start, with its drives settled there."""
    if isinstance(plant, LinearModel):
        made: Plant = LinearPlant(plant, options.times, options.start, options.rates)
        drives.reset(*made.state)
        return made
    if isinstance(plant, ReducedModel):
        return _settle_drives(*_model(plant, drives, options), options)
    started, standing = _mechanism(plant, drives, options)
    run = _settle_drives(started, standing, options)
    alternative = "reduce it with modes and close the loop on the reduced model"
    treat_as_rigid(plant, options.steps.rigid, alternative, names=run.rigid, stacklevel=_STACKLEVEL)
    say_damping(plant, options.steps.rigid, stacklevel=_STACKLEVEL)
    return run


def _settle_drives(started: DrivenStart[Run], standing: bool, options: PlantOptions) -> Run:
    """Return the run with its drives settled at its start; standing : the drives hold the start, as far as they can."""
    run = started.run(options.times)
    theta, rates = (part[: run.system.theta] for part in run.state)
    started.bank.reset(theta, rates, forces=holding_forces(started, standing=standing))
    return run


def _model(model: ReducedModel, drives: DriveBank, options: PlantOptions) -> tuple[DrivenStart[ModelRun], bool]:
    elastic = model.layout.size > model.layout.theta
    started = model_start(model, options.start, options.rates, drives, options.steps, standing=elastic)
    return started, elastic and not requests_equilibrium(model, options.start)


def _mechanism(
    mechanism: Mechanism, drives: DriveBank, options: PlantOptions
) -> tuple[DrivenStart[MechanismRun], bool]:
    steps, sample = options.steps, float(options.times[1] - options.times[0])
    width = min(sample, steps.step if steps.step is not None else max(LONGEST, 0.1 * sample))
    elastic = bool(mechanism.elastic) and not steps.rigid
    if isinstance(options.start, NamedState):
        options = _with_coordinates(mechanism, options, options.start)
    names, given = rest(mechanism).numbering.coordinates, {} if options.rates is None else options.rates
    rates, steps = (
        in_order("rates", given, names),
        steps._replace(step=width, tolerance=steps.choose_tolerance(TOLERANCE)),
    )
    here = held_start(mechanism, options.start, drives, rigid=steps.rigid, standing=elastic)
    return mechanism_start(here, rates, drives, steps), elastic and not (
        isinstance(options.start, str) and options.start == "equilibrium"
    )


def _with_coordinates(mechanism: Mechanism, options: PlantOptions, start: NamedState) -> PlantOptions:
    """Replace a start that is a state of a linear model by its coordinates and rates.

    The full equations have no modal coordinates: elastic bodies settle under their own weight there, with a note. A
    state whose modes move has no such start and is refused.
    """
    names = rest(mechanism).numbering.coordinates
    moving = [name for name, rate in start.items() if name.endswith(".rate") and rate != 0.0]
    if others := [name for name in moving if name.removesuffix(".rate") not in names]:
        raise InputError(
            f'"{others[0]}" is {start[others[0]]:g}, but the full equations have no modal coordinates', part="start",
            hint="start at rest, or close the loop on the linear or a reduced model in the same basis",
        )  # fmt: skip
    if modes := [name for name in start if name not in names and f"{name}.rate" in start]:
        warnings.warn(
            f"start: the full equations have no coordinates {', '.join(modes)}; elastic bodies start at rest under "
            "their own weight instead", SuppleNote, stacklevel=_STACKLEVEL + 1,
        )  # fmt: skip
    rates = {name: start[f"{name}.rate"] for name in names if f"{name}.rate" in start}
    return options._replace(
        start={name: start[name] for name in names if name in start},
        rates=rates if options.rates is None else options.rates,
    )


# A linear model as a plant.


class LinearPlant:
    """Linear model as a plant: ẋ = ẋ₀ + A (x - x₀) + B (u - u₀).

    The solution is exact between the times at which inputs change; inputs are linear in between. The states are
    coordinates, their rates, and those of drives if the model was linearized with drives. Implements `Plant`.
    """

    def __init__(self, model: LinearModel, times: Array, start: Values, rates: Values) -> None:
        require_continuous_time(model)
        self._model, self._times, self._n = model, times, 0
        self.system, self.reason = system_of(model), ""
        names, n = self.system.coordinates, self.system.theta
        further: dict[int, float] = {}
        if isinstance(start, NamedState):
            further = {2 * n + i: start[name] for i, name in enumerate(model.states[2 * n :]) if name in start}
            named, moving = start.split_state(names, model.basis)
            start = {name: value for name, value in named.items() if name not in model.states[2 * n :]}
            rates = moving if rates is None else rates
        self._x0, self._u0 = operating_point(model)
        accelerations = model.at.get("accelerations", {})
        self._drift = np.zeros(len(self._x0))
        self._drift[:n] = self._x0[n : 2 * n]
        self._drift[n : 2 * n] = [accelerations.get(name, 0.0) for name in names]
        self._y0 = np.array([model.at.get("outputs", {}).get(name, 0.0) for name in model.outputs])
        self._x = np.zeros(len(self._x0))
        self._x[:n] = _fill_values("start", start, names, self._x0[:n]) - self._x0[:n]
        self._x[n : 2 * n] = _fill_values("rates", rates, names, np.zeros(n)) - self._x0[n : 2 * n]
        for place, value in further.items():  # of drives
            self._x[place] = value - self._x0[place]
        self._last = self._u0
        self._states = [self._x]
        self._transitions: dict[float, tuple[Array, Array]] = {}

    @property
    def state(self) -> tuple[Array, Array]:
        """Coordinates and rates at the present time, (n,) each."""
        n, x = self.system.theta, self._x + self._x0
        return x[:n], x[n : 2 * n]

    @property
    def present_outputs(self) -> Array:
        """Outputs (o,) at the present time."""
        model = self._model
        return np.asarray(self._y0 + model.C @ self._x + model.D @ (self._last - self._u0))

    def advance(self, pieces: Pieces, until: int) -> bool:
        """Advance to the result time with index `until`, the next one; see `Advancing`."""
        self._n = until
        for p, T in enumerate(np.diff(pieces.times).tolist()):
            last = at_end(pieces, p)
            first = pieces.forces[p, 0]
            F, G = self._transition(round(T, 15))
            slope = (last - first) / T
            self._x = F @ self._x + G @ np.concatenate([first - self._u0, [1.0], slope])
            self._last = last
        self._states.append(self._x)
        if not np.isfinite(self._x).all():
            self.reason = f"the state is not finite at {self._times[self._n]:.6g} s: the loop is unstable"
        return not self.reason

    def _transition(self, T: float) -> tuple[Array, Array]:
        """Return the transition over T of the state, and the effect of (u - u₀, 1, u̇)."""
        if T not in self._transitions:
            A, B = self._model.A, self._model.B
            size, inputs = len(A), B.shape[1]
            # u grows with u̇: it is a state of the wide system, and an input again in the result.
            wide = np.block([[A, B], [np.zeros((inputs, size + inputs))]])
            held_inputs = np.zeros((size + inputs, 1 + inputs))
            held_inputs[:size, 0], held_inputs[size:, 1:] = self._drift, np.eye(inputs)
            F, G = discretize(wide, held_inputs, T)
            self._transitions[T] = F[:size, :size], np.hstack([F[:size, size:], G[:size]])
        return self._transitions[T]

    def result(self, forces: Array) -> Simulation:
        model, count = self._model, len(forces)
        x, time = np.array(self._states[:count]), self._times[:count]
        y = self._y0 + x @ model.C.T + (forces - self._u0) @ model.D.T
        slopes = x @ model.A.T + (forces - self._u0) @ model.B.T + self._drift
        motion = LinearMotion(model, time, x + self._x0, slopes, y, forces)
        return Simulation(
            "linear model", time, motion, self.reason, float(time[-1]), self._n, rigid=model.rigid, basis=model.basis
        )


def _fill_values(part: str, values: Values, names: tuple[str, ...], otherwise: Array) -> Array:
    """Return values (n,); names that are left out keep their default."""
    if values is None:
        return otherwise
    if isinstance(values, Mapping):
        return in_order(part, {**dict(zip(names, otherwise.tolist(), strict=True)), **values}, names)
    return in_order(part, values, names)


# States of a linear model over time, and the signals computed from them.


@dataclass(frozen=True, eq=False)
class LinearMotion:
    """Motion of a linear model: x and ẋ (N, states), y (N, o) and u (N, a) at times (N,). It has no energies."""

    model: LinearModel
    time: Array
    x: Array
    slopes: Array
    y: Array
    u: Array

    def _coordinates(self, values: Array, units: Mapping[str, str]) -> Signals:
        return label_signals(self.time, self.model.coordinates, values, units)

    @property
    def coordinates(self) -> Signals:
        return self._coordinates(self.x, self.model.units.coordinates)

    @property
    def rates(self) -> Signals:
        return self._coordinates(self.x[:, len(self.model.coordinates) :], self.model.units.rates)

    @property
    def accelerations(self) -> Signals:
        return self._coordinates(self.slopes[:, len(self.model.coordinates) :], self.model.units.accelerations)

    @property
    def outputs(self) -> Signals:
        return label_signals(self.time, self.model.outputs, self.y, self.model.units.outputs)

    @property
    def inputs(self) -> Signals:
        return label_signals(self.time, self.model.inputs, self.u, self.model.units.inputs)

    @property
    def driving_forces(self) -> Signals:
        return Signals(self.time, {})

    @property
    def energy(self) -> Signals:
        return Signals(self.time, {})

    @property
    def energy_defect(self) -> None:
        return


# Coordinates and outputs at rest at the end of a motion: the goal that a run is compared with.


_INSTANT = 1e-3  # s: duration of a run at rest


def goal_of(plant: AnyPlant, motion: Any, *, rigid: bool) -> Goal | None:
    """Return coordinates and outputs at rest at the end of a motion, held there under gravity.

    None if the motion does not end, or does not prescribe all coordinates.

    rigid : treat elastic bodies of a mechanism as rigid
    """
    end = float(getattr(motion, "end", np.inf))
    if motion is None or not np.isfinite(end):
        return None
    last = dict(zip(motion.coordinates, np.asarray(motion.at(end))[0].tolist(), strict=True))
    names = system_of(plant).rigid_coordinates
    if any(name not in last for name in names):
        return None
    theta = np.array([last[name] for name in names])
    if isinstance(plant, Mechanism):
        return partial(_mechanism_goal, plant, theta, rigid)
    return partial(_model_goal, plant, theta) if isinstance(plant, ReducedModel) else partial(_linear, plant, theta)


def _mechanism_goal(mechanism: Mechanism, theta: Array, rigid: bool) -> Mapping[str, float]:
    led = tuple(range(len(theta)))
    start = dict(zip(system_of(mechanism).coordinates, theta.tolist(), strict=True))
    here = driven_start(mechanism, start, led, rigid)
    options = StepOptions(_INSTANT, rigid=rigid)
    run = MechanismRun(begin(here, np.array([0.0, _INSTANT]), np.zeros(len(theta)), options, led=led), None)
    return start | dict(zip(run.system.outputs, run.present_outputs.tolist(), strict=True))


def _model_goal(model: ReducedModel, theta: Array) -> Mapping[str, float]:
    found, layout = find_rest(model, theta[None]), model.layout
    numbers = np.concatenate([found.eta[0], found.outputs[0]])
    return dict(zip((*layout.coordinates, *layout.outputs), numbers.tolist(), strict=True))


def _linear(model: LinearModel, theta: Array) -> Mapping[str, float]:
    """Solve 0 = ẋ₀ + A (x - x₀) + B (u - u₀) with the coordinates at θ, least norm."""
    n, size, inputs = len(model.coordinates), len(model.states), len(model.inputs)
    x0 = np.array([model.at["states"].get(name, 0.0) for name in model.states])
    drift = np.zeros(size)
    drift[:n] = x0[n : 2 * n]
    drift[n : 2 * n] = [model.at.get("accelerations", {}).get(name, 0.0) for name in model.coordinates]
    matrix = np.block([[model.A, model.B], [np.eye(n, size), np.zeros((n, inputs))]])
    found = np.linalg.lstsq(matrix, np.concatenate([-drift, theta - x0[:n]]), rcond=None)[0]
    y0 = np.array([model.at.get("outputs", {}).get(name, 0.0) for name in model.outputs])
    y = y0 + model.C @ found[:size] + model.D @ found[size:]
    return dict(zip((*model.coordinates, *model.outputs), [*theta.tolist(), *y.tolist()], strict=True))
