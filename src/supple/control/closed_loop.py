"""A controller in the loop with a mechanism: it measures, decides, and its forces are held until it does so again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.analyses.time.adaptation import TOLERANCE
from supple.analyses.time.zero_order_hold import HeldSimulation
from supple.control.controller import Controller, Measurement
from supple.control.plants.linear_plant import LinearPlant
from supple.control.plants.mechanism_plant import MechanismPlant
from supple.control.plants.model_plant import ModelPlant
from supple.control.plants.plant import Plant
from supple.description.mechanism import Mechanism
from supple.description.rigid_parts import taken_as_rigid
from supple.diagnostics import InputError, SuppleError
from supple.formulations.absolute.time_damping import say_damping
from supple.integration.result_times import LONGEST
from supple.reduced.model import ReducedModel
from supple.reduced.named_values import in_order
from supple.results.linear_model import LinearModel
from supple.results.simulation import Simulation, warn_of

Array = NDArray[np.float64]


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
) -> Simulation:
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
    rigid       : elastic parts of a mechanism are taken as rigid; otherwise they deform, and controllers measure θ and
                  outputs of the deformed mechanism

    Results are at the samples: coordinates, rates and outputs as measured, inputs as held from then on. A run that ends
    early, be it that the controller asks for what is not measured, or whose account of energy does not balance, warns.
    """
    times = _samples(until, sample_time)
    damping = {"spectral_radius": spectral_radius, "friction_speed": friction_speed}
    loop = _plant(plant, times, start, rates, {"step": step, "tolerance": tolerance} | damping, rigid)
    if isinstance(plant, Mechanism) and isinstance(loop, MechanismPlant):
        taken_as_rigid(plant, rigid, "reduce it with modes and close the loop on the reduced model", names=loop.rigid)
        say_damping(plant, rigid)
    measured, forces, failed = [loop.measure()], [], ""
    for t in times:
        try:
            forces.append(_forces(controller, float(t), measured[-1], loop.inputs))
        except SuppleError as error:
            if not forces:  # nothing has been computed yet
                raise
            failed = f"the controller failed at {t:.6g} s: {error}"
            forces.append(forces[-1])
            break
        if t == times[-1] or not loop.advance(forces[-1]):
            break
        measured.append(loop.measure())
    run = loop.result(times[: len(measured)], measured, np.array(forces[: len(measured)]))
    if failed:
        run = replace(run, reason=failed, stopped=float(times[len(measured) - 1]))
    warn_of(run)
    return run


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
    options: dict[str, Any],
    rigid: bool,
) -> Plant:
    """options : step, tolerance, spectral radius and friction speed, as given."""
    if isinstance(plant, LinearModel):
        return LinearPlant(plant, times, start, rates)
    if isinstance(plant, ReducedModel):
        return ModelPlant(plant, times, start, rates, options)
    if not isinstance(plant, Mechanism):
        raise InputError(
            f"{type(plant).__name__} is not a plant", part="closed loop",
            hint="give a mechanism, a reduced model or a linear model",
        )  # fmt: skip
    step, tolerance, sample = options["step"], options["tolerance"], float(times[1] - times[0])
    width = min(sample, step if step is not None else max(LONGEST, 0.1 * sample))
    allowed = TOLERANCE if step is None and tolerance is None else tolerance
    given = options | {"step": width, "tolerance": allowed}
    return MechanismPlant(HeldSimulation(plant, times, start=start, rates=rates, rigid=rigid, **given))


def _forces(controller: Controller, t: float, measurement: Measurement, names: tuple[str, ...]) -> Array:
    """What the controller answers, checked: (actuators,)."""
    answer = controller.step(t, measurement)
    driven = getattr(controller, "actuators", None)
    if driven is not None and not isinstance(answer, Mapping) and np.shape(answer) == (len(driven),):
        answer = dict(zip(driven, np.asarray(answer, dtype=float).tolist(), strict=True))
    u = in_order(f"answer of the controller at {t:.6g} s", answer, names)
    if u.ndim != 1:
        raise InputError(
            f"has the shape {u.shape}", part=f"answer of the controller at {t:.6g} s", hint=f"give ({len(names)},)"
        )
    return u
