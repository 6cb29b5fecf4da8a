"""The local model of a flexible mechanism at one position: modes, their derivatives, and all coefficients.

Modes Ψ (rows: θ rigid, γ constraint, ι internal) in the coordinates z of unit mass and diagonal stiffness:

    M = ΨΨᵀ,   ∂_k M = ∂_kΨ Ψᵀ + Ψ ∂_kΨᵀ,   K = Ψ(Λ + springs)Ψᵀ                 [Brüls 2007, eqs. 7-11, 19-20]
    ∂M_ij/∂δ_a = n_aj·ψ_i + n_ai·ψ_j,   n_aj = ∂_jψ_a + ω_j × ψ_a for θ_j, zero otherwise
    Γ_ijk = ½(∂M_ij/∂η_k + ∂M_ik/∂η_j - ∂M_jk/∂η_i)                               [eq. 2]
    p_δ = Ψ_δ f,   ∂_k p_δ = ∂_kΨ_δ f + Ψ_δ ∂_k f

Equations by number in docs/theory/parameterization.md. What has θ alone (V₀, p_θ, its gradient, values and bends of
outputs) is taken from the row of the rigid mechanism.
"""

from __future__ import annotations

import numpy as np

from supple.compilation import kernel
from supple.formulations.elastic_rest.block_modes import lowest_modes
from supple.formulations.elastic_rest.saddle import factored, multipliers, rested
from supple.kinematics.primitives import ALONG, DISTANCE, SCALE
from supple.parameterization.internal_modes import (
    EXACT,
    SPARE,
    along,
    most_alike,
    one_by_one,
    stiffness_slopes,
    strain_overlap_slopes,
    strain_overlaps,
    stresses,
    subspace_slopes,
    towards,
    turned_by_frequency,
    turned_with_reference,
)
from supple.parameterization.mode_choice import MODES, SORTED, STRAIN, SUBSPACE

# What became of a position.
DONE, SINGULAR, NOT_CONVERGED, TOO_FEW = 1, 0, -1, -2


@kernel
def elastic_modes(rest, held, compliance, loaded, C, dC, search, reference, count, tracking, Psi, dPsi, K, dK, told):
    """Constraint modes (as many as `loaded` rows, the last of those held) and `count` internal modes, with slopes.

    Psi (d, n) and dPsi (s, d, n), K (d, d) and dK (s, d, d) of δ = (γ, ι); told (count + 2,): ω² of the internal modes,
    by rising value, then the smallest overlap with the reference, and Σ 2^i over their places i among all modes.
    reference : modes to turn to (count, n); by strains, their stresses (count, n + m)
    """
    stiffness = rest[3]
    shift, cut, start = search
    m, n = C.shape
    s = dC.shape[0]
    D = 1.0 / (stiffness + shift)
    order = np.empty(m, dtype=np.int64)
    L = np.zeros((m, m))
    B = np.empty((m, n))
    rank, scale = factored(D, C, compliance, order, L, B)
    if loaded > 0:
        ends = np.zeros((loaded, m))
        for a in range(loaded):
            ends[a, m - loaded + a] = 1.0
        Z, forces = np.empty((loaded, n)), np.empty((loaded, m))
        if not rested(stiffness, D, C, compliance, scale, order, rank, L, np.zeros((loaded, n)), ends, Z, forces):
            return NOT_CONVERGED
        Psi[:loaded] = Z
        for a in range(loaded):
            for b in range(loaded):
                K[a, b] = -forces[b, m - loaded + a]
        for k in range(s):
            pushed = -np.dot(forces, dC[k])
            gaps = -np.dot(Z, np.ascontiguousarray(dC[k].T))
            dZ, dforces = np.empty((loaded, n)), np.empty((loaded, m))
            if not rested(stiffness, D, C, compliance, scale, order, rank, L, pushed, gaps, dZ, dforces):
                return NOT_CONVERGED
            dPsi[k, :loaded] = dZ
            for a in range(loaded):
                for b in range(loaded):
                    dK[k, a, b] = -dforces[b, m - loaded + a]
    if count == 0:
        return DONE
    size = min(start.shape[0], count + SPARE)
    squares, Z = np.empty(size), np.empty((size, n))
    found = lowest_modes(stiffness, shift, C, compliance, start, cut, size, EXACT, squares, Z)
    if found < 0:
        return NOT_CONVERGED
    if found < count:
        return TOO_FEW
    chosen = np.arange(count)
    if tracking == SUBSPACE:
        most_alike(np.dot(Z[:found], np.ascontiguousarray(reference.T)), count, chosen)
    elif tracking == STRAIN:
        most_alike(strain_overlaps(Z[:found], squares[:found], stresses(reference, C)), count, chosen)
    elif tracking == MODES:
        one_by_one(Z, found, reference, count, chosen)
    told[count + 1] = 0.0
    Phi, lowest = np.empty((count, n)), np.empty(count)
    for i in range(count):
        Phi[i], lowest[i] = Z[chosen[i]], squares[chosen[i]]
        told[i] = squares[chosen[i]]
        told[count + 1] += 2.0 ** chosen[i]
    if tracking == MODES:
        told[count] = along(Phi, reference)
    elif tracking == SORTED:
        told[count] = 1.0
        for i in range(count):
            upwards(rest, Phi[i])
    weighted = np.empty((count, n))
    for i in range(count):
        weighted[i] = (lowest[i] + shift) * Phi[i]
    mu = multipliers(C, compliance, scale, order, rank, L, D, weighted, np.zeros((count, m)))
    Y, G = np.empty((s, count, n)), np.empty((s, count, count))
    subspace_slopes(stiffness, C, compliance, order, rank, Phi, lowest, mu, dC, Y)
    stiffness_slopes(mu, dC, Phi, G)
    Kii = np.diag(lowest)
    if tracking in (SUBSPACE, STRAIN):
        strained = tracking == STRAIN
        B = stresses(reference, C) if strained else reference
        rows = np.ascontiguousarray(reference[:, n:])
        P = strain_overlaps(Phi, lowest, B) if strained else np.dot(Phi, np.ascontiguousarray(B.T))
        R, overlap = towards(P)
        told[count] = overlap
        Rt = np.ascontiguousarray(R.T)
        turned_P = np.dot(R, P)
        turned_P = 0.5 * (turned_P + turned_P.T)
        turned_Phi = np.dot(R, Phi)
        Kii = np.dot(np.dot(R, Kii), Rt)
        for k in range(s):
            if strained:
                W = strain_overlap_slopes(Phi, lowest, B, P, Y[k], G[k], np.dot(rows, dC[k]))
            else:
                W = np.dot(Y[k], np.ascontiguousarray(B.T))
            Y[k] = np.dot(R, Y[k])
            G[k] = np.dot(np.dot(R, G[k]), Rt)
            T = turned_with_reference(turned_P, np.dot(R, W))
            Y[k] += np.dot(T, turned_Phi)
            turned = np.dot(T, Kii)
            G[k] += turned + turned.T
        Phi = turned_Phi
    else:
        for k in range(s):
            T = turned_by_frequency(lowest, G[k])
            Y[k] += np.dot(T, Phi)
            turned = np.dot(T, Kii)
            G[k] += turned + turned.T
    Psi[loaded:] = Phi
    K[loaded:, loaded:] = Kii
    for k in range(s):
        dPsi[k, loaded:] = Y[k]
        dK[k, loaded:, loaded:] = G[k]
    return DONE


@kernel
def upwards(rest, z):
    """Turn the sign of a mode so that its largest displacement of a part is positive.

    Rotations count with the mechanism's size, so that the sign is the same in all units.
    """
    part_i, shapes, column, rows_i, rows_f = rest[0], rest[2], rest[4], rest[5], rest[6]
    size = 0.0
    for i in range(rows_i.shape[0]):
        if rows_i[i, 0] == ALONG or rows_i[i, 0] == DISTANCE:
            size = max(size, rows_f[i, SCALE])
    largest = 0.0
    for p in range(part_i.shape[0]):
        first, width = part_i[p, 1], part_i[p, 2]
        for c in range(shapes.shape[1]):
            total = 0.0
            for k in range(width):
                total += shapes[p, c, k] * z[first + k]
            if column[c] > 2:
                total *= size
            if abs(total) > 1.000001 * abs(largest):
                largest = total
    if largest < 0.0:
        for c in range(z.shape[0]):
            z[c] = -z[c]


@kernel
def mass_slopes(flexible, s, omega, Psi, dPsi, M, dM):
    """M (n, n) and dM (n, n, n) over η; Psi (n, z), dPsi (s, n, z), omega (bodies, s, axes) of the bodies' frames."""
    body_i, turning = flexible
    n = Psi.shape[0]
    Pt = np.ascontiguousarray(Psi.T)
    M[:] = np.dot(Psi, Pt)
    for k in range(s):
        half = np.dot(dPsi[k], Pt)
        for i in range(n):
            for j in range(n):
                dM[i, j, k] = half[i, j] + half[j, i]
    if n == s:
        return
    # n_aj·ψ_i for all a in δ, j in θ, i in η
    for j in range(s):
        moved = np.dot(dPsi[j, s:], Pt)
        for b in range(body_i.shape[0]):
            first, width = body_i[b, 0], body_i[b, 1]
            Q = np.zeros((width, width))
            turns = False
            for e in range(turning.shape[1]):
                if omega[b, j, e] != 0.0:
                    turns = True
                    for c in range(width):
                        for f in range(width):
                            Q[c, f] += omega[b, j, e] * turning[b, e, c, f]
            if turns:
                here = np.ascontiguousarray(Psi[:, first : first + width])
                # ψ_iᵀ Q ψ_a
                side = np.dot(np.dot(here, Q), np.ascontiguousarray(here[s:].T))
                moved += side.T
        for a in range(n - s):
            for i in range(n):
                dM[i, j, s + a] += moved[a, i]
                dM[j, i, s + a] += moved[a, i]


@kernel
def load_vector(loads, X, omega, s, f, df):
    """f (z,) and df (s, z) of forces at places and of gravity.

    loads_i (n, 3) body, follows, first coordinate; maps (n, z of a body, 6); wrenches (n, 6) in the world or the body
    """
    loads_i, widths, maps, wrenches = loads
    f[:] = 0.0
    df[:] = 0.0
    local = np.empty(6)
    change = np.zeros(6)
    axes = omega.shape[2]
    for i in range(loads_i.shape[0]):
        b, follows, first = loads_i[i, 0], loads_i[i, 1], loads_i[i, 2]
        for half in range(2):
            for c in range(3):
                if follows == 1:
                    local[3 * half + c] = wrenches[i, 3 * half + c]
                else:
                    local[3 * half + c] = (
                        X[b, 3 + c] * wrenches[i, 3 * half]
                        + X[b, 6 + c] * wrenches[i, 3 * half + 1]
                        + X[b, 9 + c] * wrenches[i, 3 * half + 2]
                    )
        for c in range(widths[i]):
            for e in range(6):
                f[first + c] += maps[i, c, e] * local[e]
        if follows == 1:
            continue
        for k in range(s):
            wx = omega[b, k, 0] if axes == 3 else 0.0
            wy = omega[b, k, 1] if axes == 3 else 0.0
            wz = omega[b, k, axes - 1]
            for half in range(2):
                x, y, z = local[3 * half], local[3 * half + 1], local[3 * half + 2]
                change[3 * half] = -(wy * z - wz * y)
                change[3 * half + 1] = -(wz * x - wx * z)
                change[3 * half + 2] = -(wx * y - wy * x)
            for c in range(widths[i]):
                for e in range(6):
                    df[k, first + c] += maps[i, c, e] * change[e]


@kernel
def christoffel(n, dM, gamma):
    """Γ over all of η."""
    for i in range(n):
        for j in range(n):
            for k in range(n):
                gamma[i, j, k] = 0.5 * (dM[i, j, k] + dM[i, k, j] - dM[j, k, i])
