"""First-order behaviour of a rigid mechanism in motion, in its independent coordinates.

    M θ̈ = f = p + B u - Γ[θ̇, θ̇] - D_d θ̇ - Σ_j J_jᵀ f_j tanh(J_j θ̇ / v₀)
    M δθ̈ = P₂ δθ + P₁ δθ̇ + P₃ δu,   P₂ = ∂f/∂θ - ∂M/∂θ θ̈,   P₁ = ∂f/∂θ̇,   P₃ = B

with every derivative exact: those of g = M θ̈ + Γ[θ̇, θ̇] from `motion_slopes`, the others from the gradients of the
coefficients.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from supple.compilation import kernel
from supple.equations.dry_friction import dry_friction
from supple.equations.row import (
    CHRISTOFFEL,
    DAMPING,
    DDAMPING,
    DFORCE_THETA,
    DFRICTION_MAP,
    DINPUT_MAP,
    FORCE,
    FRICTION_MAP,
    INPUT_MAP,
    MASS,
)
from supple.kinematics.elimination import workspace
from supple.kinematics.rigid_modes import rigid_modes
from supple.parameterization.motion_slopes import body_slopes, motion_workspace, motor_slopes, move
from supple.parameterization.rigid_kernel import rigid_row

DONE, SINGULAR, INDEFINITE, UNKNOWN = 0, 1, 2, 3
"""What became of a state: θ does not determine the motion, M is not positive definite, a value is not finite."""


@kernel
def factor_mass(s, M, L):
    """M = L Lᵀ; False where M (s s) is not positive definite."""
    for i in range(s):
        for j in range(i + 1):
            total = M[i * s + j]
            for k in range(j):
                total -= L[i, k] * L[j, k]
            if i == j:
                if not total > 1e-14 * M[i * s + i]:
                    return False
                L[i, i] = sqrt(total)
            else:
                L[i, j] = total / L[j, j]
    return True


@kernel
def solve_mass(s, L, x, count):
    """x (s, count) becomes M⁻¹ x."""
    for i in range(s):
        for k in range(i):
            for c in range(count):
                x[i, c] -= L[i, k] * x[k, c]
        for c in range(count):
            x[i, c] /= L[i, i]
    for i in range(s - 1, -1, -1):
        for k in range(i + 1, s):
            for c in range(count):
                x[i, c] -= L[k, i] * x[k, c]
        for c in range(count):
            x[i, c] /= L[i, i]


@kernel
def forces(s, inputs, at, row, rates, u, dry, speed, f, by_theta, by_rate):
    """f (s, 1), and its derivatives: by θ all but those of Γ[θ̇, θ̇], and by θ̇."""
    for i in range(s):
        total = row[at[FORCE] + i]
        for m in range(s):
            by_theta[i, m] = row[at[DFORCE_THETA] + i * s + m]
        for a in range(inputs):
            total += row[at[INPUT_MAP] + i * inputs + a] * u[a]
            for m in range(s):
                by_theta[i, m] += row[at[DINPUT_MAP] + (i * inputs + a) * s + m] * u[a]
        for j in range(s):
            bent = 0.0
            for k in range(s):
                bent += row[at[CHRISTOFFEL] + (i * s + j) * s + k] * rates[k]
            lost = row[at[DAMPING] + i * s + j]
            by_rate[i, j] = -2.0 * bent - lost
            total -= (bent + lost) * rates[j]
            for m in range(s):
                by_theta[i, m] -= row[at[DDAMPING] + (i * s + j) * s + m] * rates[j]
        f[i, 0] = total
    for n in range(dry.shape[0]):
        slip = 0.0
        for j in range(s):
            slip += row[at[FRICTION_MAP] + n * s + j] * rates[j]
        drag, steep = dry_friction(dry[n], slip, speed)
        for i in range(s):
            J = row[at[FRICTION_MAP] + n * s + i]
            f[i, 0] -= J * drag
            for m in range(s):
                slip_m = 0.0
                for j in range(s):
                    slip_m += row[at[DFRICTION_MAP] + (n * s + j) * s + m] * rates[j]
                by_theta[i, m] -= row[at[DFRICTION_MAP] + (n * s + i) * s + m] * drag + J * steep * slip_m
                by_rate[i, m] -= J * steep * row[at[FRICTION_MAP] + n * s + m]


@kernel(purpose="linear models of closed chains")
def linear_batch(rows, selected, coefficients, dry, speed, at, X, w, rates, u, out, accelerations, A, B, status):
    """A (N, 2s, 2s), B (N, 2s, inputs), θ̈ (N, s) and what became of each state (N,).

    rates (N, s), u (N, inputs); at : offsets of the row; dry (f,) forces of friction, speed v₀
    out (N, 3, s, s) : M, P₂ and P₁; P₃ = M times the lower half of B
    """
    sizes = rows[0]
    nb, d, s, inputs = sizes[0], sizes[1], sizes[4], sizes[7]
    work, motion = workspace(rows), motion_workspace(sizes)
    Psi, dPsi = np.zeros((nb + 1, d, s)), np.zeros((nb + 1, d, s * s))
    twists, dtwists = np.zeros((nb + 1, s, 6)), np.zeros((nb + 1, s * s, 6))
    row = np.empty(at[at.shape[0] - 1])
    f, L = np.empty((s, 1)), np.zeros((s, s))
    by_theta, by_rate, slopes = np.empty((s, s)), np.empty((s, s)), np.empty((s, s))
    width = 2 * s + inputs
    solved = np.empty((s, width))
    for n in range(X.shape[0]):
        A[n], B[n] = 0.0, 0.0
        status[n] = SINGULAR
        determined, _ = rigid_modes(rows, selected, X[n], work, Psi, dPsi, twists)
        if not determined:
            continue
        row[:] = 0.0
        rigid_row(rows, coefficients, X[n], w[n], at, Psi, dPsi, twists, dtwists, row)
        forces(s, inputs, at, row, rates[n], u[n], dry, speed, f, by_theta, by_rate)
        status[n] = INDEFINITE
        if not factor_mass(s, row[at[MASS] :], L):
            continue
        solve_mass(s, L, f, 1)
        for i in range(s):
            accelerations[n, i] = f[i, 0]
        move(rows, work, X[n], Psi, dPsi, twists, rates[n], accelerations[n], motion)
        slopes[:, :] = 0.0
        body_slopes(rows, coefficients[0], Psi, dPsi, motion, slopes)
        motor_slopes(rows, coefficients, X[n], Psi, dPsi, twists, motion, slopes)
        total = 0.0
        for i in range(s):
            for j in range(s):
                solved[i, j], solved[i, s + j] = by_theta[i, j] - slopes[i, j], by_rate[i, j]
                out[n, 0, i, j] = row[at[MASS] + i * s + j]
                out[n, 1, i, j], out[n, 2, i, j] = solved[i, j], solved[i, s + j]
            for a in range(inputs):
                solved[i, 2 * s + a] = row[at[INPUT_MAP] + i * inputs + a]
        solve_mass(s, L, solved, width)
        for i in range(s):
            A[n, i, s + i] = 1.0
            for j in range(2 * s):
                A[n, s + i, j] = solved[i, j]
                total += abs(solved[i, j])
            for a in range(inputs):
                B[n, s + i, a] = solved[i, 2 * s + a]
                total += abs(solved[i, 2 * s + a])
        status[n] = DONE if np.isfinite(total) else UNKNOWN
