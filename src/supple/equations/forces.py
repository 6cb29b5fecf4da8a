"""Forces of the equations of motion and their slopes, computed from a row of coefficients, with dry friction.

    M η̈ = f(η, η̇, u) = p_θδ + B u - Γ[η̇, η̇] - D_d η̇ - K η - Σ_j J_jᵀ f_j tanh(J_j η̇ / v₀)
    p_θ = p_θ(θ) + (∂p_δ/∂θ)ᵀ δ - ½ δᵀ ∂K/∂θ δ,   p_δ = p_δ(θ)

All forces except friction and inputs follow from the potential V₀ - p_δᵀδ + ½ δᵀK δ. With the last term of p_θ the
equations conserve energy, and their linearization about a deflected rest is symmetric. If the row contains the change
of M with δ, M and Γ are those at θ and δ (after a call of `deform`); otherwise they are those at θ.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array
from supple.compilation import kernel
from supple.equations.deformation import bending_slopes, is_bent, take_bending
from supple.equations.row import (
    CHRISTOFFEL,
    DAMPING,
    DDAMPING,
    DFORCE_THETA,
    DFRICTION_MAP,
    DINPUT_MAP,
    FORCE,
    FORCE_SLOPE,
    FRICTION_MAP,
    INPUT_MAP,
    MASS,
    MODES,
    OUTPUTS,
    POTENTIAL,
    STIFFNESS,
    STIFFNESS_SLOPE,
)

# Dry friction: its model, for everybody who moves something.
#
#     f_d = -F tanh(ℓ̇ / v₀)
#
# along a joint coordinate ℓ, against its rate. F does not depend on load. v₀ (`friction_speed`) is the speed over which
# the sign is rounded off, in the unit of the rate, rad/s or m/s: a property of the contact, not of the mechanism around
# it (docs/theory/simulation.md).


FRICTION_SPEED = 1e-3
"""Default v₀, rad/s or m/s."""
_LEAST = 1e-300


@kernel
def dry_friction(force, slip, speed):
    """Return the friction force F tanh(ℓ̇ / v₀) and its slope (F / v₀) (1 - tanh²) with respect to ℓ̇.

    The arguments are numbers or arrays that broadcast. With speed = 0 the force has the sign of ℓ̇ and slope 0.
    """
    steep = 1.0 / max(speed, _LEAST)
    part = np.tanh(slip * steep)
    return force * part, force * steep * (1.0 - part * part)


# Forces from a row of coefficients.


class CoefficientRow(NamedTuple):
    """Coefficients at one θ as kernels use them: values[at[FORCE] + i], see `supple.equations.row`."""

    n: int
    s: int
    inputs: int
    at: NDArray[np.int64]
    values: Array


class Friction(NamedTuple):
    """Dry friction: forces f_j (f,) of the joints, and the speed v₀ over which they change sign."""

    limits: Array
    speed: float


@kernel
def slip(c, rates, j):
    """Return J_j η̇, the rate of the j-th joint with dry friction."""
    total, first = 0.0, c.at[FRICTION_MAP] + j * c.n
    for i in range(c.n):
        total += c.values[first + i] * rates[i]
    return total


@kernel
def take_inertia(c, rates, f):
    """Compute f -= Γ[η̇, η̇], (n,)."""
    if is_bent(c):
        take_bending(c, rates, f)
        return
    n, row, first = c.n, c.values, c.at[CHRISTOFFEL]
    for i in range(n):
        total = 0.0
        for j in range(n):
            along = 0.0
            for k in range(n):
                along += row[first + k] * rates[k]
            first += n
            total += along * rates[j]
        f[i] -= total


@kernel
def forces(c, friction, eta, rates, u, f):
    """Write f(η, η̇, u) to f (n,)."""
    n, s, at, row = c.n, c.s, c.at, c.values
    d = n - s
    for i in range(n):
        total = row[at[FORCE] + i]
        for a in range(c.inputs):
            total += row[at[INPUT_MAP] + i * c.inputs + a] * u[a]
        for j in range(n):
            total -= row[at[DAMPING] + i * n + j] * rates[j] + row[at[STIFFNESS] + i * n + j] * eta[j]
        f[i] = total
    take_inertia(c, rates, f)
    for i in range(s):
        for k in range(d):
            pull = row[at[FORCE_SLOPE] + i * d + k]
            for j in range(d):
                pull -= 0.5 * row[at[STIFFNESS_SLOPE] + (i * d + k) * d + j] * eta[s + j]
            f[i] += pull * eta[s + k]
    for j in range(friction.limits.shape[0]):
        drag, _ = dry_friction(friction.limits[j], slip(c, rates, j), friction.speed)
        for i in range(n):
            f[i] -= row[at[FRICTION_MAP] + j * n + i] * drag


@kernel
def rate_slopes(c, friction, rates, S):
    """Write ∂f/∂η̇ = -2 Γ[η̇] - D_d - Σ_j J_jᵀ f_j' J_j to S (n, n)."""
    n, at, row = c.n, c.at, c.values
    if is_bent(c):
        bending_slopes(c, rates, S)
    else:
        first = at[CHRISTOFFEL]
        for i in range(n):
            for j in range(n):
                along = 0.0
                for k in range(n):
                    along += row[first + k] * rates[k]
                first += n
                S[i, j] = along
    for i in range(n):
        for j in range(n):
            S[i, j] = -2.0 * S[i, j] - row[at[DAMPING] + i * n + j]
    for q in range(friction.limits.shape[0]):
        _, steep = dry_friction(friction.limits[q], slip(c, rates, q), friction.speed)
        J = row[at[FRICTION_MAP] + q * n :]
        for i in range(n):
            for j in range(n):
                S[i, j] -= steep * J[i] * J[j]


@kernel
def theta_slopes(c, friction, rates, u, S):
    """Write ∂f/∂θ without the part of Γ[θ̇, θ̇] to S (s, s), from the row of a rigid local model."""
    s, at, row = c.s, c.at, c.values
    for i in range(s):
        for m in range(s):
            total = row[at[DFORCE_THETA] + i * s + m]
            for a in range(c.inputs):
                total += row[at[DINPUT_MAP] + (i * c.inputs + a) * s + m] * u[a]
            for j in range(s):
                total -= row[at[DDAMPING] + (i * s + j) * s + m] * rates[j]
            S[i, m] = total
    for q in range(friction.limits.shape[0]):
        drag, steep = dry_friction(friction.limits[q], slip(c, rates, q), friction.speed)
        J, dJ = row[at[FRICTION_MAP] + q * s :], row[at[DFRICTION_MAP] + q * s * s :]
        for m in range(s):
            changed = 0.0
            for j in range(s):
                changed += dJ[j * s + m] * rates[j]
            for i in range(s):
                S[i, m] -= dJ[i * s + m] * drag + J[i] * steep * changed


@kernel
def add_mass(c, factor, x, f):
    """Compute f += factor M x, (n,)."""
    n, M = c.n, c.at[MASS]
    for i in range(n):
        total = 0.0
        for j in range(n):
            total += c.values[M + i * n + j] * x[j]
        f[i] += factor * total


@kernel
def solve_mass(c, L, f):
    """Solve M x = f in place by Cholesky; return False if M is not positive definite. L (n, n) is workspace."""
    n, M = c.n, c.at[MASS]
    for i in range(n):
        for j in range(i + 1):
            total = c.values[M + i * n + j]
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
def energies(c, eta, rates):
    """Return ½ η̇ᵀ M η̇ and V₀ - p_δᵀδ + ½ δᵀ K δ."""
    n, at, row = c.n, c.at, c.values
    kinetic, potential = 0.0, row[at[POTENTIAL]]
    for i in range(n):
        for j in range(n):
            kinetic += 0.5 * rates[i] * row[at[MASS] + i * n + j] * rates[j]
            potential += 0.5 * eta[i] * row[at[STIFFNESS] + i * n + j] * eta[j]
    for i in range(c.s, n):
        potential -= row[at[FORCE] + i] * eta[i]
    return kinetic, potential


@kernel
def push(c, u, f):
    """Write B u to f (n,)."""
    B = c.at[INPUT_MAP]
    for i in range(c.n):
        f[i] = 0.0
        for a in range(c.inputs):
            f[i] += c.values[B + i * c.inputs + a] * u[a]


@kernel
def lost_power(c, friction, rates):
    """Return the dissipated power η̇ᵀ D_d η̇ + Σ_j f_j tanh(J_j η̇ / v₀) J_j η̇, W."""
    n, D, row = c.n, c.at[DAMPING], c.values
    total = 0.0
    for i in range(n):
        for j in range(n):
            total += rates[i] * row[D + i * n + j] * rates[j]
    for j in range(friction.limits.shape[0]):
        rate = slip(c, rates, j)
        drag, _ = dry_friction(friction.limits[j], rate, friction.speed)
        total += drag * rate
    return total


@kernel
def observe(c, eta, y):
    """Write the outputs y = ρ_o + Ψ_o δ (o,)."""
    s, d, at, row = c.s, c.n - c.s, c.at, c.values
    for o in range(y.shape[0]):
        y[o] = row[at[OUTPUTS] + o]
        for k in range(d):
            y[o] += row[at[MODES] + o * d + k] * eta[s + k]
