"""Lowest modes under constraints: a block of vectors sharpened by polynomials of the response A = D - BᵀB.

On motions that keep the constraints, A has the eigenvalues 1/(ω² + s) with the modes as vectors. A start near the
wanted modes (those at rest: in body axes they hardly change) makes two or three passes enough; the residuals, and a
count of the eigenvalues below the last one, say whether they were. What the passes leave is judged by its energy
(`energy_modes`). Where the block would be half of all motions, these are taken as they are (`all_motions`).
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.compilation import kernel
from supple.formulations.elastic_rest.energy_modes import all_motions, energy_modes, refined_response
from supple.formulations.elastic_rest.response_operator import Structure, respond, response_operator

PASSES, TRIES = 200, 3
NOTHING = 1e-13  # an eigenvalue of A that is rounding, of the largest it might have, 1/s: not a motion
ROUNDING = 2e-15  # of the largest eigenvalue of A
BELOW = 1e-6  # how far below the last mode the others are counted
MANY = 2  # a block that is more than this part of all motions: all modes are found at once instead
VANISHED = 1e-9  # what is left of a vector that lies in the space already


class Search(NamedTuple):
    """Where a search for modes begins, and where it ends.

    start     : (p, n) vectors, at least as many as modes are wanted; shift : about the lowest ω²
    cut       : ω² about which modes outside the block begin
    tolerance : of a mode's residual in units of its eigenvalue of A, and so of its shape; ω² is right to its square
    """

    shift: float
    cut: float
    start: NDArray[np.float64]
    tolerance: float


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
def below(structure, sigma):
    """How many eigenvalues of a structure with independent rows lie below sigma.                               [eq. 9]

    The matrix [[Λ - σ, Cᵀ], [C, -c]] has one negative eigenvalue for each row and one for each of them; eliminating
    the diagonal block first, n₋ = n₋(Λ - σ) + n₊(S), S = C (Λ - σ)⁻¹ Cᵀ + c.
    """
    C = structure.rows
    m, n = C.shape
    D = np.empty(n)
    count = -m
    for c in range(n):
        gap = structure.stiffness[c] - sigma
        if gap < 0.0:
            count += 1
        D[c] = 1.0 / gap
    S = np.dot(C * D, np.ascontiguousarray(C.T))
    for i in range(m):
        S[i, i] += structure.compliance[i]
    for k in range(m):  # signs of the pivots of S = L D Lᵀ
        pivot = S[k, k]
        if pivot > 0.0:
            count += 1
        for i in range(k + 1, m):
            factor = S[k, i] / pivot
            if factor != 0.0:
                for j in range(i, m):
                    S[i, j] -= factor * S[k, j]
    return count


@kernel
def missed(structure, independent, squares):
    """Whether an eigenvalue below the last of `squares` is not among them; independent : rows of full rank."""
    count = squares.shape[0]
    sigma = squares[count - 1] - BELOW * abs(squares[count - 1])
    lower = 0
    while lower < count and squares[lower] < sigma:
        lower += 1
    rows, compliance = structure.rows[independent], structure.compliance[independent]
    return below(Structure(structure.stiffness, rows, compliance), sigma) > lower


@kernel
def sharpened(A, V, degree, cut):
    """T_d(2 A / cut - 1) V: Chebyshev's polynomial is small on eigenvalues of A up to `cut`, grows beyond. [eq. 8]"""
    before, now = V, V
    for i in range(degree):
        after = respond(A, now) * (2.0 / cut) - now
        if i > 0:
            after = 2.0 * after - before
        before, now = now, after
    return now


@kernel
def ritz(A, Q):
    """Of the span of orthonormal Q (p, n), by falling μ, the lowest frequencies first: μ, V and A V (kept, n).

    What is rounding, and not a motion, is left out.
    """
    AQ = respond(A, Q)
    H = np.dot(AQ, np.ascontiguousarray(Q.T))
    mu, U = np.linalg.eigh(0.5 * (H + H.T))
    U = np.ascontiguousarray(U[:, ::-1].T)
    mu = mu[::-1].copy()
    kept = 0
    while kept < mu.shape[0] and mu[kept] * A.shift > NOTHING:
        kept += 1
    return mu[:kept], np.dot(U[:kept], Q), np.dot(U[:kept], AQ)


@kernel
def settled(mu, V, AV, tolerance, least):
    """Whether ‖A v - μ v‖ of every vector is below tolerance μ + least."""
    for i in range(mu.shape[0]):
        total = 0.0
        for c in range(V.shape[1]):
            gap = AV[i, c] - mu[i] * V[i, c]
            total += gap * gap
        if not sqrt(total) <= tolerance * mu[i] + least:
            return False
    return True


@kernel
def block(structure, A, search, start, count):
    """Motions (p, n), orthonormal, whose span holds the lowest `count` modes; none without convergence."""
    p, n = start.shape
    shift = search.shift
    Q = np.empty((p, n))
    V = respond(A, start)
    upper = 1.0 / (search.cut + shift)
    for turn in range(PASSES):
        # Ritz vectors may be sharpened more: what they hold of lower modes would outgrow them otherwise.
        V = sharpened(A, V, 2 if turn == 0 else 3, upper)
        size = extend(Q, 0, V)
        if size < p:
            # Sharpening made some vectors the same but for rounding. Others take their places, A (Λ + s) v: of all
            # motions that keep the constraints alike, so that it fails only where there are no more.
            size = extend(Q, size, respond(A, scattered(p - size, n) * (structure.stiffness + shift)))
        mu, V, AV = ritz(A, Q[:size])
        kept = mu.shape[0]
        # Where nearly all modes are wanted, rounding adds up in passes that no longer gain anything.
        if settled(mu[: min(count, kept)], V, AV, search.tolerance, ROUNDING * (1 + turn // 10) / shift):
            return Q[: extend(Q, 0, refined_response(structure, A, V))]
        V = AV
        if kept == p and turn > 4:  # where modes outside the block begin here
            upper = min(upper, mu[p - 1])
    return Q[:0]


@kernel
def lowest_modes(structure, search, squares, Z):
    """ω² (count,) rising and modes Z (count, n), ZᵀZ = 1, of diag(Λ) + springs under C Z = 0, from a `Search`.

    Returns how many they are (fewer where fewer exist), or -1 without convergence.
    """
    count = squares.shape[0]
    p, n = search.start.shape
    A = response_operator(structure, search.shift)
    hard = 0
    for row in A.order:
        hard += 1 if structure.compliance[row] == 0.0 else 0
    free = n - hard
    start = search.start
    for turn in range(TRIES):
        whole = MANY * p >= free
        Q = all_motions(structure, A.order, hard) if whole else block(structure, A, search, start, count)
        wanted = min(count, Q.shape[0])
        if wanted == 0 and free > 0:
            return -1
        energy_modes(structure, Q, squares[:wanted], Z[:wanted])
        enough = whole or wanted == count or turn > 0
        if enough and (whole or not missed(structure, A.order, squares[:wanted])):
            return wanted
        start = scattered(p, n)  # it had no part in a mode: begin anew with one that has
    return -1
