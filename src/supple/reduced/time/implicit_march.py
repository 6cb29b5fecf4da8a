"""Motion of a stiff reduced model in time: generalized-α with Newton's iterations, compiled as a whole.

The scheme is that of `supple.integration.time_steps`, on a vector space. Newton's matrix is β' M + γ' (D_d + 2 Γ[η̇]) +
K with the coupling of p; the change of the coefficients with θ is left out, because it is never stiff.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.approximation.piecewise.packing import NOWHERE
from supple.compilation import kernel
from supple.compilation.bundle import copy_row
from supple.equations.deformation import add_mass_slopes, deform, is_bent
from supple.equations.forces import add_mass, forces, lost_power, push, rate_slopes, solve_mass
from supple.equations.row import FORCE_SLOPE, MASS, STIFFNESS
from supple.integration.time_steps import Alpha
from supple.reduced.arrays import coefficient_row, friction_of, row_width
from supple.reduced.dynamics_kernel import INDEFINITE
from supple.reduced.kernels import INSIDE, OUTSIDE, row_at, single_scratch
from supple.reduced.time.explicit_march import SMALLEST, STUCK, inputs_at, next_stop

_ITERATIONS = 25
_CONVERGED = 1e-10  # correction of a coordinate, relative to its value and its change in the step
_NEGLIGIBLE = 1e-16  # in m or rad


class ImplicitOptions(NamedTuple):
    """Options of `explicit_march`, and the parameters of generalized-α."""

    largest: float
    tolerance: float
    speed: float
    alpha: Alpha


@kernel
def tangent(c, friction, rates, accelerations, mass, slope, S):
    """Compute Newton's matrix into S (n, n), as far as p is linear in δ and θ.

    It is β' M + γ' ∂(Γ[η̇,η̇] + D η̇ + friction)/∂η̇ + K - ∂p/∂η + ∂(M η̈)/∂η.
    """
    n, s, at, row = c.n, c.s, c.at, c.values
    d = n - s
    rate_slopes(c, friction, rates, S)
    for i in range(n):
        for j in range(n):
            S[i, j] = mass * row[at[MASS] + i * n + j] - slope * S[i, j] + row[at[STIFFNESS] + i * n + j]
    for i in range(s):
        for k in range(d):
            S[i, s + k] -= row[at[FORCE_SLOPE] + i * d + k]
            S[s + k, i] -= row[at[FORCE_SLOPE] + i * d + k]
    if is_bent(c):
        add_mass_slopes(c, accelerations, S)


@kernel
def eliminate(S, b):
    """Solve S x = b in place, with row pivoting; return False if S is singular."""
    n = b.shape[0]
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(S[i, k]) > abs(S[best, k]):
                best = i
        if not abs(S[best, k]) > 0.0:
            return False
        if best != k:
            b[k], b[best] = b[best], b[k]
            for j in range(k, n):
                S[k, j], S[best, j] = S[best, j], S[k, j]
        for i in range(k + 1, n):
            factor = S[i, k] / S[k, k]
            for j in range(k + 1, n):
                S[i, j] -= factor * S[k, j]
            b[i] -= factor * b[k]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            b[i] -= S[i, j] * b[j]
        b[i] /= S[i, i]
    return True


@kernel(purpose="simulating reduced models, implicitly")
def implicit_march(Z, F, options, grid, course, state, record):
    """Integrate the state (2n + 2,) = (η, η̇, works) from grid[0] on; record (N, 2n + 2).

    Return status, results reached, time and steps. Inputs and works are those of `explicit_march`; works are integrated
    by the trapezoidal rule. The error of a step is estimated as h²|β - 1/6| times the change of a [Zienkiewicz, Xie
    1991].
    """
    largest, tolerance = options.largest, options.tolerance
    alpha_m, alpha_f, beta, gamma = options.alpha
    c, friction = coefficient_row(Z, np.empty(row_width(Z))), friction_of(Z, F, options.speed)
    n, s = c.n, c.s
    leaf, S = NOWHERE, np.empty((n, n))
    work, theta = np.empty(single_scratch(Z)), np.empty(s)
    u, f = np.empty(c.inputs), np.empty(n)
    eta, v, dv, a = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    time, reached, steps = grid[0], 1, 0
    copy_row(state, theta)
    leaf = row_at(Z, F, theta, work, 0, c.values, leaf)
    copy_row(state, record[0])
    if leaf == NOWHERE:
        return OUTSIDE, 0, time, steps
    piece = inputs_at(course, time, 0, u)
    deform(c, state)
    forces(c, friction, state[:n], state[n : 2 * n], u, f)
    if not solve_mass(c, S, f):
        return INDEFINITE, 0, time, steps
    dv_old, a_old = f.copy(), f.copy()
    pushed, pushing = np.empty(n), np.empty(n)
    push(c, u, pushed)
    losing = lost_power(c, friction, state[n : 2 * n])
    wanted = largest
    while reached < grid.shape[0]:
        stop = next_stop(grid, reached, course.stops, time)[0]
        span = stop - time
        h = span / max(1.0, np.ceil(span / min(wanted, largest) - 1e-9))
        mass, slope = (1.0 - alpha_m) / (h * h * beta * (1.0 - alpha_f)), gamma / (h * beta)
        for i in range(n):
            a[i] = (alpha_f * dv_old[i] - alpha_m * a_old[i]) / (1.0 - alpha_m)
            eta[i] = state[i] + h * state[n + i] + h * h * ((0.5 - beta) * a_old[i] + beta * a[i])
            v[i] = state[n + i] + h * ((1.0 - gamma) * a_old[i] + gamma * a[i])
            dv[i] = 0.0
        piece = inputs_at(course, time + h, piece, u)
        status, far = STUCK, 0.0
        for _ in range(_ITERATIONS):
            copy_row(eta, theta)
            leaf = row_at(Z, F, theta, work, 0, c.values, leaf)
            if leaf == NOWHERE:
                status = OUTSIDE
                break
            deform(c, eta)
            forces(c, friction, eta, v, u, f)
            add_mass(c, -1.0, dv, f)
            tangent(c, friction, v, dv, mass, slope, S)
            if not eliminate(S, f):
                break
            before, far = far, 0.0
            for i in range(n):
                eta[i] += f[i]
                v[i] += slope * f[i]
                dv[i] += mass * f[i]
                far = max(far, abs(f[i]) / (_CONVERGED * (abs(eta[i]) + abs(eta[i] - state[i])) + _NEGLIGIBLE))
            # Corrections shrink by a constant ratio: the remaining error is that ratio times the last correction.
            if far <= 1.0 or (far < 0.1 * before and far * far <= before):
                status = INSIDE
                break
        error = 0.0
        if status == INSIDE:
            for i in range(n):
                a[i] += (1.0 - alpha_f) / (1.0 - alpha_m) * dv[i]
                jump = abs(beta - 1.0 / 6.0) * h * h * abs(a[i] - a_old[i])
                error = max(error, jump / (1.0 + abs(state[i])))
        if status != INSIDE or (tolerance > 0.0 and not error <= tolerance):
            wanted = h * (0.5 if status != INSIDE else max(0.2, 0.9 * (tolerance / error) ** (1.0 / 3.0)))
            if wanted < SMALLEST * largest:
                return (status if status != INSIDE else STUCK), reached, time, steps
            continue
        push(c, u, pushing)
        losing_now = lost_power(c, friction, v)
        state[2 * n + 1] += 0.5 * h * (losing + losing_now)
        for i in range(n):
            state[2 * n] += 0.5 * (pushed[i] + pushing[i]) * (eta[i] - state[i])
            pushed[i] = pushing[i]
        losing = losing_now
        steps += 1
        time = stop if time + h >= stop - 1e-9 * h else time + h
        for i in range(n):
            state[i], state[n + i], dv_old[i], a_old[i] = eta[i], v[i], dv[i], a[i]
        if tolerance > 0.0:
            wanted = min(largest, h * min(2.0, 0.9 * (tolerance / max(error, 1e-30)) ** (1.0 / 3.0)))
        else:
            wanted = min(largest, 2.0 * wanted)
        if time >= grid[reached]:
            copy_row(state, record[reached])
            reached += 1
    return INSIDE, reached, time, steps
