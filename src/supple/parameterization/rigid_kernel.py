"""The coefficients of a rigid mechanism at one position, from its rigid modes.

    M_ij   = Ψ_iᵀ M₀ Ψ_j + Σ m ∂_iℓ ∂_jℓ                                        [Brüls 2004, eq. 18]
    ∂_k M  = ∂_kΨᵀ M₀ Ψ + Ψᵀ M₀ ∂_kΨ + ...,  M₀ constant in body axes
    p_j    = Σ F·δ_j x + Σ f(ℓ) ∂_jℓ,  -∂V/∂θ_j where V exists                  [eq. 16]
    D_d    = Σ c ∂ℓᵀ ∂ℓ,   B = (∂ℓ/∂θ)ᵀ of the actuators,   each with its gradient from ∂²ℓ

f, c and m are those of the laws that act along measures ℓ. Results of one position are laid out in one row of `out`;
`supple.equations.row` knows where.
"""

from __future__ import annotations

import numpy as np

from supple.compilation import kernel
from supple.equations.christoffel import christoffel_symbols
from supple.equations.row import (
    CHRISTOFFEL,
    DFORCE_THETA,
    DM,
    FORCE,
    MASS,
    POTENTIAL,
)
from supple.formulations.coefficients import (
    AT_POINT,
    BODY,
    FOLLOWS,
    OF_FORCE,
    OF_MOMENT,
)
from supple.geometry.vectors import cross, dot, plus
from supple.kinematics.elimination import workspace
from supple.kinematics.primitives import turned
from supple.kinematics.rigid_modes import rigid_modes, world_twists
from supple.parameterization.position import moved_to, position_workspace
from supple.parameterization.rigid_measures import measures


@kernel
def mass(inertia, here, at, row):
    """Adds M and ∂M/∂θ of the bodies. inertia : (bodies, d, d)."""
    nb, d, s = inertia.shape[0], inertia.shape[1], here.Psi.shape[2]
    M, dM, Psi, dPsi = row[at[MASS] :], row[at[DM] :], here.Psi, here.dPsi
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


@kernel(inline=True)
def linear_part(twists, b, j):
    """v of motion j of body b."""
    return (twists[b, j, 0], twists[b, j, 1], twists[b, j, 2])


@kernel(inline=True)
def angular_part(twists, b, j):
    """ω of motion j of body b."""
    return (twists[b, j, 3], twists[b, j, 4], twists[b, j, 5])


@kernel
def loads(coefficients, here, at, row):
    """Forces and moments at points of bodies, gravity among them: p_j += F·v_j + (r × F + moment)·ω_j.

    Where they keep their direction, ∂_k(δ_j x) = ω_k × δ_j x, and likewise for ω_j: F·(ω_k × δ_j x) = ω_k·(δ_j x × F).
    """
    X, twists, dtwists = here.X, here.twists, here.dtwists
    s = twists.shape[1]
    force, dforce = row[at[FORCE] :], row[at[DFORCE_THETA] :]
    loads_i, loads_f = coefficients.loads_i, coefficients.loads_f
    for n in range(loads_i.shape[0]):
        b, follows = loads_i[n, BODY], loads_i[n, FOLLOWS]
        r = turned(X, b, loads_f, n, AT_POINT)
        F = (loads_f[n, OF_FORCE], loads_f[n, OF_FORCE + 1], loads_f[n, OF_FORCE + 2])
        moment = (loads_f[n, OF_MOMENT], loads_f[n, OF_MOMENT + 1], loads_f[n, OF_MOMENT + 2])
        if follows == 1:
            F, moment = turned(X, b, loads_f, n, OF_FORCE), turned(X, b, loads_f, n, OF_MOMENT)
        else:
            row[at[POTENTIAL]] -= dot(F, plus((X[b, 0], X[b, 1], X[b, 2]), r))
        about = plus(cross(r, F), moment)
        for j in range(s):
            v, w = linear_part(twists, b, j), angular_part(twists, b, j)
            force[j] += dot(F, v) + dot(about, w)
            turning = (0.0, 0.0, 0.0)
            if follows == 0:
                turning = plus(cross(plus(v, cross(w, r)), F), cross(w, moment))
            for k in range(s):
                pair = j * s + k
                dforce[pair] += (
                    dot(F, linear_part(dtwists, b, pair))
                    + dot(about, angular_part(dtwists, b, pair))
                    + dot(turning, angular_part(twists, b, k))
                )


@kernel
def rigid_row(rows, coefficients, here, at, row):
    """Coefficients at one position from its rigid modes, into row (width,) by the offsets `at`."""
    s = here.Psi.shape[2]
    world_twists(rows, here.X, here.dPsi, s * s, here.dtwists)
    mass(coefficients.inertia, here, at, row)
    loads(coefficients, here, at, row)
    measures(rows, coefficients, here, at, row)
    christoffel_symbols(s, row[at[DM] :], row[at[CHRISTOFFEL] :])


@kernel(purpose="local models")
def rigid_batch(rows, selected, coefficients, X_all, w_all, at, out, regular):
    """Coefficients at every position: out (N, width) filled by the offsets `at`; regular (N,) is 1 where it worked.

    rows : the mechanism's RowArrays; coefficients : its CoefficientArrays
    """
    work = workspace(rows)
    if X_all.shape[0] == 0:
        return
    here = position_workspace(rows, X_all[0], w_all[0])
    for n in range(X_all.shape[0]):
        out[n] = 0.0
        here = moved_to(here, X_all[n], w_all[n])
        determined, _ = rigid_modes(rows, selected, here.X, work, here.Psi, here.dPsi, here.twists)
        regular[n] = 1 if determined else 0
        if determined:
            rigid_row(rows, coefficients, here, at, out[n])
