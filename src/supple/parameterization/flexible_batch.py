"""Rows of local models of a flexible mechanism, position by position."""

from __future__ import annotations

import numpy as np

from supple.compilation import kernel
from supple.formulations.coefficients import ACTUATOR, DAMPER, DRIVE, DRY, MOTOR, SENSOR, SPRING
from supple.kinematics.elimination import workspace
from supple.kinematics.rigid_modes import rigid_modes
from supple.parameterization.elastic_rows import rigid_in_z, rows_and_slopes
from supple.parameterization.flexible_kernel import (
    DONE,
    SINGULAR,
    christoffel,
    elastic_modes,
    load_vector,
    mass_slopes,
)


@kernel
def flexible_batch(
    rows, selected, uses, flexible, sizes, references, X_all, w_all, rigid_at, rigid_rows, at, out, modes, status
):
    """out (N, width) by the offsets `at`; modes (N, n, z) of η; status (N,), see `flexible_kernel`.

    rows     : RowArrays of the rigid mechanism; rigid_rows (N, ...) its results, by the offsets rigid_at
    uses     : what acts along measures; measured: their numbers among the rows that are computed
    references : (1 or N, internal modes, z) what internal modes are turned to
    flexible : FlexibleArrays; sizes : (constraint modes, internal modes, tracking, actuators, outputs, dry)
    """
    rest, held, compliance, body_i, rigid, turning, chosen, loads, search = flexible
    uses_row, uses_i, uses_f, values_at = uses
    loaded, count, tracking, actuators = sizes[0], sizes[1], sizes[2], sizes[3]
    nb, d, s = rows[0][0], rows[0][1], rows[0][4]
    z, m = rest[3].shape[0], held.shape[0]
    n = s + loaded + count
    axes = turning.shape[1]
    work = workspace(rows[0])
    body_modes = np.zeros((nb + 1, d, s))
    body_slopes = np.zeros((nb + 1, d, s * s))
    twists = np.zeros((nb + 1, s, 6))
    omega = np.zeros((nb, s, axes))
    C, dC = np.empty((chosen.shape[0], z)), np.empty((s, chosen.shape[0], z))
    f, df = np.empty(z), np.empty((s, z))
    K, dK = np.zeros((n - s, n - s)), np.zeros((s, n - s, n - s))
    slope, bend = np.empty(n), np.zeros((n, n))
    for p in range(X_all.shape[0]):
        X, w, given, row = X_all[p], w_all[p], rigid_rows[p], out[p]
        row[:] = 0.0
        determined, _ = rigid_modes(rows, selected, X, work, body_modes, body_slopes, twists)
        if not determined:
            status[p] = SINGULAR
            continue
        for b in range(nb):
            for j in range(s):
                for e in range(axes):
                    omega[b, j, e] = body_modes[b, d - axes + e, j]
        rows_and_slopes(rest, chosen, X, twists, s, C, dC)
        Psi, dPsi = modes[p], np.zeros((s, n, z))
        Psi[:] = 0.0
        rigid_in_z(body_i, rigid, body_modes, body_slopes, s, Psi, dPsi)
        held_slopes = np.ascontiguousarray(dC[:, :m])
        found = elastic_modes(
            rest,
            held,
            compliance,
            loaded,
            C[:m],
            held_slopes,
            search,
            references[min(p, references.shape[0] - 1)],
            count,
            tracking,
            Psi[s:],
            dPsi[:, s:],
            K,
            dK,
            row[at[11] :],
        )
        status[p] = found
        if found != DONE:
            continue
        M = row[at[0] : at[0] + n * n].reshape(n, n)
        dM = row[at[1] : at[1] + n * n * n].reshape(n, n, n)
        mass_slopes((body_i, turning), s, omega, Psi, dPsi, M, dM)
        stiffness = row[at[3] : at[3] + n * n].reshape(n, n)
        stiffness[s:, s:] = K
        dstiffness = row[at[12] : at[12] + n * n * s].reshape(n, n, s)
        for k in range(s):
            dstiffness[s:, s:, k] = dK[k]
        load_vector(loads, X, omega, s, f, df)
        # What acts along measures: rigid values from the rigid row, elastic parts from rows over z.
        damping = row[at[7] : at[7] + n * n].reshape(n, n)
        inputs = row[at[8] : at[8] + n * (actuators + loaded)].reshape(n, actuators + loaded)
        width = 1 + s + s * s + (n - s) * (1 + s)
        for u in range(uses_row.shape[0]):
            i, role, to = uses_row[u], uses_i[u, 0], uses_i[u, 1]
            factor, relaxed = uses_f[u, 0], uses_f[u, 1]
            length = w[values_at[u]] if values_at[u] >= 0 else 0.0
            for e in range(n):
                slope[e] = np.dot(C[i], Psi[e])
            for e in range(n):
                for k in range(s):
                    bend[e, k] = np.dot(dC[k, i], Psi[e]) + np.dot(C[i], dPsi[k, e])
                    bend[k, e] = bend[e, k]
            if role in (SPRING, DRIVE):
                pushed = -factor * (length - relaxed) if role == SPRING else factor
                for c in range(z):
                    f[c] += pushed * C[i, c]
                for k in range(s):
                    changed = -factor * slope[k] if role == SPRING else 0.0
                    for c in range(z):
                        df[k, c] += pushed * dC[k, i, c] + changed * C[i, c]
            elif role == DAMPER:
                for e in range(n):
                    for g in range(n):
                        damping[e, g] += factor * slope[e] * slope[g]
                        for k in range(s):
                            row[at[13] + (e * n + g) * s + k] += factor * (
                                bend[e, k] * slope[g] + slope[e] * bend[g, k]
                            )
            elif role == MOTOR:
                for e in range(n):
                    for g in range(n):
                        M[e, g] += factor * slope[e] * slope[g]
                        for h in range(n):
                            dM[e, g, h] += factor * (bend[e, h] * slope[g] + slope[e] * bend[g, h])
            elif role == ACTUATOR:
                for e in range(n):
                    inputs[e, to] = slope[e]
                    for k in range(s):
                        row[at[14] + (e * (actuators + loaded) + to) * s + k] = bend[e, k]
            elif role == SENSOR:
                first = at[9] + to * width
                rigid_first = rigid_at[8] + to * (1 + s + s * s)
                for c in range(1 + s + s * s):
                    row[first + c] = given[rigid_first + c]
                for e in range(s, n):
                    row[first + 1 + s + s * s + e - s] = slope[e]
                    for k in range(s):
                        row[first + 1 + s + s * s + (n - s) + (e - s) * s + k] = bend[e, k]
            elif role == DRY:
                for e in range(n):
                    row[at[10] + to * n + e] = slope[e]
                    for k in range(s):
                        row[at[15] + (to * n + e) * s + k] = bend[e, k]
        for a in range(loaded):  # a force at a loaded displacement is an input
            i = m - loaded + a
            for e in range(n):
                inputs[e, actuators + a] = np.dot(C[i], Psi[e])
                for k in range(s):
                    row[at[14] + (e * (actuators + loaded) + actuators + a) * s + k] = np.dot(
                        dC[k, i], Psi[e]
                    ) + np.dot(C[i], dPsi[k, e])
        christoffel(n, dM, row[at[2] : at[2] + n * n * n].reshape(n, n, n))
        row[at[4]] = given[rigid_at[3]]
        force = row[at[5] : at[5] + n]
        dforce = row[at[6] : at[6] + n * n].reshape(n, n)
        for j in range(s):
            force[j] = given[rigid_at[4] + j]
            for k in range(s):
                dforce[j, k] = given[rigid_at[5] + j * s + k]
        for e in range(s, n):
            force[e] = np.dot(Psi[e], f)
            for k in range(s):
                dforce[e, k] = np.dot(dPsi[k, e], f) + np.dot(Psi[e], df[k])
                dforce[k, e] = dforce[e, k]
