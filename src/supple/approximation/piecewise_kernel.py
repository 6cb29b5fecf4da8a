"""Kernels that evaluate a piecewise polynomial: find the leaf, tabulate the basis, sum the terms.

Points go in blocks of up to BLOCK: the search descends all of them together, so that their cache misses and
comparisons overlap, and the basis is tabulated for all of them side by side. A point's result does not depend on
its companions. Flat arrays and unsigned offsets let the compiler prove that no index is negative and pack the loops;
no slice is taken per point.
"""

from __future__ import annotations

import numpy as np

from supple.compilation import kernel

NOWHERE = -1
BLOCK = 32


@kernel
def locate_block(arrays, X, start, count, found):
    """The leaf of each of `count` points from point `start` of the flat X on, or NOWHERE."""
    roots_f, roots_i, nodes_i, nodes_f = arrays[0].reshape(-1), arrays[1], arrays[2].reshape(-1), arrays[3]
    s = np.uint64(arrays[0].shape[2])
    one, two, three = np.uint64(1), np.uint64(2), np.uint64(3)
    x = np.uint64(start) * s
    for p in range(count):
        child = NOWHERE
        for r in range(np.uint64(arrays[1].shape[0])):
            inside = True
            at = r * two * s
            for i in range(s):
                inside &= (roots_f[at + i] <= X[x + i]) & (X[x + i] <= roots_f[at + s + i])
            if inside:
                child = roots_i[r]
                break
        found[p] = child
        x += s
    going = True
    while going:
        going = False
        x = np.uint64(start) * s
        for p in range(count):
            if found[p] >= 0:
                node = np.uint64(found[p])
                above = X[x + np.uint64(nodes_i[three * node])] >= nodes_f[node]
                child = nodes_i[three * node + (two if above else one)]
                found[p] = child
                going |= child >= 0
            x += s
    for p in range(count):
        if found[p] != NOWHERE:
            found[p] = -2 - found[p]
        elif roots_i.shape[0] > 1:  # on a face of two roots, the other one may have been fitted
            found[p] = locate(arrays, X, start + p)


@kernel
def locate(arrays, X, point):
    """The leaf of one point of the flat X, looked for in every root, or NOWHERE."""
    roots_f, roots_i, nodes_i, nodes_f = arrays[0], arrays[1], arrays[2], arrays[3]
    x = point * roots_f.shape[2]
    for r in range(roots_f.shape[0]):
        inside = True
        for i in range(roots_f.shape[2]):
            inside &= (roots_f[r, 0, i] <= X[x + i]) & (X[x + i] <= roots_f[r, 1, i])
        if inside:
            child = roots_i[r]
            while child >= 0:
                child = nodes_i[child, 2] if X[x + nodes_i[child, 0]] >= nodes_f[child] else nodes_i[child, 1]
            if child != NOWHERE:
                return -2 - child
    return NOWHERE


@kernel
def tabulate(arrays, X, start, count, leaves, T, B):
    """Products T_α(ξ) of all points of a block, B[term * count + point]; returns the number of terms.

    T[(axis * (degree + 1) + n) * count + point] holds T_n(ξ_axis).
    """
    degree, terms = _extent(arrays, count, leaves)
    _one_dimensional(arrays, X, start, count, leaves, degree, T)
    indices = arrays[6].reshape(-1)
    s, lanes, width = np.uint64(arrays[6].shape[1]), np.uint64(count), np.uint64(degree + 1)
    j, b = np.uint64(0), np.uint64(0)
    for _ in range(terms):
        at = np.uint64(indices[j]) * lanes
        for p in range(lanes):
            B[b + p] = T[at + p]
        for i in range(np.uint64(1), s):
            n = np.uint64(indices[j + i])
            if n > 0:
                at = (i * width + n) * lanes
                for p in range(lanes):
                    B[b + p] *= T[at + p]
        j += s
        b += lanes
    return terms


@kernel
def tabulate_slopes(arrays, X, start, count, leaves, T, dT, B, dB):
    """The same, and ∂T_α/∂x_j in dB[(j * terms + term) * count + point]."""
    leaves_f, indices = arrays[5].reshape(-1), arrays[6]
    terms = tabulate(arrays, X, start, count, leaves, T, B)
    degree = _extent(arrays, count, leaves)[0]
    s, width = indices.shape[1], degree + 1
    for i in range(s):
        for p in range(count):
            inverse = 0.0 if leaves[p] == NOWHERE else leaves_f[(2 * leaves[p] + 1) * s + i]
            q = i * width * count + p
            dT[q] = 0.0
            if degree > 0:
                dT[q + count] = inverse
                twice = 2.0 * T[q + count]
                for _ in range(2, width):
                    q += count
                    dT[q + count] = 2.0 * inverse * T[q] + twice * dT[q] - dT[q - count]
    for j in range(s):
        for k in range(terms):
            b = (j * terms + k) * count
            at = (j * width + indices[k, j]) * count
            for p in range(count):
                dB[b + p] = dT[at + p]
            if indices[k, j] > 0:
                for i in range(s):
                    if i != j and indices[k, i] > 0:
                        at = (i * width + indices[k, i]) * count
                        for p in range(count):
                            dB[b + p] *= T[at + p]
    return terms


@kernel
def _extent(arrays, count, leaves):
    """Highest degree and largest number of terms among the leaves of a block."""
    degree, terms = 0, 0
    for p in range(count):
        if leaves[p] != NOWHERE:
            degree = max(degree, arrays[4][leaves[p], 2])
            terms = max(terms, arrays[4][leaves[p], 1])
    return degree, terms


@kernel
def _one_dimensional(arrays, X, start, count, leaves, degree, T):
    """T_n(ξ_i) of a block; ξ = 0 for points outside."""
    leaves_f = arrays[5].reshape(-1)
    s, lanes = np.uint64(arrays[6].shape[1]), np.uint64(count)
    width = np.uint64(degree + 1) * lanes
    one, two = np.uint64(1), np.uint64(2)
    x = np.uint64(start) * s
    for p in range(lanes):
        inside = leaves[p] != NOWHERE
        at = two * s * np.uint64(leaves[p] if inside else 0)
        for i in range(s):
            T[i * width + p] = 1.0
            if degree > 0:
                T[i * width + lanes + p] = (X[x + i] - leaves_f[at + i]) * leaves_f[at + s + i] if inside else 0.0
        x += s
    for i in range(s):
        xi = i * width + lanes
        for n in range(two, np.uint64(degree) + one):
            at = i * width + n * lanes
            for p in range(lanes):
                T[at + p] = 2.0 * T[xi + p] * T[at - lanes + p] - T[at - two * lanes + p]


@kernel
def sum_block(arrays, leaves, count, B, b, columns, Y, y, pitch):
    """Y[y + pitch p + o] = Σ_k B[b + k count + p] c_k,o on the leaf of point p; nan outside.

    columns : the first output and the one after the last; o counts from the first
    Ten terms in the first pass over the outputs (a quadratic of three coordinates needs no second one), then five at a
    time, then the rest: every pass loads and stores the outputs and checks that its arrays do not overlap.
    """
    leaves_i, C, stride = arrays[4], arrays[7].reshape(-1), np.uint64(arrays[7].shape[1])
    lanes, width = np.uint64(count), np.uint64(columns[1] - columns[0])
    one, five, ten = np.uint64(1), np.uint64(5), np.uint64(10)
    for p in range(count):
        at = np.uint64(y + pitch * p)
        if leaves[p] == NOWHERE:
            for o in range(width):
                Y[at + o] = np.nan
            continue
        terms = np.uint64(leaves_i[leaves[p], 1])
        c = np.uint64(leaves_i[leaves[p], 0]) * stride + np.uint64(columns[0])
        q = np.uint64(b + p)
        if terms >= ten:
            c1 = c + stride
            c2 = c1 + stride
            c3 = c2 + stride
            c4 = c3 + stride
            c5 = c4 + stride
            c6 = c5 + stride
            c7 = c6 + stride
            c8 = c7 + stride
            c9 = c8 + stride
            b0, b1, b2, b3 = B[q], B[q + lanes], B[q + lanes + lanes], B[q + lanes + lanes + lanes]
            q += np.uint64(4) * lanes
            b4, b5, b6, b7 = B[q], B[q + lanes], B[q + lanes + lanes], B[q + lanes + lanes + lanes]
            q += np.uint64(4) * lanes
            b8, b9 = B[q], B[q + lanes]
            q += lanes + lanes
            for o in range(width):
                Y[at + o] = (
                    b0 * C[c + o]
                    + b1 * C[c1 + o]
                    + b2 * C[c2 + o]
                    + b3 * C[c3 + o]
                    + b4 * C[c4 + o]
                    + b5 * C[c5 + o]
                    + b6 * C[c6 + o]
                    + b7 * C[c7 + o]
                    + b8 * C[c8 + o]
                    + b9 * C[c9 + o]
                )
            c = c9 + stride
            terms -= ten
        else:
            for o in range(width):
                Y[at + o] = 0.0
        while terms >= five:
            c1 = c + stride
            c2 = c1 + stride
            c3 = c2 + stride
            c4 = c3 + stride
            b0, b1, b2, b3 = B[q], B[q + lanes], B[q + lanes + lanes], B[q + lanes + lanes + lanes]
            q += np.uint64(4) * lanes
            b4 = B[q]
            q += lanes
            for o in range(width):
                Y[at + o] += b0 * C[c + o] + b1 * C[c1 + o] + b2 * C[c2 + o] + b3 * C[c3 + o] + b4 * C[c4 + o]
            c = c4 + stride
            terms -= five
        while terms > 0:
            b0 = B[q]
            for o in range(width):
                Y[at + o] += b0 * C[c + o]
            q += lanes
            c += stride
            terms -= one


@kernel
def workspace(arrays, count):
    """T or dT, and B, for blocks of `count` points; B of derivatives needs s times as much."""
    degree = 0
    for leaf in range(arrays[4].shape[0]):
        degree = max(degree, arrays[4][leaf, 2])
    terms, s = arrays[6].shape
    return np.empty(s * (degree + 1) * count), np.empty(terms * count)


@kernel
def locate_batch(arrays, x, found):
    """Leaves of many points (N, s)."""
    X = x.reshape(-1)
    at = np.empty(BLOCK, dtype=np.int64)
    for start in range(0, x.shape[0], BLOCK):
        count = min(BLOCK, x.shape[0] - start)
        locate_block(arrays, X, start, count, at)
        for p in range(count):
            found[start + p] = at[p]


@kernel
def evaluate_batch(arrays, x, values, inside):
    """f at many points (N, s); inside[n] is 0 where x[n] lies outside, and its values are then nan."""
    X, Y = x.reshape(-1), values.reshape(-1)
    T, B = workspace(arrays, min(BLOCK, x.shape[0]))
    leaves = np.empty(BLOCK, dtype=np.int64)
    t = values.shape[1]
    for start in range(0, x.shape[0], BLOCK):
        count = min(BLOCK, x.shape[0] - start)
        locate_block(arrays, X, start, count, leaves)
        tabulate(arrays, X, start, count, leaves, T, B)
        sum_block(arrays, leaves, count, B, 0, (0, t), Y, start * t, t)
        for p in range(count):
            inside[start + p] = 0 if leaves[p] == NOWHERE else 1


@kernel
def gradient_batch(arrays, x, values, slopes, inside):
    """f and its gradient (N, t, s) at many points."""
    X, Y = x.reshape(-1), values.reshape(-1)
    T, B = workspace(arrays, min(BLOCK, x.shape[0]))
    s, t = x.shape[1], values.shape[1]
    dT, dB = np.empty(T.shape[0]), np.empty(s * B.shape[0])
    leaves = np.empty(BLOCK, dtype=np.int64)
    along = np.empty(BLOCK * t)
    for start in range(0, x.shape[0], BLOCK):
        count = min(BLOCK, x.shape[0] - start)
        locate_block(arrays, X, start, count, leaves)
        terms = tabulate_slopes(arrays, X, start, count, leaves, T, dT, B, dB)
        sum_block(arrays, leaves, count, B, 0, (0, t), Y, start * t, t)
        for j in range(s):
            sum_block(arrays, leaves, count, dB, j * terms * count, (0, t), along, 0, t)
            for p in range(count):
                for o in range(t):
                    slopes[start + p, o, j] = along[p * t + o]
        for p in range(count):
            inside[start + p] = 0 if leaves[p] == NOWHERE else 1
