"""First-order behaviour of a rigid mechanism in motion, in its independent coordinates.

    M θ̈ = f = p + B u - Γ[θ̇, θ̇] - D_d θ̇ - Σ_j J_jᵀ f_j tanh(J_j θ̇ / v₀)
    M δθ̈ = P₂ δθ + P₁ δθ̇ + P₃ δu,   P₂ = ∂f/∂θ - ∂M/∂θ θ̈,   P₁ = ∂f/∂θ̇,   P₃ = B

with every derivative exact: those of g = M θ̈ + Γ[θ̇, θ̇] from `motion_slopes`, the others from the gradients of the
coefficients (`supple.equations.forces`).
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from supple.compilation import kernel
from supple.compilation.copying import copy_row
from supple.equations.forces import CoefficientRow, forces, rate_slopes, theta_slopes
from supple.equations.row import INPUT_MAP, MASS
from supple.kinematics.elimination import workspace
from supple.kinematics.rigid_modes import rigid_modes
from supple.parameterization.motion_slopes import body_slopes, law_slopes, motion_workspace, move
from supple.parameterization.position import moved_to, position_workspace
from supple.parameterization.rigid_kernel import rigid_row
from supple.parameterization.rigid_measures import measure_workspace

DONE, SINGULAR, INDEFINITE, UNKNOWN = 0, 1, 2, 3
"""What became of a state: θ does not determine the motion, M is not positive definite, a value is not finite."""


class States(NamedTuple):
    """N states: poses X (N, bodies + 1, 12), measures w (N, measures), θ̇ (N, s), inputs u (N, inputs)."""

    X: np.ndarray
    w: np.ndarray
    rates: np.ndarray
    u: np.ndarray


class State(NamedTuple):
    """One of them: θ̇ (s,) and u (inputs,)."""

    rates: np.ndarray
    u: np.ndarray


class LinearModels(NamedTuple):
    """Of N states: A (N, 2s, 2s), B (N, 2s, inputs), θ̈ (N, s), M, P₂, P₁ (N, s, s), what became of each (N,).

    P₃ is M times the lower half of B.
    """

    A: np.ndarray
    B: np.ndarray
    accelerations: np.ndarray
    M: np.ndarray
    P2: np.ndarray
    P1: np.ndarray
    status: np.ndarray


class LinearWork(NamedTuple):
    """Of one state: its row of coefficients, η = 0 and f (s,), L of M, ∂f/∂θ, ∂f/∂θ̇, ∂g/∂θ (s, s), and M⁻¹ of them."""

    row: np.ndarray
    still: np.ndarray
    f: np.ndarray
    L: np.ndarray
    by_theta: np.ndarray
    by_rate: np.ndarray
    slopes: np.ndarray
    solved: np.ndarray


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
def solve_linear(at, work, found, n):
    """A, B and the matrices before M⁻¹ of state n from f's derivatives and M = L Lᵀ. Returns whether all are finite."""
    row, solved = work.row, work.solved
    s, inputs = work.slopes.shape[0], solved.shape[1] - 2 * work.slopes.shape[0]
    A, B, M, P2, P1 = found.A[n], found.B[n], found.M[n], found.P2[n], found.P1[n]
    for i in range(s):
        for j in range(s):
            solved[i, j], solved[i, s + j] = work.by_theta[i, j] - work.slopes[i, j], work.by_rate[i, j]
            M[i, j], P2[i, j], P1[i, j] = row[at[MASS] + i * s + j], solved[i, j], solved[i, s + j]
        for a in range(inputs):
            solved[i, 2 * s + a] = row[at[INPUT_MAP] + i * inputs + a]
    solve_mass(s, work.L, solved, solved.shape[1])
    total = 0.0
    for i in range(s):
        A[i, s + i] = 1.0
        for j in range(2 * s):
            A[s + i, j] = solved[i, j]
            total += abs(solved[i, j])
        for a in range(inputs):
            B[s + i, a] = solved[i, 2 * s + a]
            total += abs(solved[i, 2 * s + a])
    return np.isfinite(total)


@kernel(purpose="linear models of closed chains")
def linear_batch(rows, selected, coefficients, friction, at, states, found):
    """Linear models of N states into `found`. at : offsets of the row"""
    count = states.X.shape[0]
    if count == 0:
        return
    work, motion = workspace(rows), motion_workspace(rows)
    here = position_workspace(rows, states.X[0], states.w[0])
    s, inputs = states.rates.shape[1], states.u.shape[1]
    of = measure_workspace(s)
    lin = LinearWork(
        np.empty(at[at.shape[0] - 1]),
        np.zeros(s),
        np.empty(s),
        np.zeros((s, s)),
        np.empty((s, s)),
        np.empty((s, s)),
        np.empty((s, s)),
        np.empty((s, 2 * s + inputs)),
    )
    c = CoefficientRow(s, s, inputs, at, lin.row)
    for n in range(count):
        found.A[n], found.B[n] = 0.0, 0.0
        found.status[n] = SINGULAR
        here = moved_to(here, states.X[n], states.w[n])
        state = State(states.rates[n], states.u[n])
        determined, _ = rigid_modes(rows, selected, here.X, work, here.Psi, here.dPsi, here.twists)
        if not determined:
            continue
        lin.row[:] = 0.0
        rigid_row(rows, coefficients, here, at, lin.row)
        forces(c, friction, lin.still, state.rates, state.u, lin.f)
        rate_slopes(c, friction, state.rates, lin.by_rate)
        theta_slopes(c, friction, state.rates, state.u, lin.by_theta)
        found.status[n] = INDEFINITE
        if not factor_mass(s, lin.row[at[MASS] :], lin.L):
            continue
        solve_mass(s, lin.L, lin.f.reshape(s, 1), 1)
        copy_row(lin.f, found.accelerations[n])
        move(rows, work, here, state.rates, found.accelerations[n], motion)
        lin.slopes[:, :] = 0.0
        body_slopes(rows, coefficients.inertia, here, motion, lin.slopes)
        law_slopes(rows, coefficients, here, motion, of, lin.slopes)
        found.status[n] = DONE if solve_linear(at, lin, found, n) else UNKNOWN
