"""A run of the full DAE of a mechanism, advanced from event to event.

Inputs are cubics in time, and so are prescribed coordinates. Where inputs jump by Δu, or accelerations of prescribed
coordinates by Δθ̈, all accelerations jump with them:

    [M   -Φ_qᵀ] [Δv̇]   [∇ℓ Δu]
    [Φ_q    0 ] [Δλ] = [ Δθ̈  ]

Both accelerations of generalized-α change by Δv̇; without that each jump would cost an order of accuracy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array
from supple.compilation import at_hand, compile_kernel
from supple.formulations.absolute.beams.beam_arrays import LENGTH
from supple.formulations.absolute.instant import instant
from supple.formulations.absolute.march import (
    COUNT,
    DONE,
    LAST,
    NEXT,
    OVERBENT,
    PAUSED,
    STEPS,
    TIME,
    TRIAL,
    Courses,
    MarchRecord,
    empty_record,
    march,
)
from supple.formulations.absolute.measured import measure_rates, measured_rates
from supple.formulations.absolute.step import ROUNDING, Method, State
from supple.formulations.absolute.system import Absolute, absolute
from supple.formulations.absolute.time_damping import time_damping
from supple.formulations.coefficients import Yield, get_coefficients
from supple.hardware.pieces import Pieces, at_end
from supple.integration.time_steps import Alpha, StepOptions, alpha_of, require_positive, require_times
from supple.kinematics.closing import bulk
from supple.kinematics.configuration import Configuration
from supple.results.simulation import Simulation
from supple.simulation.adaptation import (
    energy_diverged,
    energy_error_reason,
    overbending_reason,
    require_damped,
    step_failure_reason,
)
from supple.simulation.body_motion import FullMotion, RecordedMotion, defect_of, inner_forces
from supple.simulation.prescribed import Prescribed
from supple.simulation.start import centre_state
from supple.systems.protocols import system_of
from supple.time_functions.function_of_time import PiecewisePolynomial
from supple.time_functions.polynomial_pieces import PolynomialPieces

AT_ONCE = 10_000  # steps between checks for a keyboard interrupt
FEW = 100  # interpreted steps before compilation is considered again
MOST_STEPS = 2 * AT_ONCE  # limit between two events of a loop, for unstable loops
NEWTON = 1e-9  # error of the accelerations at which a step has converged
KEEPING = 1e-11  # the same for vibrations without numerical damping: residuals would accumulate
DAMPED = 0.495  # α_f of a spectral radius of 0.98


class Begun(NamedTuple):
    """A run at its start, with all data except the tolerance of its steps.

    times   : (N,) s, of the results; step : s, fixed, or with a tolerance the longest
    state   : of all bodies; it is consistent with the forces `inputs` (a,) and `accelerations` (k,)
    relaxed : (a,) forces of the springs of drives at their relaxed position, added to all forces
    """

    problem: Absolute
    alpha: Alpha
    times: Array
    step: float
    state: State
    inputs: Array
    accelerations: Array
    relaxed: Array


class Continuous(NamedTuple):
    """Inputs of a run with known inputs: continuous forces of the actuators, and the course of prescribed coordinates.

    forces, targets of the course : of degree three at most
    """

    forces: PiecewisePolynomial
    course: Prescribed


def begin(
    here: Configuration,
    times: Array,
    rates: Array,
    options: StepOptions,
    *,
    led: tuple[int, ...] = (),
    springs: Mapping[int, Yield] | None = None,
    inputs: Array | None = None,
    accelerations: Array | None = None,
) -> Begun:
    """Prepare a run from a configuration.

    Parameters
    ----------
    here
        Configuration at the start.
    times
        (N,) result times, s.
    rates
        (s,) rates of θ at the start.
    options
        The step must be given.
    led
        Numbers of the prescribed coordinates.
    springs
        Stiffness and damping of compliant drives, by the number of the actuator.
    inputs
        (a,) forces at the start, without those of springs. Default: the run starts without forces, and motors without
        inertia do not settle.
    accelerations
        (k,) of the prescribed coordinates at the start. Default: 0.
    """
    yields = springs or {}
    second = np.zeros(len(led)) if accelerations is None else accelerations
    relaxed = np.zeros(len(here.mechanism.actuators))
    for number, spring in yields.items():
        relaxed[number] = -spring.stiffness * spring.relaxed
    given = None if inputs is None else inputs + relaxed
    u = np.zeros(len(relaxed)) if given is None else given
    problem = absolute(
        here.rest, tuple(led), options.friction_speed, rigid=options.rigid, yields=tuple(yields.values())
    )
    require_damped(problem, options.spectral_radius)
    X, V = centre_state(problem, here, rates, given)
    first = instant(problem, X[None], V[None], here.w[None], u[None], second[None])
    a = np.ascontiguousarray(first.acceleration[0])
    state = State(X, V, a, a, np.ascontiguousarray(first.multipliers[0]), here.w)
    grid = np.ascontiguousarray(times, dtype=float)
    return Begun(problem, alpha_of(options.spectral_radius), grid, float(options.longest), state, u, second, relaxed)


def method_of(problem: Absolute, alpha: Alpha, step: float, tolerance: float | None) -> Method:
    """Return the method for steps of at most this length; tolerance : error per step, None for fixed steps."""
    shortest = min(float(problem.elements.beams.numbers[:, LENGTH].min(initial=np.inf)), problem.system.rows.extent)
    # Rotations of an element follow from positions of its ends: the shorter it is, the larger the rounding error.
    rounding = ROUNDING * problem.system.rows.extent / shortest
    newton = KEEPING if problem.elastic and alpha.f > DAMPED else NEWTON
    return Method(*alpha, step, float(tolerance or 0.0), newton, rounding, problem.elastic)


class MechanismRun:
    """The full DAE, advanced through result times under `Continuous` inputs or under the `Pieces` of drives.

    Implements `Plant`.

    rigid : names of elastic parts that do not deform
    """

    def __init__(self, begun: Begun, tolerance: float | None) -> None:
        self._begun, self._problem, self._tolerance = begun, begun.problem, tolerance
        self._method = method_of(begun.problem, begun.alpha, begun.step, tolerance)
        self._state = State(*(part.copy() for part in begun.state))
        self._record, self._between = empty_record(self._state, len(begun.times)), empty_record(self._state, 1)
        self._carried = np.zeros(10)
        self._carried[TIME], self._carried[[TRIAL, LAST]] = begun.times[0], begun.step
        self._u, self._second = begun.inputs.copy(), begun.accelerations.copy()
        self._acted: list[PolynomialPieces] = []  # forces, interval by interval
        self._led: list[tuple[float, Array]] = []  # time and accelerations at the beginning of each interval
        self._known: Continuous | None = None
        self._event, self.reason = 0, ""
        rest = self._problem.rest
        self.system, self.rigid = system_of(rest.numbering.mechanism), self._problem.frames.rigid
        self._rows = [rest.numbering.constraints + i for i in range(self.system.theta)]
        self._load = get_coefficients(rest)

    @property
    def state(self) -> tuple[Array, Array]:
        """θ and θ̇ (s,) at the present time."""
        X, V = self._state.X, self._state.V
        return self._state.w[: len(self._rows)].copy(), measured_rates(self._problem, X[None], V[None], self._rows)[0]

    @property
    def present_outputs(self) -> Array:
        """Outputs (o,) at the present time, under the inputs until now."""
        state, observation = self._state, self._load.observation
        rows = list(self._load.measured.values())
        values = state.w[None, [row - self._problem.rest.numbering.constraints for row in rows]]
        x = np.stack([values, np.zeros_like(values), np.zeros_like(values)])
        X, V, w, a = (part[None] for part in (state.X, state.V, state.w, state.acceleration))
        multipliers = state.multipliers[None]
        if observation.instant and not self._problem.elastic:
            a, multipliers = instant(self._problem, X, V, w, self._u[None], self._second[None])
        if observation.order:
            x[1:] = measure_rates(self._problem, X, V, a, rows)
        if observation.efforts:
            forces = inner_forces(self._problem, FullMotion(X, V, a, multipliers, w, self._u[None]))
            x = np.concatenate([x, np.stack([forces, np.zeros_like(forces), np.zeros_like(forces)])], axis=-1)
        return np.asarray(observation.values(x)[0])

    def advance(self, acting: Pieces | Continuous, until: int) -> bool:
        """Advance to the result time of number `until`; see `Advancing`."""
        if isinstance(acting, Continuous):
            return self._follow(acting, until)
        return self._pass(acting, until)

    def _follow(self, acting: Continuous, until: int) -> bool:
        """Follow continuous courses: steps do not end at their breaks."""
        self._known, carried, problem = acting, self._carried, self._problem
        forces = acting.forces.arrays.add_constant(self._begun.relaxed)
        self._acted.append(forces)
        energies = self._record.energies

        def sound() -> bool:
            return not energy_diverged(problem, energies[: int(carried[NEXT])], int(carried[STEPS]))

        status = self._march(
            Courses(forces, acting.course.targets.arrays), self._begun.times[: until + 1], self._record, sound,
            bulk(problem.rest.numbering),
        )  # fmt: skip
        if status == PAUSED:
            self.reason = energy_error_reason(float(carried[TIME]), self._defect())
        return self._check_end(status)

    def _pass(self, pieces: Pieces, until: int) -> bool:
        """Advance through pieces, at whose starts forces and prescribed accelerations may jump: steps end there."""
        times, carried, event = self._begun.times, self._carried, self._event
        begin, end = float(times[event]), float(times[until])
        self._event = until
        breaks = begin + pieces.times
        breaks[-1] = end
        acting = PolynomialPieces(breaks, pieces.forces).add_constant(self._begun.relaxed)
        forces = acting.coefficients
        pieces = pieces._replace(forces=forces)
        self._acted.append(acting)
        self._led.append((begin, pieces.accelerations[0, 0]))
        for p in range(len(breaks) - 1):
            self._jump(forces[p, 0], pieces.accelerations[p, 0])
            here = breaks[p : p + 2]
            courses = Courses(PolynomialPieces(here, forces[p : p + 1]), PolynomialPieces(here, pieces.led[p : p + 1]))
            last = p == len(breaks) - 2
            if event == p == 0 and not last:  # the start is a result, breaks are not
                self._reach(courses, times[:1])
            if last:
                status = self._reach(courses, times[: until + 1])
            else:
                number, carried[NEXT] = carried[NEXT], 0.0
                status = self._reach(courses, breaks[p + 1 : p + 2], self._between)
                carried[NEXT] = number
            self._u, self._second = at_end(pieces, p), pieces.accelerations[p, 1].copy()
            if not self._check_end(status):
                return False
        return True

    def _reach(self, courses: Courses, times: Array, record: MarchRecord | None = None) -> int:
        """March to the last of the times; record : another record than that of the results."""
        carried, before = self._carried, self._carried[STEPS]

        def few() -> bool:
            return bool(carried[STEPS] - before < MOST_STEPS)

        status = self._march(courses, times, self._record if record is None else record, few)
        if status == PAUSED:
            self.reason = (
                f"from {carried[TIME]:.6g} s on, more than {MOST_STEPS} steps are needed between two samples at a "
                f"tolerance of {self._tolerance or 0.0:.2g}; probable cause: the loop is unstable; "
                "lower the gains or sample faster"
            )
        return status

    def _march(
        self, courses: Courses, times: Array, record: MarchRecord, goes_on: Callable[[], bool], size: int | None = None
    ) -> int:
        """Run the compiled march, in parts between which it can be interrupted, as long as `goes_on` is true.

        size : of the mechanism, for a long march, of which the first parts may be interpreted
        """
        status = PAUSED
        while status == PAUSED and goes_on():
            at_once = AT_ONCE if size is None or at_hand(march) else FEW
            status = compile_kernel(march, count=1 if size is None else at_once * size)(
                self._problem.steps, self._method, courses, times, self._state, record, self._carried, at_once
            )
        return int(status)

    def _defect(self) -> float:
        return defect_of(self._problem, self._record.energies[: int(self._carried[NEXT])])

    def _check_end(self, status: int) -> bool:
        """Return whether the march is done; if not, set `reason`."""
        carried = self._carried
        if status == OVERBENT:
            self.reason = overbending_reason(float(carried[TIME]))
        elif status not in (DONE, PAUSED):
            led = len(self._second) > 0
            self.reason = step_failure_reason(
                float(carried[TIME]), float(carried[TRIAL]), led, self._tolerance, self._defect()
            )
        return status == DONE

    def _jump(self, u: Array, led: Array) -> None:
        """Change the accelerations to those under new inputs and new prescribed accelerations."""
        if np.array_equal(u, self._u) and np.array_equal(led, self._second):
            return
        X, V, acceleration, algorithmic, multipliers, w = self._state
        X2, V2, w2 = (np.stack([part, part]) for part in (X, V, w))
        both = np.stack([self._u, u]), np.stack([self._second, led])
        found = instant(self._problem, X2, V2, w2, *both)
        change = found.acceleration[1] - found.acceleration[0]
        acceleration += change
        algorithmic += change
        multipliers += found.multipliers[1] - found.multipliers[0]

    def result(self, forces: Array | None = None, at: NDArray[np.int64] | None = None) -> Simulation:
        """Return the motion so far.

        Parameters
        ----------
        forces
            Not needed: the run keeps the forces that acted.
        at
            Numbers of the result times to keep; all if left out.
        """
        reached, times, carried = int(self._carried[NEXT]), self._begun.times, self._carried
        kept = slice(reached) if at is None else at[at < reached]
        acted, led = self._collect_inputs()
        recorded = (part[kept] for part in self._record)
        motion = RecordedMotion(self._problem, times[kept], acted, led, *recorded)
        mechanism = self._problem.rest.numbering.mechanism
        return Simulation(
            mechanism.name, motion.time, motion, self.reason, float(carried[TIME]), int(carried[STEPS]),
            int(carried[COUNT]), self._tolerance, rigid=self.rigid, bodies=motion,
            damping=time_damping(mechanism).remark if self._problem.frames.elastic else "",
        )  # fmt: skip

    def _collect_inputs(self) -> tuple[PolynomialPieces, tuple[Array, Array]]:
        """Return forces over time, and prescribed accelerations at times; both stay constant after the last piece."""
        if self._known is not None:
            course = self._known.course
            return self._acted[0], (course.targets.breaks, course.accelerations)
        last = np.zeros((1, 4, len(self._u)))
        last[0, 0] = self._u
        now = self._begun.times[self._event]
        breaks = np.concatenate([*(part.breaks[:-1] for part in self._acted), [now, np.inf]])
        cubics = np.concatenate([*(part.coefficients for part in self._acted), last])
        times = np.array([*(time for time, _ in self._led), now])
        return PolynomialPieces(breaks, cubics), (times, np.array([*(part for _, part in self._led), self._second]))


def require_held(times: Array, options: StepOptions) -> None:
    """Require times and options that a run from event to event supports."""
    require_times(float(times[-1]), options.longest)
    require_positive(tolerance=options.tolerance, friction_speed=options.friction_speed)
