"""Solution of the joint and coordinate rows [Φ_q; A] x = ρ, whatever their redundancy.

Body by body from the ground outwards, the rows of its tree joint give as many of its velocities, chosen by complete
pivoting inside the body's own block, in terms of its parent's and of its free columns z. There remain the rows of loops
and coordinates in z alone, a small dense system G z = g. Householder QR with column pivoting solves it in the sense of
least squares, so that redundant rows need no selection. Joint blocks are regular whenever their joint is near closure,
hence rank deficiency can only appear in G.

Everything is in scaled velocities (v / extent, ω) and scaled rows (lengths / extent).
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from supple.array_types import Array, Integers
from supple.compilation import kernel
from supple.kinematics.primitives import NONE, SCALE, THEN, A, B, gradient
from supple.kinematics.row_arrays import CHILD_SIDE, FIRST_FREE, FIRST_ROW, PARENT, ROW_COUNT, row_sizes

# Small dense systems, possibly with more rows than unknowns: Householder QR with column pivoting.


RANK_TOLERANCE = 1e-11  # of the diagonal of R against its first entry


@kernel
def householder(G, m, n, tau, pivots):
    """Factorise G (m x n) = QR in place with column pivoting, R on and above the diagonal.

    Returns (rank, sign of det).
    """
    sign = 1.0
    rank = 0
    first = 0.0
    norms = np.zeros(n)  # squared norms of the remainders of the columns
    known = np.zeros(n)  # and their values when last summed
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
    """Return the last over the first diagonal entry of R: how far the columns are from dependent."""
    return abs(G[n - 1, n - 1] / G[0, 0]) if n > 0 else 1.0


@kernel
def solve_dense(G, m, n, tau, pivots, g, count):
    """Compute z (n x count) with least |G z - g|; g (m x count) is overwritten with z in its first n rows."""
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
    """Return the sign of the determinant of the selected rows of G (n x n), by elimination with row pivoting."""
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


# The rows of a mechanism: factorisation and solution.


class Workspace(NamedTuple):
    """Arrays of one factorisation.

    J      : (terms, 2, d) scaled gradients of the terms of joint and coordinate rows on their sides a and b
    values : (terms,) values of these terms
    blocks : (bodies, d, 3d) reduced rows [child, pivots first | right side | parent] of each tree joint
    order  : (bodies, d) the child's columns in the order of the pivots, then the free ones
    T      : (bodies + 1, d, free) x = T z
    G      : (other rows, free) factorised, with `tau` and `pivots`
    """

    J: Array
    values: Array
    blocks: Array
    order: Integers
    T: Array
    G: Array
    tau: Array
    pivots: Integers


@kernel
def workspace(rows):
    """Allocate the arrays for one factorisation."""
    sizes = row_sizes(rows)
    nb, d, terms = sizes.bodies, sizes.width, rows.rows_i.shape[0]
    return Workspace(
        np.empty((terms, 2, d)),
        np.empty(terms),
        np.empty((nb, d, 3 * d)),
        np.empty((nb, d), np.int64),
        np.zeros((nb + 1, d, sizes.free)),
        np.empty((sizes.joint_rows + sizes.coordinates - sizes.tree_rows, sizes.free)),
        np.empty(sizes.free),
        np.empty(sizes.free, np.int64),
    )


@kernel
def factor(rows, selected, X, work):
    """Factorise [Φ_q; A] at X into `work`. Returns (full rank, sign of the determinant).

    For redundant rows the sign is that of the `selected` ones, as many as there are free columns.
    """
    sizes = row_sizes(rows)
    others, free = sizes.joint_rows + sizes.coordinates - sizes.tree_rows, sizes.free
    scaled_rows(rows, X, work)
    sign = eliminate_tree(rows, work)
    if others > free:
        sign *= sign_of_selected(work.G, selected, free)
    rank, turn = householder(work.G, others, free, work.tau, work.pivots)
    if others == free:
        sign *= turn
    return rank == free, sign


@kernel
def scaled_rows(rows, X, work):
    """Compute values and scaled gradients J[term, side, column] of the terms of joint and coordinate rows.

    All terms of a row of the tree are between the two bodies of its joint: J of the first is that of their sum.
    """
    sizes, column, rows_i, rows_f = row_sizes(rows), rows.column, rows.rows_i, rows.rows_f
    J, values, extent = work.J, work.values, rows.extent
    g = np.empty(13)
    for i in range(sizes.joint_rows + sizes.coordinates):
        inverse = 1.0 / rows_f[i, SCALE]
        term = i
        while term != NONE:
            gradient(rows_i, rows_f, term, X, g)
            values[term] = g[0]
            for c in range(sizes.width):
                k = column[c]
                factor = inverse * extent if k < 3 else inverse
                J[term, 0, c] = factor * g[1 + k]
                J[term, 1, c] = factor * g[7 + k]
            if term != i and i < sizes.tree_rows:
                add_to_first(rows_i, i, term, J)
            term = rows_i[term, THEN]


@kernel(inline=True)
def add_to_first(rows_i, i, term, J):
    """Add the gradients of a further term of row i to those of its first, and clear them."""
    side = 0 if rows_i[term, A] == rows_i[i, A] else 1
    for c in range(J.shape[2]):
        J[i, 0, c] += J[term, side, c]
        J[i, 1, c] += J[term, 1 - side, c]
        J[term, 0, c] = J[term, 1, c] = 0.0


@kernel
def eliminate_tree(rows, work):
    """Eliminate every body's tree joint (Gauss-Jordan); fills T and G. Returns the sign of the pivots."""
    sizes, tree, reach, rows_i = row_sizes(rows), rows.tree, rows.reach, rows.rows_i
    J, blocks, order, T, G = work.J, work.blocks, work.order, work.T, work.G
    nb, d, nt = sizes.bodies, sizes.width, sizes.tree_rows
    sign = 1.0
    for c in range(nb):
        parent, start, r = tree[c, PARENT], tree[c, FIRST_ROW], tree[c, ROW_COUNT]
        free, side = tree[c, FIRST_FREE], tree[c, CHILD_SIDE]
        last = d + r if parent == nb else 2 * d + r  # the ground does not move
        for i in range(r):
            for q in range(d):
                blocks[c, i, q] = J[start + i, side, q]
                blocks[c, i, d + r + q] = J[start + i, 1 - side, q]
            for q in range(d, d + r):
                blocks[c, i, q] = 0.0
            blocks[c, i, d + i] = 1.0
        for q in range(d):
            order[c, q] = q
        for i in range(r):
            row, col, best = i, i, -1.0
            for k in range(i, r):
                for q in range(i, d):
                    size = abs(blocks[c, k, q])
                    if size > best:
                        best, row, col = size, k, q
            if row != i:
                sign = -sign
                for q in range(i, last):
                    blocks[c, i, q], blocks[c, row, q] = blocks[c, row, q], blocks[c, i, q]
            if col != i:
                sign = -sign
                order[c, i], order[c, col] = order[c, col], order[c, i]
                for k in range(r):
                    blocks[c, k, i], blocks[c, k, col] = blocks[c, k, col], blocks[c, k, i]
            pivot = blocks[c, i, i]
            if pivot < 0.0:
                sign = -sign
            inverse = 1.0 / pivot
            for q in range(i + 1, last):
                blocks[c, i, q] *= inverse
            for k in range(r):
                factor = blocks[c, k, i]
                if k != i and factor != 0.0:
                    for q in range(i + 1, last):
                        blocks[c, k, q] -= factor * blocks[c, i, q]
        for k in range(d - r):
            for q in range(r, d):
                T[c, order[c, q], free + k] = 0.0
            T[c, order[c, r + k], free + k] = 1.0
            for i in range(r):
                T[c, order[c, i], free + k] = -blocks[c, i, r + k]
        for n in range(reach[parent, 0]):
            z = reach[parent, 1 + n]
            for q in range(r, d):
                T[c, order[c, q], z] = 0.0
            for i in range(r):
                total = 0.0
                for q in range(d):
                    total += blocks[c, i, d + r + q] * T[parent, q, z]
                T[c, order[c, i], z] = -total
    for i in range(nt, sizes.joint_rows + sizes.coordinates):
        for z in range(sizes.free):
            G[i - nt, z] = 0.0
        term = i
        while term != NONE:
            for side in range(2):
                b = rows_i[term, A + side]
                for n in range(reach[b, 0]):
                    z = reach[b, 1 + n]
                    total = 0.0
                    for q in range(d):
                        total += J[term, side, q] * T[b, q, z]
                    G[i - nt, z] += total
            term = rows_i[term, THEN]
    return sign


@kernel
def solve(rows, work, rho, count, x, g):
    """Solve [Φ_q; A] x = ρ for x (bodies + 1, d, count); ρ (rows, count), both scaled; g (rows, count) is workspace."""
    sizes, tree, reach, rows_i = row_sizes(rows), rows.tree, rows.reach, rows.rows_i
    J, blocks, order, T = work.J, work.blocks, work.order, work.T
    nb, d, nt = sizes.bodies, sizes.width, sizes.tree_rows
    last = sizes.joint_rows + sizes.coordinates
    for q in range(d):
        for c in range(count):
            x[nb, q, c] = 0.0
    for b in range(nb):
        parent, start, r = tree[b, PARENT], tree[b, FIRST_ROW], tree[b, ROW_COUNT]
        for k in range(r, d):
            for c in range(count):
                x[b, order[b, k], c] = 0.0
        for i in range(r):
            to = order[b, i]
            for c in range(count):
                x[b, to, c] = 0.0
            for k in range(r):
                factor = blocks[b, i, d + k]
                if factor != 0.0:
                    for c in range(count):
                        x[b, to, c] += factor * rho[start + k, c]
            if parent < nb:
                for q in range(d):
                    factor = blocks[b, i, d + r + q]
                    if factor != 0.0:
                        for c in range(count):
                            x[b, to, c] -= factor * x[parent, q, c]
    for i in range(nt, last):
        for c in range(count):
            g[i - nt, c] = rho[i, c]
        term = i
        while term != NONE:
            a, b = rows_i[term, A], rows_i[term, B]
            for q in range(d):
                fa, fb = J[term, 0, q], J[term, 1, q]
                for c in range(count):
                    g[i - nt, c] -= fa * x[a, q, c] + fb * x[b, q, c]
            term = rows_i[term, THEN]
    solve_dense(work.G, last - nt, sizes.free, work.tau, work.pivots, g, count)
    for b in range(nb):
        for n in range(reach[b, 0]):
            z = reach[b, 1 + n]
            for q in range(d):
                factor = T[b, q, z]
                for c in range(count):
                    x[b, q, c] += factor * g[z, c]
