"""Christoffel symbols of the mass matrix, and the inertia forces that they make.

Γ_ijk = ½(∂M_ij/∂η_k + ∂M_ik/∂η_j - ∂M_jk/∂η_i)                                        [Brüls 2007, eq. 2]
M η̈ + Γ[η̇, η̇],   Γ[η̇, η̇]_i = Σ_jk Γ_ijk η̇_j η̇_k
"""

from __future__ import annotations

import numpy as np

from supple.array_types import Array
from supple.compilation import kernel


@kernel(inline=True)
def symbol(ij_k, ik_j, jk_i):
    """Γ_ijk from ∂M_ij/∂η_k, ∂M_ik/∂η_j and ∂M_jk/∂η_i; numbers or arrays."""
    return 0.5 * (ij_k + ik_j - jk_i)


WEIGHTS = (symbol(1.0, 0.0, 0.0), symbol(0.0, 1.0, 0.0), symbol(0.0, 0.0, 1.0))
"""Of the three derivatives, for who adds them up in a row."""


def christoffel(dM: Array) -> Array:
    """Γ (..., n, n, n) from dM[..., i, j, k] = ∂M_ij/∂η_k."""
    return np.asarray(symbol(dM, np.swapaxes(dM, -1, -2), np.moveaxis(dM, -1, -3)))


def gradient_from_christoffel(gamma: Array) -> Array:
    """∂M_ij/∂η_k = Γ_ijk + Γ_jik, (..., n, n, n)."""
    return gamma + np.swapaxes(gamma, -3, -2)


@kernel
def christoffel_symbols(n, dM, gamma):
    """Γ into gamma (n n n,) from dM (n n n,), both row by row."""
    for i in range(n):
        for j in range(n):
            for k in range(n):
                ij_k, ik_j, jk_i = dM[(i * n + j) * n + k], dM[(i * n + k) * n + j], dM[(j * n + k) * n + i]
                gamma[(i * n + j) * n + k] = symbol(ij_k, ik_j, jk_i)


def contracted_christoffel(gamma: Array, rates: Array) -> Array:
    """Γ[η̇] (..., n, n)."""
    return np.asarray(np.einsum("...ijk,...k->...ij", gamma, rates))


def inertia_forces(M: Array, gamma: Array, rates: Array, accelerations: Array) -> Array:
    """M η̈ + Γ[η̇, η̇], (..., n)."""
    bent = np.einsum("...ij,...j->...i", contracted_christoffel(gamma, rates), rates)
    return np.asarray(np.einsum("...ij,...j->...i", M, accelerations) + bent)
