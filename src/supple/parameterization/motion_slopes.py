"""How the inertia forces of a mechanism in motion change with θ, at given θ̇ and θ̈.

    V = Ψ θ̇,   [Φ_q; A] V̇ = (0, θ̈) - h(V, V)                       h : second rates of the rows at V̇ = 0
    g_i = Ψ_iᵀ (M₀ V̇ + V ×* M₀ V) = (M θ̈ + Γ[θ̇, θ̇])_i               V ×* (p, l) = (ω × p, ω × l + v × p)
    ∂_m g_i = ∂_mΨ_iᵀ (M₀ V̇ + V ×* M₀ V) + Ψ_iᵀ (M₀ ∂_mV̇ + ∂_mV ×* M₀ V + V ×* M₀ ∂_mV)

Here ∂_mV = Σ_j ∂_mΨ_j θ̇_j is known, and ∂_mV̇ follows from the factorisation that gave Ψ: the second rates of all rows
keep their values (0, θ̈), so that [Φ_q; A] ∂_mV̇ is minus their change at fixed V̇ (`second_rate`). All in body axes;
laws add the inertia that they have along their measures (docs/theory/linearization.md, eqs. 5-12).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.compilation import kernel
from supple.formulations.coefficients import LAW, NUMBER, ROLE
from supple.formulations.laws import law
from supple.geometry.vectors import cross
from supple.kinematics.elimination import solve
from supple.kinematics.primitives import NONE, SCALE, THEN, A, B, Course, gradient, second_rate
from supple.kinematics.rigid_modes import lengths, world_twists
from supple.kinematics.row_arrays import row_sizes
from supple.parameterization.rigid_measures import ON_A, ON_B, measure_slopes


class BodyMotion(NamedTuple):
    """How the bodies move at one state, and how that changes with θ.

    V, dV          : (bodies + 1, d, 1) V and V̇, in body axes
    bent, bent_dV  : (bodies + 1, d, s) ∂V and ∂V̇
    moving, pushed : (bodies + 1, 1, 6) V and V̇ in world axes; bent_world : (bodies + 1, s, 6) ∂V
    changes, term_change, solving : workspace, of the rows and of one term
    """

    V: np.ndarray
    dV: np.ndarray
    bent: np.ndarray
    bent_dV: np.ndarray
    moving: np.ndarray
    pushed: np.ndarray
    bent_world: np.ndarray
    changes: np.ndarray
    term_change: np.ndarray
    solving: np.ndarray


@kernel
def motion_workspace(rows):
    """Arrays for one state after another."""
    n = row_sizes(rows)
    nb, d, s = n.bodies, n.width, n.coordinates
    return BodyMotion(
        np.zeros((nb + 1, d, 1)),
        np.zeros((nb + 1, d, 1)),
        np.zeros((nb + 1, d, s)),
        np.zeros((nb + 1, d, s)),
        np.zeros((nb + 1, 1, 6)),
        np.zeros((nb + 1, 1, 6)),
        np.zeros((nb + 1, s, 6)),
        np.zeros((n.joint_rows + s, s)),
        np.zeros(s),
        np.zeros((n.joint_rows + s, s)),
    )


@kernel(inline=True)
def second_rate_of_row(rows, i, here, motion, out):
    """ℓ'' of row i, its terms together, and in out (s,) its changes with θ at fixed V̇."""
    rows_i, rows_f, X, change, s = rows.rows_i, rows.rows_f, here.X, motion.term_change, out.shape[0]
    total = 0.0
    for m in range(s):
        out[m] = 0.0
    course = Course(motion.moving[:, 0], motion.pushed[:, 0], here.twists, motion.bent_world)
    term = i
    while term != NONE:
        total += second_rate(rows_i, rows_f, term, X, course, change)
        for m in range(s):
            out[m] += change[m]
        term = rows_i[term, THEN]
    return total


@kernel
def move(rows, work, here, rates, accelerations, motion):
    """V, V̇, ∂V and ∂V̇ of the bodies from θ̇ (s,) and θ̈ (s,); `work` holds the factorised rows."""
    n = row_sizes(rows)
    d, s = n.width, n.coordinates
    bent, changes, rows_f = motion.bent, motion.changes, rows.rows_f
    Psi, dPsi, V, dV = here.Psi, here.dPsi, motion.V, motion.dV
    for b in range(n.bodies):
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
    world_twists(rows, here.X, motion.V, 1, motion.moving)
    world_twists(rows, here.X, motion.dV, 1, motion.pushed)
    world_twists(rows, here.X, bent, s, motion.bent_world)
    for i in range(n.joint_rows + s):
        second_rate_of_row(rows, i, here, motion, changes[i])
        for m in range(s):
            changes[i, m] *= -1.0 / rows_f[i, SCALE]
    solve(rows, work, changes, s, motion.bent_dV, motion.solving)
    lengths(rows, motion.bent_dV, s)


@kernel(inline=True)
def full(column, x, b, j):
    """Column j of a body's velocities as (v, ω)."""
    v, w = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    if column.shape[0] == 6:
        v, w = (x[b, 0, j], x[b, 1, j], x[b, 2, j]), (x[b, 3, j], x[b, 4, j], x[b, 5, j])
    else:
        v, w = (x[b, 0, j], x[b, 1, j], 0.0), (0.0, 0.0, x[b, 2, j])
    return v, w


@kernel(inline=True)
def momentum(inertia, column, x, b, j, out):
    """M₀ x of body b into out (6,)."""
    d = column.shape[0]
    for c in range(d):
        total = 0.0
        for e in range(d):
            total += inertia[b, c, e] * x[b, e, j]
        out[column[c]] = total


@kernel(inline=True)
def add_turned(v, w, P, out):
    """Add (v, ω) ×* P to out (6,)."""
    p, h = (P[0], P[1], P[2]), (P[3], P[4], P[5])
    force, moment, arm = cross(w, p), cross(w, h), cross(v, p)
    for k in range(3):
        out[k] += force[k]
        out[3 + k] += moment[k] + arm[k]


@kernel
def body_slopes(rows, inertia, here, motion, slopes):
    """Adds ∂_m g_i of all bodies to slopes (s, s)."""
    column, Psi, dPsi = rows.column, here.Psi, here.dPsi
    V, dV, bent, bent_dV = motion.V, motion.dV, motion.bent, motion.bent_dV
    d, s = column.shape[0], slopes.shape[0]
    P, dP = np.zeros(6), np.zeros(6)
    f, df = np.zeros(6), np.zeros(6)
    for b in range(inertia.shape[0]):
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


@kernel(inline=True)
def inertia_along(coefficients, measure, length):
    """m of all laws along a measure."""
    total = 0.0
    for use in range(coefficients.uses_start[measure], coefficients.uses_start[measure + 1]):
        if coefficients.uses_i[use, ROLE] == LAW:
            total += law(coefficients.uses_i[use, NUMBER], coefficients.uses_f[use], length).inertia
    return total


@kernel
def law_slopes(rows, coefficients, here, motion, of, slopes):
    """Adds those of inertia along measures, m ∂_iℓ ℓ'', to slopes (s, s). of : workspace for slopes of a measure."""
    n = row_sizes(rows)
    rows_i, column, s = rows.rows_i, rows.column, n.coordinates
    g, change, bent_dV = of.gradient, np.empty(s), motion.bent_dV
    for i in range(n.joint_rows, n.rows):
        inertia = inertia_along(coefficients, i - n.joint_rows, here.w[i - n.joint_rows])
        if inertia == 0.0:
            continue
        measure_slopes(rows, i, here, of)
        second = second_rate_of_row(rows, i, here, motion, change)
        term = i
        while term != NONE:
            gradient(rows_i, rows.rows_f, term, here.X, g)
            a, b = rows_i[term, A], rows_i[term, B]
            for m in range(s):
                for c in range(n.width):
                    change[m] += g[ON_A + column[c]] * bent_dV[a, c, m]
                    change[m] += g[ON_B + column[c]] * bent_dV[b, c, m]
            term = rows_i[term, THEN]
        for j in range(s):
            for m in range(s):
                slopes[j, m] += inertia * (of.bend[j, m] * second + of.slope[j] * change[m])
