"""How the inertia forces of a mechanism in motion change with θ, at given θ̇ and θ̈.

    V = Ψ θ̇,   [Φ_q; A] V̇ = (0, θ̈) - h(V, V)                       h : second rates of the rows at V̇ = 0
    g_i = Ψ_iᵀ (M₀ V̇ + V ×* M₀ V) = (M θ̈ + Γ[θ̇, θ̇])_i               V ×* (p, l) = (ω × p, ω × l + v × p)
    ∂_m g_i = ∂_mΨ_iᵀ (M₀ V̇ + V ×* M₀ V) + Ψ_iᵀ (M₀ ∂_mV̇ + ∂_mV ×* M₀ V + V ×* M₀ ∂_mV)

Here ∂_mV = Σ_j ∂_mΨ_j θ̇_j is known, and ∂_mV̇ follows from the factorisation that gave Ψ: the second rates of all rows
keep their values (0, θ̈), so that [Φ_q; A] ∂_mV̇ is minus their change at fixed V̇ (`second_rates`). All in body axes;
motors add what they do along their measures (docs/theory/linearization.md, eqs. 5-12).
"""

from __future__ import annotations

import numpy as np

from supple.compilation import kernel
from supple.formulations.coefficients import MOTOR
from supple.geometry.vectors import cross
from supple.kinematics.elimination import solve
from supple.kinematics.primitives import SCALE, curvature, gradient
from supple.kinematics.rigid_modes import lengths, world_twists
from supple.kinematics.second_rates import second_rate


@kernel
def motion_workspace(sizes):
    """Arrays for one state: V, V̇ (bodies + 1, d, 1), ∂V, ∂V̇ (bodies + 1, d, s), the first three in world axes, changes
    of the rows, and what `solve` needs."""
    nb, d, rows, s = sizes[0], sizes[1], sizes[3] + sizes[4], sizes[4]
    return (
        np.zeros((nb + 1, d, 1)),
        np.zeros((nb + 1, d, 1)),
        np.zeros((nb + 1, d, s)),
        np.zeros((nb + 1, d, s)),
        np.zeros((nb + 1, 1, 6)),
        np.zeros((nb + 1, 1, 6)),
        np.zeros((nb + 1, s, 6)),
        np.zeros((rows, s)),
        np.zeros((rows, s)),
    )


@kernel
def move(rows, work, X, Psi, dPsi, twists, rates, accelerations, motion):
    """V, V̇, ∂V and ∂V̇ of the bodies from θ̇ (s,) and θ̈ (s,); `work` holds the factorised rows."""
    sizes, _, _, _, rows_i, rows_f, _ = rows
    nb, d, mc, s = sizes[0], sizes[1], sizes[3], sizes[4]
    V, dV, bent, bent_dV, moving, pushed, bent_world, changes, g = motion
    for b in range(nb):
        for c in range(d):
            first, second = 0.0, 0.0
            for m in range(s):
                bent[b, c, m] = 0.0
            for j in range(s):
                first += Psi[b, c, j] * rates[j]
                second += Psi[b, c, j] * accelerations[j]
                for m in range(s):
                    bent[b, c, m] += dPsi[b, c, j * s + m] * rates[j]
            for m in range(s):
                second += bent[b, c, m] * rates[m]
            V[b, c, 0], dV[b, c, 0] = first, second
    world_twists(rows, X, V, 1, moving)
    world_twists(rows, X, dV, 1, pushed)
    world_twists(rows, X, bent, s, bent_world)
    for i in range(mc + s):
        second_rate(rows_i, rows_f, i, X, moving[:, 0], pushed[:, 0], twists, bent_world, s, changes[i])
        for m in range(s):
            changes[i, m] *= -1.0 / rows_f[i, SCALE]
    solve(rows, work, changes, s, bent_dV, g)
    lengths(rows, bent_dV, s)


@kernel
def full(column, x, b, j):
    """Column j of a body's velocities as (v, ω)."""
    v, w = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    if column.shape[0] == 6:
        v, w = (x[b, 0, j], x[b, 1, j], x[b, 2, j]), (x[b, 3, j], x[b, 4, j], x[b, 5, j])
    else:
        v, w = (x[b, 0, j], x[b, 1, j], 0.0), (0.0, 0.0, x[b, 2, j])
    return v, w


@kernel
def momentum(inertia, column, x, b, j, out):
    """M₀ x of body b into out (6,)."""
    d = column.shape[0]
    for c in range(d):
        total = 0.0
        for e in range(d):
            total += inertia[b, c, e] * x[b, e, j]
        out[column[c]] = total


@kernel
def add_turned(v, w, P, out):
    """Add (v, ω) ×* P to out (6,)."""
    p, h = (P[0], P[1], P[2]), (P[3], P[4], P[5])
    force, moment, arm = cross(w, p), cross(w, h), cross(v, p)
    for k in range(3):
        out[k] += force[k]
        out[3 + k] += moment[k] + arm[k]


@kernel
def body_slopes(rows, inertia, Psi, dPsi, motion, slopes):
    """Adds ∂_m g_i of all bodies to slopes (s, s)."""
    sizes, column = rows[0], rows[3]
    nb, d, s = sizes[0], sizes[1], sizes[4]
    V, dV, bent, bent_dV = motion[0], motion[1], motion[2], motion[3]
    P, dP = np.zeros(6), np.zeros(6)
    f, df = np.zeros(6), np.zeros(6)
    for b in range(nb):
        v, w = full(column, V, b, 0)
        momentum(inertia, column, V, b, 0, P)
        momentum(inertia, column, dV, b, 0, f)
        add_turned(v, w, P, f)
        for m in range(s):
            dv, dw = full(column, bent, b, m)
            momentum(inertia, column, bent, b, m, dP)
            momentum(inertia, column, bent_dV, b, m, df)
            add_turned(dv, dw, P, df)
            add_turned(v, w, dP, df)
            for i in range(s):
                total = 0.0
                for c in range(d):
                    total += dPsi[b, c, i * s + m] * f[column[c]] + Psi[b, c, i] * df[column[c]]
                slopes[i, m] += total


@kernel
def motor_slopes(rows, coefficients, X, Psi, dPsi, twists, motion, slopes):
    """Adds those of the motors, J a_i ℓ'' along their measures ℓ, a = ∂ℓ/∂θ, to slopes (s, s)."""
    sizes, _, _, column, rows_i, rows_f, _ = rows
    _, _, _, uses_start, uses_i, uses_f = coefficients
    d, mc, s = sizes[1], sizes[3], sizes[4]
    bent_dV, moving, pushed, bent_world = motion[3], motion[4], motion[5], motion[6]
    g, slope, change = np.empty(13), np.empty(s), np.empty(s)
    bend, scratch = np.empty((s, s)), np.empty((2 * s, 13))
    for row in range(mc, sizes[5]):
        rotor = 0.0
        for n in range(uses_start[row - mc], uses_start[row - mc + 1]):
            if uses_i[n, 0] == MOTOR:
                rotor += uses_f[n, 0]
        if rotor == 0.0:
            continue
        gradient(rows_i, rows_f, row, X, g)
        curvature(rows_i, rows_f, row, X, twists, s, scratch, bend)
        second = second_rate(rows_i, rows_f, row, X, moving[:, 0], pushed[:, 0], twists, bent_world, s, change)
        a, b = rows_i[row, 1], rows_i[row, 2]
        for j in range(s):
            slope[j] = 0.0
            for c in range(d):
                fa, fb = g[1 + column[c]], g[7 + column[c]]
                slope[j] += fa * Psi[a, c, j] + fb * Psi[b, c, j]
                change[j] += fa * bent_dV[a, c, j] + fb * bent_dV[b, c, j]
            for k in range(j, s):
                total = bend[j, k]
                for c in range(d):
                    total += g[1 + column[c]] * dPsi[a, c, j * s + k] + g[7 + column[c]] * dPsi[b, c, j * s + k]
                bend[j, k] = total
                bend[k, j] = total
        for i in range(s):
            for m in range(s):
                slopes[i, m] += rotor * (bend[i, m] * second + slope[i] * change[m])
