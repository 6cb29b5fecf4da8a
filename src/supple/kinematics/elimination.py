"""Solving the joint and coordinate rows [Φ_q; A] x = ρ, whatever their redundancy.

Body by body from the ground outwards, the rows of its tree joint give as many of its velocities, chosen by
complete pivoting inside the body's own block, in terms of its parent's and of its free columns z. What
remains are the rows of loops and coordinates in z alone, a small dense system G z = g: Householder QR with
column pivoting solves it in the sense of least squares, so that redundant rows need no selection. Joint
blocks are regular whenever their joint is near closure, hence rank deficiency can only appear in G.

Everything is in scaled velocities (v / extent, ω) and scaled rows (lengths / extent).
"""

from __future__ import annotations

import numpy as np

from supple.compilation import kernel
from supple.kinematics.householder import householder, sign_of_selected, solve_dense
from supple.kinematics.primitives import SCALE, gradient


@kernel
def workspace(sizes):
    """Arrays for one factorisation: J, values, blocks, order, T, G, tau, pivots (see below)."""
    nb, d, rows, nz = sizes[0], sizes[1], sizes[3] + sizes[4], sizes[6]
    return (
        np.empty((rows, 2, d)),
        np.empty(rows),
        np.empty((nb, d, 3 * d)),
        np.empty((nb, d), np.int64),
        np.zeros((nb + 1, d, nz)),
        np.empty((rows - sizes[2], nz)),
        np.empty(nz),
        np.empty(nz, np.int64),
    )


@kernel
def factor(rows, selected, X, work):
    """Factorise [Φ_q; A] at X into `work`. Returns (full rank, sign of the determinant).

    Of redundant rows the sign is that of the `selected` ones, as many as there are free columns.
    """
    sizes, tree, reach, column, rows_i, rows_f, extent = rows
    J, values, blocks, order, T, G, tau, pivots = work
    m2, nz = sizes[3] + sizes[4] - sizes[2], sizes[6]
    scaled_rows(sizes, column, rows_i, rows_f, extent, X, J, values)
    sign = eliminate_tree(sizes, tree, reach, rows_i, J, blocks, order, T, G)
    if m2 > nz:
        sign *= sign_of_selected(G, selected, nz)
    rank, turn = householder(G, m2, nz, tau, pivots)
    if m2 == nz:
        sign *= turn
    return rank == nz, sign


@kernel
def scaled_rows(sizes, column, rows_i, rows_f, extent, X, J, values):
    """Values and scaled gradients J[i, side, column] of the joint and coordinate rows."""
    d = sizes[1]
    g = np.empty(13)
    for i in range(sizes[3] + sizes[4]):
        gradient(rows_i, rows_f, i, X, g)
        values[i] = g[0]
        inverse = 1.0 / rows_f[i, SCALE]
        for c in range(d):
            k = column[c]
            factor = inverse * extent if k < 3 else inverse
            J[i, 0, c] = factor * g[1 + k]
            J[i, 1, c] = factor * g[7 + k]


@kernel
def eliminate_tree(sizes, tree, reach, rows_i, J, blocks, order, T, G):
    """Gauss-Jordan of every body's tree joint; fills T (x = T z) and G. Returns the sign of the pivots.

    blocks : (bodies, d, 3d) reduced rows [child, pivots first | right side | parent]
    order  : (bodies, d) the child's columns in the order of the pivots, then the free ones
    """
    nb, d, nt, mc, s, nz = sizes[0], sizes[1], sizes[2], sizes[3], sizes[4], sizes[6]
    sign = 1.0
    for c in range(nb):
        parent, start, r, free, side = tree[c, 0], tree[c, 1], tree[c, 2], tree[c, 3], tree[c, 4]
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
    for i in range(nt, mc + s):
        for z in range(nz):
            G[i - nt, z] = 0.0
        for side in range(2):
            b = rows_i[i, 1 + side]
            for n in range(reach[b, 0]):
                z = reach[b, 1 + n]
                total = 0.0
                for q in range(d):
                    total += J[i, side, q] * T[b, q, z]
                G[i - nt, z] += total
    return sign


@kernel
def solve(rows, work, rho, count, x, g):
    """x (bodies + 1, d, count) with [Φ_q; A] x = ρ, ρ (rows, count), both scaled; g (rows, count) is workspace."""
    sizes, tree, reach, _, rows_i, _, _ = rows
    J, _, blocks, order, T, G, tau, pivots = work
    nb, d, nt, mc, s, nz = sizes[0], sizes[1], sizes[2], sizes[3], sizes[4], sizes[6]
    for q in range(d):
        for c in range(count):
            x[nb, q, c] = 0.0
    for b in range(nb):
        parent, start, r = tree[b, 0], tree[b, 1], tree[b, 2]
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
    for i in range(nt, mc + s):
        a, b = rows_i[i, 1], rows_i[i, 2]
        for c in range(count):
            g[i - nt, c] = rho[i, c]
        for q in range(d):
            fa, fb = J[i, 0, q], J[i, 1, q]
            for c in range(count):
                g[i - nt, c] -= fa * x[a, q, c] + fb * x[b, q, c]
    solve_dense(G, mc + s - nt, nz, tau, pivots, g, count)
    for b in range(nb):
        for n in range(reach[b, 0]):
            z = reach[b, 1 + n]
            for q in range(d):
                factor = T[b, q, z]
                for c in range(count):
                    x[b, q, c] += factor * g[z, c]
