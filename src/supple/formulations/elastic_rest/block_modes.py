"""Lowest modes under constraints: a block of vectors sharpened by polynomials of the response A = D - BᵀB.

On motions that keep the constraints, A has the eigenvalues 1/(ω² + s) with the modes as vectors. A start near the
wanted modes (those at rest: in body axes they hardly change) makes two or three passes enough; the residuals, and a
count of the eigenvalues below the last one, say whether they were. What the passes leave is judged by its energy
(`energy_modes`). Where the block would be half of all motions, these are taken as they are (`whole_modes`).
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from supple.compilation import kernel
from supple.formulations.elastic_rest.energy_modes import energy_modes, refined_response, whole_modes
from supple.formulations.elastic_rest.saddle import factored, respond

PASSES = 200
NOTHING = 1e-13  # an eigenvalue of A that is rounding, of the largest it might have, 1/s: not a motion
ROUNDING = 2e-15  # of the largest eigenvalue of A
BELOW = 1e-6  # how far below the last mode the others are counted
MANY = 2  # a block that is more than this part of all motions: all modes are found at once instead
VANISHED = 1e-9  # what is left of a vector that lies in the space already


@kernel
def extend(Q, size, W):
    """Orthonormalise the rows of W against Q[:size] and each other, and append them. Returns the new size."""
    n = Q.shape[1]
    p = W.shape[0]
    before = np.empty(p)
    for i in range(p):
        total = 0.0
        for c in range(n):
            total += W[i, c] * W[i, c]
        before[i] = sqrt(total)
    if size > 0:
        known = Q[:size]
        for _ in range(2):
            W = W - np.dot(np.dot(W, np.ascontiguousarray(known.T)), known)
    first = size
    for i in range(p):
        for _ in range(2):
            for k in range(first, size):
                share = 0.0
                for c in range(n):
                    share += W[i, c] * Q[k, c]
                for c in range(n):
                    W[i, c] -= share * Q[k, c]
        total = 0.0
        for c in range(n):
            total += W[i, c] * W[i, c]
        length = sqrt(total)
        if size < Q.shape[0] and length > VANISHED * before[i] and before[i] > 0.0:
            for c in range(n):
                Q[size, c] = W[i, c] / length
            size += 1
    return size


@kernel
def scattered(p, n):
    """A start with a part in every mode: (p, n) numbers without a pattern, the same every time."""
    found = np.empty((p, n))
    state = 12345
    for i in range(p):
        for c in range(n):
            state = (1103515245 * state + 12345) % 2147483648
            found[i, c] = state / 1073741824.0 - 1.0
    return found


@kernel
def below(stiffness, C, compliance, sigma):
    """How many eigenvalues under independent constraints C lie below sigma.

    The matrix [[Λ - σ, Cᵀ], [C, -c]] has one negative eigenvalue for each row and one for each of them; eliminating
    the diagonal block first, n₋ = n₋(Λ - σ) + n₊(S), S = C (Λ - σ)⁻¹ Cᵀ + c.
    """
    m, n = C.shape
    D = np.empty(n)
    found = -m
    for c in range(n):
        gap = stiffness[c] - sigma
        if gap < 0.0:
            found += 1
        D[c] = 1.0 / gap
    S = np.dot(C * D, np.ascontiguousarray(C.T))
    for i in range(m):
        S[i, i] += compliance[i]
    for k in range(m):  # signs of the pivots of S = L D Lᵀ
        pivot = S[k, k]
        if pivot > 0.0:
            found += 1
        for i in range(k + 1, m):
            factor = S[i, k] / pivot
            for j in range(k + 1, i + 1):
                S[i, j] -= factor * S[j, k]
    return found


@kernel
def missed(stiffness, C, compliance, order, rank, squares, count):
    """Whether an eigenvalue below the last one was not found."""
    n = C.shape[1]
    rows = np.empty((rank, n))
    soft = np.empty(rank)
    for i in range(rank):
        rows[i] = C[order[i]]
        soft[i] = compliance[order[i]]
    sigma = squares[count - 1] - BELOW * abs(squares[count - 1])
    lower = 0
    while lower < count and squares[lower] < sigma:
        lower += 1
    return below(stiffness, rows, soft, sigma) > lower


@kernel
def sharpened(D, B, V, degree, cut):
    """T_d(2 A / cut - 1) V: Chebyshev's polynomial stays small on eigenvalues of A up to `cut` and grows beyond."""
    before, now = V, respond(D, B, V) * (2.0 / cut) - V
    for _ in range(1, degree):
        before, now = now, 2.0 * (respond(D, B, now) * (2.0 / cut) - now) - before
    return now


@kernel
def lowest_modes(stiffness, shift, C, compliance, start, cut, count, tolerance, squares, Z):
    """ω² (count,) rising and modes Z (count, n), ZᵀZ = 1, of diag(Λ) + springs under C Z = 0.

    start     : (p, n) with p >= count; cut: ω² about which modes outside the block begin
    tolerance : of a mode's residual in units of its eigenvalue of A, and so of its shape; ω² is right to its square
    Returns the number found (fewer where fewer exist), or -1 without convergence.
    """
    m, n = C.shape
    D = 1.0 / (stiffness + shift)
    order = np.empty(m, dtype=np.int64)
    L = np.zeros((m, m))
    B = np.empty((m, n))
    rank, scale = factored(D, C, compliance, order, L, B)
    B = B[:rank]
    p = start.shape[0]
    hard = 0
    for i in range(rank):
        hard += 1 if compliance[order[i]] == 0.0 else 0
    if MANY * p >= n - hard:
        return whole_modes(stiffness, C, compliance, order[:rank], hard, squares[:count], Z[:count])
    Q = np.empty((p, n))
    V = respond(D, B, start)
    upper = 1.0 / (cut + shift)
    tries = 0
    for turn in range(PASSES):
        # Ritz vectors may be sharpened more: what they hold of lower modes would outgrow them otherwise.
        V = sharpened(D, B, V, 2 if turn == 0 else 3, upper)
        size = extend(Q, 0, V)
        if size < p:
            # Sharpening made some vectors the same but for rounding. Others take their places, A (Λ + s) v: of all
            # motions that keep the constraints alike, so that it fails only where there are no more.
            size = extend(Q, size, respond(D, B, scattered(p - size, n) * (stiffness + shift)))
        AQ = respond(D, B, Q[:size])
        H = np.dot(AQ, np.ascontiguousarray(Q[:size].T))
        mu, U = np.linalg.eigh(0.5 * (H + H.T))
        U = np.ascontiguousarray(U[:, ::-1].T)  # by falling mu: the lowest frequencies first
        mu = mu[::-1].copy()
        kept = 0
        while kept < size and mu[kept] * shift > NOTHING:
            kept += 1
        V = np.dot(U[:kept], Q[:size])
        R = np.dot(U[:kept], AQ)
        wanted = min(count, kept)
        converged = True
        for i in range(wanted):
            total = 0.0
            for c in range(n):
                gap = R[i, c] - mu[i] * V[i, c]
                total += gap * gap
            # Where nearly all modes are wanted, rounding adds up in passes that no longer gain anything.
            converged &= sqrt(total) <= tolerance * mu[i] + ROUNDING * (1 + turn // 10) / shift
        if converged:
            R = refined_response(stiffness, shift, C, compliance, scale, order, rank, L, D, V)
            size = extend(Q, 0, R)
            wanted = min(wanted, size)
            energy_modes(stiffness, C, compliance, Q[:size], squares[:wanted], Z[:wanted])
            whole = wanted == count or tries > 0
            if whole and (wanted == 0 or not missed(stiffness, C, compliance, order, rank, squares, wanted)):
                return wanted
            V = respond(D, B, scattered(p, n))  # the start had no part in a mode: begin anew with one that has
            tries += 1
            if tries > 2:
                return -1
            continue
        V = R
        if kept == p:  # where modes outside the block begin here
            upper = min(upper, mu[p - 1]) if turn > 4 else upper
    return -1
