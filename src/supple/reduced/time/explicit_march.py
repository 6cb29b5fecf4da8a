"""Motion of a reduced model in time by the explicit pair of Dormand and Prince, 5(4), compiled as a whole.

[Dormand, Prince 1980; Hairer, Nørsett, Wanner: Solving Ordinary Differential Equations I, II.5]. Steps end at every
result and at every stop of the inputs, between which these are smooth (`InputCourse`).
"""

from __future__ import annotations

import numpy as np

from supple.approximation.piecewise.packing import NOWHERE
from supple.compilation import kernel
from supple.compilation.bundle import copy_row
from supple.equations.deformation import deform
from supple.equations.forces import forces, lost_power, push, solve_mass
from supple.reduced.arrays import coefficient_row, friction_of, row_width
from supple.reduced.dynamics_kernel import INDEFINITE
from supple.reduced.kernels import INSIDE, OUTSIDE, row_at, single_scratch

STUCK = 3  # no step, however small, meets the tolerance or converges
SMALLEST = 1e-9  # of the largest step: at which a run ends


@kernel
def inputs_at(course, time, piece, u):
    """Evaluate the inputs at a time into u (a,), constant outside the pieces; return the piece.

    The search starts at `piece`.
    """
    breaks, pieces = course.breaks, course.pieces
    while piece + 2 < breaks.shape[0] and time > breaks[piece + 1]:
        piece += 1
    while piece > 0 and time < breaks[piece]:
        piece -= 1
    part = (time - breaks[piece]) / (breaks[piece + 1] - breaks[piece])
    part = min(1.0, max(0.0, part))
    for a in range(u.shape[0]):
        total = 0.0
        for k in range(pieces.shape[1] - 1, -1, -1):
            total = total * part + pieces[piece, k, a]
        u[a] = total
    return piece


@kernel
def next_stop(grid, reached, breaks, time):
    """Return the next result or break of the inputs after a time, and the piece of the inputs up to it."""
    low, high = 0, breaks.shape[0]
    while low < high:
        middle = (low + high) // 2
        if breaks[middle] <= time:
            low = middle + 1
        else:
            high = middle
    stop = min(grid[reached], breaks[low]) if low < breaks.shape[0] else grid[reached]
    return stop, max(0, min(low - 1, breaks.shape[0] - 2))


@kernel
def tableau():
    """Return the stages (7, 6), times (7,), and the weights of the error (7,)."""
    A = np.zeros((7, 6))
    A[1, 0] = 1 / 5
    A[2, 0], A[2, 1] = 3 / 40, 9 / 40
    A[3, 0], A[3, 1], A[3, 2] = 44 / 45, -56 / 15, 32 / 9
    A[4, 0], A[4, 1], A[4, 2], A[4, 3] = 19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729
    A[5, 0], A[5, 1], A[5, 2], A[5, 3], A[5, 4] = 9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656
    A[6, 0], A[6, 2], A[6, 3], A[6, 4], A[6, 5] = 35 / 384, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84
    c = np.array([0.0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0])
    e = np.array([71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40])
    return A, c, e


@kernel(purpose="simulating reduced models, explicitly")
def explicit_march(Z, F, options, grid, course, state, record):
    """Integrate the state (2n + 2,) = (η, η̇, works) from grid[0] on; record (N, 2n + 2).

    Return status, results reached, time and steps.

    works   : work of the inputs, and energy dissipated by damping and friction, J; they do not affect the steps
    course  : InputCourse
    options : largest (or, without tolerance, fixed) step; tolerance of a step's error relative to 1 + |state|, 0 for
              fixed steps; friction speed
    """
    largest, tolerance, speed = options
    c, friction = coefficient_row(Z, np.empty(row_width(Z))), friction_of(Z, F, speed)
    n, s = c.n, c.s
    leaf, L = NOWHERE, np.empty((n, n))
    work, theta = np.empty(single_scratch(Z)), np.empty(s)
    u, f, trial = np.empty(c.inputs), np.empty(n), np.empty(2 * n + 2)
    A, nodes, e = tableau()
    k = np.zeros((7, 2 * n + 2))
    time, reached, steps, piece, first = grid[0], 1, 0, 0, True
    wanted = largest
    copy_row(state, record[0])
    while reached < grid.shape[0]:
        stop = next_stop(grid, reached, course.stops, time)[0]
        span = stop - time
        h = span / max(1.0, np.ceil(span / min(wanted, largest) - 1e-9))
        status, error = INSIDE, 0.0
        for stage in range(0 if first else 1, 7):
            for i in range(trial.shape[0]):
                total = 0.0
                for j in range(stage):
                    total += A[stage, j] * k[j, i]
                trial[i] = state[i] + h * total
            copy_row(trial, theta)
            leaf = row_at(Z, F, theta, work, 0, c.values, leaf)
            if leaf == NOWHERE:
                status = OUTSIDE
                break
            piece = inputs_at(course, time + nodes[stage] * h, piece, u)
            deform(c, trial)
            push(c, u, f)
            power = 0.0
            for i in range(n):
                power += f[i] * trial[n + i]
            k[stage, 2 * n], k[stage, 2 * n + 1] = power, lost_power(c, friction, trial[n:])
            forces(c, friction, trial[:n], trial[n:], u, f)
            if not solve_mass(c, L, f):
                status = INDEFINITE
                break
            for i in range(n):
                k[stage, i], k[stage, n + i] = trial[n + i], f[i]
        if status == INSIDE:
            for i in range(2 * n):
                total = 0.0
                for j in range(7):
                    total += e[j] * k[j, i]
                error = max(error, abs(h * total) / (1.0 + abs(state[i])))
                if not np.isfinite(trial[i]):
                    status = STUCK
        if status != INSIDE or (tolerance > 0.0 and not error <= tolerance):
            shrink = 0.5 if status != INSIDE else max(0.2, 0.9 * (tolerance / error) ** 0.2)
            first = False if status == INSIDE else first
            wanted = h * shrink
            if wanted < SMALLEST * largest:
                return (status if status != INSIDE else STUCK), reached, time, steps
            continue
        steps += 1
        time = stop if time + h >= stop - 1e-9 * h else time + h
        for i in range(trial.shape[0]):
            state[i] = trial[i]
            k[0, i] = k[6, i]
        first = False
        if tolerance > 0.0:
            wanted = min(largest, h * min(5.0, 0.9 * (tolerance / max(error, 1e-30)) ** 0.2))
        else:
            wanted = min(largest, 2.0 * wanted)
        if time >= grid[reached]:
            copy_row(state, record[reached])
            reached += 1
    return INSIDE, reached, time, steps
