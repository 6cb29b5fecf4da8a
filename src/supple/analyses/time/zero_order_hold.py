"""A simulation that is given what its drives do one interval after another.

In an interval inputs are cubics in time, held ones among them, and so are the courses of coordinates that drives lead.
Where inputs jump by Δu, or accelerations of led coordinates by Δθ̈, all accelerations jump with them:

    [M   -Φ_qᵀ] [Δv̇]   [∇ℓ Δu]
    [Φ_q    0 ] [Δλ] = [ Δθ̈  ]

Both accelerations that generalized-α carries are moved by Δv̇; without that each jump would cost an order of accuracy.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.analyses.time.adaptation import overbent, require_damped, stuck
from supple.analyses.time.body_motion import BodyMotion, defect_of
from supple.analyses.time.driven_start import drive_springs, driven_start
from supple.analyses.time.inner_forces import FullMotion, inner_forces
from supple.analyses.time.mechanism_run import AT_ONCE, method_of, simulation_of
from supple.analyses.time.start import centre_state
from supple.compilation import compiled
from supple.description.mechanism import Mechanism
from supple.formulations.absolute.instant import instant
from supple.formulations.absolute.march import (
    DONE,
    LAST,
    NEXT,
    OVERBENT,
    PAUSED,
    STEPS,
    TIME,
    TRIAL,
    Courses,
    empty_record,
    march,
)
from supple.formulations.absolute.measured import measured_motion, measured_rates
from supple.formulations.absolute.step import State
from supple.formulations.absolute.system import absolute
from supple.formulations.coefficients import carried
from supple.formulations.measured_units import units_of
from supple.hardware.pieces import Pieces, at_end
from supple.integration.generalized_alpha import alpha_of
from supple.integration.result_times import require_positive, require_times
from supple.kinematics.configuration import At, Configuration
from supple.reduced.named_values import in_order
from supple.results.simulation import Simulation

Array = NDArray[np.float64]

MOST_STEPS = 2 * AT_ONCE  # between two samples: a loop that explodes would have no end


class HeldSimulation:
    """The full DAE, marched from one of `times` (N,) to the next; see `simulate` for the options.

    start : as in `simulate`; an equilibrium is the one without inputs, with led coordinates held. Where coordinates are
            led, a start that is not deformed is: at rest with all coordinates held
    step  : s, fixed, or with a tolerance the longest
    rigid : elastic parts are taken as rigid
    led   : numbers of the coordinates that drives lead
    yields : stiffness and damping (actuators, 2) of drives along their own coordinates, beside their forces:
            -k ℓ - c ℓ̇ is added to what `advance` is given
    """

    def __init__(
        self,
        mechanism: Mechanism,
        times: Array,
        *,
        step: float,
        tolerance: float | None = None,
        start: At | Configuration = None,
        rates: Mapping[str, float] | ArrayLike | None = None,
        spectral_radius: float = 0.9,
        friction_speed: float = 1e-3,
        rigid: bool = False,
        led: tuple[int, ...] = (),
        yields: Array | None = None,
    ) -> None:
        require_times(float(times[-1]), step)
        require_positive(tolerance=tolerance, friction_speed=friction_speed)
        self.times = np.ascontiguousarray(times, dtype=float)
        self._tolerance = tolerance
        self._u, self._led_acceleration = np.zeros(len(mechanism.actuators)), np.zeros(len(led))
        here = driven_start(mechanism, start, self._u, led, rigid)
        springs = drive_springs(here, yields)
        self._relaxed = np.zeros(len(self._u))
        for number, spring in springs.items():
            self._relaxed[number] = -spring.stiffness * spring.relaxed
        self._problem = problem = absolute(
            here.rest, tuple(led), friction_speed, rigid=rigid, yields=tuple(springs.values())
        )
        self._method = method_of(problem, alpha_of(spectral_radius), float(step), tolerance)
        require_damped(problem, spectral_radius)
        numbering = here.rest.numbering
        self.rigid = problem.frames.rigid
        self.coordinates, self.inputs = numbering.coordinates, tuple(mechanism.actuators)
        X, V = centre_state(problem, here, in_order("rates", {} if rates is None else rates, self.coordinates))
        first = instant(problem, X[None], V[None], here.w[None], self._u[None], self._led_acceleration[None])
        a = np.ascontiguousarray(first.acceleration[0])
        self._state = State(X, V, a, a.copy(), np.ascontiguousarray(first.multipliers[0]), here.w.copy())
        count = len(times)
        self._record, self._between = empty_record(self._state, count), empty_record(self._state, 1)
        self._carried = np.zeros(10)
        self._carried[TIME], self._carried[[TRIAL, LAST]] = self.times[0], step
        self._breaks: list[float] = []
        self._forces: list[Array] = []
        self._accelerations: list[Array] = []
        self.interval = 0
        self.units = units_of(here.rest)
        self._rows = [numbering.constraints + i for i in range(len(self.coordinates))]
        self._load = carried(here.rest)
        self.reason = ""

    @property
    def theta(self) -> Array:
        """θ (s,) where it stands."""
        return self._state.w[: len(self.coordinates)].copy()

    @property
    def rates(self) -> Array:
        """θ̇ (s,)."""
        X, V = self._state.X, self._state.V
        return measured_rates(self._problem, X[None], V[None], self._rows)[0]

    @property
    def output_names(self) -> tuple[str, ...]:
        return tuple(self._load.observation.names)

    @property
    def outputs(self) -> Array:
        """What the sensors see (outputs,), under the inputs until now."""
        state, observation = self._state, self._load.observation
        rows = list(self._load.measured.values())
        values = state.w[None, [row - self._problem.rest.numbering.constraints for row in rows]]
        x = np.stack([values, np.zeros_like(values), np.zeros_like(values)])
        X, V, w, a = (part[None] for part in (state.X, state.V, state.w, state.acceleration))
        multipliers = state.multipliers[None]
        if observation.instant and not self._problem.elastic:
            a, multipliers = instant(self._problem, X, V, w, self._u[None], self._led_acceleration[None])
        if observation.order:
            x[1:] = measured_motion(self._problem, X, V, a, rows)
        if observation.efforts:
            forces = inner_forces(self._problem, FullMotion(X, V, a, multipliers, w, self._u[None]))
            x = np.concatenate([x, np.stack([forces, np.zeros_like(forces), np.zeros_like(forces)])], axis=-1)
        return np.asarray(observation.values(x)[0])

    def advance(self, pieces: Pieces) -> bool:
        """March through the next interval; False where it cannot go on."""
        n = self.interval
        begin, end = float(self.times[n]), float(self.times[n + 1])
        self.interval += 1
        breaks = begin + pieces.times
        breaks[-1] = end
        forces = np.array(pieces.forces)
        forces[3] += self._relaxed
        pieces = pieces._replace(forces=forces)
        self._breaks += breaks[:-1].tolist()
        self._forces.append(forces)
        self._accelerations.append(pieces.accelerations[0, 0])
        for p in range(len(breaks) - 1):
            self._jump(forces[3, p], pieces.accelerations[p, 0])
            of_forces, of_led = (np.ascontiguousarray(part[:, p : p + 1]) for part in (forces, pieces.led))
            courses = Courses(breaks[p : p + 2], of_forces, breaks[p : p + 2], of_led)
            last = p == len(breaks) - 2
            if n == p == 0 and not last:  # the start is a result, and no break is
                self._march(courses, self.times[:1], True)
            done = self._march(courses, self.times[: n + 2] if last else breaks[p + 1 : p + 2], last)
            self._u, self._led_acceleration = at_end(pieces, p), pieces.accelerations[p, 1].copy()
            if not done:
                return False
        return True

    def _march(self, courses: Courses, times: Array, recorded: bool) -> bool:
        """To the last of the times; recorded : it is one of the results, and not a break between two of them."""
        problem, status, carried, number = self._problem, PAUSED, self._carried, self._carried[NEXT]
        if not recorded:
            carried[NEXT] = 0.0
        record, before = self._record if recorded else self._between, carried[STEPS]
        while status == PAUSED and carried[STEPS] - before < MOST_STEPS:
            status = compiled(march, count=1)(
                problem.steps, self._method, courses, times, self._state, record, carried, AT_ONCE
            )
        if not recorded:
            carried[NEXT] = number
        if status == PAUSED:
            self.reason = (
                f"no step from {carried[TIME]:.6g} s on is long enough: more than {MOST_STEPS} between two "
                f"samples at a tolerance of {self._tolerance or 0.0:.2g}; most likely the loop is unstable: "
                "lower gains or sample faster"
            )
        elif status == OVERBENT:
            self.reason = overbent(float(carried[TIME]))
        elif status != DONE:
            defect = defect_of(problem, self._record.energies[: int(carried[NEXT])])
            tried = float(carried[TRIAL])
            led = len(self._led_acceleration) > 0
            self.reason = stuck(float(carried[TIME]), tried, led, self._tolerance, defect)
        return bool(status == DONE)

    def _jump(self, u: Array, led: Array) -> None:
        """Move the accelerations to those under new inputs, and with new accelerations of led coordinates."""
        if np.array_equal(u, self._u) and np.array_equal(led, self._led_acceleration):
            return
        X, V, acceleration, algorithmic, multipliers, w = self._state
        X2, V2, w2 = (np.stack([part, part]) for part in (X, V, w))
        both = np.stack([self._u, u]), np.stack([self._led_acceleration, led])
        found = instant(self._problem, X2, V2, w2, *both)
        change = found.acceleration[1] - found.acceleration[0]
        acceleration += change
        algorithmic += change
        multipliers += found.multipliers[1] - found.multipliers[0]

    def result(self, at: NDArray[np.int64] | None = None) -> Simulation:
        """The motion so far, at all instants or those of these numbers; inputs stay as they are from the last on."""
        reached, n = int(self._carried[NEXT]), self.interval
        kept = np.arange(reached) if at is None else at[at < reached]
        last = np.zeros((4, 1, len(self._u)))
        last[3] = self._u
        coefficients = np.concatenate([*self._forces, last], axis=1)
        breaks = np.array([*self._breaks, self.times[n], np.inf])
        courses = (self.times[: n + 1], np.array([*self._accelerations, self._led_acceleration]))
        recorded = (part[kept] for part in self._record)
        motion = BodyMotion(self._problem, self.times[kept], (breaks, coefficients), courses, *recorded)
        return simulation_of(motion, self.reason, self._carried, self._tolerance)
