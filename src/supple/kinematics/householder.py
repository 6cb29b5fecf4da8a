"""Small dense systems, possibly with more rows than unknowns: Householder QR with column pivoting."""

from __future__ import annotations

from math import sqrt

import numpy as np

from supple.compilation import kernel

RANK_TOLERANCE = 1e-11  # of the diagonal of R against its first entry


@kernel
def householder(G, m, n, tau, pivots):
    """QR of G (m x n) in place with column pivoting, R on and above the diagonal. Returns (rank, sign of det)."""
    sign = 1.0
    rank = 0
    first = 0.0
    norms = np.zeros(n)  # squares of what is left of each column
    known = np.zeros(n)  # and of what it was when last summed
    totals = np.empty(n)
    for i in range(m):
        for q in range(n):
            norms[q] += G[i, q] * G[i, q]
    for j in range(n):
        pivots[j] = j
        known[j] = norms[j]
    for j in range(min(m, n)):
        best, col = -1.0, j
        for q in range(j, n):
            if norms[q] < 1e-6 * known[q]:  # too much cancelled: sum anew
                size = 0.0
                for i in range(j, m):
                    size += G[i, q] * G[i, q]
                norms[q] = known[q] = size
            if norms[q] > best * (1.0 + 1e-12):
                best, col = norms[q], q
        if col != j:
            sign = -sign
            pivots[j], pivots[col] = pivots[col], pivots[j]
            norms[j], norms[col] = norms[col], norms[j]
            known[j], known[col] = known[col], known[j]
            for i in range(m):
                G[i, j], G[i, col] = G[i, col], G[i, j]
        size = 0.0
        for i in range(j, m):
            size += G[i, j] * G[i, j]
        norm = sqrt(size)
        if j == 0:
            first = norm
        if norm <= RANK_TOLERANCE * first:
            break
        rank += 1
        alpha = -norm if G[j, j] > 0.0 else norm
        # H = I - τ v vᵀ with v_j = 1, H g = α e_j
        if m - j > 1:
            sign = -sign
            head = G[j, j] - alpha
            for i in range(j + 1, m):
                G[i, j] /= head
            tau[j] = -head / alpha
        else:
            alpha = G[j, j]
            tau[j] = 0.0
        if alpha < 0.0:
            sign = -sign
        G[j, j] = alpha
        for q in range(j + 1, n):
            totals[q] = G[j, q]
        for i in range(j + 1, m):
            v = G[i, j]
            for q in range(j + 1, n):
                totals[q] += v * G[i, q]
        for q in range(j + 1, n):
            totals[q] *= tau[j]
            G[j, q] -= totals[q]
            norms[q] -= G[j, q] * G[j, q]
        for i in range(j + 1, m):
            v = G[i, j]
            for q in range(j + 1, n):
                G[i, q] -= v * totals[q]
    return rank, sign


@kernel
def last_over_first(G, n):
    """Last over first diagonal entry of R: how far the columns are from dependent."""
    return abs(G[n - 1, n - 1] / G[0, 0]) if n > 0 else 1.0


@kernel
def solve_dense(G, m, n, tau, pivots, g, count):
    """z (n x count) with least |G z - g|; g (m x count) is overwritten with z in its first n rows."""
    for j in range(n):
        for c in range(count):
            total = g[j, c]
            for i in range(j + 1, m):
                total += G[i, j] * g[i, c]
            total *= tau[j]
            g[j, c] -= total
            for i in range(j + 1, m):
                g[i, c] -= total * G[i, j]
    for j in range(n - 1, -1, -1):
        inverse = 1.0 / G[j, j]
        for c in range(count):
            total = g[j, c]
            for q in range(j + 1, n):
                total -= G[j, q] * g[q, c]
            g[j, c] = total * inverse
    # undo the column pivoting in place, cycle by cycle
    for c in range(count):
        z = np.empty(n)
        for j in range(n):
            z[pivots[j]] = g[j, c]
        for j in range(n):
            g[j, c] = z[j]


@kernel
def sign_of_selected(G, selected, n):
    """Sign of the determinant of the selected rows of G (n x n), by elimination with row pivoting."""
    A = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            A[i, j] = G[selected[i], j]
    sign = 1.0
    for j in range(n):
        best, row = -1.0, j
        for i in range(j, n):
            if abs(A[i, j]) > best:
                best, row = abs(A[i, j]), i
        if best == 0.0:
            return 0.0
        if row != j:
            sign = -sign
            for q in range(j, n):
                A[j, q], A[row, q] = A[row, q], A[j, q]
        if A[j, j] < 0.0:
            sign = -sign
        for i in range(j + 1, n):
            factor = A[i, j] / A[j, j]
            for q in range(j + 1, n):
                A[i, q] -= factor * A[j, q]
    return sign
