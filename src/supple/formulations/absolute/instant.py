"""Accelerations and reactions at an instant, by a rank-revealing solve.

    [M   -Φ_qᵀ] [v̇]   [     Q     ]
    [Φ_q    0 ] [λ] = [θ̈_p - Φ̇_q v]

With redundant constraints λ is not unique; the one of least norm is taken, moments divided by the mechanism's extent.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.compilation import compiled, kernel
from supple.formulations.absolute.iteration import row_of, rows_at, workspace
from supple.formulations.absolute.residual import bias, body_forces, measure_forces
from supple.formulations.absolute.system import Absolute
from supple.formulations.coefficients import MOTOR
from supple.kinematics.primitives import SCALE

Array = NDArray[np.float64]

_RANK = 1e-10


class Instant(NamedTuple):
    """Accelerations (N, bodies, d), multipliers (N, rows), and the rows (N, rows, n) they belong to."""

    acceleration: Array
    multipliers: Array
    rows: Array


def instant(problem: Absolute, X: Array, V: Array, w: Array, u: Array, target_accelerations: Array) -> Instant:
    """At each of N states: X (N, bodies + 1, 12) at the centres of mass, V (N, bodies, d), inputs u (N, actuators)."""
    count, bodies, d = V.shape
    n = bodies * d
    rows = int(problem.system.sizes[2]) + len(problem.system.driven)
    M, J = np.zeros((count, n, n)), np.zeros((count, rows, n))
    Q, second = np.zeros((count, n)), np.zeros((count, rows))
    compiled(dense_batch, count=count)(problem.system, problem.pattern, X, V, w, u, M, J, Q, second)
    joints = int(problem.system.sizes[2])
    second = -second
    second[:, joints:] += target_accelerations
    extent = problem.rest.numbering.arrays.extent
    measure = np.concatenate([np.arange(joints), problem.system.driven])
    unit = extent / problem.system.rows_f[measure, SCALE]  # moments are divided by the extent
    # Unknowns scaled so that forces weigh alike: λ = unit λ̂ for moments, and lengths by the extent.
    column = np.tile(np.where(problem.system.column < 3, extent, 1.0), bodies)
    acceleration, multipliers = np.empty((count, n)), np.empty((count, rows))
    for k in range(count):
        acceleration[k], multipliers[k] = _solve(M[k], J[k], Q[k], second[k], unit, column)
    return Instant(acceleration.reshape(V.shape), multipliers, J)


def _solve(M: Array, J: Array, Q: Array, second: Array, unit: Array, column: Array) -> tuple[Array, Array]:
    """v̇ = v_p + N z with J v_p = second, Nᵀ M v̇ = Nᵀ Q; then the least λ with Jᵀ λ = M v̇ - Q."""
    Js = J * column
    U, sigma, Vt = np.linalg.svd(Js)
    rank = int((sigma > _RANK * sigma[0]).sum()) if sigma.size and sigma[0] > 0.0 else 0
    particular = column * (Vt[:rank].T @ ((U[:, :rank].T @ second) / sigma[:rank]))
    N = column[:, None] * Vt[rank:].T
    if N.shape[1]:
        z = np.linalg.lstsq(N.T @ M @ N, N.T @ (Q - M @ particular), rcond=1e-13)[0]
        acceleration = particular + N @ z
    else:
        acceleration = particular
    force = column * (M @ acceleration - Q)
    scaled = np.linalg.lstsq((Js * unit[:, None]).T, force, rcond=_RANK)[0]
    return acceleration, unit * scaled


@kernel(purpose="accelerations and reactions")
def dense_batch(system, pattern, X_all, V_all, w_all, u_all, M_all, J_all, Q_all, second_all):
    """M (motors included), joint and prescribed rows, forces and bias of the rows at every state."""
    sizes, column, rows_i, rows_f, mass, inertia, _, _, uses_start, uses_i, uses_f, _, driven = system
    nb, d = sizes[0], sizes[1]
    work = workspace(system, pattern)
    rest = np.zeros((nb, d))
    aims = np.zeros(driven.shape[0])
    twists = np.zeros((nb + 1, 1, 6))
    scratch = np.empty((2, 13))
    h = np.empty((1, 1))
    for n in range(X_all.shape[0]):
        X, V, M, J = X_all[n], V_all[n], M_all[n], J_all[n]
        rows_at(system, X, aims, work)
        body_forces(system, X, V, work[3], work[10])
        measure_forces(system, X, V, rest, w_all[n], u_all[n], work[3], work[1], work[10])
        for b in range(nb):
            for c in range(d):
                Q_all[n, b * d + c] = work[3][b, c]
                for e in range(d):
                    if column[c] < 3 and c == e:
                        M[b * d + c, b * d + c] += mass[b]
                    elif column[c] >= 3 and column[e] >= 3:
                        M[b * d + c, b * d + e] += inertia[b, column[c] - 3, column[e] - 3]
        for row in range(sizes[2], sizes[3]):
            at = row - sizes[2]
            for use in range(uses_start[at], uses_start[at + 1]):
                if uses_i[use, 0] == MOTOR:
                    for p in range(2):
                        for q in range(2):
                            a, b = rows_i[row, 1 + p], rows_i[row, 1 + q]
                            if a < nb and b < nb:
                                for c in range(d):
                                    for e in range(d):
                                        M[a * d + c, b * d + e] += (
                                            uses_f[use, 0] * work[1][at, p, c] * work[1][at, q, e]
                                        )
        for i in range(J.shape[0]):
            row = row_of(system, i)
            for side in range(2):
                b = rows_i[row, 1 + side]
                if b < nb:
                    for c in range(d):
                        J[i, b * d + c] += work[0][i, side, c]
            second_all[n, i] = bias(rows_i, rows_f, row, X, V, column, work[0], i, twists, scratch, h)
