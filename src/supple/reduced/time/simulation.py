"""Motion of a reduced model in time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.compilation import compiled
from supple.diagnostics import InputError, nearest
from supple.diagnostics.arguments import require_arguments
from supple.diagnostics.limits import require_memory
from supple.hardware.drive_course import say_passed_by
from supple.hardware.hardware import NO_HARDWARE
from supple.integration.generalized_alpha import alpha_of
from supple.integration.input_course import Inputs, followed_course
from supple.integration.result_times import require_positive, result_times
from supple.reduced.kernels import INSIDE
from supple.reduced.time.begin import begin_state, early_end
from supple.reduced.time.driven_run import Steps, driven_simulation
from supple.reduced.time.explicit_march import explicit_march
from supple.reduced.time.implicit_march import Options, implicit_march
from supple.reduced.time.led_motion import led_motion
from supple.reduced.time.model_motion import ModelMotion
from supple.reduced.time.scenario_run import led_scenario, scenario_run
from supple.results.simulation import Simulation, warn_of

if TYPE_CHECKING:
    from supple.reduced.model import ReducedModel
    from supple.reduced.state_arguments import Values

Array = NDArray[np.float64]

TOLERANCE = 1e-9  # of a step, where neither a step nor a tolerance is asked for
_METHODS = ("auto", "explicit", "implicit")


def simulate_model(
    model: ReducedModel,
    t: ArrayLike | str | Mapping[str, Any] | None = None,
    inputs: Inputs = None,
    start: Values | str | None = None,
    *,
    until: float | None = None,
    step: float | None = None,
    rates: Values | None = None,
    input_times: ArrayLike | None = None,
    motion: Any = None,
    tolerance: float | None = None,
    method: str = "auto",
    spectral_radius: float = 0.9,
    output_step: float | None = None,
    friction_speed: float = 1e-3,
    rigid: bool = False,
    drives: bool = True,
) -> Simulation:
    """Motion from η, η̇ at t[0] on; the call is that of `supple.simulate`.

    t               : (N,) rising times of the results, s; or the end alone; or a scenario, its name or its fields, of
                      which the other arguments replace parts
    inputs          : {actuator: number, values at `input_times` or else at t (linear between them), or callable of
                      time}, or (N, a) values: forces, or commands of drives. Zero if left out; drives that move stay
                      where they are. Callables are followed at every step, whatever t is: see `followed_course`
    start           : θ, or η; by name (δ left out is zero) or in order; a configuration's name, or "equilibrium": at
                      rest under the inputs at the start. The state of a linear model (`at["states"]`) brings its rates,
                      and must be in the model's own basis. If left out, `rest`, where the model knows it
    until, output_step : instead of t: the end, s, and the time between results: if left out, as `supple.simulate`
    step            : fixed step, s (shortened to end at every result); steps follow the tolerance if left out
    rates           : η̇ at the start, by name or in order
    motion          : a Trajectory of the model's θ that leads it, δ free; its forces are `Simulation.driving_forces`
    tolerance       : error of a step over 1 + |state|; with `step` too, that is the largest one
    method          : "explicit" (Dormand-Prince, order 5), "implicit" (generalized-α, order 2, for stiff models), or
                      "auto": implicit where there are elastic coordinates
    spectral_radius : of "implicit": what a step leaves of the fastest oscillations, 0 to 1
    friction_speed  : over which dry friction changes its sign, in the unit of the joint's rate
    rigid           : of a mechanism alone: a model has been reduced with its elastic parts, or without
    drives          : False leaves drives out: inputs are forces. A motion leaves them out as well. With drives the
                      method is that of models between samples (`driven_march`), explicit

    A run that leaves the region, or cannot go on, returns what it has and warns; see `Simulation.reason`. How well its
    energies balance is told by `Simulation.energy_defect`.
    """
    require_arguments(simulate_model, locals())
    require_positive(tolerance=tolerance, friction_speed=friction_speed)
    if method not in _METHODS:
        raise InputError(f'there is no method "{method}"', hint=nearest(method, _METHODS))
    delta = None
    if isinstance(t, str | Mapping) and motion is not None:
        model, delta = led_scenario(model, t, motion.theta[0])
        t = None
    elif isinstance(t, str | Mapping):
        run = scenario_run(model, t, until, step)
        model, t, until, step = run.model, None, run.until, run.step
        inputs, input_times = (run.inputs, run.times) if inputs is None else (inputs, input_times)
        start, rates = run.start if start is None else start, run.rates if rates is None else rates
    hardware = model.hardware if drives else NO_HARDWARE
    if motion is not None:
        say_passed_by(hardware)
        times = None
        if t is not None or until is not None:
            times = result_times(t, until=until, step=step, output_step=output_step)
        return led_motion(
            model, motion, times, step=step, tolerance=tolerance, friction_speed=friction_speed, delta=delta
        )
    layout = model.layout
    grid = result_times(t, until=until, step=step, output_step=output_step)
    if hardware.drives:
        steps = Steps(step, tolerance, friction_speed)
        found = driven_simulation(model, hardware, grid, inputs, input_times, (start, rates), steps)
        if not found.complete:
            warn_of(found)
        return found
    fixed = step is not None and tolerance is None
    course = followed_course(layout.inputs, inputs, input_times, grid, step, fixed=fixed)
    u = course.at(grid)
    state = np.concatenate([*begin_state(model, start, rates, u[0]), np.zeros(2)])
    require_memory(16.0 * len(grid) * (layout.size + 1), f"{len(grid)} results take", part="t", hint="keep fewer")
    record = np.empty((len(grid), 2 * layout.size + 2))
    span = float(grid[-1] - grid[0])
    error = tolerance if tolerance is not None else (0.0 if step is not None else TOLERANCE)
    options = (float(step if step is not None else span), float(error), float(friction_speed))
    if method == "implicit" or (method == "auto" and layout.size > layout.theta):
        damped = Options(*options, alpha_of(spectral_radius))
        marched = compiled(implicit_march)(*model.arrays, damped, grid, course, state, record)
    else:
        marched = compiled(explicit_march)(*model.arrays, options, grid, course, state, record)
    status, reached, time, taken = marched
    n = layout.size
    eta, v, works = (np.ascontiguousarray(part) for part in np.split(record[:reached], [n, 2 * n], axis=1))
    found = Simulation(
        model.name,
        grid[:reached],
        ModelMotion(model, grid[:reached], eta, v, u[:reached], friction_speed, works=works),
        reason="" if status == INSIDE else early_end(model, int(status), float(time), state),
        stopped=float(time),
        steps=int(taken),
        tolerance=error or None,
        rigid=model.rigid,
        basis=model.basis,
    )
    if not found.complete:  # a controller runs it from instant to instant, whose energies say little
        warn_of(found)
    return found
