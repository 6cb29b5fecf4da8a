"""A run of the equivalent rigid link system in time (docs/theory/rigid-link-system.md, 25-28)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from supple.array_types import Array
from supple.formulations.absolute.time_damping import time_damping
from supple.formulations.rigid_link_system.link_equations import LinkEquations, LinkMotion
from supple.formulations.rigid_link_system.link_march import (
    Led,
    Marched,
    Solver,
    first_motion,
    independent_ideal_rows,
    march,
    motion_at_start,
)
from supple.formulations.rigid_link_system.link_point import link_point
from supple.formulations.rigid_link_system.link_system import rigid_link_system
from supple.formulations.rigid_link_system.small_motions import resting_nodes
from supple.integration.generalized_alpha import alpha_of
from supple.integration.step_options import StepOptions
from supple.kinematics.closure import assemble
from supple.kinematics.configuration import Configuration
from supple.results.simulation import Simulation
from supple.simulation.link_record import LinkRecord
from supple.simulation.mechanism_run import Continuous
from supple.simulation.prescribed import Piecewise, Prescribed


class LinkRun:
    """The equivalent rigid link system through result times (N,), under `Continuous` inputs.

    It begins undeformed or, if `here` is deformed, where it rests at its θ under the first inputs. Nodes move at the
    start as if everything were rigid; rates : (s,) of θ.
    """

    def __init__(self, here: Configuration, times: Array, rates: Array, options: StepOptions) -> None:
        self._here, self._times, self._rates, self._options = here, times, rates, options
        self._longest, self._last, self._reason = options.longest, 0, ""
        self._passed: list[Marched] = []

    def advance(self, acting: Continuous, until: int) -> bool:
        """Advance to the result time of number `until`; see `Advancing`."""
        inputs, led = _inputs(acting.forces), _led(acting.course)
        span, longest = (float(self._times[self._last]), float(self._times[until])), self._longest
        if not self._passed:
            start = self._begin(inputs(span[0]), led, span[0])
        else:
            start = self._passed[-1].motions[-1]
        found = march(self._solver, start, led, inputs, span, longest, self._options.tolerance)
        if not self._passed:
            found.motions[0] = self._at_once
        self._passed.append(found)
        self._acting, self._last, self._reason = acting, until, found.reason
        return not found.reason

    def _begin(self, inputs: Array, led: Led, time: float) -> LinkMotion:
        """The motion that steps begin with."""
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
        turns = (point.state.twists.w @ point.loops.Gamma @ rates)[system.node_body]  # û stays: u turns with its body
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
        mechanism, passed, inputs = self._here.mechanism, self._passed, _inputs(self._acting.forces)
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
            damping=time_damping(mechanism).said if mechanism.elastic else "",
        )  # fmt: skip


def _inputs(forces: Piecewise) -> Callable[[float], Array]:
    breaks, coefficients = forces

    def at(time: float) -> Array:
        piece = int(np.clip(np.searchsorted(breaks, time, side="right") - 1, 0, len(breaks) - 2))
        return np.asarray(np.polyval(coefficients[:, piece], time - breaks[piece]))

    return at


def _led(course: Prescribed) -> Led:
    breaks, coefficients = course.targets

    def at(time: float) -> Array:
        piece = int(np.clip(np.searchsorted(breaks, time, side="right") - 1, 0, len(breaks) - 2))
        cubic, square, linear, constant = coefficients[:, piece]
        t = time - breaks[piece]
        value = ((cubic * t + square) * t + linear) * t + constant
        rate = (3.0 * cubic * t + 2.0 * square) * t + linear
        second = [np.interp(time, breaks, column) for column in course.accelerations.T]
        return np.array([value, rate, np.array(second).reshape(value.shape)])

    return Led(np.array(course.driven, dtype=np.int64), at)


def _between(time: Array, motions: list[LinkMotion], wanted: Array) -> list[LinkMotion]:
    """States at the wanted times: cubics between those of the steps, accelerations and multipliers linear."""
    found = []
    for t in wanted:
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
