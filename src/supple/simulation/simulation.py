"""Simulation in time, of a mechanism (the full DAE) or of a reduced model of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.array_types import Array
from supple.description.mechanism import Mechanism, treat_as_rigid
from supple.description.scenario import Scenario
from supple.diagnostics import InputError
from supple.diagnostics.arguments import require_arguments
from supple.diagnostics.limits import require_memory
from supple.formulations.absolute.time_damping import say_damping, time_damping
from supple.formulations.described_hardware import hardware_of
from supple.formulations.rigid_link_system.link_equations import LinkEquations, LinkMotion
from supple.formulations.rigid_link_system.link_march import (
    LedLinks,
    Marched,
    Solver,
    first_motion,
    independent_ideal_rows,
    link_march,
    motion_at_start,
)
from supple.formulations.rigid_link_system.link_point import link_point
from supple.formulations.rigid_link_system.link_system import rigid_link_system
from supple.formulations.rigid_link_system.small_link_motions import resting_nodes
from supple.hardware.drive_bank import DriveBank, depend_on_motion
from supple.hardware.drive_course import note_unused_drives
from supple.hardware.hardware import NO_HARDWARE
from supple.integration.input_course import Inputs, input_course
from supple.integration.time_steps import StepOptions, alpha_of, longest_step, require_positive, result_times
from supple.kinematics.closure import assemble
from supple.kinematics.configuration import At, Configuration
from supple.kinematics.rest import rest
from supple.reduced.model import ReducedModel
from supple.reduced.state_arguments import in_order
from supple.results.simulation import Simulation, warn_of
from supple.simulation.adaptation import TOLERANCE, run_balanced
from supple.simulation.driven_start import drive_springs, driven_course, held_start, mechanism_start
from supple.simulation.driver import Known, coupled_run, drive, settled_commands
from supple.simulation.link_record import LinkRecord
from supple.simulation.mechanism_run import Continuous, MechanismRun, begin
from supple.simulation.prepared_scenario import model_scenario, prepared_scenario
from supple.simulation.prescribed import Prescribed, on_course, prescribe_motion
from supple.simulation.start import deflected_configuration, start_configuration
from supple.systems.protocols import by_rigid_links
from supple.time_functions.function_of_time import linear_between

_NUMBERS = 24  # stored numbers per body and time: pose and motion
_INSTEAD = "reduce it with modes and simulate the reduced model"


def simulate(
    mechanism: Mechanism | ReducedModel,
    t: ArrayLike | str | Path | Scenario | None = None,
    inputs: Inputs = None,
    start: At | Configuration = None,
    *,
    until: float | None = None,
    step: float | None = None,
    rates: Mapping[str, float] | ArrayLike | None = None,
    input_times: ArrayLike | None = None,
    motion: Any = None,
    tolerance: float | None = None,
    method: str = "auto",
    spectral_radius: float = 0.9,
    output_step: float | None = None,
    friction_speed: float = 1e-3,
    rigid: bool = False,
    drives: bool = True,
    formulation: str = "auto",
) -> Simulation:
    """Simulate the motion of a mechanism or a reduced model in time.

    `model.simulate` is the same call for a reduced model; its documentation lists the differences.

    Parameters
    ----------
    mechanism : Mechanism or ReducedModel
        System to simulate.
    t : array_like, shape (N,), float, str, path-like or Scenario, optional
        Ascending times of the results, s, or the end alone; or a scenario. Default: given by `until`.

        A scenario is given by its name, as an object, or as a .yaml file. The other arguments override parts of it.
    inputs : mapping, callable or array_like, optional
        Forces of the actuators, N or N m, or commands of their drives. Default: 0; drives that move hold their
        position.

        {actuator: number, values, or callable of time}, or an array of values (a,) or (N, a). Values belong to
        `input_times`, or else to the results; they are linear in between, and constant before and after.
    start : str, mapping, array_like or Configuration, optional
        Posture at the start, as for `assemble`, or "equilibrium" under the inputs at the start. Default: rest.
    until : float, optional
        End of the simulation, s, from 0. Default: given by `t`.
    step : float, optional
        Fixed step, or with `tolerance` the longest step, s. Default: steps adapt to the motion.
    rates : mapping of str to float or array_like, optional
        Rates of the coordinates at the start, rad/s or m/s, by name or in order. Default: 0.
    input_times : array_like, shape (N,), optional
        Times of the values in `inputs`, s. Default: those of the results.
    motion : mapping, Trajectory, str or path-like, optional
        Prescribed motion of the coordinates. Default: none.

        {coordinate: callable of time}, or the motion of all coordinates as a trajectory, the name of a motion in the
        file, or a CSV file.
    tolerance : float, optional
        Error per step, rad, or in units of the extent of the mechanism. Default: 1e-6, unless `step` is given.

        By default it is reduced if the energy does not balance; see `Simulation.tolerance`.
    method : {"auto", "explicit", "implicit"}, optional
        Integration method of a reduced model. Default: "auto".
    spectral_radius : float, optional
        Spectral radius of generalized-α at infinite frequency, from 0 (damps fast oscillations) to 1. Default: 0.9.
    output_step : float, optional
        Time between results, s. Default: the step, or 1 ms (at most 1/100 of the run), with at most 2000 results.
    friction_speed : float, optional
        Speed over which dry friction changes its sign, rad/s or m/s. Default: 1e-3.
    rigid : bool, optional
        Treat elastic parts as rigid. Default: False.

        `Simulation.rigid` names them. Otherwise beams deform, with the elements of the file and large rotations and
        deflections.
    drives : bool, optional
        Include drives; otherwise inputs are forces. Default: True. With a prescribed motion, drives are not included.
    formulation : {"auto", "erls"}, optional
        Formulation of the equations; "erls" is the equivalent rigid link system, of first order in the deflections.
        Default: "auto".

    Returns
    -------
    Simulation
        Motion, outputs, inputs, energy and reactions over time.

    Raises
    ------
    InputError
        If an argument is invalid, or not supported by the formulation.

    Warns
    -----
    SuppleWarning
        If the run ends early (see `Simulation.reason`), if the energy does not balance to 1 % (see
        `Simulation.energy_defect`), or if elastic parts are treated as rigid.

    See Also
    --------
    motion : Velocities and accelerations at one instant.
    local : Equations of motion.
    control.closed_loop : Simulation with a controller.

    Notes
    -----
    A mechanism is integrated by generalized-α on R³ × SO(3) with constraints of index 3; see docs/theory/simulation.md.

    Examples
    --------
    >>> import supple
    >>> run = supple.simulate(supple.load("four-bar"), until=0.5, start={"crank": 0.3})
    >>> float(run.coordinates["crank"][-1].round(2))
    -1.67
    >>> float(run.outputs["E.z"].min().round(2))
    -0.45
    """
    require_arguments(simulate, locals())
    links = by_rigid_links(formulation)
    if links and (rigid or not isinstance(mechanism, Mechanism)):
        raise InputError(
            "requires a mechanism whose elastic parts are not treated as rigid", part='formulation "erls"',
            hint='use formulation "auto"' + (", or remove rigid=True (--rigid)" if rigid else ""),
        )  # fmt: skip
    if isinstance(mechanism, ReducedModel):
        at: Any = start
        if isinstance(start, Configuration):
            at = {name: x for name, x in start.coordinates.items() if name in mechanism.layout.coordinates}
        asked = model_scenario(mechanism, t)
        return mechanism.simulate(
            asked, inputs, at, until=until, step=step, rates=rates, input_times=input_times, motion=motion,
            tolerance=tolerance, method=method, spectral_radius=spectral_radius, output_step=output_step,
            friction_speed=friction_speed, rigid=rigid, drives=drives,
        )  # fmt: skip
    if not isinstance(mechanism, Mechanism):
        raise InputError(
            f"cannot simulate a {type(mechanism).__name__}",
            hint="give a mechanism or a reduced model; simulate a linear model with supple.control.closed_loop",
        )  # fmt: skip
    if method not in ("auto", "implicit"):
        raise InputError(f'"{method}" is not available for a mechanism', part="method", hint="omit it")
    if isinstance(t, str | Path | Scenario):
        run = prepared_scenario(mechanism, t, until=until, step=step, rigid=rigid, drives=drives)
        mechanism, t, until, step = run.mechanism, None, run.until, run.step
        inputs, input_times = (run.inputs, run.times) if inputs is None else (inputs, input_times)
        start = deflected_configuration(run.start, run.deflection) if start is None else start
        rates = run.rates if rates is None else rates
        motion = run.motion if motion is None else motion
    require_positive(tolerance=tolerance, friction_speed=friction_speed)
    grid = result_times(t, until=until, step=step, output_step=output_step)
    memory = 8.0 * _NUMBERS * (len(mechanism.bodies) + 1)
    require_memory(memory * len(grid), f"{len(grid)} results take", part="t", hint="request fewer")
    first, end = float(grid[0]), float(grid[-1])
    largest = longest_step(end - first) if step is None else step
    names = rest(mechanism).numbering.coordinates
    theta_rates = np.zeros(len(names)) if rates is None else in_order("rates", rates, names)
    if theta_rates.ndim != 1:
        raise InputError("more than one state is given", part="rates", hint="simulate one at a time")
    given = StepOptions(step, tolerance, spectral_radius, friction_speed, rigid)
    options, spacing = given._replace(step=largest, tolerance=given.choose_tolerance(TOLERANCE)), given.spacing(largest)
    hardware = hardware_of(mechanism) if drives else NO_HARDWARE
    if motion is not None:
        note_unused_drives(hardware)
    if hardware.drives and motion is None and links:
        raise InputError(
            "does not support drives", part='formulation "erls"',
            hint="use drives=False (--no-drives), or omit the formulation",
        )  # fmt: skip
    if hardware.drives and motion is None:
        bank = DriveBank(hardware, tuple(mechanism.actuators), names, hardware.actuator_coordinates)
        here = held_start(mechanism, start, bank, rigid=rigid)
        started = mechanism_start(here, theta_rates, bank, options)
        breaks, values = settled_commands(started, inputs, input_times, grid, spacing)
        if depend_on_motion(bank):
            coupled, _, cut = coupled_run(started, grid, largest, breaks, values)
            found = coupled.result(at=cut.results)
            treat_as_rigid(mechanism, rigid, _INSTEAD, names=found.rigid)
            say_damping(mechanism, rigid)
            warn_of(found)
            return found
        springs, acting = drive_springs(here, bank), driven_course(here, bank, breaks, values, (first, end), largest)
        u0 = acting.forces.coefficients[0, 0].copy()
    else:
        breaks, values = input_course(tuple(mechanism.actuators), inputs, input_times, grid, spacing)
        u0 = np.array([np.interp(first, breaks, column) for column in values.T])
        here = start_configuration(mechanism, start, u0, rigid=rigid)
        course, springs = prescribe_motion(here, motion, first, end, largest), {}
        acting = Continuous(linear_between(tuple(mechanism.actuators), breaks, values, first, end), course)
        theta_rates[list(course.driven)] = course.targets.coefficients[0, 1]
        if course.driven:
            here = on_course(here, course, u0)
    known = Known(acting, len(grid) - 1)
    if links:
        say_damping(mechanism, rigid)
        linked = LinkRun(here, grid, theta_rates, options)
        drive(linked, known)
        found = linked.result()
        warn_of(found)
        return found
    begun = begin(
        here, grid, theta_rates, options, led=acting.course.driven, springs=springs, inputs=u0,
        accelerations=acting.course.accelerations[0],
    )  # fmt: skip
    treat_as_rigid(mechanism, rigid, _INSTEAD, names=begun.problem.frames.rigid)
    say_damping(mechanism, rigid)

    def march_to_end(error: float | None) -> Simulation:
        whole = MechanismRun(begun, error)
        drive(whole, known)
        return whole.result()

    found = run_balanced(march_to_end) if step is None and tolerance is None else march_to_end(tolerance)
    warn_of(found)
    return found


# A run of the equivalent rigid link system in time (docs/theory/rigid-link-system.md, 25-28).


class LinkRun:
    """The equivalent rigid link system through result times (N,), under `Continuous` inputs. Implements `Advancing`.

    It starts undeformed or, if `here` is deformed, at rest at its θ under the first inputs. Nodes start with the
    velocities of the rigid mechanism; rates : (s,) of θ.
    """

    def __init__(self, here: Configuration, times: Array, rates: Array, options: StepOptions) -> None:
        self._here, self._times, self._rates, self._options = here, times, rates, options
        self._longest, self._last, self._reason = options.longest, 0, ""
        self._passed: list[Marched] = []

    def advance(self, acting: Continuous, until: int) -> bool:
        """Advance to the result time of number `until`; see `Advancing`."""
        inputs, led = _inputs(acting), _lead_links(acting.course)
        span, longest = (float(self._times[self._last]), float(self._times[until])), self._longest
        if not self._passed:
            start = self._begin(inputs(span[0]), led, span[0])
        else:
            start = self._passed[-1].motions[-1]
        found = link_march(self._solver, start, led, inputs, span, longest, self._options.tolerance)
        if not self._passed:
            found.motions[0] = self._at_once
        self._passed.append(found)
        self._acting, self._last, self._reason = acting, until, found.reason
        return not found.reason

    def _begin(self, inputs: Array, led: LedLinks, time: float) -> LinkMotion:
        """Return the motion at the first step."""
        here, mechanism, rates = self._here, self._here.mechanism, self._rates
        system = rigid_link_system(mechanism)
        place = assemble(mechanism, here.theta) if here.deformed is not None else here
        point = link_point(system, place.X, place.w)
        u = np.zeros(len(system.kept))
        if here.deformed is not None:
            u, _ = resting_nodes(point, inputs)
            point = link_point(system, place.X, place.w, u)
        rows = independent_ideal_rows(system, point)
        self._equations = equations = LinkEquations(system, place.rest, rows, self._options.friction_speed)
        turns = (point.state.twists.w @ point.loops.Gamma @ rates)[
            system.node_body
        ]  # û is constant: u rotates with its body
        full = np.zeros((system.nodes, 2, 3))
        full.reshape(-1)[system.kept] = u
        turns = np.einsum("nij,nj->ni", point.state.R, turns)
        velocity = np.cross(turns[:, None], full).reshape(-1)[system.kept]
        x, v = np.concatenate([place.theta, u]), np.concatenate([rates, velocity])
        self._solver = solver = Solver(equations, alpha_of(self._options.spectral_radius), led)
        self._at_once = motion_at_start(solver, x, v, led, time, inputs, self._longest)
        return first_motion(solver, x, v, led, time, inputs, self._longest)

    def result(self) -> Simulation:
        """Return the motion so far."""
        mechanism, passed, inputs = self._here.mechanism, self._passed, _inputs(self._acting)
        time = np.concatenate([passed[0].time, *(part.time[1:] for part in passed[1:])])
        motions = [*passed[0].motions, *(motion for part in passed[1:] for motion in part.motions[1:])]
        driving = np.concatenate([passed[0].driving, *(part.driving[1:] for part in passed[1:])])
        reached = self._times[self._times <= time[-1] + 1e-9 * self._longest]
        record = LinkRecord(
            self._equations, reached, _between(time, motions, reached), np.array([inputs(t) for t in reached]),
            self._acting.course.driven, np.array([np.interp(reached, time, column) for column in driving.T]).T,
        )  # fmt: skip
        return Simulation(
            mechanism.name, reached, record, self._reason, float(time[-1]), sum(part.steps for part in passed),
            sum(part.iterations for part in passed), self._options.tolerance, bodies=record,
            damping=time_damping(mechanism).remark if mechanism.elastic else "",
        )  # fmt: skip


def _inputs(acting: Continuous) -> Callable[[float], Array]:
    return lambda time: acting.forces.at(time)[0]


def _lead_links(course: Prescribed) -> LedLinks:
    def at(time: float) -> Array:
        found = course.targets.derivatives([time], closed=True)[:, 0]
        found[2] = [np.interp(time, course.targets.breaks, column) for column in course.accelerations.T]
        return found

    return LedLinks(np.array(course.driven, dtype=np.int64), at)


def _between(time: Array, motions: list[LinkMotion], times: Array) -> list[LinkMotion]:
    """Return the states at given times: cubics between those of the steps, accelerations and multipliers linear."""
    found = []
    for t in times:
        i = int(np.clip(np.searchsorted(time, t) - 1, 0, max(len(time) - 2, 0)))
        if len(time) == 1:
            found.append(motions[0])
            continue
        a, b, h = motions[i], motions[i + 1], time[i + 1] - time[i]
        z = min(max((t - time[i]) / h, 0.0), 1.0)
        rise = (b.x - a.x) / h
        c2, c3 = 3.0 * rise - 2.0 * a.v - b.v, a.v + b.v - 2.0 * rise
        x = a.x + h * z * (a.v + z * (c2 + z * c3))
        v = a.v + z * (2.0 * c2 + 3.0 * z * c3)
        found.append(LinkMotion(x, v, a.a + z * (b.a - a.a), a.multipliers + z * (b.multipliers - a.multipliers)))
    return found
