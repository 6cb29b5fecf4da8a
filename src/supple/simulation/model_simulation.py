"""Simulation of a reduced model: free, behind its drives, or with a prescribed motion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.array_types import Array
from supple.compilation import compile_kernel
from supple.diagnostics import InputError, NumericalError
from supple.hardware.drive_bank import DriveBank, Intervals, depend_on_motion
from supple.hardware.drive_course import drive_course, note_unused_drives
from supple.hardware.hardware import NO_HARDWARE, Hardware
from supple.hardware.pieces import Pieces, forces_at
from supple.integration.input_course import Inputs, followed_course, has_callables
from supple.integration.time_steps import StepOptions, longest_step, result_times
from supple.reduced.kernels import INSIDE, OUTSIDE
from supple.reduced.model import ReducedModel
from supple.reduced.state_arguments import Values
from supple.reduced.time.begin import begin_state, course_at, quasi_static, require_course
from supple.reduced.time.led_march import LedCourse, LedOptions, led_march
from supple.reduced.time.model_motion import ModelMotion
from supple.reduced.time.scenario_run import led_scenario, scenario_run
from supple.results.simulation import Simulation, warn_of
from supple.simulation.driver import Known, coupled_run, drive, settled_commands
from supple.simulation.model_run import FreeRun, ModelRun, model_result, model_start
from supple.time_functions.function_of_time import Trajectory


def simulate_reduced(
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
        note_unused_drives(hardware)
        times = None
        if t is not None or until is not None:
            times = result_times(t, until=until, step=step, output_step=output_step)
        speed = options.friction_speed
        return led_motion(model, motion, times, step=step, tolerance=tolerance, friction_speed=speed, delta=delta)
    layout = model.layout
    grid = result_times(t, until=until, step=step, output_step=output_step)
    if hardware.drives:
        found = _simulate_driven(model, hardware, grid, inputs, input_times, (start, rates), options)
    else:
        course = followed_course(layout.inputs, inputs, input_times, grid, step, fixed=options.fixed)
        u = course.at(grid)
        implicit = method == "implicit" or (method == "auto" and layout.size > layout.theta)
        free = FreeRun(model, grid, begin_state(model, start, rates, u[0]), options, implicit=implicit)
        drive(free, Known(course, len(grid) - 1))
        found = free.result(u)
    if not found.complete:  # the energies at the instants of a controller have little meaning
        warn_of(found)
    return found


def _simulate_driven(
    model: ReducedModel,
    hardware: Hardware,
    grid: Array,
    inputs: Inputs,
    input_times: ArrayLike | None,
    begins: tuple[Values | str | None, Values | None],
    options: StepOptions,
) -> Simulation:
    """Simulate behind drives, with results at `grid` (N,); begins : start and rates, as in `simulate`."""
    layout, step = model.layout, options.step
    bank = DriveBank(hardware, layout.inputs, layout.coordinates[: layout.theta], hardware.actuator_coordinates)
    longest, spacing = step or float(np.diff(grid).max()), None
    if has_callables(inputs):  # sampled as finely as for the mechanism, whatever the results
        longest = step or min(longest, longest_step(float(grid[-1] - grid[0])))
        spacing = options.spacing(longest)
    started = model_start(model, *begins, bank, options)
    breaks, values = settled_commands(started, inputs, input_times, grid, spacing)
    if depend_on_motion(bank):
        run, forces, cut = coupled_run(started, grid, longest, breaks, values)
        led = np.zeros(len(bank.led))
    else:
        run, cut = started.run(grid), Intervals(grid, np.arange(len(grid)))
        course = drive_course(bank, breaks, values, (float(grid[0]), float(grid[-1]), longest), also=grid.tolist())
        drive(run, Known(course, len(grid) - 1))
        forces, led = _forces(bank, course, run), course.accelerations[0, 0]
    run.found[0, : layout.size] = _first(model, run, forces[0], dict(zip(bank.led, led.tolist(), strict=True)))
    reached = cut.results[cut.results <= run.interval]
    run.stopped = float(cut.times[run.interval])
    return run.result(forces[reached], reached)


def _forces(bank: DriveBank, course: Pieces, run: ModelRun) -> Array:
    """Return forces (N, a) of the inputs at the reached results, with springs and dampers of drives.

    They are zero for drives that prescribe motion.
    """
    time, n = run.times[: run.interval + 1], run.model.layout.size
    found = forces_at(course, time - time[0])
    states = run.states[: len(time)]
    for i, k in enumerate(bank.places):
        if k >= 0:
            found[:, i] -= bank.stiffness[i] * states[:, k] + bank.damping[i] * states[:, n + k]
    return found


def _first(model: ReducedModel, run: ModelRun, u: Array, led: Mapping[int, float]) -> Array:
    """Return η̈ (n,) at the start under forces u (a,), with prescribed accelerations: M_ff η̈_f = -(M η̈_l - f)_f."""
    s, n = model.layout.theta, model.layout.size
    eta, v, a = run.states[0, :n], run.states[0, n : 2 * n], np.zeros(n)
    a[list(led)] = list(led.values())
    free = np.setdiff1d(np.arange(n), list(led)).astype(int)
    c = model.evaluate(eta[:s], delta=eta[s:] if n > s else None)
    missing = model.inverse(eta[:s], v, a, delta=eta[s:] if n > s else None) - c.input_map @ u
    a[free] = -np.linalg.solve(c.M[np.ix_(free, free)], missing[free])
    return a


# A run of a reduced model with prescribed coordinates θ: only the rows of δ are solved.
#
#     M_δδ δ̈ = -[M_δθ θ̈ + Γ[η̇, η̇] + D_d η̇ + K η - p]_δ,     Q_θ = [M η̈ + Γ[η̇, η̇] + D_d η̇ + K η - p]_θ
#
# Q_θ are the forces that produce the prescribed motion.


_TOLERANCE = 1e-9  # error of a step relative to the largest quasi-static deformation
_INSTANTS = 64  # smallest number of instants for an estimate of the deformation


def led_motion(
    model: ReducedModel,
    course: Trajectory,
    times: Array | None = None,
    *,
    step: float | None = None,
    tolerance: float | None = None,
    friction_speed: float = 1e-3,
    delta: Array | None = None,
) -> Simulation:
    """Simulate δ with θ prescribed along a course, from rest at the start, integrated by Dormand-Prince.

    Parameters
    ----------
    model
        The reduced model.
    course
        Course of its θ.
    times
        (N,) s, of the results, within the course. Default: those of the course.
    step
        Longest step, s. Default: the whole run.
    tolerance
        Error of a step relative to the expected deformation. Default: 1e-9.
    friction_speed
        Speed over which dry friction changes its sign.
    delta
        (n - s,) deformation at the start, at rest. Default: the static one.

    Returns
    -------
    Simulation
        Its `driving_forces` are Q_θ, N or N m along each coordinate.
    """
    require_course(course)
    layout = model.layout
    s, n = layout.theta, layout.size
    if course.coordinates != layout.coordinates[:s]:
        raise InputError(
            f"the motion has {', '.join(course.coordinates)}, but the model has {', '.join(layout.coordinates[:s])}",
            part="motion", hint="give a motion of the model's coordinates",
        )  # fmt: skip
    model.evaluate(course.theta)  # raises an error if the motion leaves the region
    asked = course if times is None else course_at(course, times)
    time = np.asarray(asked.time, dtype=float)
    eta, v, a = (np.hstack([part, np.zeros((len(time), n - s))]) for part in asked.parts)
    steps, works = 0, None
    if n > s and len(time) > 1:
        limits = (step or float(time[-1] - time[0]), tolerance or _TOLERANCE, friction_speed)
        run = LedRun(model, course, time, limits, delta)
        drive(run, Known(run.course, len(time) - 1))
        eta[:, s:], v[:, s:], works, a[:, s:] = np.split(run.record, [n - s, 2 * (n - s), 2 * (n - s) + 2], axis=1)
        steps = run.steps
    motion = ModelMotion(model, time, eta, v, np.zeros((len(time), 0)), friction_speed, a, works)
    return model_result(motion, "", float(time[-1]), steps, tolerance or _TOLERANCE)


class LedRun:
    """δ through result times (N,) of a model with prescribed θ. Implements `Advancing`.

    course : arguments of the march; record : (N, 3d + 2) δ, δ̇, work done and dissipated, δ̈; steps : so far
    limits : largest step, s; its error, relative to the expected and the present deformation; speed of dry friction
    """

    def __init__(
        self,
        model: ReducedModel,
        course: Trajectory,
        times: Array,
        limits: tuple[float, float, float],
        delta: Array | None,
    ) -> None:
        self._model, self._times, self._reached, self.steps = model, times, 0, 0
        s, m = model.layout.theta, model.layout.size - model.layout.theta
        self._function = course.function
        lowest, highest = course.theta.min(axis=0), course.theta.max(axis=0)
        still = np.zeros_like(course.theta)
        if delta is None:
            begin = np.clip(self._function.sample(times[:1])[:, 0], lowest, highest)
            delta = quasi_static(model, begin, still[:1], still[:1])[0]
        some = slice(None, None, max(1, len(course.theta) // _INSTANTS))
        typical = np.abs(quasi_static(model, course.theta[some], still[some], still[some])).max(axis=0)
        moving = quasi_static(model, *(part[some] for part in course.parts))
        typical = np.maximum(typical, np.abs(moving).max(axis=0))
        typical = np.maximum(typical, max(1e-6 * float(typical.max()), 1e-12))
        typical = np.maximum(typical, np.abs(delta))
        c = model.evaluate(course.theta[0])
        fast = np.sqrt(np.maximum(np.diag(c.K)[s:] / np.diag(c.M)[s:], 1e-12))
        longest, tolerance, speed = limits
        self._options = LedOptions(float(longest), float(tolerance), float(speed), np.append(typical, typical * fast))
        self.course = LedCourse(self._function.arrays, lowest, highest)
        self.record = np.empty((len(times), 3 * m + 2))
        self._state = np.concatenate([delta, np.zeros(m + 2)])

    def advance(self, acting: LedCourse, until: int) -> bool:
        """Advance to the result time of number `until`; see `Advancing`. Raises an error if it cannot."""
        model, part = self._model, slice(self._reached, until + 1)
        status, stopped, steps = compile_kernel(led_march)(
            *model.arrays, self._options, acting, self._times[part], self._state, self.record[part]
        )
        self.steps += int(steps)
        if status == OUTSIDE:
            theta = self._function.at(stopped)[0]
            model.evaluate(
                np.clip(theta, acting.lowest, acting.highest)
            )  # raises an error that states the end of the region
        if status != INSIDE:
            raise NumericalError(
                f"the integration of the deformation fails beyond {stopped:.6g} s", part=f'model "{model.name}"',
                hint="check the motion for jumps, or give a larger tolerance",
            )  # fmt: skip
        self._reached = until
        return True
