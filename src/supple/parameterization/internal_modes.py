"""Internal modes at θ: eigenmodes with C z = 0, chosen, turned to a reference, and differentiated exactly.

Vectors stand in rows: Φ (k, n), ΦΦᵀ = 1. With multipliers μ of the modes, (Λ - ω_i²) φ_i + Cᵀμ_i = 0, the change of the
subspace is Y with

    (Λ - ω_i²) y_i + Cᵀν + Φᵀκ = -∂Cᵀμ_i,   C y_i - c ν = -∂C φ_i,   Φ y_i = 0

(regular as long as no retained mode meets one outside the set), and Φ' = Y + T Φ with a skew T that the reference
fixes: P, the overlaps of the modes with the reference, stays symmetric if T P + P T = Wᵀ - W, W the change of P along
Y. Overlap is that of motions, P = ΦΦ_refᵀ, or that of strains (docs/theory/parameterization.md, eqs. 6-12b).
"""

from __future__ import annotations

import numpy as np

from supple.compilation import kernel

SPARE = 3  # internal modes beside the wanted ones, among which the most alike are looked for
EXACT = 1e-12  # residual of internal modes: their derivatives inherit it
KEPT = 0.5  # smallest overlap at which a subspace still counts as the reference's
NEAR = 1e-9  # of ω²: as close as a frequency may come to one of a single body


@kernel
def stresses(reference, C):
    """B (k, n): what the stresses of the reference do on each z. Those in the bodies, ΛΦ_ref/ω_ref, stay as they are in
    the axes of the bodies, those in elastic rows, C_refΦ_ref/(c ω_ref), act along the rows as they are at θ.

    reference : (k, n + m), both, see `ModalParameterization`
    """
    n = C.shape[1]
    return reference[:, :n] + np.dot(np.ascontiguousarray(reference[:, n:]), C)


@kernel
def strain_overlaps(Phi, squares, B):
    """P = Ω⁻¹ΦBᵀ: cosines between the strains of the modes Φ (k, n) and those of the reference, by elastic energy."""
    P = np.dot(Phi, np.ascontiguousarray(B.T))
    for i in range(P.shape[0]):
        P[i] /= np.sqrt(squares[i])
    return P


@kernel
def strain_overlap_slopes(Phi, squares, B, P, Y, G, dB):
    """W (k, k), the change of P where Φ' = Y: ΦKΦᵀ changes by G, and with it Ω⁻¹ by -G_ij / (ω_i ω_j (ω_i + ω_j))."""
    W = np.dot(Y, np.ascontiguousarray(B.T)) + np.dot(Phi, np.ascontiguousarray(dB.T))
    k = P.shape[0]
    for i in range(k):
        one = np.sqrt(squares[i])
        for j in range(k):
            W[i, j] /= one
        for m in range(k):
            factor = G[i, m] / (one * (one + np.sqrt(squares[m])))
            for j in range(k):
                W[i, j] -= factor * P[m, j]
    return W


@kernel
def towards(P):
    """R (k, k), orthogonal, with R P symmetric positive definite, and the smallest singular value of P."""
    U, sigma, Vt = np.linalg.svd(P)
    R = np.dot(np.ascontiguousarray(Vt.T), np.ascontiguousarray(U.T))
    return R, sigma[-1]


@kernel
def most_alike(P, k, chosen):
    """Which k of the modes stand for the reference, by rising frequency; P (found, k) are their overlaps with it.

    The lowest ones as long as every direction of the reference has a part of at least KEPT in them: a subspace that
    only turns is followed, however far. Otherwise those that span most of the reference.
    """
    if towards(np.ascontiguousarray(P[:k]))[1] >= KEPT:
        for i in range(k):
            chosen[i] = i
        return
    share = np.zeros(P.shape[0])
    for i in range(P.shape[0]):
        for j in range(k):
            share[i] += P[i, j] * P[i, j]
    taken = np.argsort(-share)[:k]
    order = np.sort(taken)
    for i in range(k):
        chosen[i] = order[i]


@kernel
def one_by_one(Z, found, reference, k, chosen):
    """For each mode of the reference the one of Z that is most like it, best matches first, none taken twice."""
    match = np.abs(np.dot(Z[:found], np.ascontiguousarray(reference.T)))
    for _ in range(k):
        best, row, column = -1.0, 0, 0
        for i in range(found):
            for j in range(k):
                if match[i, j] > best:
                    best, row, column = match[i, j], i, j
        chosen[column] = row
        for j in range(k):
            match[row, j] = -2.0
        for i in range(found):
            match[i, column] = -2.0


@kernel
def along(Phi, reference):
    """Turn the sign of every mode to that of its reference, in place; the smallest product (the root of the MAC)."""
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
def subspace_slopes(stiffness, C, compliance, order, rank, Phi, squares, mu, dC, Y):
    """Y (s, k, n) as above."""
    k, n = Phi.shape
    s = dC.shape[0]
    G = np.empty((rank + k, n))
    for i in range(rank):
        G[i] = C[order[i]]
    G[rank:] = Phi
    Gt = np.ascontiguousarray(G.T)
    for i in range(k):
        D = np.empty(n)
        for c in range(n):
            gap = stiffness[c] - squares[i]
            least = NEAR * squares[i]
            if abs(gap) < least:
                gap = least if gap >= 0.0 else -least
            D[c] = 1.0 / gap
        S = np.dot(G * D, Gt)
        for r in range(rank):
            S[r, r] += compliance[order[r]]
        right = np.empty((rank + k, s))
        pushed = np.empty((s, n))
        for m in range(s):
            for c in range(n):
                pushed[m, c] = 0.0
            for r in range(C.shape[0]):
                if mu[i, r] != 0.0:
                    for c in range(n):
                        pushed[m, c] -= dC[m, r, c] * mu[i, r]
            for r in range(rank + k):
                total = 0.0
                for c in range(n):
                    total += G[r, c] * D[c] * pushed[m, c]
                if r < rank:
                    for c in range(n):
                        total += dC[m, order[r], c] * Phi[i, c]
                right[r, m] = total
        found = np.linalg.solve(S, right)
        for m in range(s):
            for c in range(n):
                total = pushed[m, c]
                for r in range(rank + k):
                    total -= G[r, c] * found[r, m]
                Y[m, i, c] = D[c] * total


@kernel
def stiffness_slopes(mu, dC, Phi, found):
    """G (s, k, k), G_ij = μ_iᵀ∂Cφ_j + μ_jᵀ∂Cφ_i: change of ΦᵀKΦ where Φ' = Y."""
    s, k = dC.shape[0], Phi.shape[0]
    for m in range(s):
        one = np.dot(np.dot(mu, dC[m]), np.ascontiguousarray(Phi.T))
        for i in range(k):
            for j in range(k):
                found[m, i, j] = one[i, j] + one[j, i]


@kernel
def turned_with_reference(P, W):
    """T skew with T P + P T = Wᵀ - W, for a symmetric positive definite P."""
    sigma, V = np.linalg.eigh(P)
    Vt = np.ascontiguousarray(V.T)
    right = np.dot(np.dot(Vt, W.T - W), V)
    k = P.shape[0]
    for i in range(k):
        for j in range(k):
            right[i, j] /= sigma[i] + sigma[j]
    return np.dot(np.dot(np.ascontiguousarray(V), right), Vt)


@kernel
def turned_by_frequency(squares, G):
    """T of modes that each follow their own frequency: T_ij = G_ij / (ω_i² - ω_j²); 0 where two are the same."""
    k = squares.shape[0]
    T = np.zeros((k, k))
    for i in range(k):
        for j in range(k):
            gap = squares[i] - squares[j]
            if i != j and abs(gap) > NEAR * abs(squares[i]):
                T[i, j] = G[i, j] / gap
    return T
