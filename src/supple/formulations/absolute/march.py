"""Marching in time: generalized-α steps with index-3 constraints.

The unknowns of a step are the displacement δq of the bodies and the multipliers. With β' = (1 - α_m)/(h²β(1 - α_f)) and
γ' = γ/(hβ) a correction δq changes velocities by γ' δq and accelerations by β' δq. The iteration matrix is factorised
once a step, LDLᵀ without pivoting, and again only if the iteration is slow.

Constraints are met in positions; velocities break them by c h², smoothly as long as h stays. Where the step changes to
h', that part is multiplied by (h'/h)² and a is moved to the instant it stands for, or oscillations would start anew.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.compilation import kernel
from supple.formulations.absolute.course import polynomial, slope
from supple.formulations.absolute.iteration import SOFT, iteration_matrix, residual, row_of
from supple.formulations.absolute.residual import rate
from supple.formulations.absolute.step_work import ACTUATED, FOLLOWING, LOST, ROTORS, step_work
from supple.integration.ldl import factorise, substitute
from supple.kinematics.closure_kernel import moved
from supple.kinematics.primitives import row_value
from supple.kinematics.row_arrays import row_sizes

Array = NDArray[np.float64]

ITERATIONS = 12
HALVINGS = 12
ROUNDING = 2e-15  # of a displacement (rad, or extents)
MAGNIFIED = 0.5 * ROUNDING / sqrt(SOFT)  # the same close to singular positions: at most 1/(2√ε) times as much
FARTHEST = 1e3  # rad, or extents: no correction of a step that converges is as large
DONE, STUCK, PAUSED = 0, 1, 2
TIME, NEXT, TRIAL, LAST, STEPS, COUNT, WORKS = 0, 1, 2, 3, 4, 5, 6  # what a march carries on
KINETIC, POTENTIAL, WORK = 0, 1, 2  # columns of the energies; four works


class Method(NamedTuple):
    """How steps are taken.

    m, f, beta, gamma : of the generalized-α method
    longest   : s, no step is longer
    adaptive  : error a step may make (rad, or extents; where it goes further than one of them, of its way); 0 keeps the
                step fixed, but for the last before a time
    tolerance : of the Newton iteration, against the accelerations
    """

    m: float
    f: float
    beta: float
    gamma: float
    longest: float
    adaptive: float
    tolerance: float


class Courses(NamedTuple):
    """Piecewise cubics in time, breaks and coefficients: of the actuators and of the prescribed coordinates."""

    input_breaks: Array
    inputs: Array
    target_breaks: Array
    targets: Array


class State(NamedTuple):
    """Poses X, velocities V, accelerations v̇, the auxiliary a, multipliers λ, measures w with angles beyond a turn."""

    X: Array
    V: Array
    acceleration: Array
    algorithmic: Array
    multipliers: Array
    w: Array


class Record(NamedTuple):
    """The same at each of N times, and energies (N, 6): kinetic, potential, work of the actuators, of the prescribed
    motions, lost, of loads without potential."""

    X: Array
    V: Array
    acceleration: Array
    multipliers: Array
    w: Array
    energies: Array


def empty_record(state: State, count: int) -> Record:
    """For as many times."""
    parts = (state.X, state.V, state.acceleration, state.multipliers, state.w, np.empty(6))
    return Record(*(np.empty((count, *part.shape)) for part in parts))


class Powers(NamedTuple):
    """Of the actuators, of the prescribed motions, lost, and of loads without potential, in W."""

    actuators: float
    prescribed: float
    lost: float
    loads: float


@kernel
def displaced(system, X, step, Y, twist):
    """Y = X displaced by step (bodies, d): in the world for positions, in the body for rotations."""
    column = system.rows.column
    Y[:] = X
    for b in range(step.shape[0]):
        twist[:] = 0.0
        for c in range(step.shape[1]):
            twist[column[c]] = step[b, c]
        Y[b, 0] += twist[0]
        Y[b, 1] += twist[1]
        Y[b, 2] += twist[2]
        moved(Y, b, 0.0, 0.0, 0.0, twist[3], twist[4], twist[5])


@kernel
def unit_of(system, c):
    """What a displacement in column c counts in: extents, or radians."""
    return system.rows.extent if system.rows.column[c] < 3 else 1.0


@kernel
def largest_of(system, values):
    """The largest of values (bodies, d), counted in extents or radians."""
    largest = 0.0
    for b in range(values.shape[0]):
        for c in range(values.shape[1]):
            largest = max(largest, abs(values[b, c]) / unit_of(system, c))
    return largest


@kernel
def predict(method, h, start, new, move):
    """The end of the step as its beginning says, λ kept."""
    beta, gamma = method.beta, method.gamma
    nb, d = move.shape
    for b in range(nb):
        for c in range(d):
            a0, v0 = start.algorithmic[b, c], start.V[b, c]
            a1 = (start.acceleration[b, c] - method.m * a0) / (1.0 - method.m)
            new.acceleration[b, c], new.algorithmic[b, c] = start.acceleration[b, c], a1
            move[b, c] = h * (v0 + h * ((0.5 - beta) * a0 + beta * a1))
            new.V[b, c] = v0 + h * ((1.0 - gamma) * a0 + gamma * a1)
    new.multipliers[:] = start.multipliers
    new.w[:] = start.w


@kernel
def slopes_of(method, h):
    """γ', β': what a correction of the displacement changes velocities and accelerations by."""
    return method.gamma / (h * method.beta), (1.0 - method.m) / (h * h * method.beta * (1.0 - method.f))


@kernel
def correct(system, method, h, new, work):
    """Take the correction in the right side. Returns its size (rad, or extents)."""
    first, second = slopes_of(method, h)
    nb, d = work.move.shape
    size = 0.0
    for b in range(nb):
        for c in range(d):
            step = work.right_side[b * d + c]
            scaled = abs(step) / unit_of(system, c)
            if scaled > size or scaled != scaled:  # what is not a number stays
                size = scaled
            work.move[b, c] += step
            new.V[b, c] += first * step
            new.acceleration[b, c] += second * step
            new.algorithmic[b, c] += step / (h * h * method.beta)
    for i in range(new.multipliers.shape[0]):
        new.multipliers[i] -= second * work.right_side[nb * d + i]
    return size


@kernel
def factorised(problem, method, h, work):
    """Factorise the iteration matrix of a step of length h from what `work` holds. Returns whether that worked."""
    first, second = slopes_of(method, h)
    iteration_matrix(problem.system, problem.iteration, first / second, 1.0 / second, work)
    return factorise(problem.pattern, work.matrix, work.L, work.D, work.solving, work.filled)


@kernel
def local_error(system, method, h, start, new, work):
    """Error of the displacement of a step, against its way where that is long: of a motion that explodes no step keeps
    more than digits."""
    error, far = 0.0, max(1.0, largest_of(system, work.move))
    for b in range(work.move.shape[0]):
        for c in range(work.move.shape[1]):
            jump = abs(new.acceleration[b, c] - start.acceleration[b, c]) / unit_of(system, c)
            error = max(error, jump * h * h * abs(method.beta - 1.0 / 6.0))
    return error / far


@kernel
def take_step(problem, method, h, start, u, aim, work, new):
    """One step of length h from `start` into `new`, inputs u and prescribed values aim at its end.

    Returns (converged, iterations, potential, local error).
    """
    system = problem.system
    _, second = slopes_of(method, h)
    before, potential = 0.0, 0.0
    predict(method, h, start, new, work.move)
    displaced(system, start.X, work.move, new.X, work.twist)
    for n in range(ITERATIONS):
        potential = residual(system, new, u, aim, work)
        if (n == 0 or n == 4) and not factorised(problem, method, h, work):
            return False, n, potential, 0.0
        for k in range(work.move.size):
            work.right_side[k] /= second
        substitute(problem.pattern, work.L, work.D, work.right_side, work.solving)
        size = correct(system, method, h, new, work)
        if not size < FARTHEST:
            return False, n + 1, potential, 0.0
        displaced(system, start.X, work.move, new.X, work.twist)
        # Displacements of a step come from accelerations times h²: that is what they must be small against.
        enough = ROUNDING + method.tolerance * h * h * largest_of(system, new.acceleration)
        # Near a singular position rounding keeps corrections from falling; smaller steps would only feel it more.
        stalled = n > 1 and size >= 0.5 * before and size <= MAGNIFIED
        if size <= enough or (n > 0 and size * size <= enough * before) or stalled:
            return True, n + 1, potential, local_error(system, method, h, start, new, work)
        before = size
    return False, ITERATIONS, potential, 0.0


@kernel
def breach(problem, V, aim_rates, work, drift):
    """The least part of the velocities, in the metric of M̂, without which they would keep the constraints."""
    system, right_side = problem.system, work.right_side
    nb, d = drift.shape
    joints = row_sizes(system.rows).joint_rows
    right_side[: nb * d] = 0.0
    for i in range(work.values.shape[0]):
        right_side[nb * d + i] = rate(system.rows, row_of(system, i), work.gradients, V)
    for n in range(system.driven.shape[0]):
        right_side[nb * d + joints + n] -= aim_rates[n]
    substitute(problem.pattern, work.L, work.D, right_side, work.solving)
    for b in range(nb):
        for c in range(d):
            drift[b, c] = right_side[b * d + c]


@kernel
def begin_step(state, h, last, drift, ready):
    """State `ready` at the beginning of a step of length h after one of length `last`."""
    for b in range(drift.shape[0]):
        for c in range(drift.shape[1]):
            ready.V[b, c] = state.V[b, c] - (1.0 - (h / last) ** 2) * drift[b, c]
            # a stands for the instant (α_m - α_f) h after that of v̇.
            a = state.acceleration[b, c]
            ready.algorithmic[b, c] = a + h / last * (state.algorithmic[b, c] - a)


@kernel
def kinetic_energy(system, V):
    """½ Σ m ẋ² + ωᵀ J ω."""
    column = system.rows.column
    total = 0.0
    for b in range(V.shape[0]):
        for c in range(V.shape[1]):
            if column[c] < 3:
                total += 0.5 * system.mass[b] * V[b, c] * V[b, c]
            else:
                for e in range(V.shape[1]):
                    if column[e] >= 3:
                        total += 0.5 * V[b, c] * system.inertia[b, column[c] - 3, column[e] - 3] * V[b, e]
    return total


@kernel
def powers_at(system, state, work):
    """From the account of the last residual, and of the forces that keep prescribed coordinates on their course."""
    joints = row_sizes(system.rows).joint_rows
    prescribed = 0.0
    for n in range(system.driven.shape[0]):
        prescribed += state.multipliers[joints + n] * rate(system.rows, system.driven[n], work.gradients, state.V)
    return Powers(work.account[ACTUATED], prescribed, work.account[LOST], work.account[FOLLOWING])


@kernel
def add_works(carried, step, before, now):
    """Works of a step from the powers at its two ends."""
    for k in range(4):
        carried[WORKS + k] += 0.5 * step * (before[k] + now[k])


@kernel
def follow_angles(system, X, w):
    """Bring the measures up to X, angles continued beyond a turn."""
    sizes = row_sizes(system.rows)
    for row in range(sizes.joint_rows, sizes.rows):
        w[row - sizes.joint_rows] = row_value(system.rows.rows_i, system.rows.rows_f, row, X, w)


@kernel
def taken_over(new, state):
    """The end of a step becomes the state; its measures are followed apart."""
    state.X[:], state.V[:], state.acceleration[:] = new.X, new.V, new.acceleration
    state.algorithmic[:], state.multipliers[:] = new.algorithmic, new.multipliers


@kernel
def copy_of(state):
    """Arrays of their own."""
    return State(
        state.X.copy(),
        state.V.copy(),
        state.acceleration.copy(),
        state.algorithmic.copy(),
        state.multipliers.copy(),
        state.w.copy(),
    )


@kernel
def next_trial(method, step, error):
    """Length of the next step, from the error of the last."""
    if method.adaptive == 0.0:
        return min(method.longest, 2.0 * step)
    grow = 0.9 * (method.adaptive / max(error, 1e-3 * method.adaptive)) ** (1.0 / 3.0)
    return min(method.longest, step * min(2.0, max(0.3, grow)))


@kernel(purpose="motion in time")
def march(problem, method, courses, times, state, record, carried, most):
    """On through `times`, with steps of at most the longest that end on each of them.

    problem : system, iteration and pattern; state : where it stands; record : filled at each time
    carried : (10,) time, number of the next of `times`, steps tried next and taken last, steps and iterations so far,
              works; most : steps after which to pause
    Returns DONE, STUCK, or PAUSED to be called again.
    """
    system = problem.system
    work, new = step_work(system, problem.pattern), copy_of(state)
    u = np.empty(courses.inputs.shape[2])
    aim, aim_rates = np.empty(courses.targets.shape[2]), np.empty(courses.targets.shape[2])
    ready = State(
        state.X, np.empty_like(state.V), state.acceleration, np.empty_like(state.V), state.multipliers, state.w
    )
    drift = np.zeros_like(state.V)
    t, trial, last = carried[TIME], carried[TRIAL], carried[LAST]
    polynomial(courses.input_breaks, courses.inputs, t, u)
    polynomial(courses.target_breaks, courses.targets, t, aim)
    potential = residual(system, state, u, aim, work)
    powers = powers_at(system, state, work)
    # The factor that the step before this call left.
    moving = carried[STEPS] > 0.0 and factorised(problem, method, last, work)
    taken = 0
    for n in range(int(carried[NEXT]), times.shape[0]):
        while t < times[n]:
            if taken == most:
                carried[TIME], carried[TRIAL], carried[LAST] = t, trial, last
                return PAUSED
            left = times[n] - t
            step = left / max(1.0, np.ceil(left / trial - 1e-6))  # equal pieces: no sliver at the end
            drift[:] = 0.0
            if moving and (method.adaptive > 0.0 or abs(step - last) > 1e-9 * last):
                slope(courses.target_breaks, courses.targets, t, aim_rates)
                breach(problem, state.V, aim_rates, work, drift)
            fine, error = False, 0.0
            for _ in range(HALVINGS):
                polynomial(courses.input_breaks, courses.inputs, t + step, u)
                polynomial(courses.target_breaks, courses.targets, t + step, aim)
                begin_step(state, step, last, drift, ready)
                fine, count, potential, error = take_step(problem, method, step, ready, u, aim, work, new)
                carried[COUNT] += count
                if fine and (method.adaptive == 0.0 or error <= method.adaptive):
                    break
                fine = False
                step *= 0.5
            if not fine:
                carried[TIME], carried[TRIAL] = t, 2.0 * step
                return STUCK
            taken += 1
            carried[STEPS] += 1.0
            moving = True
            last = step
            t = times[n] if step >= left * (1.0 - 1e-12) else t + step
            taken_over(new, state)
            follow_angles(system, state.X, state.w)
            now = powers_at(system, state, work)
            add_works(carried, step, powers, now)
            powers = now
            trial = next_trial(method, step, error)
        record.X[n], record.V[n], record.acceleration[n] = state.X, state.V, state.acceleration
        record.multipliers[n], record.w[n] = state.multipliers, state.w
        record.energies[n, KINETIC] = kinetic_energy(system, state.V) + work.account[ROTORS]
        record.energies[n, POTENTIAL] = potential
        record.energies[n, WORK:] = carried[WORKS:]
        carried[NEXT] = n + 1.0
    carried[TIME], carried[TRIAL], carried[LAST] = t, trial, last
    return DONE
