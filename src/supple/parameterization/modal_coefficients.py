"""Rows of local models of a flexible mechanism, position by position."""

from __future__ import annotations

import numpy as np

from supple.compilation import kernel
from supple.equations.row import (
    CHRISTOFFEL,
    DFORCE_THETA,
    DM,
    FORCE,
    FORCE_SLOPE,
    MASS,
    POTENTIAL,
    SQUARES,
    STIFFNESS,
    STIFFNESS_SLOPE,
)
from supple.kinematics.elimination import workspace
from supple.kinematics.rigid_modes import rigid_modes
from supple.parameterization.elastic_modes import (
    DONE,
    SINGULAR,
    christoffel,
    elastic_modes,
    load_vector,
    mass_slopes,
)
from supple.parameterization.modal_measures import along_measures
from supple.parameterization.row_slopes import rigid_in_z, rows_and_slopes


@kernel(purpose="local models with modes")
def modal_coefficients(
    rows, selected, uses, flexible, sizes, references, X_all, w_all, rigid_at, rigid_rows, at, out, modes, status
):
    """out (N, width) by the offsets `at`; modes (N, n, z) of η; status (N,), see `elastic_modes`.

    rows     : RowArrays of the rigid mechanism; rigid_rows (N, ...) its results, by the offsets rigid_at
    uses     : what acts along measures, see `along_measures`
    references : (1 or N, internal modes, z) what internal modes are turned to
    flexible : ModalArrays; sizes : (constraint modes, internal modes, tracking, actuators)
    """
    rest, held, compliance, body_i, rigid, turning, chosen, loads, search = flexible
    loaded, count, tracking, actuators = sizes[0], sizes[1], sizes[2], sizes[3]
    nb, d, s = rows[0][0], rows[0][1], rows[0][4]
    z, m = rest[3].shape[0], held.shape[0]
    n = s + loaded + count
    axes = turning.shape[1]
    work = workspace(rows)
    body_modes = np.zeros((nb + 1, d, s))
    body_slopes = np.zeros((nb + 1, d, s * s))
    twists = np.zeros((nb + 1, s, 6))
    omega = np.zeros((nb, s, axes))
    C, dC = np.empty((chosen.shape[0], z)), np.empty((s, chosen.shape[0], z))
    f, df = np.empty(z), np.empty((s, z))
    K, dK = np.zeros((n - s, n - s)), np.zeros((s, n - s, n - s))
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
            row[at[SQUARES] :],
        )
        status[p] = found
        if found != DONE:
            continue
        M = row[at[MASS] : at[MASS] + n * n].reshape(n, n)
        dM = row[at[DM] : at[DM] + n * n * n].reshape(n, n, n)
        mass_slopes((body_i, turning), s, omega, Psi, dPsi, M, dM)
        stiffness = row[at[STIFFNESS] : at[STIFFNESS] + n * n].reshape(n, n)
        stiffness[s:, s:] = K
        row[at[STIFFNESS_SLOPE] : at[STIFFNESS_SLOPE] + dK.size] = dK.reshape(-1)
        load_vector(loads, X, omega, s, f, df)
        along_measures(uses, actuators, loaded, m, at, C, dC, Psi, dPsi, w, rigid_at, given, row, f, df)
        christoffel(n, dM, row[at[CHRISTOFFEL] : at[CHRISTOFFEL] + n * n * n].reshape(n, n, n))
        row[at[POTENTIAL]] = given[rigid_at[POTENTIAL]]
        for j in range(s):
            row[at[FORCE] + j] = given[rigid_at[FORCE] + j]
            for k in range(s):
                row[at[DFORCE_THETA] + j * s + k] = given[rigid_at[DFORCE_THETA] + j * s + k]
        for e in range(s, n):
            row[at[FORCE] + e] = np.dot(Psi[e], f)
            for k in range(s):
                row[at[FORCE_SLOPE] + k * (n - s) + e - s] = np.dot(dPsi[k, e], f) + np.dot(Psi[e], df[k])
