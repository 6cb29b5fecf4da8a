"""Time integration over many steps: step lengths, energy account, and recorded results."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.array_types import Array
from supple.compilation import kernel
from supple.compilation.bundle import copy_row, copy_table
from supple.formulations.absolute.elements import element_kinetic
from supple.formulations.absolute.iteration import residual
from supple.formulations.absolute.residual import arm_kinetic, rate
from supple.formulations.absolute.step import State, begin_step, breach, factorise_step, take_step
from supple.formulations.absolute.step_work import ACTUATED, BENT, FOLLOWING, LOST, ROTORS, STRAIN, step_work
from supple.kinematics.primitives import row_value
from supple.kinematics.row_arrays import row_sizes
from supple.time_functions.polynomial_pieces import PolynomialPieces, polynomial_rate, polynomial_value

HALVINGS = 12
SHORTEST = 1e-9  # of the longest step: shorter ones lose their accelerations in rounding
DONE, STUCK, PAUSED, OVERBENT = 0, 1, 2, 3
TIME, NEXT, TRIAL, LAST, STEPS, COUNT, WORKS = 0, 1, 2, 3, 4, 5, 6  # what a march carries on
KINETIC, POTENTIAL, STRAINED, WORK = 0, 1, 2, 3  # columns of the energies; four works
ENERGIES = WORK + 4
WIDEST = 0.5  # rad: local rotation of an element against its chord up to which its strains are what they should be
ALIKE = 0.2  # of a step: what lasts is not given up for one that is only so much longer


class Courses(NamedTuple):
    """Functions of time: forces of the actuators, and the prescribed coordinates."""

    inputs: PolynomialPieces
    targets: PolynomialPieces


class MarchRecord(NamedTuple):
    """Recorded states at N times, and energies (N, 7).

    The energies are kinetic, potential, strain energy (part of the potential), work of the actuators, of the prescribed
    motions, dissipated, and of loads without potential.
    """

    X: Array
    V: Array
    acceleration: Array
    multipliers: Array
    w: Array
    energies: Array


def empty_record(state: State, count: int) -> MarchRecord:
    """Return an empty record for a number of times."""
    parts = (state.X, state.V, state.acceleration, state.multipliers, state.w, np.empty(ENERGIES))
    return MarchRecord(*(np.empty((count, *part.shape)) for part in parts))


class Powers(NamedTuple):
    """Powers of the actuators, of the prescribed motions, dissipated, and of loads without potential, W."""

    actuators: float
    prescribed: float
    lost: float
    loads: float


@kernel
def kinetic_energy(system, X, V):
    """Return ½ Σ m ẋ² + ωᵀ J ω of the frames, and of the elements between them."""
    column, mass, inertia = system.rows.column, system.mass, system.inertia
    total = arm_kinetic(system, X, V) + element_kinetic(system, X, V)
    for b in range(V.shape[0]):
        for c in range(V.shape[1]):
            if column[c] < 3:
                total += 0.5 * mass[b] * V[b, c] * V[b, c]
            else:
                for e in range(V.shape[1]):
                    if column[e] >= 3:
                        total += 0.5 * V[b, c] * inertia[b, column[c] - 3, column[e] - 3] * V[b, e]
    return total


@kernel(inline=True)
def powers_at(system, state, work):
    """Return the powers from the account of the last residual and from the forces of prescribed coordinates."""
    sizes, rows_i, driven = row_sizes(system.rows), system.rows.rows_i, system.driven
    prescribed = 0.0
    for n in range(driven.shape[0]):
        if driven[n] < sizes.rows:  # others hold superelements together, and never move
            prescribed += state.multipliers[sizes.joint_rows + n] * rate(rows_i, driven[n], work.gradients, state.V)
    return Powers(work.account[ACTUATED], prescribed, work.account[LOST], work.account[FOLLOWING])


@kernel(inline=True)
def add_works(carried, step, before, now):
    """Add the works of a step from the powers at its two ends."""
    for k in range(4):
        carried[WORKS + k] += 0.5 * step * (before[k] + now[k])


@kernel(inline=True)
def follow_angles(system, X, w):
    """Update the measures to X, with angles continued beyond a full turn."""
    sizes, rows_i, rows_f = row_sizes(system.rows), system.rows.rows_i, system.rows.rows_f
    for row in range(sizes.joint_rows, sizes.rows):
        w[row - sizes.joint_rows] = row_value(rows_i, rows_f, row, X, w)


@kernel(inline=True)
def take_over(new, state):
    """Make the end of a step the current state; its measures are updated separately."""
    copy_table(new.X, state.X)
    copy_table(new.V, state.V)
    copy_table(new.acceleration, state.acceleration)
    copy_table(new.algorithmic, state.algorithmic)
    copy_row(new.multipliers, state.multipliers)


@kernel(inline=True)
def copy_of(state):
    """Return a copy of the arrays."""
    return State(
        state.X.copy(),
        state.V.copy(),
        state.acceleration.copy(),
        state.algorithmic.copy(),
        state.multipliers.copy(),
        state.w.copy(),
    )


@kernel(inline=True)
def next_trial(method, step, error):
    """Return the length of the next step from the error of the last one."""
    if method.adaptive == 0.0:
        return min(method.longest, 2.0 * step)
    grow = 0.9 * (method.adaptive / max(error, 1e-3 * method.adaptive)) ** (1.0 / 3.0)
    if method.lasting and 1.0 - 0.5 * ALIKE < grow < 1.0 + ALIKE:
        return step
    return min(method.longest, step * min(2.0, max(0.3, grow)))


@kernel(purpose="simulation in time")
def march(problem, method, courses, times, state, record, carried, most):
    """Integrate through `times`, with steps of at most the longest that end at each of them.

    problem : system, iteration and pattern; state : current state; record : filled at each time
    carried : (10,) time, index of the next of `times`, next and last step, numbers of steps and iterations, works;
              most : steps until a pause
    Returns DONE, STUCK, OVERBENT, or PAUSED to be called again.
    """
    system = problem.system
    work, new = step_work(system, problem.pattern), copy_of(state)
    u = np.empty(courses.inputs.coefficients.shape[2])
    driven = courses.targets.coefficients.shape[2]
    aim, aim_rates = np.empty(driven), np.empty(driven)
    ready = State(
        state.X, np.empty_like(state.V), state.acceleration, np.empty_like(state.V), state.multipliers, state.w
    )
    drift = np.zeros_like(state.V)
    t, trial, last = carried[TIME], carried[TRIAL], carried[LAST]
    polynomial_value(courses.inputs, t, u)
    polynomial_value(courses.targets, t, aim)
    potential = residual(system, state, u, aim, work)
    powers = powers_at(system, state, work)
    # The factor that the step before this call left.
    moving = carried[STEPS] > 0.0 and factorise_step(problem, method, last, state, work)
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
                polynomial_rate(courses.targets, t, aim_rates)
                breach(problem, state.X, state.V, aim_rates, work, drift)
            fine, error = False, 0.0
            for _ in range(HALVINGS):
                polynomial_value(courses.inputs, t + step, u)
                polynomial_value(courses.targets, t + step, aim)
                begin_step(state, step, last, drift, ready)
                fine, count, potential, error = take_step(problem, method, step, ready, u, aim, work, new)
                carried[COUNT] += count
                if fine and (method.adaptive == 0.0 or error <= method.adaptive):
                    break
                fine = False
                step *= 0.5
                if step < SHORTEST * method.longest:
                    break
            if not fine:
                carried[TIME], carried[TRIAL] = t, 2.0 * step
                return STUCK
            taken += 1
            carried[STEPS] += 1.0
            moving = True
            last = step
            t = times[n] if step >= left * (1.0 - 1e-12) else t + step
            take_over(new, state)
            follow_angles(system, state.X, state.w)
            now = powers_at(system, state, work)
            add_works(carried, step, powers, now)
            powers = now
            trial = next_trial(method, step, error)
            if work.account[BENT] > WIDEST:
                carried[TIME], carried[TRIAL], carried[LAST] = t, trial, last
                return OVERBENT
        copy_table(state.X, record.X[n])
        copy_table(state.V, record.V[n])
        copy_table(state.acceleration, record.acceleration[n])
        copy_row(state.multipliers, record.multipliers[n])
        copy_row(state.w, record.w[n])
        if method.lasting:  # the energy of strains hangs on the last correction of a step as well
            potential = residual(system, state, u, aim, work)
        record.energies[n, KINETIC] = kinetic_energy(system, state.X, state.V) + work.account[ROTORS]
        record.energies[n, POTENTIAL], record.energies[n, STRAINED] = potential, work.account[STRAIN]
        copy_row(carried[WORKS:], record.energies[n, WORK:])
        carried[NEXT] = n + 1.0
    carried[TIME], carried[TRIAL], carried[LAST] = t, trial, last
    return DONE
