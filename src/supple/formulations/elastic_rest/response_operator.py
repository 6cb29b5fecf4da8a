"""Response operator of a mechanism that is locked at θ, a structure: Λ z + Cᵀλ = f, C z = diag(c) λ.

With D = (Λ + s)⁻¹, S = C D Cᵀ + diag(c) = L Lᵀ and B = L⁻¹ C D, the response to forces F is

    z = A F,   A = D - BᵀB                                             (docs/theory/elastic-rest.md, eq. 6)

c is the compliance of a row: 0 for an ideal constraint, 1/k for a spring of stiffness k. Pivoting omits dependent rows,
so that redundant constraints need no choice.
"""

from __future__ import annotations

from math import isnan, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array
from supple.compilation import kernel
from supple.compilation.bundle import add_table, scale_columns, subtract_table

DEPENDENT = 1e-11  # of a row's own length squared, when the others have taken their share
ROUGH = 1e-5  # a pivot of S below which B is refined
FULL, ROUNDED = 1e-13, 1e-9  # changes below which a rest is found: at once, or when they no longer fall


class Structure(NamedTuple):
    """Bodies in z and the rows between them at one θ [eq. 5].

    stiffness : (n,) Λ; rows : (m, n) C; compliance : (m,) c
    """

    stiffness: Array
    rows: Array
    compliance: Array


class ResponseOperator(NamedTuple):
    """Operator A = D - BᵀB of a structure, with the factors of S for its multipliers [eq. 6].

    D     : (n,) 1/(Λ + shift); B : (rank, n); refined : (rank, n) B with the rounding of S removed
    L     : (rank, m) of S = L Lᵀ, scaled to S_ii = 1 by `scale` (m,), with its independent rows in `order` (rank,)
    """

    shift: float
    D: Array
    B: Array
    refined: Array
    L: Array
    order: NDArray[np.int64]
    scale: Array


@kernel
def pivoted_cholesky(S, order, L):
    """Factor S[order][:, order] = L Lᵀ on its first `rank` rows; return the rank.

    S has a unit diagonal and is overwritten.
    Each step changes whole rows of the remainder of S, which a processor does much faster than sums along rows.
    """
    m = S.shape[0]
    for i in range(m):
        order[i] = i
    for r in range(m):
        best = r
        for i in range(r + 1, m):
            if S[i, i] > S[best, best]:
                best = i
        if best != r:
            order[r], order[best] = order[best], order[r]
            for k in range(r):
                L[r, k], L[best, k] = L[best, k], L[r, k]
            for k in range(r, m):
                S[r, k], S[best, k] = S[best, k], S[r, k]
            for k in range(r, m):
                S[k, r], S[k, best] = S[k, best], S[k, r]
        pivot = S[r, r]
        if not pivot > DEPENDENT:
            return r
        L[r, r] = sqrt(pivot)
        inverse = 1.0 / L[r, r]
        for i in range(r + 1, m):
            share = S[r, i] * inverse
            L[i, r] = share
            if share != 0.0:  # rows touch two bodies each: many have nothing to do with each other
                factor = share * inverse
                for j in range(r + 1, m):
                    S[i, j] -= factor * S[r, j]
    return m


@kernel
def response_operator(structure, shift):
    """Return A of a structure; rows are scaled to S_ii = 1 first, since they measure lengths and angles."""
    C, compliance = structure.rows, structure.compliance
    m, n = C.shape
    D = np.empty(n)
    for c in range(n):
        D[c] = 1.0 / (structure.stiffness[c] + shift)
    CD = scale_columns(C, D)
    S = np.dot(CD, np.ascontiguousarray(C.T))
    scale = np.empty(m)
    for i in range(m):
        S[i, i] += compliance[i]
        scale[i] = 1.0 / sqrt(S[i, i]) if S[i, i] > 0.0 else 0.0
    for i in range(m):
        for j in range(m):
            S[i, j] *= scale[i] * scale[j]
    order, L, B = np.empty(m, dtype=np.int64), np.zeros((m, m)), np.empty((m, n))
    rank = pivoted_cholesky(S, order, L)
    for i in range(rank):
        row = order[i]
        for c in range(n):
            B[i, c] = scale[row] * CD[row, c]
        for k in range(i):
            factor = L[i, k]
            if factor != 0.0:
                for c in range(n):
                    B[i, c] -= factor * B[k, c]
        inverse = 1.0 / L[i, i]
        for c in range(n):
            B[i, c] *= inverse
    B, L, order = B[:rank], L[:rank], order[:rank]
    rough = rank > 0 and L[rank - 1, rank - 1] ** 2 < ROUGH
    return ResponseOperator(
        shift, D, B, refined_rows(structure, D, B, L, order, scale) if rough else B, L, order, scale
    )


@kernel
def refined_rows(structure, D, B, L, order, scale):
    """Return B + L⁻¹ (C D - (C Bᵀ + c L⁻ᵀ) B), B after a step of iterative refinement [eq. 6a].

    Rods that are stiff relative to the shift lead to pivots of S of 1e-9 and less, and to rounding of that relative
    size.
    """
    rank, n = B.shape
    C, inverse = np.empty((rank, n)), np.zeros((rank, rank))  # inverse : L⁻¹
    for i in range(rank):
        for c in range(n):
            C[i, c] = scale[order[i]] * structure.rows[order[i], c]
        inverse[i, i] = 1.0 / L[i, i]
        for k in range(i):
            factor = L[i, k] * inverse[i, i]
            if factor != 0.0:
                for j in range(k + 1):
                    inverse[i, j] -= factor * inverse[k, j]
    P = np.dot(C, np.ascontiguousarray(B.T))
    for i in range(rank):
        soft = structure.compliance[order[i]] * scale[order[i]] ** 2
        if soft > 0.0:
            for j in range(i, rank):
                P[i, j] += soft * inverse[j, i]
    gap = scale_columns(C, D)
    subtract_table(gap, np.dot(P, B))
    found = np.dot(inverse, gap)
    add_table(found, B)
    return found


@kernel
def least_pivot(A):
    """Return the least pivot of S (one without rows), which determines the rounding of A and of row forces."""
    rank = A.order.shape[0]
    return A.L[rank - 1, rank - 1] ** 2 if rank > 0 else 1.0


@kernel
def respond(A, V):
    """Return A V for vectors in rows, V (p, n)."""
    found = scale_columns(V, A.D)
    subtract_table(found, np.dot(np.dot(V, np.ascontiguousarray(A.refined.T)), A.B))
    return found


@kernel
def multipliers(structure, A, V, ends):
    """Return λ (p, rows) of the response to forces V (p, n) and prescribed row values ends (p, rows).

    λ is 0 on dependent rows.

    S λ = C D V - ends, from the factors of S.
    """
    L, order, scale = A.L, A.order, A.scale
    rank, p = order.shape[0], V.shape[0]
    reactions = np.zeros((p, structure.rows.shape[0]))
    right = np.dot(scale_columns(V, A.D), np.ascontiguousarray(structure.rows.T))
    subtract_table(right, ends)
    y = np.empty((rank, p))  # right sides side by side: each step is done for all of them at once
    for i in range(rank):
        for q in range(p):
            y[i, q] = right[q, order[i]] * scale[order[i]]
        for k in range(i):
            factor = L[i, k]
            if factor != 0.0:
                for q in range(p):
                    y[i, q] -= factor * y[k, q]
        for q in range(p):
            y[i, q] /= L[i, i]
    for i in range(rank - 1, -1, -1):
        for q in range(p):
            y[i, q] /= L[i, i]
        for k in range(i):
            factor = L[i, k]
            if factor != 0.0:
                for q in range(p):
                    y[k, q] -= factor * y[i, q]
        for q in range(p):
            reactions[q, order[i]] = y[i, q] * scale[order[i]]
    return reactions


@kernel
def add_response(D, F, pushed, Z):
    """Add the response (F - pushed) D of free bodies (p, n) to Z; return the largest change."""
    largest = 0.0
    for i in range(Z.shape[0]):
        for c in range(Z.shape[1]):
            change = (F[i, c] - pushed[i, c]) * D[c]
            Z[i, c] += change
            if abs(change) > largest or isnan(change):
                largest = abs(change)
    return largest


@kernel
def find_rest(structure, A, forces, ends, Z, reactions):
    """Compute Z (p, n) and λ (p, rows) of Λ Z + Cᵀλ = forces, C Z - diag(c) λ = ends, from A with its shift [eq. 20].

    (Λ + s) z = f + s z is repeated until z converges: each iteration gains a factor (ω₁² + s)/s, ω₁ the lowest
    frequency. Returns whether it converged; it cannot if a motion needs no force.
    """
    C = structure.rows
    Ct = np.ascontiguousarray(C.T)
    Z[:] = 0.0
    reactions[:] = 0.0
    size, last = 0.0, np.inf
    for _ in range(400):
        # Residuals of both rows, and the step that takes them away but for the shift.
        F, pushed = np.empty(Z.shape), np.dot(reactions, C)
        gap, moved = np.empty(reactions.shape), np.dot(Z, Ct)
        for i in range(Z.shape[0]):
            for c in range(Z.shape[1]):
                F[i, c] = forces[i, c] - Z[i, c] * structure.stiffness[c] - pushed[i, c]
            for r in range(gap.shape[1]):
                gap[i, r] = ends[i, r] - moved[i, r] + reactions[i, r] * structure.compliance[r]
        step = multipliers(structure, A, F, gap)
        largest = add_response(A.D, F, np.dot(step, C), Z)
        add_table(reactions, step)
        for i in range(Z.shape[0]):
            for c in range(Z.shape[1]):
                size = max(size, abs(Z[i, c]))
        if largest <= FULL * size or (largest <= ROUNDED * size and largest >= 0.5 * last):
            return True
        if not np.isfinite(largest):
            return False
        last = largest
    return False
