"""A run of the full DAE, from its first result to its last."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.analyses.time.adaptation import grown, overbent, stopped, stuck
from supple.analyses.time.body_motion import BodyMotion, defect_of
from supple.analyses.time.prescribed import Piecewise, Prescribed
from supple.compilation import at_hand, compiled
from supple.formulations.absolute.beams.beam_arrays import LENGTH
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
    Record,
    empty_record,
    march,
)
from supple.formulations.absolute.step import ROUNDING, Method, State
from supple.formulations.absolute.system import Absolute
from supple.formulations.absolute.time_damping import time_damping
from supple.integration.generalized_alpha import Alpha
from supple.kinematics.closing import bulk
from supple.results.simulation import Simulation

Array = NDArray[np.float64]

AT_ONCE = 10_000  # steps before a look at the keyboard
FEW = 100  # steps, interpreted, before it is asked again whether compiling is worth while
NEWTON = 1e-9  # error of the accelerations at which a step has converged
KEEPING = 1e-11  # the same where things vibrate and the method damps nothing: what is left would add up
DAMPED = 0.495  # α_f of a spectral radius of 0.98


def method_of(problem: Absolute, alpha: Alpha, step: float, tolerance: float | None) -> Method:
    """How steps of at most this length are taken; tolerance : that they may err by, None where they are fixed."""
    shortest = min(float(problem.elements.beams.numbers[:, LENGTH].min(initial=np.inf)), problem.system.rows.extent)
    # Rotations of an element come from positions of its ends: rounding counts the more the shorter it is.
    rounding = ROUNDING * problem.system.rows.extent / shortest
    newton = KEEPING if problem.elastic and alpha.f > DAMPED else NEWTON
    return Method(*alpha, step, float(tolerance or 0.0), newton, rounding, problem.elastic)


class Begun(NamedTuple):
    """A run that has all it needs but the length of its steps."""

    problem: Absolute
    alpha: Alpha
    grid: Array
    largest: float
    forces: Piecewise
    course: Prescribed
    state: tuple[Array, ...]


def marched(begun: Begun, tolerance: float | None) -> Simulation:
    """The run, with steps of one length or, with a tolerance, of as many as it needs."""
    problem, grid, step = begun.problem, begun.grid, begun.largest
    state = State(*(part.copy() for part in begun.state))
    record = empty_record(state, len(grid))
    method = method_of(problem, begun.alpha, float(step), tolerance)
    courses = Courses(*begun.forces, *begun.course.targets)
    carried = np.zeros(10)
    carried[TIME] = grid[0]
    carried[[TRIAL, LAST]] = step
    status = PAUSED
    while status == PAUSED and not grown(problem, record.energies[: int(carried[NEXT])], int(carried[STEPS])):
        at_once = AT_ONCE if at_hand(march) else FEW  # between its parts, a long run can be interrupted
        status = compiled(march, count=at_once * bulk(problem.rest.numbering))(
            problem.steps, method, courses, grid, state, record, carried, at_once
        )
    reached = int(carried[NEXT])
    recorded = Record(*(part[:reached] for part in record))
    reason, time, defect = "", float(carried[TIME]), defect_of(problem, recorded.energies)
    if status == PAUSED:
        reason = stopped(time, defect)
    elif status == OVERBENT:
        reason = overbent(time)
    elif status != DONE:
        reason = stuck(time, float(carried[TRIAL]), len(begun.course.driven) > 0, tolerance, defect)
    prescribed = (begun.course.targets[0], begun.course.accelerations)
    motion = BodyMotion(problem, grid[:reached], begun.forces, prescribed, *recorded)
    return simulation_of(motion, reason, carried, tolerance)


def simulation_of(motion: BodyMotion, reason: str, carried: Array, tolerance: float | None) -> Simulation:
    """The result of a march."""
    mechanism = motion.problem.rest.numbering.mechanism
    return Simulation(
        mechanism.name, motion.time, motion, reason, float(carried[TIME]), int(carried[STEPS]), int(carried[COUNT]),
        tolerance, rigid=motion.problem.frames.rigid, bodies=motion,
        damping=time_damping(mechanism).said if motion.problem.frames.elastic else "",
    )  # fmt: skip


def piecewise(breaks: Array, values: Array, begin: float, end: float) -> Piecewise:
    """Breaks and coefficients (4, B - 1, k) of what is linear between them and constant outside."""
    if breaks[0] > begin:
        breaks, values = np.append(begin, breaks), np.vstack([values[:1], values])
    if breaks[-1] < end:
        breaks, values = np.append(breaks, end), np.vstack([values, values[-1:]])
    slopes = np.diff(values, axis=0) / np.diff(breaks)[:, None]
    return breaks, np.stack([np.zeros_like(slopes), np.zeros_like(slopes), slopes, values[:-1]])
