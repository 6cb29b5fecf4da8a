"""Change of inertia with deformation, and the inertia forces of rows that contain it.

    M(θ, δ) = M₀(θ) + Σ_a M_a(θ) δ_a,   ∂_k M = ∂_k M₀ + Σ_a ∂_k M_a δ_a,   M_a = ∂M/∂δ_a          (k in θ)
    Γ[η̇, η̇]_i = (Ṁ η̇)_i - ½ η̇ᵀ ∂_i M η̇,   Ṁ = Σ_k ∂_k M θ̇_k + Σ_a M_a δ̇_a

Γ contains the Christoffel symbols of M(θ, δ), which are not formed. M and its gradient belong to one kinetic energy
½ η̇ᵀ M(θ, δ) η̇, so that energy is conserved (docs/theory/reduction.md, eqs. 8-9). M_a has rows of θ and their
transposes: `mass_slope` (s, n, d). With stiffening it has all rows, (n, n, d), and M_θθ has the additional term
½ δᵀ Q_ij δ. M_a and ∂_k M change accordingly: ∂M_ij/∂δ_a = M_a + Q_ij,ab δ_b (docs/theory/stiffening.md).
"""

from __future__ import annotations

import numpy as np

from supple.array_types import Array
from supple.compilation import kernel
from supple.equations.row import (
    MASS,
    MASS_CURVATURE,
    MASS_CURVATURE_GRADIENT,
    MASS_GRADIENT,
    MASS_SLOPE,
    MASS_SLOPE_GRADIENT,
)


@kernel(inline=True)
def is_bent(c):
    """Return whether a row contains the derivatives of M with respect to δ instead of Γ."""
    return c.at[MASS_SLOPE] < c.at[MASS_SLOPE_GRADIENT]


@kernel(inline=True)
def sloped_rows(c):
    """Return the number of rows of M_a in a row of coefficients: those of θ, or all."""
    width = c.n * (c.n - c.s)
    return (c.at[MASS_SLOPE_GRADIENT] - c.at[MASS_SLOPE]) // width if width > 0 else 0


@kernel
def add_deformed(c, base, slope, eta):
    """Compute A += Σ_a A_a δ_a at row[base:] (n, n), with the first rows of A_a at row[slope:] (s or n, n, d)."""
    n, s, row, sloped = c.n, c.s, c.values, sloped_rows(c)
    d = n - s
    for i in range(sloped):
        for j in range(n):
            total, first = 0.0, slope + (i * n + j) * d
            for a in range(d):
                total += row[first + a] * eta[s + a]
            row[base + i * n + j] += total
            if j >= sloped:
                row[base + j * n + i] += total


@kernel
def add_curved(c, base, slope, curvature, eta):
    """Compute A_ij += ½ δᵀQ_ij δ at row[base:] (n, n) for i and j in θ.

    The slope at row[slope:] (n, n, d) is increased by Q_ij δ, with Q at row[curvature:] (s, s, d, d).
    """
    n, s, row = c.n, c.s, c.values
    d = n - s
    for i in range(s):
        for j in range(s):
            total = 0.0
            for a in range(d):
                bent, first = 0.0, curvature + ((i * s + j) * d + a) * d
                for b in range(d):
                    bent += row[first + b] * eta[s + b]
                row[slope + (i * n + j) * d + a] += bent
                total += 0.5 * bent * eta[s + a]
            row[base + i * n + j] += total


@kernel
def deform(c, eta):
    """Change a row at θ to the row at η = (θ, δ) in place: M, ∂M/∂θ and ∂M/∂δ."""
    if not is_bent(c):
        return
    n, s = c.n, c.s
    add_deformed(c, c.at[MASS], c.at[MASS_SLOPE], eta)
    for k in range(s):
        slope = c.at[MASS_SLOPE_GRADIENT] + k * sloped_rows(c) * n * (n - s)
        add_deformed(c, c.at[MASS_GRADIENT] + k * n * n, slope, eta)
    if c.at[MASS_CURVATURE] == c.at[MASS_CURVATURE_GRADIENT]:
        return
    d = n - s
    add_curved(c, c.at[MASS], c.at[MASS_SLOPE], c.at[MASS_CURVATURE], eta)
    for k in range(s):
        slope, curvature = k * sloped_rows(c) * n * d, k * s * s * d * d
        add_curved(
            c,
            c.at[MASS_GRADIENT] + k * n * n,
            c.at[MASS_SLOPE_GRADIENT] + slope,
            c.at[MASS_CURVATURE_GRADIENT] + curvature,
            eta,
        )


@kernel
def take_bending(c, rates, f):
    """Compute f -= Γ[η̇, η̇], (n,), for a bent row."""
    n, s, at, row, sloped = c.n, c.s, c.at, c.values, sloped_rows(c)
    d = n - s
    for k in range(s):
        twice, first = 0.0, at[MASS_GRADIENT] + k * n * n
        for i in range(n):
            total = 0.0
            for j in range(n):
                total += row[first + i * n + j] * rates[j]
            f[i] -= rates[k] * total
            twice += rates[i] * total
        f[k] += 0.5 * twice
    for i in range(sloped):
        for j in range(n):
            first = at[MASS_SLOPE] + (i * n + j) * d
            pair = rates[i] * rates[j] if j >= sloped else 0.5 * rates[i] * rates[j]
            total = 0.0
            for a in range(d):
                slope = row[first + a]
                total += slope * rates[s + a]
                f[s + a] += slope * pair
            f[i] -= total * rates[j]
            if j >= sloped:
                f[j] -= total * rates[i]


@kernel
def add_mass_slopes(c, x, S):
    """Compute S_ij += (∂_j M x)_i, (n, n), for a bent row: the derivative of M(θ, δ) x."""
    n, s, at, row, sloped = c.n, c.s, c.at, c.values, sloped_rows(c)
    d = n - s
    for j in range(s):
        first = at[MASS_GRADIENT] + j * n * n
        for i in range(n):
            total = 0.0
            for k in range(n):
                total += row[first + i * n + k] * x[k]
            S[i, j] += total
    for i in range(sloped):
        for j in range(n):
            first = at[MASS_SLOPE] + (i * n + j) * d
            for a in range(d):
                slope = row[first + a]
                S[i, s + a] += slope * x[j]
                if j >= sloped:
                    S[j, s + a] += slope * x[i]


@kernel
def bending_slopes(c, rates, S):
    """Write Γ[η̇] (n, n) of a bent row to S, so that ∂(Γ[η̇, η̇])/∂η̇ = 2 Γ[η̇].

    2 Γ[η̇] = Ṁ + L - Lᵀ,   L_ij = (∂_j M η̇)_i
    """
    n, s, at, row, sloped = c.n, c.s, c.at, c.values, sloped_rows(c)
    d = n - s
    for i in range(n):
        for j in range(n):
            S[i, j] = 0.0
    add_mass_slopes(c, rates, S)
    for i in range(n):
        for j in range(i + 1):
            changing, first = 0.0, at[MASS_GRADIENT] + i * n + j  # Ṁ_ij
            for k in range(s):
                changing += row[first + k * n * n] * rates[k]
            if j < sloped:
                first = at[MASS_SLOPE] + (j * n + i) * d
                for a in range(d):
                    changing += row[first + a] * rates[s + a]
            half = 0.5 * (S[i, j] - S[j, i])
            S[i, j], S[j, i] = 0.5 * changing + half, 0.5 * changing - half


# ---------------------------------------------------------------------------- the same as arrays


def full_mass_slope(rows: Array) -> Array:
    """Return M_a (..., n, n, d) from its first rows (..., s or n, n, d)."""
    s, n, d = rows.shape[-3:]
    found = np.zeros((*rows.shape[:-3], n, n, d))
    found[..., :s, :, :] = rows
    found[..., s:, :s, :] = np.swapaxes(rows[..., s:, :], -3, -2)
    return found


def whole_gradient(gradient: Array, slope: Array) -> Array:
    """Return ∂M_ij/∂η_k (..., n, n, n) from ∂M/∂θ (..., s, n, n) and the first rows of M_a (..., s or n, n, d)."""
    return np.concatenate([np.moveaxis(gradient, -3, -1), full_mass_slope(slope)], axis=-1)
