"""A simulation that is given its inputs one interval after another, each held until the next.

Where the inputs jump by Δu, accelerations jump with them:

    [M   -Φ_qᵀ] [Δv̇]   [∇ℓ Δu]
    [Φ_q    0 ] [Δλ] = [  0  ]

Both accelerations that generalized-α carries are moved by Δv̇; without that each jump would cost an order of accuracy.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.analyses.time.adaptation import overbent, require_damped, stuck
from supple.analyses.time.body_motion import BodyMotion, defect_of
from supple.analyses.time.inner_forces import FullMotion, inner_forces
from supple.analyses.time.mechanism_run import AT_ONCE, method_of, simulation_of
from supple.analyses.time.start import centre_state, start_configuration
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
from supple.integration.generalized_alpha import alpha_of
from supple.integration.result_times import require_positive, require_times
from supple.kinematics.configuration import At, Configuration
from supple.reduced.named_values import in_order
from supple.results.simulation import Simulation

Array = NDArray[np.float64]

MOST_STEPS = 2 * AT_ONCE  # between two samples: a loop that explodes would have no end


class HeldSimulation:
    """The full DAE, marched from one of `times` (N,) to the next; see `simulate` for the options.

    start : as in `simulate`; an equilibrium is the one without inputs
    step  : s, fixed, or with a tolerance the longest
    rigid : elastic parts are taken as rigid
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
    ) -> None:
        require_times(float(times[-1]), step)
        require_positive(tolerance=tolerance, friction_speed=friction_speed)
        self.times = np.ascontiguousarray(times, dtype=float)
        self._tolerance = tolerance
        self._u = np.zeros(len(mechanism.actuators))
        here = start_configuration(mechanism, start, self._u, rigid=rigid)
        self._problem = problem = absolute(here.rest, (), friction_speed, rigid=rigid)
        self._method = method_of(problem, alpha_of(spectral_radius), float(step), tolerance)
        require_damped(problem, spectral_radius)
        numbering = here.rest.numbering
        self.rigid = problem.frames.rigid
        self.coordinates, self.inputs = numbering.coordinates, tuple(mechanism.actuators)
        X, V = centre_state(problem, here, in_order("rates", {} if rates is None else rates, self.coordinates))
        first = instant(problem, X[None], V[None], here.w[None], self._u[None], np.zeros((1, 0)))
        a = np.ascontiguousarray(first.acceleration[0])
        self._state = State(X, V, a, a.copy(), np.ascontiguousarray(first.multipliers[0]), here.w.copy())
        count = len(times)
        self._record = empty_record(self._state, count)
        self._carried = np.zeros(10)
        self._carried[[TRIAL, LAST]] = step
        self._held = np.zeros((count - 1, len(self._u)))
        self._interval = 0
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
    def outputs(self) -> dict[str, float]:
        """What the sensors see."""
        state, observation = self._state, self._load.observation
        rows = list(self._load.measured.values())
        values = state.w[None, [row - self._problem.rest.numbering.constraints for row in rows]]
        x = np.stack([values, np.zeros_like(values), np.zeros_like(values)])
        X, V, w, a = (part[None] for part in (state.X, state.V, state.w, state.acceleration))
        multipliers = state.multipliers[None]
        if observation.instant and not self._problem.elastic:
            a, multipliers = instant(self._problem, X, V, w, self._u[None], np.zeros((1, 0)))
        if observation.order:
            x[1:] = measured_motion(self._problem, X, V, a, rows)
        if observation.efforts:
            forces = inner_forces(self._problem, FullMotion(X, V, a, multipliers, w, self._u[None]))
            x = np.concatenate([x, np.stack([forces, np.zeros_like(forces), np.zeros_like(forces)])], axis=-1)
        found = observation.values(x)[0]
        return dict(zip(observation.names, found.tolist(), strict=True))

    def advance(self, u: Array) -> bool:
        """March through the next interval under the inputs u (actuators,); False where it cannot go on."""
        n = self._interval
        u = np.ascontiguousarray(u, dtype=float)
        self._jump(u)
        self._held[n] = u
        self._interval += 1
        held = np.stack([np.zeros((1, len(u)))] * 3 + [u[None]])
        courses = Courses(self.times[n : n + 2].copy(), held, self.times[[0, -1]], np.zeros((4, 1, 0)))
        problem, status = self._problem, PAUSED
        before = self._carried[STEPS]
        while status == PAUSED and self._carried[STEPS] - before < MOST_STEPS:
            status = compiled(march, count=1)(
                problem.steps, self._method, courses, self.times[: n + 2], self._state, self._record, self._carried,
                AT_ONCE,
            )  # fmt: skip
        if status == PAUSED:
            self.reason = (
                f"no step from {self._carried[TIME]:.6g} s on is long enough: more than {MOST_STEPS} between two "
                f"samples at a tolerance of {self._tolerance or 0.0:.2g}; most likely the loop is unstable"
            )
        elif status == OVERBENT:
            self.reason = overbent(float(self._carried[TIME]))
        elif status != DONE:
            defect = defect_of(problem, self._record.energies[: int(self._carried[NEXT])])
            tried = float(self._carried[TRIAL])
            self.reason = stuck(float(self._carried[TIME]), tried, False, self._tolerance, defect)
        return bool(status == DONE)

    def _jump(self, u: Array) -> None:
        """Move the accelerations to those under the new inputs."""
        if np.array_equal(u, self._u):
            return
        X, V, acceleration, algorithmic, multipliers, w = self._state
        X2, V2, w2 = (np.stack([part, part]) for part in (X, V, w))
        found = instant(self._problem, X2, V2, w2, np.stack([self._u, u]), np.zeros((2, 0)))
        change = found.acceleration[1] - found.acceleration[0]
        acceleration += change
        algorithmic += change
        multipliers += found.multipliers[1] - found.multipliers[0]
        self._u = u.copy()

    def result(self, u: Array) -> Simulation:
        """The motion so far, under inputs that are u (actuators,) from its last instant on."""
        reached, n = int(self._carried[NEXT]), self._interval
        coefficients = np.zeros((4, n + 1, len(u)))
        coefficients[3] = np.vstack([self._held[:n], u])
        breaks = np.append(self.times[: n + 1], np.inf)
        courses = (self.times[[0, -1]], np.zeros((2, 0)))
        recorded = (part[:reached] for part in self._record)
        motion = BodyMotion(self._problem, self.times[:reached], (breaks, coefficients), courses, *recorded)
        return simulation_of(motion, self.reason, self._carried, self._tolerance)
