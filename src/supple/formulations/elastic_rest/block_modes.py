"""Lowest modes under constraints by block iteration with polynomials of the response A = D - BᵀB.

On motions that satisfy the constraints, A has the eigenvalues 1/(ω² + s) with the modes as eigenvectors. With a start
close to the requested modes (those at rest: in body axes they hardly change) two or three passes are enough. Residuals
and a count of the eigenvalues below the last one verify convergence. The result is refined by its energy
(`energy_modes`). If the block would be half of all motions, all motions are used (`all_motions`).
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.compilation import kernel
from supple.compilation.bundle import copy_table, make_symmetric, scale_columns
from supple.formulations.elastic_rest.energy_modes import REFINED, all_motions, energy_modes, extend, refined_response
from supple.formulations.elastic_rest.response_operator import Structure, respond, response_operator

PASSES, EARLY = 60, 5  # of a block at most, and before it is judged by how fast its residuals fall
PATIENCE = 12  # passes that a block may still need as its residuals fall
LOOSE = 1e-4  # of μ: residual of a vector that is a mode but for a small part
NOTHING = 1e-13  # an eigenvalue of A that is rounding, of the largest it might have, 1/s: not a motion
ROUNDING = 2e-15  # of the largest eigenvalue of A
BELOW, PIVOTED = 1e-8, 1e-15  # of ω²: how far below the last mode the others are counted, and over the last pivot
MANY = 2  # a block that is more than this part of all motions: all modes are found at once instead


class Search(NamedTuple):
    """Start and termination of a mode search.

    start     : (p, n) vectors, at least as many as requested modes; shift : about the lowest ω²
    cut       : ω² of about the first modes outside the block
    tolerance : of a mode's residual relative to its eigenvalue of A, and so of its shape; ω² is right to its square
    """

    shift: float
    cut: float
    start: NDArray[np.float64]
    tolerance: float


@kernel
def make_start(p, n):
    """Return a start with a component in every mode: (p, n) quasi-random numbers, the same every time."""
    found = np.empty((p, n))
    state = 12345
    for i in range(p):
        for c in range(n):
            state = (1103515245 * state + 12345) % 2147483648
            found[i, c] = state / 1073741824.0 - 1.0
    return found


@kernel
def scaled_start(p, stiffness, shift):
    """Return a start (p, n) whose response has components of the same size in all coordinates."""
    found = make_start(p, stiffness.shape[0])
    for i in range(p):
        for c in range(stiffness.shape[0]):
            found[i, c] *= stiffness[c] + shift
    return found


@kernel
def below(structure, sigma):
    """Return the number of eigenvalues of a structure with independent rows below sigma [eq. 9].

    The matrix [[Λ - σ, Cᵀ], [C, -c]] has one negative eigenvalue for each row and one for each of them. Elimination of
    the diagonal block gives n₋ = n₋(Λ - σ) + n₊(S), S = C (Λ - σ)⁻¹ Cᵀ + c.
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
    S = np.dot(scale_columns(C, D), np.ascontiguousarray(C.T))
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
def has_missing_mode(structure, A, squares):
    """Return whether an eigenvalue below the last of `squares` is missing; A : the structure's response operator.

    Eigenvalues are counted slightly below the last one, or below the first one of a chain without gaps between its
    members, since rounding would decide a count at an eigenvalue: it is as large as small pivots of S make it.
    """
    last, rank = squares.shape[0] - 1, A.order.shape[0]
    room = BELOW if rank == 0 else BELOW + PIVOTED / A.L[rank - 1, rank - 1] ** 2
    while last > 0 and squares[last] - squares[last - 1] < 2.0 * room * squares[last]:
        last -= 1
    rows, compliance = structure.rows[A.order], structure.compliance[A.order]
    return below(Structure(structure.stiffness, rows, compliance), squares[last] - room * abs(squares[last])) > last


@kernel
def sharpen_modes(A, V, degree, cut):
    """Return T_d(2 A / cut - 1) V: Chebyshev, small on eigenvalues of A up to `cut`, growing beyond [eq. 8]."""
    before, now = V, V
    for i in range(degree):
        after = respond(A, now)
        for k in range(V.shape[0]):
            for c in range(V.shape[1]):
                grown_by = after[k, c] * (2.0 / cut) - now[k, c]
                after[k, c] = 2.0 * grown_by - before[k, c] if i > 0 else grown_by
        before, now = now, after
    return now


@kernel
def ritz(A, Q):
    """Return Ritz values and vectors in the span of orthonormal Q (p, n), by descending μ: μ, V and A V (kept, n).

    Directions that are only rounding errors are omitted.
    """
    AQ = respond(A, Q)
    H = np.dot(AQ, np.ascontiguousarray(Q.T))
    make_symmetric(H)
    mu, U = np.linalg.eigh(H)
    U = np.ascontiguousarray(U[:, ::-1].T)
    mu = mu[::-1].copy()
    kept = 0
    while kept < mu.shape[0] and mu[kept] * A.shift > NOTHING:
        kept += 1
    return mu[:kept], np.dot(U[:kept], Q), np.dot(U[:kept], AQ)


@kernel
def residuals(mu, V, AV):
    """Return ‖A v - μ v‖ of each vector."""
    found = np.empty(mu.shape[0])
    for i in range(mu.shape[0]):
        total = 0.0
        for c in range(V.shape[1]):
            gap = AV[i, c] - mu[i] * V[i, c]
            total += gap * gap
        found[i] = sqrt(total)
    return found


@kernel
def excess(mu, left, search, count, least):
    """Return the largest residual of `count` vectors relative to its limit: tolerance (μ - μ_p) and rounding [eq. 8a].

    A residual r leaves r / (μ - μ_out) of the modes outside the block in a shape, and μ_out is at most μ_p, the last of
    the block. If μ_p is at most half of μ, r / μ is sufficient.
    """
    worst = 0.0
    outside = mu[mu.shape[0] - 1] if mu.shape[0] == search.start.shape[0] else 0.0
    for i in range(min(count, mu.shape[0])):
        allowed = search.tolerance * min(mu[i], 2.0 * (mu[i] - outside)) + least
        worst = max(worst, left[i] / allowed)
    return worst


@kernel
def alike(mu, left, count):
    """Return the number of vectors of a block with `count` modes that are modes except for a small part.

    The others must not be used in (9a): the energy of their other components is large, and would disturb the modes.
    """
    size = min(count, mu.shape[0])
    while size < mu.shape[0] and left[size] <= LOOSE * mu[size]:
        size += 1
    return size


@kernel
def block(structure, A, search, count):
    """Return orthonormal motions (p, n) whose span contains the lowest `count` modes, and whether it does.

    Without convergence within a few additional passes, the current Ritz vectors are returned.
    """
    p, n = search.start.shape
    shift = search.shift
    Q = np.empty((p, n))
    V = respond(A, search.start)
    upper = 1.0 / (search.cut + shift)
    before = np.inf
    for turn in range(PASSES):
        # Ritz vectors may be sharpened more: what they hold of lower modes would outgrow them otherwise.
        V = sharpen_modes(A, V, 2 if turn == 0 else 3, upper)
        size = extend(Q, 0, V)
        if size < p:
            # Sharpening made some vectors the same but for rounding. Others take their places, A (Λ + s) v: of all
            # motions that keep the constraints alike, so that it fails only where there are no more.
            size = extend(Q, size, respond(A, scaled_start(p - size, structure.stiffness, shift)))
        mu, V, AV = ritz(A, Q[:size])
        kept = mu.shape[0]
        # Where nearly all modes are wanted, rounding adds up in passes that no longer gain anything.
        left = residuals(mu, V, AV)
        now = excess(mu, left, search, count, ROUNDING * (1 + turn // 10) / shift)
        if now <= 1.0:
            modes = refined_response(structure, A, V[: alike(mu, left, count)], REFINED)
            return Q[: extend(Q, 0, modes)], True
        if turn >= EARLY and now > (now / before) ** -PATIENCE:
            return V, False
        before = now
        V = AV
        if kept == p and turn >= EARLY:  # where modes outside the block begin here
            upper = mu[p - 1]
    return V, False


@kernel
def grown(structure, search, V):
    """Return the search with a block of twice the size: the vectors V, and as many quasi-random ones."""
    p, n = search.start.shape
    start = np.empty((2 * p, n))
    copy_table(V, start[: V.shape[0]])
    copy_table(scaled_start(2 * p - V.shape[0], structure.stiffness, search.shift), start[V.shape[0] :])
    return Search(search.shift, search.cut, start, search.tolerance)


@kernel
def lowest_modes(structure, search, squares, Z):
    """Compute ω² (count,) ascending and modes Z (count, n), ZᵀZ = 1, of diag(Λ) + springs under C Z = 0.

    Returns the number of modes, which may be smaller. If the last vectors of a block are in a cluster that continues
    outside of it, convergence is slow or fails. The block is then enlarged, finally to all motions.
    """
    count = squares.shape[0]
    n = search.start.shape[1]
    A = response_operator(structure, search.shift)
    hard = 0
    for row in A.order:
        hard += 1 if structure.compliance[row] == 0.0 else 0
    free = n - hard
    while True:
        whole = MANY * search.start.shape[0] >= free
        if whole:
            Q, found = all_motions(structure, A, hard), True
        else:
            Q, found = block(structure, A, search, count)
        if found:
            wanted = min(count, Q.shape[0])
            energy_modes(structure, Q, squares[:wanted], Z[:wanted])
            if whole or (wanted == count and not has_missing_mode(structure, A, squares)):
                return wanted
            Q = Q[:0]  # it had no part in a mode: begin anew with vectors that have
        search = grown(structure, search, Q)
