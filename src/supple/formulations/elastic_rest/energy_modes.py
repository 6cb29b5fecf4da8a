"""Refinement of modes by their energy: ω² as Rayleigh quotient zᵀKz / zᵀz of motions that satisfy the rows.

An eigenvalue μ = 1/(ω² + s) of the response A has the rounding error of A, a few units of 1/s. In ω² this is a relative
error of ω²/s, and more if the factors of S are small. The quotient of elastic energy and mass is stationary at a mode:
its error is the square of the error of the shape, if the shape satisfies the constraints.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from supple.compilation import kernel
from supple.compilation.bundle import add_table, copy_row, make_symmetric, scale_columns, subtract_table
from supple.formulations.elastic_rest.response_operator import add_response, multipliers

REFINED = 2  # corrections by residuals: each gains what the factors of S are good for
SWEEPS = 12
VANISHED = 1e-9  # what is left of a vector that lies in the space already
DIAGONAL = 1e-16  # of √(H_ii H_jj): an entry beside the diagonal that is rounding


@kernel
def extend(Q, size, W):
    """Orthonormalise the rows of W against Q[:size] and each other, and append them; return the new size."""
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
            W = W.copy()
            subtract_table(W, np.dot(np.dot(W, np.ascontiguousarray(known.T)), known))
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
def refined_response(structure, A, V, turns):
    """Return A V as in `respond`, refined `turns` times with the residuals of both equations, exact to rounding of V.

    (Λ + s) Z + Cᵀλ = V,   C Z = diag(c) λ
    """
    C = structure.rows
    Ct = np.ascontiguousarray(C.T)
    F, gap = V, np.zeros((V.shape[0], C.shape[0]))
    Z, reactions = np.zeros(V.shape), np.zeros(gap.shape)
    for _ in range(1 + turns):
        step = multipliers(structure, A, F, gap)
        add_response(A.D, F, np.dot(step, C), Z)
        add_table(reactions, step)
        pushed = np.dot(reactions, C)
        F = np.empty(V.shape)
        for i in range(V.shape[0]):
            for c in range(V.shape[1]):
                F[i, c] = V[i, c] - Z[i, c] * (structure.stiffness[c] + A.shift) - pushed[i, c]
        gap = scale_columns(reactions, structure.compliance)
        subtract_table(gap, np.dot(Z, Ct))
    return Z


@kernel
def diagonalise(H, U):
    """Rotate the rows of U so that the symmetric H becomes diagonal, by Jacobi rotations in place.

    Unlike tridiagonalization they keep small eigenvalues accurate beside large ones [Demmel 1992].
    """
    p = H.shape[0]
    for _ in range(SWEEPS):
        still = True
        for i in range(p - 1):
            for j in range(i + 1, p):
                if abs(H[i, j]) <= DIAGONAL * sqrt(abs(H[i, i] * H[j, j])):
                    continue
                still = False
                half = 0.5 * (H[j, j] - H[i, i]) / H[i, j]
                t = 1.0 / (abs(half) + sqrt(half * half + 1.0))
                t = t if half >= 0.0 else -t
                c = 1.0 / sqrt(t * t + 1.0)
                s = t * c
                change = t * H[i, j]
                H[i, i] -= change
                H[j, j] += change
                H[i, j] = H[j, i] = 0.0
                for k in range(p):
                    if k != i and k != j:
                        a, b = H[i, k], H[j, k]
                        H[i, k] = H[k, i] = c * a - s * b
                        H[j, k] = H[k, j] = s * a + c * b
                for k in range(U.shape[1]):
                    a, b = U[i, k], U[j, k]
                    U[i, k] = c * a - s * b
                    U[j, k] = s * a + c * b
        if still:
            return


@kernel
def elastic_energies(structure, Q):
    """Return H = Q Λ Qᵀ + Σ (C_i Q)(C_i Q)ᵀ / c_i (p, p) for motions Q (p, n)."""
    p = Q.shape[0]
    H = np.dot(scale_columns(Q, structure.stiffness), np.ascontiguousarray(Q.T))
    stretch = np.dot(Q, np.ascontiguousarray(structure.rows.T))
    for r in range(structure.rows.shape[0]):
        if structure.compliance[r] > 0.0:
            for i in range(p):
                for j in range(p):
                    H[i, j] += stretch[i, r] * stretch[j, r] / structure.compliance[r]
    return H


@kernel
def sort_indices(values):
    """Return the indices of the values in ascending order by insertion sort, since there are few."""
    order = np.arange(values.shape[0])
    for i in range(1, values.shape[0]):
        moved, j = order[i], i
        while j > 0 and values[order[j - 1]] > values[moved]:
            order[j] = order[j - 1]
            j -= 1
        order[j] = moved
    return order


@kernel
def energy_modes(structure, Q, squares, Z):
    """Compute ω² and modes Z, ascending, in the span of orthonormal motions Q (p, n) with C q = diag(c) λ [eq. 9a].

    The number of modes is the length of `squares`.
    """
    H = elastic_energies(structure, Q)
    U = Q.copy()
    diagonalise(H, U)
    order = sort_indices(np.diag(H))
    for i in range(squares.shape[0]):
        squares[i] = H[order[i], order[i]]
        copy_row(U[order[i]], Z[i])


@kernel
def all_motions(structure, A, hard):
    """Return all motions (n - hard, n) that satisfy the ideal rows, orthonormal, approximately by ascending energy.

    A : the structure's response operator, whose independent rows contain `hard` ideal ones
    """
    C = structure.rows
    n = C.shape[1]
    rows = np.empty((hard, n))
    at = 0
    for row in A.order:
        if structure.compliance[row] == 0.0:
            total = 0.0
            for c in range(n):
                total += C[row, c] * C[row, c]
            for c in range(n):
                rows[at, c] = C[row, c] / sqrt(total)
            at += 1
    N = np.eye(n) if hard == 0 else np.ascontiguousarray(np.linalg.svd(rows)[2][hard:])
    H = elastic_energies(structure, N)
    make_symmetric(H)
    U = np.linalg.eigh(H)[1]
    return row_keeping(structure, A, np.dot(np.ascontiguousarray(U.T), N))


@kernel
def row_keeping(structure, A, N):
    """Return orthonormal motions N (p, n) with their displacements along ideal rows removed by the response.

    A null space satisfies rows to the rounding of their largest entry. The entry of a stiff drive is 1e5 times that of
    a body, so its rounding would matter.
    """
    gap = np.dot(N, np.ascontiguousarray(structure.rows.T))
    for r in range(gap.shape[1]):
        if structure.compliance[r] > 0.0:
            gap[:, r] = 0.0
        else:
            for i in range(gap.shape[0]):
                gap[i, r] = -gap[i, r]
    kept = N.copy()
    pushed = np.dot(multipliers(structure, A, np.zeros(N.shape), gap), structure.rows)
    subtract_table(kept, scale_columns(pushed, A.D))
    Q = np.empty(N.shape)
    return Q[: extend(Q, 0, kept)]
