"""Simulation of the full DAE in time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.interpolate import make_interp_spline

from supple.analyses.statics.equilibrium import equilibrium
from supple.analyses.time.adaptation import balanced, grown, longest_step, require_damped, said_of, stopped, stuck
from supple.analyses.time.simulated import Simulation, defect_of
from supple.compilation import at_hand, compiled
from supple.description.mechanism import Mechanism
from supple.description.rigid_parts import taken_as_rigid
from supple.diagnostics import InputError, nearest
from supple.formulations.absolute.instant import instant
from supple.formulations.absolute.march import COUNT, DONE, LAST, NEXT, PAUSED, STEPS, TIME, TRIAL, march
from supple.formulations.absolute.system import Absolute, absolute
from supple.integration.generalized_alpha import Alpha, alpha_of
from supple.kinematics.closure import assemble, bulk
from supple.kinematics.configuration import At, Configuration
from supple.kinematics.motion import motion as motion_of

Array = NDArray[np.float64]
Signal = float | ArrayLike | Callable[[float], float]
Piecewise = tuple[Array, Array]

AT_ONCE = 10_000  # steps before a look at the keyboard
FEW = 100  # steps, interpreted, before it is asked again whether compiling is worth while
_RESULTS = 2000  # at most, if nothing is said of them
NEWTON = 1e-9  # error of the accelerations at which a step has converged


def simulate(
    mechanism: Mechanism,
    *,
    until: float,
    step: float | None = None,
    start: At | Configuration = None,
    rates: Mapping[str, float] | ArrayLike | None = None,
    inputs: Mapping[str, Signal] | None = None,
    input_times: ArrayLike | None = None,
    motion: Any = None,
    tolerance: float | None = None,
    spectral_radius: float = 0.9,
    output_step: float | None = None,
    friction_speed: float = 1e-3,
    rigid: bool = False,
) -> Simulation:
    """Motion of the mechanism in time: generalized-α on R³ × SO(3) with index-3 constraints.

    until, step     : s; the step is the fixed one, or with `tolerance` the largest. Without it, steps follow the motion
    start           : as in `assemble`, or "equilibrium"; rates : of θ, by name or in order
    inputs          : force of each actuator: a number, a callable of time, or values at `input_times` (linear between
                      them, constant before and after); zero if left out
    motion          : prescribed coordinates: {coordinate: callable of time}, or all of them as a Trajectory, a motion's
                      name in the file, or a CSV file
    tolerance       : error a step may make (rad, or extents of the mechanism). Where neither it nor a step is given it
                      is 1e-6, and less where the account of energy needs it; see `Simulation.tolerance`
    spectral_radius : what is left of the fastest oscillations after a step, 0 (all damped) to 1 (none)
    output_step     : time between results; if left out the step (1 ms, or a hundredth of a shorter run, where none is
                      given), and at most 2000 results
    friction_speed  : speed (rad/s or m/s) over which dry friction changes its sign
    rigid           : elastic parts are meant to be taken as rigid, and nothing is said of it; `Simulation.rigid`
                      names them all the same

    A run that cannot go on returns what it has and warns; see `Simulation.reason`. So does one whose account of energy
    does not balance to 1 %; see `Simulation.energy_defect`.
    """
    largest = longest_step(until) if step is None else step
    require_times(until, largest)
    require_positive(tolerance=tolerance, output_step=output_step, friction_speed=friction_speed)
    taken_as_rigid(mechanism, rigid, "reduce it with modes and simulate the reduced model")
    fixed = step is not None and tolerance is None
    forces = _forces(mechanism, inputs, input_times, until, largest if fixed else largest / 8)
    u0 = _at_start(forces)
    here = start_configuration(mechanism, start, u0)
    driven, targets, target_rates, target_accelerations = _prescribed(here, motion, until, largest)
    problem = absolute(here.rest, driven, friction_speed)
    require_damped(problem, spectral_radius)
    theta_rates = start_rates(here, rates)
    theta_rates[list(driven)] = target_rates
    if driven:
        here = _on_course(here, driven, targets)
    X, V = centre_state(problem, here, theta_rates)
    first = instant(problem, X[None], V[None], here.w[None], u0[None], target_accelerations[:1])
    a = np.ascontiguousarray(first.acceleration[0])
    begun = _Begun(
        problem, alpha_of(spectral_radius), _grid(until, largest, output_step), largest, forces, targets,
        target_accelerations, (X, V, a, a, np.ascontiguousarray(first.multipliers[0]), here.w),
    )  # fmt: skip
    if step is None and tolerance is None:
        found = balanced(partial(_marched, begun))
    else:
        found = _marched(begun, tolerance)
    said_of(found, stacklevel=3)
    return found


class _Begun(NamedTuple):
    """A run that has all it needs but the length of its steps."""

    problem: Absolute
    alpha: Alpha
    grid: Array
    largest: float
    forces: Piecewise
    targets: Piecewise
    target_accelerations: Array
    state: tuple[Array, ...]


def _marched(begun: _Begun, tolerance: float | None) -> Simulation:
    """The run, with steps of one length or, with a tolerance, of as many as it needs."""
    problem, grid, step = begun.problem, begun.grid, begun.largest
    state = tuple(part.copy() for part in begun.state)
    X, V, _, _, multipliers, w = state
    count = len(grid)
    record = (
        np.empty((count, *X.shape)), np.empty((count, *V.shape)), np.empty((count, *V.shape)),
        np.empty((count, len(multipliers))), np.empty((count, len(w))), np.empty((count, 6)),
    )  # fmt: skip
    carried = np.zeros(10)
    carried[[TRIAL, LAST]] = step
    status = PAUSED
    while status == PAUSED and not grown(problem, record[5][: int(carried[NEXT])], int(carried[STEPS])):
        at_once = AT_ONCE if at_hand(march) else FEW  # between its parts, a long run can be interrupted
        status = compiled(march, count=at_once * bulk(problem.rest.numbering))(
            problem.system, problem.iteration, problem.pattern, tuple(begun.alpha), grid, float(step),
            float(tolerance or 0.0), begun.forces, begun.targets, (NEWTON, problem.rest.numbering.arrays.extent), state,
            record, carried, at_once,
        )  # fmt: skip
    reached = int(carried[NEXT])
    poses, velocities, accelerations, multipliers, measures, energies = (part[:reached] for part in record)
    reason, time, defect = "", float(carried[TIME]), defect_of(problem, energies)
    if status == PAUSED:
        reason = stopped(time, defect)
    elif status != DONE:
        reason = stuck(time, float(carried[TRIAL]), begun.targets[1].shape[2] > 0, tolerance, defect)
    return Simulation(
        problem, grid[:reached], poses, velocities, accelerations, multipliers, measures, energies, begun.forces,
        (begun.targets[0], begun.target_accelerations), reason, int(carried[STEPS]), int(carried[COUNT]), tolerance,
    )  # fmt: skip


def centre_state(problem: Absolute, here: Configuration, rates: Array) -> tuple[Array, Array]:
    """Poses and velocities of the centres of mass at a configuration moving with θ̇."""
    X = here.X.copy()
    R = X[:, 3:].reshape(-1, 3, 3)
    X[:, :3] += np.einsum("bij,bj->bi", R, problem.centers)
    bodies, d = int(problem.system.sizes[0]), int(problem.system.sizes[1])
    if not rates.any():
        return X, np.zeros((bodies, d))
    twist = motion_of(here, rates).V[:-1]
    v, turn = twist[:, :3], twist[:, 3:]
    centre = np.einsum("bij,bj->bi", R[:-1], v + np.cross(turn, problem.centers[:-1]))
    return X, np.ascontiguousarray(np.concatenate([centre, turn], axis=1)[:, problem.system.column])


def require_times(until: float, step: float) -> None:
    """Refuse a run that has no length, or a step beyond it."""
    if not (until > 0.0 and np.isfinite(until)):
        raise InputError(f"the simulation ends at {until:g} s", hint="give a time after 0")
    if not 0.0 < step <= until:
        raise InputError(f"the step is {step:g} s for {until:g} s", hint="give a step above 0 and at most the duration")


def require_positive(**options: float | None) -> None:
    """Refuse an option, by its name, that is given and not above zero."""
    for name, value in options.items():
        if value is not None and not (value > 0.0 and np.isfinite(value)):
            raise InputError(f"it is {value:g}", part=name.replace("_", " "), hint="give a number above 0")


def start_configuration(mechanism: Mechanism, start: At | Configuration, inputs: Array) -> Configuration:
    """Where a run begins, however it is named; the equilibrium is the one under the inputs."""
    if isinstance(start, Configuration):
        return start
    if isinstance(start, str) and start == "equilibrium":
        return equilibrium(mechanism, inputs=inputs)
    return assemble(mechanism, start)


def start_rates(here: Configuration, rates: Mapping[str, float] | ArrayLike | None) -> Array:
    """θ̇ (s,) at the start, by name or in order."""
    names = here.rest.numbering.coordinates
    found = np.zeros(len(names))
    if isinstance(rates, Mapping):
        for name, value in rates.items():
            if name not in names:
                raise InputError(f'"{name}" is not a coordinate', hint=nearest(name, names))
            found[names.index(name)] = value
    elif rates is not None:
        given = np.asarray(rates, float)
        if given.shape != found.shape:
            raise InputError(
                f"θ has {len(names)} rates, not shape {given.shape}", part="rates", hint="give (s,) values"
            )
        found[:] = given
    if not np.isfinite(found).all():
        raise InputError("they hold values that are not finite", part="rates", hint="leave them out")
    return found


def _grid(until: float, step: float, output_step: float | None) -> Array:
    """Times of the results: whole numbers of equal steps apart, no further than asked for."""
    if output_step is None:
        steps = _ceiling(until / step)
        together = _ceiling(steps / _RESULTS)
        return np.linspace(0.0, until, _ceiling(steps / together) + 1)
    return np.linspace(0.0, until, _ceiling(until / output_step) + 1)


def _ceiling(ratio: float) -> int:
    return max(1, int(np.ceil(ratio - 1e-6)))


def _forces(
    mechanism: Mechanism,
    inputs: Mapping[str, Signal] | None,
    times: ArrayLike | None,
    until: float,
    step: float,
) -> Piecewise:
    """Forces of all actuators, linear between samples; callables are sampled at every step."""
    given = dict(inputs or {})
    for name in given:
        if name not in mechanism.actuators:
            raise InputError(f'there is no actuator "{name}"', hint=nearest(name, mechanism.actuators))
    breaks = _breaks(times, until, step if any(callable(signal) for signal in given.values()) else until)
    values = np.zeros((len(breaks), len(mechanism.actuators)))
    for i, name in enumerate(mechanism.actuators):
        signal = given.get(name, 0.0)
        if callable(signal):
            values[:, i] = [signal(float(t)) for t in breaks]
        else:
            array = np.asarray(signal, float)
            if array.ndim and array.shape != breaks.shape:
                raise InputError(
                    f"it has {array.shape} values for {len(breaks)} times",
                    part=f'input "{name}"',
                    hint="give input_times of the same length, a number, or a callable of time",
                )
            values[:, i] = array
    if not np.isfinite(values).all():
        raise InputError("inputs hold values that are not finite", hint="check the file or the callable")
    if breaks[0] > 0.0:  # constant before the first time and after the last
        breaks, values = np.append(0.0, breaks), np.vstack([values[:1], values])
    if breaks[-1] < until:
        breaks, values = np.append(breaks, until), np.vstack([values, values[-1:]])
    slopes = np.diff(values, axis=0) / np.diff(breaks)[:, None]
    return breaks, np.stack([np.zeros_like(slopes), np.zeros_like(slopes), slopes, values[:-1]])


def _at_start(forces: Piecewise) -> Array:
    breaks, coefficients = forces
    piece = max(int(np.searchsorted(breaks, 0.0, side="right")) - 1, 0)
    return coefficients[3, piece] - coefficients[2, piece] * breaks[piece]


def _breaks(times: ArrayLike | None, until: float, step: float) -> Array:
    """Times at which the inputs are known."""
    if times is None:
        return np.linspace(0.0, until, max(1, round(until / step)) + 1)
    breaks = np.asarray(times, float)
    if breaks.ndim != 1 or len(breaks) < 2 or not np.isfinite(breaks).all() or not (np.diff(breaks) > 0.0).all():
        raise InputError("they are not rising numbers", part="input_times", hint="give (N,) rising times in s, N > 1")
    return breaks


def _prescribed(
    here: Configuration, motion: Any, until: float, step: float
) -> tuple[tuple[int, ...], Piecewise, Array, Array]:
    """Numbers of the prescribed coordinates, their course as cubics, rates at the start, accelerations at breaks."""
    names = here.rest.numbering.coordinates
    none = (np.array([0.0, until]), np.zeros((4, 1, 0)))
    if motion is None:
        return (), none, np.zeros(0), np.zeros((2, 0))
    times = np.linspace(0.0, until, max(5, round(until / step)) + 1)
    if isinstance(motion, Mapping):
        for name in motion:
            if name not in names:
                raise InputError(f'"{name}" is not a coordinate', part="motion", hint=nearest(name, names))
        chosen = tuple(names.index(name) for name in motion)
        theta = np.array([[course(float(t)) for course in motion.values()] for t in times])
        if not np.isfinite(theta).all():
            raise InputError("it gives values that are not finite", part="motion", hint="check its callables")
        spline = make_interp_spline(times, theta, k=5)
        rates, accelerations = spline(times, 1), spline(times, 2)
    else:
        from supple.analyses.motions.trajectory import trajectory

        course = trajectory(here.mechanism, motion, times=times)
        chosen = tuple(range(len(names)))
        theta, rates, accelerations = course.theta, course.rates, course.accelerations
    h = np.diff(times)[:, None]
    rise = np.diff(theta, axis=0) / h
    cubic = (rates[:-1] + rates[1:] - 2.0 * rise) / h**2
    square = (3.0 * rise - 2.0 * rates[:-1] - rates[1:]) / h
    return chosen, (times, np.stack([cubic, square, rates[:-1], theta[:-1]])), rates[0], accelerations


def _on_course(here: Configuration, driven: tuple[int, ...], targets: Piecewise) -> Configuration:
    """The start, with prescribed coordinates where their course begins."""
    theta = here.theta.copy()
    theta[list(driven)] = targets[1][3, 0]
    return assemble(here.mechanism, theta)
