"""Marching in time: generalized-α steps with index-3 constraints.

The unknowns of a step are the displacement δq of the bodies and the multipliers. With β' = (1 - α_m)/(h²β(1 - α_f)) and
γ' = γ/(hβ) a correction δq changes velocities by γ' δq and accelerations by β' δq. The iteration matrix is factorised
once a step, LDLᵀ without pivoting, and again only if the iteration is slow.

Constraints are met in positions; velocities break them by c h², smoothly as long as h stays. Where the step changes to
h', that part is multiplied by (h'/h)² and a is moved to the instant it stands for, or oscillations would start anew.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from supple.compilation import kernel
from supple.formulations.absolute.course import polynomial, slope
from supple.formulations.absolute.iteration import SOFT, iteration_matrix, residual, row_of, workspace
from supple.formulations.absolute.residual import rate
from supple.integration.ldl import factorise, substitute
from supple.kinematics.closure_kernel import moved, unwrapped
from supple.kinematics.primitives import ANGLE, value

ITERATIONS = 12
ROUNDING = 2e-15  # of a displacement (rad, or extents)
MAGNIFIED = 0.5 * ROUNDING / sqrt(SOFT)  # the same close to singular positions: at most 1/(2√ε) times as much
FARTHEST = 1e3  # rad, or extents: no correction of a step that converges is as large
DONE, STUCK, PAUSED = 0, 1, 2
TIME, NEXT, TRIAL, LAST, STEPS, COUNT, WORKS = 0, 1, 2, 3, 4, 5, 6  # what a march carries on


@kernel
def displaced(system, X, step, Y, x):
    """Y = X displaced by step (bodies, d): in the world for positions, in the body for rotations."""
    sizes, column = system[0], system[1]
    Y[:] = X
    for b in range(sizes[0]):
        x[:] = 0.0
        for c in range(sizes[1]):
            x[column[c]] = step[b, c]
        Y[b, 0] += x[0]
        Y[b, 1] += x[1]
        Y[b, 2] += x[2]
        moved(Y, b, 0.0, 0.0, 0.0, x[3], x[4], x[5])


@kernel
def take_step(
    system,
    iteration,
    pattern,
    alpha,
    h,
    X,
    V,
    acceleration,
    algorithmic,
    multipliers,
    w,
    targets,
    u,
    tolerance,
    work,
    new,
):
    """One step from (X, V, ...) into `new` (X, V, v̇, a, λ). Returns (converged, iterations, potential, local error)."""
    am, af, beta, gamma = alpha
    sizes = system[0]
    nb, d = sizes[0], sizes[1]
    X1, V1, acc1, alg1, lam1, move = new
    second = (1.0 - am) / (h * h * beta * (1.0 - af))
    first = gamma / (h * beta)
    for b in range(nb):
        for c in range(d):
            acc1[b, c] = acceleration[b, c]
            alg1[b, c] = (acceleration[b, c] - am * algorithmic[b, c]) / (1.0 - am)
            move[b, c] = h * (V[b, c] + h * ((0.5 - beta) * algorithmic[b, c] + beta * alg1[b, c]))
            V1[b, c] = V[b, c] + h * ((1.0 - gamma) * algorithmic[b, c] + gamma * alg1[b, c])
    lam1[:] = multipliers
    potential = 0.0
    before = 0.0
    displaced(system, X, move, X1, work[11])
    for n in range(ITERATIONS):
        potential = residual(system, X1, V1, acc1, lam1, targets, u, w, work)
        if n == 0 or n == 4:
            iteration_matrix(system, iteration, first / second, 1.0 / second, work)
            if not factorise(pattern, work[4], work[5], work[6], work[7], work[8]):
                return False, n, potential, 0.0
        b_ = work[9]
        for k in range(nb * d):
            b_[k] /= second
        substitute(pattern, work[5], work[6], b_, work[7])
        size = 0.0
        for b in range(nb):
            for c in range(d):
                step = b_[b * d + c]
                scaled = abs(step) / (tolerance[1] if c < d // 2 + (d == 3) else 1.0)
                if scaled > size or scaled != scaled:  # what is not a number stays
                    size = scaled
                move[b, c] += step
                V1[b, c] += first * step
                acc1[b, c] += second * step
                alg1[b, c] += step / (h * h * beta)
        for i in range(lam1.shape[0]):
            lam1[i] -= second * b_[nb * d + i]
        if not size < FARTHEST:
            return False, n + 1, potential, 0.0
        displaced(system, X, move, X1, work[11])
        # Displacements of a step come from accelerations times h²: that is what they must be small against.
        fastest = 0.0
        for b in range(nb):
            for c in range(d):
                fastest = max(fastest, abs(acc1[b, c]) / (tolerance[1] if c < d // 2 + (d == 3) else 1.0))
        enough = ROUNDING + tolerance[0] * h * h * fastest
        # Near a singular position rounding keeps corrections from falling; smaller steps would only feel it more.
        stalled = n > 1 and size >= 0.5 * before and size <= MAGNIFIED
        if size <= enough or (n > 0 and size * size <= enough * before) or stalled:
            error, far = 0.0, 1.0
            for b in range(nb):
                for c in range(d):
                    unit = tolerance[1] if c < d // 2 + (d == 3) else 1.0
                    error = max(error, abs(acc1[b, c] - acceleration[b, c]) / unit * h * h * abs(beta - 1.0 / 6.0))
                    far = max(far, abs(move[b, c]) / unit)
            return True, n + 1, potential, error / far  # of a motion that explodes no step keeps more than digits
        before = size
    return False, ITERATIONS, potential, 0.0


@kernel
def breach(system, pattern, V, aim_rates, work, drift):
    """The least part of the velocities, in the metric of M̂, without which they would keep the constraints."""
    sizes, driven = system[0], system[12]
    nb, d, joints = sizes[0], sizes[1], sizes[2]
    b_ = work[9]
    b_[: nb * d] = 0.0
    for i in range(joints + driven.shape[0]):
        b_[nb * d + i] = rate(system[2], row_of(system, i), work[0], i, V)
    for n in range(driven.shape[0]):
        b_[nb * d + joints + n] -= aim_rates[n]
    substitute(pattern, work[5], work[6], b_, work[7])
    for b in range(nb):
        for c in range(d):
            drift[b, c] = b_[b * d + c]


@kernel
def kinetic_energy(system, V):
    """½ Σ m ẋ² + ωᵀ J ω."""
    sizes, column, _, _, mass, inertia, _, _, _, _, _, _, _ = system
    total = 0.0
    for b in range(sizes[0]):
        for c in range(sizes[1]):
            if column[c] < 3:
                total += 0.5 * mass[b] * V[b, c] * V[b, c]
            else:
                for e in range(sizes[1]):
                    if column[e] >= 3:
                        total += 0.5 * V[b, c] * inertia[b, column[c] - 3, column[e] - 3] * V[b, e]
    return total


@kernel
def driving_power(system, V, multipliers, work):
    """Power of the forces that keep prescribed coordinates on their course."""
    total = 0.0
    joints, driven = system[0][2], system[12]
    for n in range(driven.shape[0]):
        total += multipliers[joints + n] * rate(system[2], driven[n], work[0], joints + n, V)
    return total


@kernel
def follow_angles(system, X, w):
    """Bring the measures up to X, angles continued beyond a turn."""
    sizes, _, rows_i, rows_f, _, _, _, _, _, _, _, _, _ = system
    for row in range(sizes[2], sizes[3]):
        at = value(rows_i, rows_f, row, X)
        w[row - sizes[2]] = unwrapped(at, w[row - sizes[2]]) if rows_i[row, 0] == ANGLE else at


@kernel(purpose="motion in time")
def march(
    system, iteration, pattern, alpha, times, h, adaptive, inputs, targets, tolerance, state, record, carried, most
):  # fmt: skip
    """On through `times`, with steps of at most h that end on each of them.

    adaptive  : error a step may make (rad, or extents; where it goes further than one of them, of its way); 0 keeps the
                step fixed, but for the last before a time
    inputs, targets : (breaks, coefficients) of piecewise cubics for the actuators and the prescribed coordinates
    tolerance : (of the Newton iteration, against the accelerations; extent)
    state     : X, V, v̇, a, λ, w where it stands; record : the same (but a) at each time, and energies (times, 6):
                kinetic, potential, work of the actuators, of the prescribed motions, lost, of loads without potential
    carried   : (10,) time, number of the next of `times`, steps tried next and taken last, steps and iterations so far,
                works; most : steps after which to pause
    Returns DONE, STUCK, or PAUSED to be called again.
    """
    X, V, acceleration, algorithmic, multipliers, w = state
    X_out, V_out, acceleration_out, multipliers_out, w_out, energy_out = record
    work = workspace(system, pattern)
    new = (X.copy(), V.copy(), acceleration.copy(), algorithmic.copy(), multipliers.copy(), np.empty_like(V))
    u = np.empty(inputs[1].shape[2])
    aim, aim_rates = np.empty(targets[1].shape[2]), np.empty(targets[1].shape[2])
    ready, shifted, drift = np.empty_like(V), np.empty_like(V), np.zeros_like(V)
    t, trial, last = carried[TIME], carried[TRIAL], carried[LAST]
    polynomial(inputs[0], inputs[1], t, u)
    polynomial(targets[0], targets[1], t, aim)
    potential = residual(system, X, V, acceleration, multipliers, aim, u, w, work)
    account = work[10]
    powers = (account[0], driving_power(system, V, multipliers, work), account[1], account[3])
    moving = carried[STEPS] > 0.0
    if moving:  # the factor that the step before this call left
        second = (1.0 - alpha[0]) / (last * last * alpha[2] * (1.0 - alpha[1]))
        iteration_matrix(system, iteration, alpha[3] / (last * alpha[2] * second), 1.0 / second, work)
        moving = factorise(pattern, work[4], work[5], work[6], work[7], work[8])
    taken = 0
    for n in range(int(carried[NEXT]), times.shape[0]):
        while t < times[n]:
            if taken == most:
                carried[TIME], carried[TRIAL], carried[LAST] = t, trial, last
                return PAUSED
            left = times[n] - t
            step = left / max(1.0, np.ceil(left / trial - 1e-6))  # equal pieces: no sliver at the end
            drift[:] = 0.0
            if moving and (adaptive > 0.0 or abs(step - last) > 1e-9 * last):
                slope(targets[0], targets[1], t, aim_rates)
                breach(system, pattern, V, aim_rates, work, drift)
            for _ in range(12):
                polynomial(inputs[0], inputs[1], t + step, u)
                polynomial(targets[0], targets[1], t + step, aim)
                for b in range(V.shape[0]):
                    for c in range(V.shape[1]):
                        ready[b, c] = V[b, c] - (1.0 - (step / last) ** 2) * drift[b, c]
                        # a stands for the instant (α_m - α_f) h after that of v̇.
                        shifted[b, c] = acceleration[b, c] + step / last * (algorithmic[b, c] - acceleration[b, c])
                fine, count, potential, error = take_step(
                    system, iteration, pattern, alpha, step, X, ready, acceleration, shifted, multipliers, w, aim, u,
                    tolerance, work, new,
                )  # fmt: skip
                carried[COUNT] += count
                if fine and (adaptive == 0.0 or error <= adaptive):
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
            X[:], V[:], acceleration[:], algorithmic[:], multipliers[:] = new[0], new[1], new[2], new[3], new[4]
            follow_angles(system, X, w)
            now = (account[0], driving_power(system, V, multipliers, work), account[1], account[3])
            for k in range(4):
                carried[WORKS + k] += 0.5 * step * (powers[k] + now[k])
            powers = now
            if adaptive > 0.0:
                grow = 0.9 * (adaptive / max(error, 1e-3 * adaptive)) ** (1.0 / 3.0)
                trial = min(h, step * min(2.0, max(0.3, grow)))
            else:
                trial = min(h, 2.0 * step)
        X_out[n], V_out[n], acceleration_out[n] = X, V, acceleration
        multipliers_out[n], w_out[n] = multipliers, w
        energy_out[n, 0] = kinetic_energy(system, V) + account[2]
        energy_out[n, 1] = potential
        energy_out[n, 2:] = carried[WORKS:]
        carried[NEXT] = n + 1.0
    carried[TIME], carried[TRIAL], carried[LAST] = t, trial, last
    return DONE
