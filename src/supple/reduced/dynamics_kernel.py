"""Kernels of the reduced equations of motion, from the row of coefficients at θ.

M η̈ = f(η, η̇, u) = p_θδ + B u - Γ[η̇, η̇] - D_d η̇ - K η - Σ_j J_jᵀ f_j tanh(J_j η̇ / v₀)
p_θ = p_θ(θ) + (∂p_δ/∂θ)ᵀ δ,   p_δ = p_δ(θ)
"""

from __future__ import annotations

import numpy as np

from supple.approximation.piecewise_kernel import NOWHERE
from supple.compilation import kernel
from supple.reduced.arrays import dry_forces, row_header, row_offsets
from supple.reduced.kernels import INSIDE, OUTSIDE
from supple.reduced.single_kernel import row_at, single_scratch

INDEFINITE = 2  # the mass matrix is not positive definite


@kernel
def forces(sizes, at, row, dry, speed, eta, rates, u, f):
    """f(η, η̇, u) into f (n,)."""
    n, s, inputs = sizes[0], sizes[1], sizes[2]
    d = n - s
    for i in range(n):
        total = row[at[5] + i]
        for a in range(inputs):
            total += row[at[7] + i * inputs + a] * u[a]
        for j in range(n):
            bend = 0.0
            for k in range(n):
                bend += row[at[3] + (i * n + j) * n + k] * rates[k]
            total -= (bend + row[at[2] + i * n + j]) * rates[j] + row[at[1] + i * n + j] * eta[j]
        f[i] = total
    for i in range(s):
        for k in range(d):
            f[i] += row[at[6] + i * d + k] * eta[s + k]
    for j in range(dry.shape[0]):
        slip = 0.0
        for i in range(n):
            slip += row[at[11] + j * n + i] * rates[i]
        drag = dry[j] * np.tanh(slip / speed)
        for i in range(n):
            f[i] -= row[at[11] + j * n + i] * drag


@kernel
def solve_mass(n, at, row, L, f):
    """Solve M x = f in place by Cholesky; False where M is not positive definite. L (n, n) is workspace."""
    for i in range(n):
        for j in range(i + 1):
            total = row[at[0] + i * n + j]
            for k in range(j):
                total -= L[i, k] * L[j, k]
            if i > j:
                L[i, j] = total / L[j, j]
            elif total > 0.0:
                L[i, i] = np.sqrt(total)
            else:
                return False
    for i in range(n):
        for k in range(i):
            f[i] -= L[i, k] * f[k]
        f[i] /= L[i, i]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            f[i] -= L[k, i] * f[k]
        f[i] /= L[i, i]
    return True


@kernel
def energies(sizes, at, row, eta, rates):
    """½ η̇ᵀ M η̇ and V₀ - p_δᵀδ + ½ δᵀ K δ."""
    n, s = sizes[0], sizes[1]
    kinetic, potential = 0.0, row[at[4]]
    for i in range(n):
        for j in range(n):
            kinetic += 0.5 * rates[i] * row[at[0] + i * n + j] * rates[j]
            potential += 0.5 * eta[i] * row[at[1] + i * n + j] * eta[j]
    for i in range(s, n):
        potential -= row[at[5] + i] * eta[i]
    return kinetic, potential


@kernel
def forward_batch(Z, F, speed, eta, rates, u, accelerations, status):
    """η̈ = M⁻¹ f for many states (N, n) and inputs (N, a)."""
    sizes, dry = row_header(Z), dry_forces(Z, F)
    at = row_offsets(Z)
    n, s = sizes[0], sizes[1]
    leaf, row, L = NOWHERE, np.empty(sizes[5]), np.empty((n, n))
    work, theta = np.empty(single_scratch(Z)), np.empty(s)
    for p in range(eta.shape[0]):
        theta[:] = eta[p, :s]
        leaf = row_at(Z, F, theta, work, 0, row, leaf)
        status[p] = OUTSIDE if leaf == NOWHERE else INSIDE
        if status[p] == INSIDE:
            forces(sizes, at, row, dry, speed, eta[p], rates[p], u[p], accelerations[p])
            if not solve_mass(n, at, row, L, accelerations[p]):
                status[p] = INDEFINITE


@kernel
def inverse_batch(Z, F, speed, eta, rates, accelerations, forces_out, status):
    """M η̈ - f(η, η̇, 0) for many states: the generalized forces that inputs must supply."""
    sizes, dry = row_header(Z), dry_forces(Z, F)
    at = row_offsets(Z)
    n, s = sizes[0], sizes[1]
    leaf, row, idle = NOWHERE, np.empty(sizes[5]), np.zeros(sizes[2])
    work, theta = np.empty(single_scratch(Z)), np.empty(s)
    for p in range(eta.shape[0]):
        theta[:] = eta[p, :s]
        leaf = row_at(Z, F, theta, work, 0, row, leaf)
        status[p] = OUTSIDE if leaf == NOWHERE else INSIDE
        if status[p] == INSIDE:
            forces(sizes, at, row, dry, speed, eta[p], rates[p], idle, forces_out[p])
            for i in range(n):
                total = -forces_out[p, i]
                for j in range(n):
                    total += row[at[0] + i * n + j] * accelerations[p, j]
                forces_out[p, i] = total


@kernel
def observe_batch(Z, F, eta, rates, outputs, energy, status):
    """Outputs y = ρ_o + Ψ_o δ (N, o) and energies (N, 2), kinetic and potential, of many states."""
    sizes = row_header(Z)
    at = row_offsets(Z)
    n, s = sizes[0], sizes[1]
    leaf, row = NOWHERE, np.empty(sizes[5])
    work, theta = np.empty(single_scratch(Z)), np.empty(s)
    for p in range(eta.shape[0]):
        theta[:] = eta[p, :s]
        leaf = row_at(Z, F, theta, work, 0, row, leaf)
        status[p] = OUTSIDE if leaf == NOWHERE else INSIDE
        energy[p, 0], energy[p, 1] = energies(sizes, at, row, eta[p], rates[p])
        for o in range(sizes[3]):
            outputs[p, o] = row[at[8] + o]
            for k in range(n - s):
                outputs[p, o] += row[at[10] + o * (n - s) + k] * eta[p, s + k]
