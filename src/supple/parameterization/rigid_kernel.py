"""The coefficients of a rigid mechanism at one position, from its rigid modes.

    M_ij   = Ψ_iᵀ M₀ Ψ_j + Σ (motor inertia gear²) a_i a_j                     [Brüls 2004, eq. 18]
    ∂_k M  = ∂_kΨᵀ M₀ Ψ + Ψᵀ M₀ ∂_kΨ,  M₀ constant in body axes
    p_j    = Σ F·δ_j x - Σ k (ℓ - ℓ₀) ∂_j ℓ + ...,  -∂V/∂θ_j where V exists     [eq. 16]
    D_d    = Σ c ∂ℓᵀ ∂ℓ,   B = (∂ℓ/∂θ)ᵀ of the actuators,   each with its gradient from ∂²ℓ

Results of one position are laid out in one row of `out`; `supple.equations.row` knows where.
"""

from __future__ import annotations

import numpy as np

from supple.compilation import kernel
from supple.equations.row import (
    BEND,
    CHRISTOFFEL,
    DAMPING,
    DDAMPING,
    DFORCE_THETA,
    DFRICTION_MAP,
    DINPUT_MAP,
    DM,
    FORCE,
    FRICTION_MAP,
    INPUT_MAP,
    MASS,
    OUTPUTS,
    POTENTIAL,
    RIGID,
)
from supple.formulations.coefficients import ACTUATOR, DAMPER, DRIVE, MOTOR, SENSOR, SPRING
from supple.geometry.vectors import cross, dot
from supple.kinematics.elimination import workspace
from supple.kinematics.primitives import ANGLE, curvature, gradient
from supple.kinematics.rigid_modes import rigid_modes, world_twists


@kernel
def mass(sizes, inertia, Psi, dPsi, M, dM):
    """Adds M and ∂M/∂θ of the bodies. inertia : (bodies, d, d)."""
    nb, d, s = sizes[0], sizes[1], sizes[4]
    momentum = np.empty((d, s))
    for b in range(nb):
        for c in range(d):
            for j in range(s):
                total = 0.0
                for e in range(d):
                    total += inertia[b, c, e] * Psi[b, e, j]
                momentum[c, j] = total
        for i in range(s):
            for j in range(i, s):
                total = 0.0
                for c in range(d):
                    total += Psi[b, c, i] * momentum[c, j]
                M[i * s + j] += total
                if j > i:
                    M[j * s + i] += total
            for k in range(s):
                for j in range(s):
                    half = 0.0
                    for c in range(d):
                        half += dPsi[b, c, i * s + k] * momentum[c, j]
                    dM[(i * s + j) * s + k] += half
                    dM[(j * s + i) * s + k] += half


@kernel
def christoffel_symbols(s, dM, gamma):
    """Γ_ijk = ½(∂M_ij/∂θ_k + ∂M_ik/∂θ_j - ∂M_jk/∂θ_i)                          [Brüls 2007, eq. 2]"""
    for i in range(s):
        for j in range(s):
            for k in range(s):
                gamma[(i * s + j) * s + k] = 0.5 * (
                    dM[(i * s + j) * s + k] + dM[(i * s + k) * s + j] - dM[(j * s + k) * s + i]
                )


@kernel
def loads(s, loads_i, loads_f, X, twists, dtwists, potential, force, dforce):
    """Forces and moments at points of bodies, gravity among them.

    loads_i : (n, 2) body, follows the body (1) or keeps its direction (0)
    loads_f : (n, 9) point on the body, force, moment (in body axes if it follows, in the world's otherwise)
    """
    for n in range(loads_i.shape[0]):
        b, follows = loads_i[n, 0], loads_i[n, 1]
        r = (
            X[b, 3] * loads_f[n, 0] + X[b, 4] * loads_f[n, 1] + X[b, 5] * loads_f[n, 2],
            X[b, 6] * loads_f[n, 0] + X[b, 7] * loads_f[n, 1] + X[b, 8] * loads_f[n, 2],
            X[b, 9] * loads_f[n, 0] + X[b, 10] * loads_f[n, 1] + X[b, 11] * loads_f[n, 2],
        )
        F = (loads_f[n, 3], loads_f[n, 4], loads_f[n, 5])
        moment = (loads_f[n, 6], loads_f[n, 7], loads_f[n, 8])
        if follows == 1:
            F = (
                X[b, 3] * F[0] + X[b, 4] * F[1] + X[b, 5] * F[2],
                X[b, 6] * F[0] + X[b, 7] * F[1] + X[b, 8] * F[2],
                X[b, 9] * F[0] + X[b, 10] * F[1] + X[b, 11] * F[2],
            )
            moment = (
                X[b, 3] * moment[0] + X[b, 4] * moment[1] + X[b, 5] * moment[2],
                X[b, 6] * moment[0] + X[b, 7] * moment[1] + X[b, 8] * moment[2],
                X[b, 9] * moment[0] + X[b, 10] * moment[1] + X[b, 11] * moment[2],
            )
        else:
            potential[0] -= F[0] * (X[b, 0] + r[0]) + F[1] * (X[b, 1] + r[1]) + F[2] * (X[b, 2] + r[2])
        # The force with its moment about the body's origin acts on the twist of the body.
        arm = cross(r, F)
        about = (arm[0] + moment[0], arm[1] + moment[1], arm[2] + moment[2])
        for j in range(s):
            v = (twists[b, j, 0], twists[b, j, 1], twists[b, j, 2])
            w = (twists[b, j, 3], twists[b, j, 4], twists[b, j, 5])
            force[j] += dot(F, v) + dot(about, w)
            turning = (0.0, 0.0, 0.0)
            if follows == 0:  # ∂_k(δ_j x) = ω_k × δ_j x, and likewise for ω_j:  F·(ω_k × δ_j x) = ω_k·(δ_j x × F)
                q = cross(w, r)
                by_force = cross((v[0] + q[0], v[1] + q[1], v[2] + q[2]), F)
                by_moment = cross(w, moment)
                turning = (by_force[0] + by_moment[0], by_force[1] + by_moment[1], by_force[2] + by_moment[2])
            for k in range(s):
                pair = j * s + k
                total = dot(F, (dtwists[b, pair, 0], dtwists[b, pair, 1], dtwists[b, pair, 2]))
                total += dot(about, (dtwists[b, pair, 3], dtwists[b, pair, 4], dtwists[b, pair, 5]))
                total += dot(turning, (twists[b, k, 3], twists[b, k, 4], twists[b, k, 5]))
                dforce[j * s + k] += total


@kernel
def measures(
    sizes,
    column,
    rows_i,
    rows_f,
    uses_start,
    uses_i,
    uses_f,
    X,
    w,
    Psi,
    dPsi,
    twists,
    M,
    dM,
    potential,
    force,
    dforce,
    damping,
    inputs,
    outputs,
    rigid,
    bends,
    dry,
    ddamping,
    dinputs,
    ddry,
):
    """Springs, dampers, motors, drives, actuators, sensors and dry friction: all act along measures ℓ(θ).

    uses_i : (n, 2) what uses the measure, and its number; uses_f : (n, 2) coefficient, reference.
    """
    d, mc, s, rows = sizes[1], sizes[3], sizes[4], sizes[5]
    g = np.empty(13)
    slope = np.empty(s)
    bend = np.empty((s, s))
    scratch = np.empty((2 * s, 13))
    for row in range(mc, rows):
        first, last = uses_start[row - mc], uses_start[row - mc + 1]
        if first == last:
            continue
        gradient(rows_i, rows_f, row, X, g)
        curvature(rows_i, rows_f, row, X, twists, s, scratch, bend)
        a, b = rows_i[row, 1], rows_i[row, 2]
        length = w[row - mc] if rows_i[row, 0] == ANGLE else g[0]
        for j in range(s):
            total = 0.0
            for c in range(d):
                total += g[1 + column[c]] * Psi[a, c, j] + g[7 + column[c]] * Psi[b, c, j]
            slope[j] = total
            for k in range(j, s):
                total = bend[j, k]
                for c in range(d):
                    total += g[1 + column[c]] * dPsi[a, c, j * s + k] + g[7 + column[c]] * dPsi[b, c, j * s + k]
                bend[j, k] = total
                bend[k, j] = total
        for n in range(first, last):
            role, to = uses_i[n, 0], uses_i[n, 1]
            factor, reference = uses_f[n, 0], uses_f[n, 1]
            if role == SPRING:
                stretch = length - reference
                potential[0] += 0.5 * factor * stretch * stretch
                for j in range(s):
                    force[j] -= factor * stretch * slope[j]
                    for k in range(s):
                        dforce[j * s + k] -= factor * (slope[j] * slope[k] + stretch * bend[j, k])
            elif role == DRIVE:
                potential[0] -= factor * length
                for j in range(s):
                    force[j] += factor * slope[j]
                    for k in range(s):
                        dforce[j * s + k] += factor * bend[j, k]
            elif role == DAMPER:
                for j in range(s):
                    for k in range(s):
                        damping[j * s + k] += factor * slope[j] * slope[k]
                        for m in range(s):
                            ddamping[(j * s + k) * s + m] += factor * (bend[j, m] * slope[k] + slope[j] * bend[k, m])
            elif role == MOTOR:
                for i in range(s):
                    for j in range(s):
                        M[i * s + j] += factor * slope[i] * slope[j]
                        for k in range(s):
                            dM[(i * s + j) * s + k] += factor * (bend[i, k] * slope[j] + slope[i] * bend[j, k])
            elif role == ACTUATOR:
                for j in range(s):
                    inputs[j * sizes[7] + to] = slope[j]
                    for k in range(s):
                        dinputs[(j * sizes[7] + to) * s + k] = bend[j, k]
            elif role == SENSOR:
                outputs[to] = length
                for j in range(s):
                    rigid[to * s + j] = slope[j]
                    for k in range(s):
                        bends[(to * s + j) * s + k] = bend[j, k]
            else:
                for j in range(s):
                    dry[to * s + j] = slope[j]
                    for k in range(s):
                        ddry[(to * s + j) * s + k] = bend[j, k]


@kernel
def rigid_row(rows, coefficients, X, w, at, Psi, dPsi, twists, dtwists, row):
    """Coefficients at one position from its rigid modes, into row (width,) by the offsets `at`; dtwists: workspace."""
    sizes, _, _, column, rows_i, rows_f, _ = rows
    inertia, loads_i, loads_f, uses_start, uses_i, uses_f = coefficients
    s = sizes[4]
    world_twists(rows, X, dPsi, s * s, dtwists)
    M, dM, gamma = row[at[MASS] :], row[at[DM] :], row[at[CHRISTOFFEL] :]
    potential, force, dforce = row[at[POTENTIAL] :], row[at[FORCE] :], row[at[DFORCE_THETA] :]
    mass(sizes, inertia, Psi, dPsi, M, dM)
    loads(s, loads_i, loads_f, X, twists, dtwists, potential, force, dforce)
    measures(
        sizes,
        column,
        rows_i,
        rows_f,
        uses_start,
        uses_i,
        uses_f,
        X,
        w,
        Psi,
        dPsi,
        twists,
        M,
        dM,
        potential,
        force,
        dforce,
        row[at[DAMPING] :],
        row[at[INPUT_MAP] :],
        row[at[OUTPUTS] :],
        row[at[RIGID] :],
        row[at[BEND] :],
        row[at[FRICTION_MAP] :],
        row[at[DDAMPING] :],
        row[at[DINPUT_MAP] :],
        row[at[DFRICTION_MAP] :],
    )
    christoffel_symbols(s, dM, gamma)


@kernel(purpose="local models")
def rigid_batch(rows, selected, coefficients, X_all, w_all, at, out, regular):
    """Coefficients at every position: out (N, width) filled by the offsets `at`; regular (N,) is 1 where it worked.

    rows : the mechanism's RowArrays; coefficients : its CoefficientArrays
    """
    sizes = rows[0]
    nb, d, s = sizes[0], sizes[1], sizes[4]
    work = workspace(rows)
    Psi = np.zeros((nb + 1, d, s))
    dPsi = np.zeros((nb + 1, d, s * s))
    twists = np.zeros((nb + 1, s, 6))
    dtwists = np.zeros((nb + 1, s * s, 6))
    for n in range(X_all.shape[0]):
        out[n] = 0.0
        determined, _ = rigid_modes(rows, selected, X_all[n], work, Psi, dPsi, twists)
        regular[n] = 1 if determined else 0
        if determined:
            rigid_row(rows, coefficients, X_all[n], w_all[n], at, Psi, dPsi, twists, dtwists, out[n])
