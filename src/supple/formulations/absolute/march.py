"""Marching in time: one generalized-α step with index-3 constraints, and many.

The unknowns of a step are the displacement δq of the bodies and the multipliers. With β' = (1 - α_m)/(h²β(1 - α_f)),
γ' = γ/(hβ) the iteration solves

    [M̂    Φ_qᵀ] [ δq ]     [r_q / β']
    [Φ_q   -ε ] [ -δλ/β'] = -[  r_c   ],    M̂ = M + Σ (motor + c γ'/β' + k/β') ∇ℓ ∇ℓᵀ

once a step factorised, LDLᵀ without pivoting. ε acts on the increment of the multipliers alone, so that redundant constraints and
singular positions pass and constraints are still met to rounding.
"""

from __future__ import annotations

import numpy as np

from supple.compilation import kernel
from supple.formulations.absolute.residual import body_forces, measure_forces, rate, world_gradient
from supple.integration.ldl import factorise, substitute
from supple.kinematics.closure_kernel import moved, unwrapped
from supple.kinematics.primitives import ANGLE, value
from supple.parameterization.rigid_kernel import DAMPER, MOTOR, SPRING

SOFT = 1e-9  # ε of a row, against its entry in Φ_q M⁻¹ Φ_qᵀ
ITERATIONS = 12
DONE, STUCK, NOT_A_NUMBER = 0, 1, 2


@kernel
def workspace(system, pattern):
    """Arrays for one step."""
    sizes, driven = system[0], system[12]
    nb, d = sizes[0], sizes[1]
    multipliers = sizes[2] + driven.shape[0]
    n = nb * d + multipliers
    return (
        np.empty((multipliers, 2, d)),  # 0 rows
        np.empty((sizes[3] - sizes[2], 2, d)),  # 1 measures
        np.empty(multipliers),  # 2 values of the rows
        np.empty((nb, d)),  # 3 forces
        np.empty(pattern[2].shape[0]),  # 4 iteration matrix
        np.empty(pattern[6].shape[0]),  # 5 L
        np.empty(n),  # 6 D
        np.empty(n),  # 7 substitution
        np.empty(n, np.int64),  # 8 fill
        np.empty(n),  # 9 right side
        np.zeros(3),  # 10 account
        np.zeros(6),  # 11 displacement
    )


@kernel
def rows_at(system, X, targets, work):
    """Joint rows and prescribed rows: gradients and values (what they should be taken off)."""
    sizes, column, rows_i, rows_f, _, _, _, _, _, _, _, _, driven = system
    g = np.empty(13)
    for i in range(sizes[2]):
        work[2][i] = world_gradient(rows_i, rows_f, i, X, g, column, work[0], i)
    for n in range(driven.shape[0]):
        i, row = sizes[2] + n, driven[n]
        at = world_gradient(rows_i, rows_f, row, X, g, column, work[0], i)
        work[2][i] = (unwrapped(at, targets[n]) if rows_i[row, 0] == ANGLE else at) - targets[n]


@kernel
def row_of(system, i):
    """Which measure multiplier i belongs to."""
    return i if i < system[0][2] else system[12][i - system[0][2]]


@kernel
def iteration_matrix(system, iteration, damping_factor, stiffness_factor, work):
    """Fill the values of the iteration matrix from the rows and measures in `work`."""
    sizes, column, rows_i, _, _, _, _, _, uses_start, uses_i, uses_f, _, driven = system
    solid_mass, solid_inertia, at_body, at_row, at_multiplier, links, at_link = iteration
    nb, d = sizes[0], sizes[1]
    J, measures, A = work[0], work[1], work[4]
    A[:] = 0.0
    for b in range(nb):
        for c in range(d):
            if column[c] < 3:
                A[at_body[b, c, c]] = solid_mass[b]
            else:
                for e in range(c, d):
                    A[at_body[b, c, e]] = solid_inertia[b, column[c] - 3, column[e] - 3]
    for n in range(links.shape[0]):
        at = links[n]
        factor = 0.0
        for use in range(uses_start[at], uses_start[at + 1]):
            if uses_i[use, 0] == SPRING:
                factor += stiffness_factor * uses_f[use, 0]
            elif uses_i[use, 0] == DAMPER:
                factor += damping_factor * uses_f[use, 0]
            elif uses_i[use, 0] == MOTOR:
                factor += uses_f[use, 0]
        for p in range(2):
            for q in range(2):
                if at_link[n, p, 0, q, 0] < 0:
                    continue
                for c in range(d):
                    for e in range(d):
                        if p == q and e < c:  # one triangle of a body's own block
                            continue
                        if p == 1 and q == 0:  # the block between two bodies is filled once
                            continue
                        A[at_link[n, p, c, q, e]] += factor * measures[at, p, c] * measures[at, q, e]
    for i in range(at_row.shape[0]):
        row = row_of(system, i)
        compliance = 0.0
        for side in range(2):
            b = rows_i[row, 1 + side]
            if b == nb:
                continue
            least = min(solid_inertia[b, 0, 0], solid_inertia[b, 1, 1], solid_inertia[b, 2, 2]) if d == 6 else 0.0
            for c in range(d):
                entry = J[i, side, c]
                A[at_row[i, side, c]] += entry
                if column[c] < 3:
                    compliance += entry * entry / solid_mass[b]
                else:
                    compliance += entry * entry / (least if d == 6 else solid_inertia[b, 2, 2])
        A[at_multiplier[i]] = -SOFT * compliance


@kernel
def residual(system, X, V, acceleration, multipliers, targets, u, w, work):
    """Right side -(r_q, r_c) in work[9]; rows, measures and account are left in `work`. Returns the potential."""
    sizes, column, rows_i, _, mass, inertia, _, _, _, _, _, _, _ = system
    nb, d = sizes[0], sizes[1]
    Q, b_ = work[3], work[9]
    rows_at(system, X, targets, work)
    potential = body_forces(system, X, V, Q)
    potential += measure_forces(system, X, V, acceleration, w, u, Q, work[1], work[10])
    for i in range(multipliers.shape[0]):
        row = row_of(system, i)
        for side in range(2):
            b = rows_i[row, 1 + side]
            if b < nb:
                for c in range(d):
                    Q[b, c] += work[0][i, side, c] * multipliers[i]
    for b in range(nb):
        for c in range(d):
            k = column[c]
            total = 0.0
            if k < 3:
                total = mass[b] * acceleration[b, c]
            else:
                for e in range(d):
                    if column[e] >= 3:
                        total += inertia[b, k - 3, column[e] - 3] * acceleration[b, e]
            b_[b * d + c] = Q[b, c] - total
    for i in range(multipliers.shape[0]):
        b_[nb * d + i] = -work[2][i]
    return potential


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
                if not scaled <= size:
                    size = scaled
                move[b, c] += step
                V1[b, c] += first * step
                acc1[b, c] += second * step
                alg1[b, c] += step / (h * h * beta)
        for i in range(lam1.shape[0]):
            lam1[i] -= second * b_[nb * d + i]
        displaced(system, X, move, X1, work[11])
        if size != size:
            return False, n + 1, potential, 0.0
        if size <= tolerance[0] or (n > 0 and size * size / max(before, 1e-300) <= 0.1 * tolerance[0]):
            error = 0.0
            for b in range(nb):
                for c in range(d):
                    scaled = abs(acc1[b, c] - acceleration[b, c]) / (tolerance[1] if c < d // 2 + (d == 3) else 1.0)
                    error = max(error, scaled * h * h * abs(beta - 1.0 / 6.0))
            return True, n + 1, potential, error
        before = size
    return False, ITERATIONS, potential, 0.0


@kernel
def polynomial(breaks, coefficients, t, values):
    """Piecewise cubic at t: Σ_k c[k, piece] (t - breaks[piece])^(3 - k), values (n,)."""
    piece = np.searchsorted(breaks, t, side="right") - 1
    piece = min(max(piece, 0), breaks.shape[0] - 2)
    x = t - breaks[piece]
    for n in range(values.shape[0]):
        c = coefficients
        values[n] = ((c[0, piece, n] * x + c[1, piece, n]) * x + c[2, piece, n]) * x + c[3, piece, n]


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


@kernel
def march(system, iteration, pattern, alpha, times, h, adaptive, inputs, targets, tolerance, state, record):
    """From times[0] through all `times`, with steps of at most h that end on each of them.

    adaptive  : error a step may make (rad, or extents); 0 keeps the step fixed, but for the last before a time
    inputs, targets : (breaks, coefficients) of piecewise cubics for the actuators and the prescribed coordinates
    tolerance : (of the Newton iteration, extent)
    state     : X, V, v̇, a, λ, w at the start; record : the same (but a) at each time, and energies (times, 5):
                kinetic, potential, work of the actuators, of the prescribed motions, lost
    Returns (status, times reached, time, steps, iterations).
    """
    X, V, acceleration, algorithmic, multipliers, w = state
    X_out, V_out, acceleration_out, multipliers_out, w_out, energy_out = record
    work = workspace(system, pattern)
    new = (X.copy(), V.copy(), acceleration.copy(), algorithmic.copy(), multipliers.copy(), np.empty_like(V))
    u = np.empty(inputs[1].shape[2])
    aim = np.empty(targets[1].shape[2])
    t = times[0]
    polynomial(inputs[0], inputs[1], t, u)
    polynomial(targets[0], targets[1], t, aim)
    potential = residual(system, X, V, acceleration, multipliers, aim, u, w, work)
    account = work[10]
    powers = (account[0], driving_power(system, V, multipliers, work), account[1])
    works = np.zeros(3)
    steps, iterations = 0, 0
    status = DONE
    trial = h
    for n in range(times.shape[0]):
        while t < times[n]:
            left = times[n] - t
            step = left / max(1.0, np.ceil(left / trial - 1e-6))  # equal pieces: no sliver at the end
            for _ in range(12):
                polynomial(inputs[0], inputs[1], t + step, u)
                polynomial(targets[0], targets[1], t + step, aim)
                fine, count, potential, error = take_step(
                    system, iteration, pattern, alpha, step, X, V, acceleration, algorithmic, multipliers, w, aim, u,
                    tolerance, work, new,
                )  # fmt: skip
                iterations += count
                if fine and (adaptive == 0.0 or error <= adaptive):
                    break
                fine = False
                step *= 0.5
            if not fine:
                return STUCK, n, t, steps, iterations
            steps += 1
            t = times[n] if step >= left * (1.0 - 1e-12) else t + step
            X[:], V[:], acceleration[:], algorithmic[:], multipliers[:] = new[0], new[1], new[2], new[3], new[4]
            follow_angles(system, X, w)
            now = (account[0], driving_power(system, V, multipliers, work), account[1])
            for k in range(3):
                works[k] += 0.5 * step * (powers[k] + now[k])
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
        for k in range(3):
            energy_out[n, 2 + k] = works[k]
    return status, times.shape[0], t, steps, iterations
