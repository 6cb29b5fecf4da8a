"""Selection of the retained modes among the lowest, with their signs, and their alignment with a reference.

The equations are in docs/theory/parameterization.md, eqs. 11-12b, 23.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.compilation import kernel
from supple.compilation.bundle import add_table, copy_table
from supple.formulations.elastic_rest.energy_modes import sort_indices
from supple.formulations.elastic_rest.rows import FIRST, WIDTH
from supple.parameterization.mode_choice import MODES, SORTED, STRAIN

# Modes at θ aligned with those of one reference: the subspace is followed, whatever its modes do within it.
#
# P, the overlaps of the modes with the reference, is made symmetric positive definite by an orthogonal R and stays so
# if the modes turn by a skew T with T P + P T = Wᵀ - W, W the change of P along Y. Overlap is that of motions, P =
# ΦΦ_refᵀ, or that of strains (docs/theory/parameterization.md, eqs. 11-12b).


class Following(NamedTuple):
    """Selection and alignment of modes at θ.

    tracking  : number of the tracking in `mode_choice`
    reference : (k, n) modes to align with; for strains their stresses (k, n + m), see `ModalParameterization`
    """

    tracking: int
    reference: NDArray[np.float64]


@kernel
def build_reference(following, C):
    """Return B (k, n), the reference to compare with: its motions, or the effect of its stresses on each z.

    Stresses in the bodies, ΛΦ_ref/ω_ref, are constant in the axes of the bodies; those in elastic rows,
    C_refΦ_ref/(c ω_ref), act along the rows C at θ.
    """
    n = C.shape[1]
    B = following.reference[:, :n].copy()
    if following.tracking == STRAIN:
        add_table(B, np.dot(np.ascontiguousarray(following.reference[:, n:]), C))
    return B


@kernel
def overlaps(modes, here):
    """Return P = ΦBᵀ, cosines between motions; or Ω⁻¹ΦBᵀ, cosines between strains by elastic energy.

    modes : Eigenmodes; here : B of `build_reference` at θ
    """
    P = np.dot(modes.shapes, np.ascontiguousarray(here.reference.T))
    if here.tracking == STRAIN:
        for i in range(P.shape[0]):
            omega = sqrt(modes.squares[i])
            for j in range(P.shape[1]):
                P[i, j] /= omega
    return P


@kernel
def overlap_slopes(modes, following, P, Y, G, dB):
    """Return W (k, k), the change of P where Φ' = Y and B' = dB.

    For strains ΦKΦᵀ changes by G, and with it Ω⁻¹ by -G_ij / (ω_i ω_j (ω_i + ω_j)).
    """
    W = np.dot(Y, np.ascontiguousarray(following.reference.T))
    add_table(W, np.dot(modes.shapes, np.ascontiguousarray(dB.T)))
    if following.tracking == STRAIN:
        k = P.shape[0]
        omega = np.empty(k)
        for i in range(k):
            omega[i] = sqrt(modes.squares[i])
        for i in range(k):
            for j in range(k):
                W[i, j] /= omega[i]
            for m in range(k):
                factor = G[i, m] / (omega[i] * (omega[i] + omega[m]))
                for j in range(k):
                    W[i, j] -= factor * P[m, j]
    return W


@kernel
def towards(P):
    """Return R = V Uᵀ (k, k) of P = U Σ Vᵀ, orthogonal, with R P = V Σ Vᵀ symmetric positive definite; V and Σ (k,).

    Σ is descending.
    """
    U, sigma, Vt = np.linalg.svd(P)
    V = np.ascontiguousarray(Vt.T)
    return np.dot(V, np.ascontiguousarray(U.T)), V, sigma


@kernel
def turn_with_reference(V, sigma, W):
    """Return the skew T with T P + P T = Wᵀ - W, for P = V Σ Vᵀ."""
    Vt = np.ascontiguousarray(V.T)
    skew = np.empty(W.shape)
    for i in range(sigma.shape[0]):
        for j in range(sigma.shape[0]):
            skew[i, j] = W[j, i] - W[i, j]
    right = np.dot(np.dot(Vt, skew), V)
    for i in range(sigma.shape[0]):
        for j in range(sigma.shape[0]):
            right[i, j] /= sigma[i] + sigma[j]
    return np.dot(np.dot(V, right), Vt)


@kernel
def turn_to_reference(structure, dC, modes, following, Y, G):
    """Align Φ and K_ιι with the reference; Y and G in place become ∂Φ and ∂K_ιι. Returns also the overlap.

    modes : Eigenmodes at θ; following : Following, its reference (k, n), or by strains its stresses (k, n + m)
    [eqs. 7, 9, 11-12b]
    """
    n = structure.rows.shape[1]
    here = Following(following.tracking, build_reference(following, structure.rows))
    acting = np.ascontiguousarray(following.reference[:, n:])  # along rows; empty for motions
    dB = np.zeros(here.reference.shape)
    P = overlaps(modes, here)
    R, V, sigma = towards(P)
    Rt = np.ascontiguousarray(R.T)
    Phi = np.dot(R, modes.shapes)
    K = np.dot(np.dot(R, np.diag(modes.squares)), Rt)
    for k in range(dC.shape[0]):
        if acting.shape[1] > 0:
            dB = np.dot(acting, dC[k])
        W = overlap_slopes(modes, here, P, Y[k], G[k], dB)
        copy_table(np.dot(R, Y[k]), Y[k])
        copy_table(np.dot(np.dot(R, G[k]), Rt), G[k])
        turn_slopes(turn_with_reference(V, sigma, np.dot(R, W)), Phi, K, Y[k], G[k])
    return Phi, K, sigma[sigma.shape[0] - 1]


@kernel
def turn_slopes(T, Phi, K, Y, G):
    """Set Y + T Φ and G + T K + (T K)ᵀ, in place: slopes of modes Φ and K that rotate by a skew T.

    [eqs. 7, 9]
    """
    add_table(Y, np.dot(T, Phi))
    turned = np.dot(T, K)
    for i in range(turned.shape[0]):
        for j in range(turned.shape[0]):
            G[i, j] += turned[i, j] + turned[j, i]


# Retained modes among the lowest, and their signs (docs/theory/parameterization.md, eqs. 11, 12a, 23).


KEPT = 0.5  # smallest overlap at which a subspace counts as that of the reference


@kernel
def select_modes(lowest, C, following, chosen):
    """Set the numbers of the modes to keep among the lowest, in `chosen` (k,); C (m, n) : the rows at θ."""
    if following.tracking == SORTED:
        for i in range(chosen.shape[0]):
            chosen[i] = i
    elif following.tracking == MODES:
        one_by_one(lowest.shapes, following.reference, chosen)
    else:
        most_alike(overlaps(lowest, Following(following.tracking, build_reference(following, C))), chosen)


@kernel
def most_alike(P, chosen):
    """Select the k modes that represent the reference, by ascending frequency; P (modes, k) are their overlaps with it.

    They are the lowest ones as long as every direction of the reference has a part of at least KEPT in them: a
    subspace that only rotates is followed, however far. Otherwise they are those that span most of the reference.
    """
    k = chosen.shape[0]
    if towards(np.ascontiguousarray(P[:k]))[2].min() >= KEPT:
        for i in range(k):
            chosen[i] = i
        return
    share = np.zeros(P.shape[0])
    for i in range(P.shape[0]):
        for j in range(k):
            share[i] -= P[i, j] * P[i, j]
    most = sort_indices(share)[:k]
    for i, place in enumerate(sort_indices(most)):
        chosen[i] = most[place]


@kernel
def one_by_one(Z, reference, chosen):
    """Select for each mode of the reference the most similar one of Z, best matches first, none twice."""
    count, k = Z.shape[0], reference.shape[0]
    match = np.dot(Z, np.ascontiguousarray(reference.T))
    for i in range(count):
        for j in range(k):
            match[i, j] = abs(match[i, j])
    for _ in range(k):
        best, row, column = -1.0, 0, 0
        for i in range(count):
            for j in range(k):
                if match[i, j] > best:
                    best, row, column = match[i, j], i, j
        chosen[column] = row
        for j in range(k):
            match[row, j] = -2.0
        for i in range(count):
            match[i, column] = -2.0


@kernel
def along(Phi, reference):
    """Set the sign of every mode to that of its reference, in place; returns the smallest product (root of the MAC)."""
    least = 1.0
    for i in range(Phi.shape[0]):
        product = 0.0
        for c in range(Phi.shape[1]):
            product += Phi[i, c] * reference[i, c]
        if product < 0.0:
            for c in range(Phi.shape[1]):
                Phi[i, c] = -Phi[i, c]
        least = min(least, abs(product))
    return least


@kernel
def upwards(rest, z):
    """Set the sign of a mode so that its largest displacement of a part is positive.

    Rotations count with the mechanism's size, so that the sign is the same in all units.
    """
    largest = 0.0
    for p in range(rest.part_i.shape[0]):
        first, width = rest.part_i[p, FIRST], rest.part_i[p, WIDTH]
        for c in range(rest.shapes.shape[1]):
            total = 0.0
            for k in range(width):
                total += rest.shapes[p, c, k] * z[first + k]
            if rest.column[c] > 2:
                total *= rest.extent
            if abs(total) > 1.000001 * abs(largest):
                largest = total
    if largest < 0.0:
        for c in range(z.shape[0]):
            z[c] = -z[c]
