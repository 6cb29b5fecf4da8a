"""A run of the equivalent rigid link system in time (docs/theory/rigid-link-system.md, 25-28)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from supple.analyses.time.link_record import LinkRecord
from supple.analyses.time.prescribed import Piecewise, Prescribed
from supple.formulations.absolute.time_damping import time_damping
from supple.formulations.rigid_link_system.link_equations import LinkEquations, LinkMotion
from supple.formulations.rigid_link_system.link_march import (
    Led,
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

Array = NDArray[np.float64]


def link_run(
    here: Configuration, rates: Array, grid: Array, forces: Piecewise, course: Prescribed, options: StepOptions
) -> Simulation:
    """From where it begins: undeformed, or where it rests at its θ under the first inputs if `here` is deformed.

    Nodes move at the start as if everything were rigid.
    """
    mechanism, longest = here.mechanism, options.step
    assert longest is not None
    system = rigid_link_system(mechanism)
    inputs = _inputs(forces)
    begin, end = float(grid[0]), float(grid[-1])
    place = assemble(mechanism, here.theta) if here.deformed is not None else here
    point = link_point(system, place.X, place.w)
    u = np.zeros(len(system.kept))
    if here.deformed is not None:
        u, _ = resting_nodes(point, inputs(begin))
        point = link_point(system, place.X, place.w, u)
    equations = LinkEquations(system, place.rest, independent_ideal_rows(system, point), options.friction_speed)
    turns = (point.state.twists.w @ point.loops.Gamma @ rates)[system.node_body]  # û stays: u turns with its body
    full = np.zeros((system.nodes, 2, 3))
    full.reshape(-1)[system.kept] = u
    turns = np.einsum("nij,nj->ni", point.state.R, turns)
    velocity = np.cross(turns[:, None], full).reshape(-1)[system.kept]
    led = _led(course)
    x, v = np.concatenate([place.theta, u]), np.concatenate([rates, velocity])
    solver = Solver(equations, alpha_of(options.spectral_radius), led)
    at_once = motion_at_start(solver, x, v, led, begin, inputs(begin), longest)
    start = first_motion(solver, x, v, led, begin, inputs(begin), longest)
    tolerance = options.tolerance
    found = march(solver, start, led, inputs, (begin, end), longest, tolerance)
    found.motions[0] = at_once
    reached = grid[grid <= found.time[-1] + 1e-9 * longest]
    record = LinkRecord(
        equations, reached, _between(found.time, found.motions, reached), np.array([inputs(t) for t in reached]),
        course.driven, np.array([np.interp(reached, found.time, column) for column in found.driving.T]).T,
    )  # fmt: skip
    return Simulation(
        mechanism.name, reached, record, found.reason, float(found.time[-1]), found.steps, found.iterations, tolerance,
        bodies=record, damping=time_damping(mechanism).said if mechanism.elastic else "",
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
