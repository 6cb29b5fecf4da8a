"""The iteration matrix and the right side of a step in time.

    [M̂    Φ_qᵀ] [  δq  ]     [ r_q / β' ]
    [Φ_q   -ε ] [-δλ/β'] = - [    r_c   ],    M̂ = M + Σ (motor + c γ'/β' + k/β') ∇ℓ ∇ℓᵀ

ε acts on the increment of the multipliers alone, so that redundant constraints and singular positions pass and
constraints are still met to rounding.
"""

from __future__ import annotations

import numpy as np

from supple.compilation import kernel
from supple.formulations.absolute.residual import body_forces, measure_forces, world_gradient
from supple.formulations.coefficients import DAMPER, MOTOR, SPRING
from supple.kinematics.closure_kernel import unwrapped
from supple.kinematics.primitives import ANGLE

SOFT = 1e-9  # ε of a row, against its entry in Φ_q M⁻¹ Φ_qᵀ


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
        np.zeros(4),  # 10 account
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
    sizes, column, rows_i, _, _, _, _, _, uses_start, uses_i, uses_f, _, _ = system
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
    potential = body_forces(system, X, V, Q, work[10])
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
