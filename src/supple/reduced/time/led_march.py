"""Deformation of a reduced model with prescribed θ, in time, by the explicit pair of Dormand and Prince, compiled.

The pair and the step control are those of `explicit_march`. The state is (δ, δ̇), and θ, θ̇, θ̈ are quintics between
the instants of the course. Steps end at every result and at every instant of the course.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.approximation.piecewise.packing import NOWHERE
from supple.array_types import Array
from supple.compilation import kernel
from supple.compilation.bundle import copy_row
from supple.equations.deformation import deform
from supple.equations.forces import lost_power
from supple.equations.row import MASS
from supple.reduced.arrays import coefficient_row, friction_of, row_width
from supple.reduced.dynamics_kernel import INDEFINITE, invert_dynamics
from supple.reduced.kernels import INSIDE, OUTSIDE, row_at, single_scratch
from supple.reduced.time.explicit_march import SMALLEST, STUCK, next_stop, tableau
from supple.reduced.time.implicit_march import eliminate
from supple.time_functions.polynomial_pieces import PolynomialPieces


class LedOptions(NamedTuple):
    """Longest step (s), error of a step relative to sizes (2d,) + |δ, δ̇|, and friction speed."""

    largest: float
    tolerance: float
    speed: float
    sizes: Array


class LedCourse(NamedTuple):
    """Course of θ (s,) as polynomials between instants.

    lowest, highest : (s,), bounds of θ: at the end of a path, rounding would leave the region
    """

    pieces: PolynomialPieces
    lowest: Array
    highest: Array


@kernel
def lead(course, piece, time, eta, rates, accelerations):
    """Evaluate θ, θ̇ and θ̈ at a time into the first s numbers of η, η̇, η̈ (n,)."""
    coefficients = course.pieces.coefficients
    tau = time - course.pieces.breaks[piece]
    top = coefficients.shape[1] - 1
    for i in range(coefficients.shape[2]):
        value, rate, half = coefficients[piece, top, i], 0.0, 0.0
        for k in range(top - 1, -1, -1):
            half = half * tau + rate
            rate = rate * tau + value
            value = value * tau + coefficients[piece, k, i]
        eta[i] = min(course.highest[i], max(course.lowest[i], value))
        rates[i], accelerations[i] = rate, 2.0 * half


@kernel
def free_accelerations(c, S, f, accelerations):
    """Compute δ̈ = -M_δδ⁻¹ f_δ behind θ̈ in accelerations (n,), and add its inertia to f, so that f_θ = Q_θ.

    f is M η̈ - f(η, η̇, 0) with δ̈ = 0. Return False where M_δδ (d, d) is singular; S is workspace of its shape.
    """
    n, s, row, first = c.n, c.s, c.values, c.at[MASS]
    for i in range(s, n):
        for j in range(s, n):
            S[i - s, j - s] = row[first + i * n + j]
        accelerations[i] = -f[i]
    if not eliminate(S, accelerations[s:]):
        return False
    for i in range(n):
        for j in range(s, n):
            f[i] += row[first + i * n + j] * accelerations[j]
    return True


@kernel(purpose="simulating reduced models along a motion")
def led_march(Z, F, options, course, grid, state, record):
    """Integrate the state (2d + 2,) = (δ, δ̇, works) from grid[0] on; record (N, 3d + 2): the state, and δ̈.

    Return status, time and steps; the time is that reached, or that at which the region ends.

    works : work of the prescribed motion, and energy dissipated by damping and friction, J; they do not affect the
            steps
    """
    largest, tolerance, sizes, breaks = options.largest, options.tolerance, options.sizes, course.pieces.breaks
    c, friction = coefficient_row(Z, np.empty(row_width(Z))), friction_of(Z, F, options.speed)
    n, s = c.n, c.s
    d = n - s
    width = 2 * d + 2
    leaf, S = NOWHERE, np.empty((d, d))
    work, theta, idle = np.empty(single_scratch(Z)), np.empty(s), np.zeros(c.inputs)
    eta, v, a, f, trial = np.empty(n), np.empty(n), np.empty(n), np.empty(n), np.empty(width)
    undeformed = np.empty(row_width(Z))
    A, nodes, e = tableau()
    k = np.zeros((7, width))
    time, reached, steps, first = grid[0], 0, 0, True
    wanted = largest
    while reached < grid.shape[0]:
        # The first step has no length: it computes the slopes at the start.
        stop, piece = next_stop(grid, reached, breaks, time)
        span = 0.0 if first else stop - time
        h = span / max(1.0, np.ceil(span / min(wanted, largest) - 1e-9))
        status, error = INSIDE, 0.0
        for stage in range(6 if first else 1, 7):
            for i in range(width):
                total = 0.0
                for j in range(stage):
                    total += A[stage, j] * k[j, i]
                trial[i] = state[i] + h * total
            if first or nodes[stage] != nodes[stage - 1]:
                lead(course, piece, time + nodes[stage] * h, eta, v, a)
                copy_row(eta, theta)
                leaf = row_at(Z, F, theta, work, 0, c.values, leaf)
                if leaf == NOWHERE:
                    return OUTSIDE, time + nodes[stage] * h, steps
                copy_row(c.values, undeformed)
            else:  # the last two stages share their θ
                copy_row(undeformed, c.values)
            for i in range(d):
                eta[s + i], v[s + i], a[s + i] = trial[i], trial[d + i], 0.0
            deform(c, eta)
            invert_dynamics(c, friction, eta, v, a, idle, f)
            if not free_accelerations(c, S, f, a):
                status = INDEFINITE
                break
            power = 0.0
            for i in range(s):
                power += f[i] * v[i]
            for i in range(d):
                k[stage, i], k[stage, d + i] = v[s + i], a[s + i]
            k[stage, 2 * d], k[stage, 2 * d + 1] = power, lost_power(c, friction, v)
        if status == INSIDE:
            for i in range(2 * d):
                total = 0.0
                for j in range(7):
                    total += e[j] * k[j, i]
                error = max(error, abs(h * total) / (sizes[i] + abs(state[i])))
                if not np.isfinite(trial[i]):
                    status = STUCK
        if status != INSIDE or not error <= tolerance:
            wanted = h * (0.5 if status != INSIDE else max(0.2, 0.9 * (tolerance / error) ** 0.2))
            if wanted < SMALLEST * largest:
                return (status if status != INSIDE else STUCK), time, steps
            continue
        if not first:
            steps += 1
            time = stop if time + h >= stop - 1e-9 * h else time + h
            wanted = min(largest, h * min(5.0, 0.9 * (tolerance / max(error, 1e-30)) ** 0.2))
        first = False
        for i in range(width):
            state[i] = trial[i]
            k[0, i] = k[6, i]
        if time >= grid[reached]:
            copy_row(state, record[reached, :width])
            for i in range(d):
                record[reached, width + i] = k[0, d + i]
            reached += 1
    return INSIDE, time, steps
