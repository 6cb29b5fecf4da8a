"""Simulation of a reduced model: free, behind its drives, or led along a motion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.array_types import Array
from supple.hardware.coupled_drives import Intervals, feels, interval_commands
from supple.hardware.drive_bank import DriveBank
from supple.hardware.drive_course import DriveCourse, drive_course, first_commands, keeping_commands, say_passed_by
from supple.hardware.hardware import NO_HARDWARE, Hardware
from supple.integration.input_course import Inputs, followed_course, has_callables, input_course
from supple.integration.result_times import longest_step, result_times
from supple.integration.step_options import StepOptions
from supple.reduced.model import ReducedModel
from supple.reduced.state_arguments import Values
from supple.reduced.time.begin import begin_state
from supple.reduced.time.driven_run import drive_intervals, held_forces, yields_along
from supple.reduced.time.scenario_run import led_scenario, scenario_run
from supple.results.simulation import Simulation, warn_of
from supple.simulation.driven_system import drive_commands
from supple.simulation.driver import Known, drive
from supple.simulation.led_run import led_motion
from supple.simulation.model_run import FreeRun, ModelRun


def simulated(
    model: ReducedModel,
    t: ArrayLike | str | Mapping[str, Any] | None,
    inputs: Inputs,
    start: Values | str | None,
    options: StepOptions,
    *,
    until: float | None,
    rates: Values | None,
    input_times: ArrayLike | None,
    motion: Any,
    method: str,
    output_step: float | None,
    drives: bool,
) -> Simulation:
    """Simulate a reduced model; the arguments are those of `ReducedModel.simulate`, already checked."""
    delta = None
    if isinstance(t, str | Mapping) and motion is not None:
        model, delta = led_scenario(model, t, motion.theta[0])
        t = None
    elif isinstance(t, str | Mapping):
        run = scenario_run(model, t, until, options.step)
        model, t, until, options = run.model, None, run.until, options._replace(step=run.step)
        inputs, input_times = (run.inputs, run.times) if inputs is None else (inputs, input_times)
        start, rates = run.start if start is None else start, run.rates if rates is None else rates
    step, tolerance = options.step, options.tolerance
    hardware = model.hardware if drives else NO_HARDWARE
    if motion is not None:
        say_passed_by(hardware)
        times = None
        if t is not None or until is not None:
            times = result_times(t, until=until, step=step, output_step=output_step)
        speed = options.friction_speed
        return led_motion(model, motion, times, step=step, tolerance=tolerance, friction_speed=speed, delta=delta)
    layout = model.layout
    grid = result_times(t, until=until, step=step, output_step=output_step)
    if hardware.drives:
        found = _driven(model, hardware, grid, inputs, input_times, (start, rates), options)
    else:
        fixed = step is not None and tolerance is None
        course = followed_course(layout.inputs, inputs, input_times, grid, step, fixed=fixed)
        u = course.at(grid)
        implicit = method == "implicit" or (method == "auto" and layout.size > layout.theta)
        free = FreeRun(model, grid, begin_state(model, start, rates, u[0]), options, implicit=implicit)
        drive(free, Known(course, len(grid) - 1))
        found = free.result(u)
    if not found.complete:  # a controller runs it from instant to instant, whose energies say little
        warn_of(found)
    return found


def _driven(
    model: ReducedModel,
    hardware: Hardware,
    grid: Array,
    inputs: Inputs,
    input_times: ArrayLike | None,
    begins: tuple[Values | str | None, Values | None],
    options: StepOptions,
) -> Simulation:
    """Behind its drives, with results at `grid` (N,); begins : start and rates, as `simulate` takes them.

    Where drives move θ, δ that is not given starts at rest with θ held.
    """
    layout, step = model.layout, options.step
    bank = DriveBank(hardware, layout.inputs, layout.coordinates[: layout.theta], hardware.actuator_coordinates)
    longest, spacing = step or float(np.diff(grid).max()), None
    if has_callables(inputs):  # as fine as the mechanism samples them, whatever the results are
        longest = step or min(longest, longest_step(float(grid[-1] - grid[0])))
        spacing = longest if step is not None and options.tolerance is None else longest / 8
    moved = any(block.moves for block in bank.blocks)
    eta, v = begin_state(model, *begins, np.zeros(len(layout.inputs)), held=moved)
    cut = drive_intervals(model, bank, grid, longest, eta) if feels(bank) else Intervals(grid, np.arange(len(grid)))
    run = ModelRun(
        model, cut.times, start=eta, rates=v, step=step, tolerance=options.tolerance,
        friction_speed=options.friction_speed, led=bank.led, yields=yields_along(model, bank),
    )  # fmt: skip
    held, theta, theta_rates = held_forces(model, bank, run.eta), run.eta[: run.theta], run.rates[: run.theta]
    bank.reset(theta, theta_rates, forces=held)
    given = keeping_commands(bank, inputs)
    breaks, values = input_course(layout.inputs, given, input_times, grid, spacing)
    bank.reset(theta, theta_rates, first_commands(bank, breaks, values, float(grid[0])), held)
    if feels(bank):
        forces = drive_commands(run, bank, cut.times, interval_commands(cut.times, breaks, values))
        led = np.zeros(len(bank.led))
    else:
        course = drive_course(bank, breaks, values, (float(grid[0]), float(grid[-1]), longest), also=grid.tolist())
        drive(run, Known(course, len(grid) - 1))
        forces, led = _forces(bank, course, run), course.accelerations[0]
    run.found[0, : layout.size] = _first(model, run, forces[0], dict(zip(bank.led, led.tolist(), strict=True)))
    reached = cut.results[cut.results <= run.interval]
    run.stopped = float(cut.times[run.interval])
    return run.result(forces[reached], reached)


def _forces(bank: DriveBank, course: DriveCourse, run: ModelRun) -> Array:
    """(N, a) of the inputs at the results that were reached, springs and dampers of drives included; zero of those that
    lead."""
    time, n = run.times[: run.interval + 1], run.model.layout.size
    piece = np.clip(np.searchsorted(course.breaks, time, side="right") - 1, 0, len(course.breaks) - 2)
    x = (time - course.breaks[piece])[:, None]
    found = np.zeros((len(time), course.forces.shape[2]))
    for power in course.forces:  # the highest first
        found = found * x + power[piece]
    states = run.states[: len(time)]
    for i, k in enumerate(bank.places):
        if k >= 0:
            found[:, i] -= bank.stiffness[i] * states[:, k] + bank.damping[i] * states[:, n + k]
    return found


def _first(model: ReducedModel, run: ModelRun, u: Array, led: Mapping[int, float]) -> Array:
    """η̈ (n,) at the start, under forces u (a,), of which the led ones are known: M_ff η̈_f = -(M η̈_l - f)_f."""
    s, n = model.layout.theta, model.layout.size
    eta, v, a = run.states[0, :n], run.states[0, n : 2 * n], np.zeros(n)
    a[list(led)] = list(led.values())
    free = np.setdiff1d(np.arange(n), list(led)).astype(int)
    c = model.evaluate(eta[:s], delta=eta[s:] if n > s else None)
    missing = model.inverse(eta[:s], v, a, delta=eta[s:] if n > s else None) - c.input_map @ u
    a[free] = -np.linalg.solve(c.M[np.ix_(free, free)], missing[free])
    return a
