"""A controller in the loop with a mechanism: it measures, decides, and its forces are held until it does so again."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.analyses.time.adaptation import LONGEST, TOLERANCE, said_of
from supple.analyses.time.simulated import Simulation
from supple.analyses.time.zero_order_hold import HeldSimulation
from supple.control.controller import Controller, Measurement
from supple.control.plants import LinearPlant, MechanismPlant, ModelPlant, Plant
from supple.description.mechanism import Mechanism
from supple.description.rigid_parts import taken_as_rigid
from supple.diagnostics import EarlyEnd, InputError
from supple.reduced.model import ReducedModel
from supple.reduced.named_values import in_order
from supple.results.linear_model import LinearModel
from supple.results.names import listed
from supple.results.picture import picture
from supple.results.result import Result
from supple.results.signals import Signals, gathered, span
from supple.results.table import Table

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class ClosedLoop(Result):
    """What happened, at every sample.

    coordinates, rates, outputs : as measured; inputs : as held from that sample on
    reason     : why the run ended early, or ""
    simulation : of a mechanism, with energies, frames and reactions; None for the others
    rigid      : names of the elastic parts that the plant takes as rigid
    """

    time: Array
    coordinates: Signals
    rates: Signals
    outputs: Signals
    inputs: Signals
    reason: str
    simulation: Simulation | None
    rigid: tuple[str, ...] = ()

    def summary(self) -> str:
        ended = f", ended early: {self.reason}" if self.reason else ""
        return f"of {listed(self.coordinates)}, inputs {listed(self.inputs)}, {span(self.time)}{ended}"

    def table(self) -> Table:
        """Outputs, coordinates, and `NAME.rate`, `NAME.input`, at every sample."""
        return gathered(self.time, self.outputs, self.coordinates, rate=self.rates, input=self.inputs)

    @property
    def complete(self) -> bool:
        return not self.reason

    def plot(self, *names: str, axes: Any = None) -> Any:
        """Draw coordinates by unit, and below them the forces, over time (matplotlib); returns the figure.

        names : coordinates, outputs or inputs, those alone; axes : where to draw instead, in one panel
        """
        if names:
            known = {"coordinate": self.coordinates, "output": self.outputs, "force": self.inputs}
            return picture("time_plot")(known, names, axes)
        groups = {"coordinate": self.coordinates, "force": self.inputs}
        return picture("time_plot")(groups if axes is None else {"coordinate": self.coordinates}, (), axes)


def closed_loop(
    plant: Mechanism | ReducedModel | LinearModel,
    controller: Controller,
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
) -> ClosedLoop:
    """Run a controller on a mechanism (the full nonlinear equations), a reduced model, or a linear one.

    controller  : an object with step(t, measurement) -> forces of the actuators, by name or in order
    sample_time : s between two calls; the forces are held in between (zero-order hold). Feedback without pause is the
                  limit of small ones: the delay is half a sample on average
    start       : as in `simulate`: θ by name or in order, a configuration's name, "equilibrium" (without forces). A
                  linear model starts from its own state where nothing else is said. States of linear models
                  (`at["states"]`) bring their rates, and must be in the plant's basis; so must gains
    rates       : of the coordinates at the start
    step        : s, of the integrator, fixed, or with a tolerance the longest: at most a sample. If left out, steps
                  follow the motion, of a mechanism with at most a tenth of the sample or 1 ms, whichever is longer
    tolerance   : as in `simulate`: 1e-6 for a mechanism where neither it nor a step is given, 1e-9 for a reduced model
    spectral_radius, friction_speed : as in `simulate`
    rigid       : elastic parts of a mechanism are meant to be taken as rigid, and nothing is said of it

    A run that ends early, or whose account of energy does not balance, warns.
    """
    if isinstance(plant, Mechanism):
        stiff = taken_as_rigid(plant, rigid, "reduce it with modes and close the loop on the reduced model")
    else:
        stiff = plant.rigid
    times = _samples(until, sample_time)
    loop = _plant(plant, times, start, rates, (step, tolerance), spectral_radius, friction_speed)
    measured: list[Measurement] = [loop.measure()]
    forces: list[Array] = []
    for t in times[:-1]:
        forces.append(_forces(controller, float(t), measured[-1], loop.inputs))
        if not loop.advance(forces[-1]):
            break
        measured.append(loop.measure())
    else:
        forces.append(_forces(controller, float(times[-1]), measured[-1], loop.inputs))
    found = _result(times[: len(measured)], measured, np.array(forces[: len(measured)]), loop)
    _said_of(found)
    return replace(found, rigid=stiff)


def _said_of(found: ClosedLoop) -> None:
    if found.simulation is not None:
        said_of(found.simulation, stacklevel=4)
    elif not found.complete:
        warnings.warn(f"results end at {found.time[-1]:.6g} s: {found.reason}", EarlyEnd, stacklevel=3)


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


def _plant(
    plant: Mechanism | ReducedModel | LinearModel,
    times: Array,
    start: Any,
    rates: Mapping[str, float] | ArrayLike | None,
    steps: tuple[float | None, float | None],
    spectral_radius: float,
    friction_speed: float,
) -> Plant:
    """steps : the step and the tolerance, as given."""
    step, tolerance = steps
    sample = float(times[1] - times[0])
    if isinstance(plant, LinearModel):
        return LinearPlant(plant, times, start, rates)
    if isinstance(plant, ReducedModel):
        damping = {"spectral_radius": spectral_radius, "friction_speed": friction_speed}
        return ModelPlant(plant, times, start, rates, {"step": step, "tolerance": tolerance} | damping)
    width = min(sample, step if step is not None else max(LONGEST, 0.1 * sample))
    return MechanismPlant(
        HeldSimulation(
            plant,
            times,
            step=width,
            tolerance=TOLERANCE if step is None and tolerance is None else tolerance,
            start=start,
            rates=rates,
            spectral_radius=spectral_radius,
            friction_speed=friction_speed,
        )
    )


def _forces(controller: Controller, t: float, measurement: Measurement, names: tuple[str, ...]) -> Array:
    """What the controller answers, checked: (actuators,)."""
    answer = controller.step(t, measurement)
    driven = getattr(controller, "actuators", None)
    if driven is not None and not isinstance(answer, Mapping) and np.shape(answer) == (len(driven),):
        answer = dict(zip(driven, np.asarray(answer, dtype=float).tolist(), strict=True))
    found = in_order(f"answer of the controller at {t:.6g} s", answer, names)
    if found.ndim != 1:
        raise InputError(
            f"has the shape {found.shape}", part=f"answer of the controller at {t:.6g} s", hint=f"give ({len(names)},)"
        )
    return found


def _result(times: Array, measured: list[Measurement], forces: Array, loop: Plant) -> ClosedLoop:
    names = measured[0].coordinates
    values = np.array([item.values for item in measured]).reshape(len(times), len(names))
    rates = np.array([item.rates for item in measured]).reshape(len(times), len(names))
    outputs = {name: np.array([item.outputs[name] for item in measured]) for name in measured[0].outputs}
    return ClosedLoop(
        times,
        Signals(times, {name: values[:, i] for i, name in enumerate(names)}, dict(loop.units.coordinates)),
        Signals(times, {name: rates[:, i] for i, name in enumerate(names)}, loop.units.rates),
        Signals(times, outputs, dict(loop.units.outputs)),
        Signals(times, {name: forces[:, i] for i, name in enumerate(loop.inputs)}, dict(loop.units.inputs)),
        loop.reason,
        loop.result(),
    )
