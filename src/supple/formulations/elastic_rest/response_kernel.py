"""Response at a frequency with constraints, from the stiff coordinates first and the others with the rows.

    (Λ (1 + iη) + iω (α + βΛ) - ω²) z + Cᵀλ = f,    κ (C z - e) = λ        (docs/theory/frequency-response.md, eqs. 3-6)

Coordinates far from a resonance of their own are eliminated, for their equations are diagonal. Those left, rigid
motions above all, stay beside the rows: nothing is then divided by what vanishes at 0 Hz or at a body's own resonance.
"""

from __future__ import annotations

import numpy as np

from supple.compilation import kernel
from supple.formulations.elastic_rest.saddle import pivoted_cholesky

VANISHED = 1e-15  # a pivot that is rounding
NEAR = 0.3  # of Λ: a coordinate whose dynamic stiffness is less stays with the rows


@kernel
def independent_rows(C, order):
    """How many rows of C are independent; order[:rank] says which. Rows are to have unit length."""
    m = C.shape[0]
    S = np.dot(C, np.ascontiguousarray(C.T))
    return pivoted_cholesky(S, order, np.zeros((m, m)))


@kernel
def solved(A, B):
    """B ← A⁻¹B by elimination with pivots from each column; A, of entries about one, is overwritten.

    Returns whether A was regular.
    """
    n, p = B.shape
    for k in range(n):
        pivot, largest = k, 0.0
        for i in range(k, n):
            size = abs(A[i, k])
            if size > largest:
                pivot, largest = i, size
        if not largest > VANISHED:
            return False
        if pivot != k:
            for j in range(k, n):
                A[k, j], A[pivot, j] = A[pivot, j], A[k, j]
            for j in range(p):
                B[k, j], B[pivot, j] = B[pivot, j], B[k, j]
        inverse = 1.0 / A[k, k]
        for i in range(k + 1, n):
            factor = A[i, k] * inverse
            if factor != 0.0:
                for j in range(k + 1, n):
                    A[i, j] -= factor * A[k, j]
                for j in range(p):
                    B[i, j] -= factor * B[k, j]
    for k in range(n - 1, -1, -1):
        inverse = 1.0 / A[k, k]
        for j in range(p):
            total = B[k, j]
            for i in range(k + 1, n):
                total -= A[k, i] * B[i, j]
            B[k, j] = total * inverse
    return True


@kernel
def response(D, kept, C, a, b, F, ends, Z, reactions):
    """Z (p, n) and λ (p, m): D z + Cᵀλ = f, a (C z - e) = b λ. Returns whether that has one solution.

    D    : (n,) dynamic stiffness; kept (n,): which coordinates stay with the rows, the others have D ≠ 0
    F    : (p, n) forces; ends (p, m): e
    """
    m, n = C.shape
    p = F.shape[0]
    r = 0
    place = np.empty(n, dtype=np.int64)
    for k in range(n):
        if kept[k]:
            place[r] = k
            r += 1
    CD = np.zeros((m, n), dtype=D.dtype)
    for k in range(n):
        if not kept[k]:
            inverse = 1.0 / D[k]
            for i in range(m):
                CD[i, k] = C[i, k] * inverse
    A = np.zeros((r + m, r + m), dtype=D.dtype)
    B = np.zeros((r + m, p), dtype=D.dtype)
    for i in range(r):
        A[i, i] = D[place[i]]
        for j in range(m):
            A[i, r + j] = C[j, place[i]]
            A[r + j, i] = a[j] * C[j, place[i]]
        for q in range(p):
            B[i, q] = F[q, place[i]]
    for i in range(m):
        for j in range(i + 1):
            total = D[0] * 0.0
            for k in range(n):
                total += CD[i, k] * C[j, k]
            A[r + i, r + j] = -a[i] * total
            A[r + j, r + i] = -a[j] * total
        A[r + i, r + i] -= b[i]
        for q in range(p):
            total = D[0] * 0.0
            for k in range(n):
                total += CD[i, k] * F[q, k]
            B[r + i, q] = a[i] * (ends[q, i] - total)
    if not solved(A, B):
        return False
    for q in range(p):
        for i in range(m):
            reactions[q, i] = B[r + i, q]
        for k in range(n):
            if not kept[k]:
                total = D[0] * 0.0 + F[q, k]
                for i in range(m):
                    total -= C[i, k] * B[r + i, q]
                Z[q, k] = total / D[k]
        for i in range(r):
            Z[q, place[i]] = B[i, q]
    return True


@kernel(purpose="frequency responses")
def lines(stiffness, scale, C, hard, soft, damping, F, ends, G, omega, H, regular):
    """H (L, outputs, p) = G Z(ω) at every ω (L,).

    stiffness : (n,) Λ; scale (n,): what dynamic stiffnesses are divided by, with z in units of its root
    C         : (m, n) the rows, the first `hard` of them ideal; soft (3, m): k, c, J of a row, in units of its length²
    damping   : η, α, β
    """
    eta, alpha, beta = damping
    m, n = C.shape
    D = np.empty(n, dtype=np.complex128)
    kept = np.empty(n, dtype=np.bool_)
    a = np.empty(m, dtype=np.complex128)
    b = np.empty(m, dtype=np.complex128)
    Z = np.empty((F.shape[0], n), dtype=np.complex128)
    reactions = np.empty((F.shape[0], m), dtype=np.complex128)
    for line in range(omega.shape[0]):
        w = omega[line]
        for k in range(n):
            D[k] = complex(stiffness[k] - w * w, eta * stiffness[k] + w * (alpha + beta * stiffness[k]))
            kept[k] = not abs(D[k]) > NEAR * stiffness[k] or stiffness[k] == 0.0
            D[k] /= scale[k]
        for i in range(m):
            a[i], b[i] = 1.0, 0.0
            if i >= hard:
                k0, c0, J0 = soft[0, i], soft[1, i], soft[2, i]
                kappa = complex(k0 - w * w * J0, eta * k0 + w * (beta * k0 + c0))
                if abs(kappa) > 1.0:
                    b[i] = 1.0 / kappa
                else:
                    a[i], b[i] = kappa, 1.0
        regular[line] = response(D, kept, C, a, b, F, ends, Z, reactions)
        for o in range(G.shape[0]):
            for q in range(F.shape[0]):
                total = 0.0j
                for k in range(n):
                    total += G[o, k] * Z[q, k]
                H[line, o, q] = total


@kernel(purpose="static responses")
def at_rest(stiffness, scale, hard, k, rows, F, ends, Z, reactions, regular):
    """Z (N, p, n) and λ (N, p, m) under forces F (N, p, n) and with row values ends (p, m), at N configurations.

    rows : (N, m, n), the first `hard` of them ideal, the others springs of stiffness k (m,); λ is 0 on ideal rows that
    depend on the others
    """
    m, n = rows.shape[1], rows.shape[2]
    p = F.shape[1]
    root = np.sqrt(scale)
    D = stiffness / scale
    kept = stiffness == 0.0
    order = np.empty(hard, dtype=np.int64)
    chosen = np.empty(m, dtype=np.int64)
    for item in range(rows.shape[0]):
        C = rows[item] / root
        length = np.empty(m)
        for i in range(m):
            total = 0.0
            for c in range(n):
                total += C[i, c] * C[i, c]
            length[i] = np.sqrt(total) if total > 0.0 else 1.0
            for c in range(n):
                C[i, c] /= length[i]
        rank = independent_rows(C[:hard], order)
        count = rank + m - hard
        for i in range(rank):
            chosen[i] = order[i]
        for i in range(hard, m):
            chosen[rank + i - hard] = i
        some = np.empty((count, n))
        a, b = np.ones(count), np.zeros(count)
        for i in range(count):
            some[i] = C[chosen[i]]
            if i >= rank:
                kappa = k[chosen[i]] * length[chosen[i]] ** 2
                if kappa > 1.0:
                    b[i] = 1.0 / kappa
                else:
                    a[i], b[i] = kappa, 1.0
        forces = F[item] / root
        wanted = np.empty((p, count))
        for q in range(p):
            for i in range(count):
                wanted[q, i] = ends[q, chosen[i]] / length[chosen[i]]
        z = np.empty((p, n))
        found = np.empty((p, count))
        regular[item] = response(D, kept, some, a, b, forces, wanted, z, found)
        reactions[item] = 0.0
        for q in range(p):
            for c in range(n):
                Z[item, q, c] = z[q, c] / root[c]
            for i in range(count):
                reactions[item, q, chosen[i]] = found[q, i] / length[chosen[i]]
