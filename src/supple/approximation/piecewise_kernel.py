"""Kernels that evaluate a piecewise polynomial: find the leaf, tabulate the basis, sum the terms.

They take the function as two flat arrays, integers Z and numbers F, see `packed_arrays`: a call from Python pays for
every array it passes, and a kernel for every view it makes. Unsigned offsets let the compiler see that no index is
negative, and pack the loops.

Points go in blocks of up to BLOCK: the search descends all of them together, so that their cache misses overlap, and
the basis is tabulated for all of them side by side. A point's result does not depend on its companions.
"""

from __future__ import annotations

import numpy as np

from supple.compilation import kernel

NOWHERE = -1
BLOCK = 32
HEADER = 16

# Places in the header of Z. Sizes, then where the parts begin, in Z and in F.
S, OUTPUTS, TERMS, DEGREE, ROOTS = 0, 1, 2, 3, 4
ROOTS_I, NODES_I, LEAVES_I, INDICES, ROOTS_F, NODES_F, LEAVES_F, COEFFICIENTS = 5, 6, 7, 8, 9, 10, 11, 12


def packed_arrays(roots_f, roots_i, nodes_i, nodes_f, leaves_i, leaves_f, indices, coefficients):
    """Z and F from the parts of `PiecewiseArrays`: a header, then the parts, each row by row."""
    integers, numbers = (roots_i, nodes_i, leaves_i, indices), (roots_f, nodes_f, leaves_f, coefficients)
    header = np.zeros(HEADER, dtype=np.int64)
    header[S], header[OUTPUTS] = roots_f.shape[2], coefficients.shape[1]
    header[TERMS], header[DEGREE], header[ROOTS] = len(indices), leaves_i[:, 2].max(initial=0), len(roots_i)
    header[ROOTS_I : INDICES + 1] = np.cumsum([HEADER, *(part.size for part in integers[:-1])])
    header[ROOTS_F : COEFFICIENTS + 1] = np.cumsum([0, *(part.size for part in numbers[:-1])])
    return (
        np.concatenate([header, *(part.ravel() for part in integers)]).astype(np.int64),
        np.concatenate([part.ravel() for part in numbers]).astype(np.float64),
    )


@kernel
def work_size(Z, count):
    """Numbers of workspace for blocks of `count` points: T, B, dT, dB, one after the other."""
    return count * (2 * Z[S] * (Z[DEGREE] + 1) + (1 + Z[S]) * Z[TERMS])


@kernel
def locate_block(Z, F, X, start, count, leaves):
    """The leaf of each of `count` points from point `start` of the flat X on, or NOWHERE."""
    s, one, two, three = np.uint64(Z[S]), np.uint64(1), np.uint64(2), np.uint64(3)
    roots_i, nodes_i = np.uint64(Z[ROOTS_I]), np.uint64(Z[NODES_I])
    roots_f, nodes_f = np.uint64(Z[ROOTS_F]), np.uint64(Z[NODES_F])
    roots = np.uint64(Z[ROOTS])
    x = np.uint64(start) * s
    for p in range(count):
        child = NOWHERE
        for r in range(roots):
            inside = True
            at = roots_f + r * two * s
            for i in range(s):
                inside &= (F[at + i] <= X[x + i]) & (X[x + i] <= F[at + s + i])
            if inside:
                child = Z[roots_i + r]
                break
        leaves[p] = child
        x += s
    going = True
    while going:
        going = False
        x = np.uint64(start) * s
        for p in range(count):
            if leaves[p] >= 0:
                node = np.uint64(leaves[p])
                at = nodes_i + three * node
                above = X[x + np.uint64(Z[at])] >= F[nodes_f + node]
                child = Z[at + (two if above else one)]
                leaves[p] = child
                going |= child >= 0
            x += s
    for p in range(count):
        if leaves[p] != NOWHERE:
            leaves[p] = -2 - leaves[p]
        elif roots > one:  # on a face of two roots, the other one may have been fitted
            leaves[p] = locate(Z, F, X, start + p)


@kernel
def locate(Z, F, X, point):
    """The leaf of one point of the flat X, looked for in every root, or NOWHERE."""
    s, nodes_i, nodes_f = Z[S], Z[NODES_I], Z[NODES_F]
    x = point * s
    for r in range(Z[ROOTS]):
        inside = True
        at = Z[ROOTS_F] + 2 * s * r
        for i in range(s):
            inside &= (F[at + i] <= X[x + i]) & (X[x + i] <= F[at + s + i])
        if inside:
            child = Z[Z[ROOTS_I] + r]
            while child >= 0:
                node = nodes_i + 3 * child
                child = Z[node + 2] if X[x + Z[node]] >= F[nodes_f + child] else Z[node + 1]
            if child != NOWHERE:
                return -2 - child
    return NOWHERE


@kernel
def block_extent(Z, leaves, count):
    """Highest degree and largest number of terms among the leaves of a block."""
    degree, terms = 0, 0
    for p in range(count):
        if leaves[p] != NOWHERE:
            at = Z[LEAVES_I] + 3 * leaves[p]
            terms = max(terms, Z[at + 1])
            degree = max(degree, Z[at + 2])
    return degree, terms


@kernel
def tabulate(Z, F, X, start, count, leaves, work):
    """T_n(ξ_i) in T[(i (degree + 1) + n) count + p], and T_α(ξ) in B[α count + p]; ξ = 0 for a point outside."""
    degree, terms = block_extent(Z, leaves, count)
    s, lanes, one, two = np.uint64(Z[S]), np.uint64(count), np.uint64(1), np.uint64(2)
    width = np.uint64(Z[DEGREE] + 1) * lanes
    boxes, indices = np.uint64(Z[LEAVES_F]), np.uint64(Z[INDICES])
    x = np.uint64(start) * s
    for p in range(lanes):
        inside = leaves[p] != NOWHERE
        at = boxes + two * s * np.uint64(leaves[p] if inside else 0)
        for i in range(s):
            work[i * width + p] = 1.0
            if degree > 0:
                work[i * width + lanes + p] = (X[x + i] - F[at + i]) * F[at + s + i] if inside else 0.0
        x += s
    for i in range(s):
        xi = i * width + lanes
        for n in range(two, np.uint64(degree) + one):
            at = i * width + n * lanes
            for p in range(lanes):
                work[at + p] = 2.0 * work[xi + p] * work[at - lanes + p] - work[at - two * lanes + p]
    b = s * width
    for _ in range(terms):
        at = lanes * np.uint64(Z[indices])
        for p in range(lanes):
            work[b + p] = work[at + p]
        for i in range(one, s):
            power = np.uint64(Z[indices + i])
            if power > 0:
                at = i * width + power * lanes
                for p in range(lanes):
                    work[b + p] *= work[at + p]
        indices += s
        b += lanes


@kernel
def tabulate_slopes(Z, F, X, start, count, leaves, work):
    """The same, and T_n' in dT and ∂T_α/∂x_j in dB[(j terms + α) count + p], terms being those of the longest list."""
    tabulate(Z, F, X, start, count, leaves, work)
    degree, terms = block_extent(Z, leaves, count)
    s, lanes, one, two = np.uint64(Z[S]), np.uint64(count), np.uint64(1), np.uint64(2)
    width, longest = np.uint64(Z[DEGREE] + 1) * lanes, np.uint64(Z[TERMS]) * lanes
    boxes, indices = np.uint64(Z[LEAVES_F]), np.uint64(Z[INDICES])
    dT = s * width + longest
    dB = dT + s * width
    for i in range(s):
        at = i * width
        for p in range(lanes):
            work[dT + at + p] = 0.0
            if degree > 0:
                inside = leaves[p] != NOWHERE
                slope = F[boxes + two * s * np.uint64(leaves[p]) + s + i] if inside else 0.0
                work[dT + at + lanes + p] = slope
        for _ in range(one, np.uint64(degree)):
            at += lanes
            for p in range(lanes):
                slope, twice = work[dT + i * width + lanes + p], 2.0 * work[i * width + lanes + p]
                d = dT + at + p
                work[d + lanes] = 2.0 * slope * work[at + p] + twice * work[d] - work[d - lanes]
    for j in range(s):
        b, index = dB + j * longest, indices
        for _ in range(terms):
            power = np.uint64(Z[index + j])
            at = dT + j * width + power * lanes
            for p in range(lanes):
                work[b + p] = work[at + p]
            if power > 0:
                for i in range(s):
                    power = np.uint64(Z[index + i])
                    if i != j and power > 0:
                        at = i * width + power * lanes
                        for p in range(lanes):
                            work[b + p] *= work[at + p]
            index += s
            b += lanes


@kernel
def sum_block(Z, F, leaves, count, work, b, first, stop, Y, y, pitch):
    """Y[y + pitch p + o] = Σ_k work[b + k count + p] c_k,o on the leaf of point p, o counting outputs from `first`.

    nan outside. Ten terms in the first pass over the outputs (a quadratic of three coordinates needs no second one),
    then five at a time, then the rest: every pass loads and stores the outputs and checks that arrays do not overlap.
    """
    stride, lanes, width = np.uint64(Z[OUTPUTS]), np.uint64(count), np.uint64(stop - first)
    one, five, ten = np.uint64(1), np.uint64(5), np.uint64(10)
    for p in range(count):
        at = np.uint64(y + pitch * p)
        if leaves[p] == NOWHERE:
            for o in range(width):
                Y[at + o] = np.nan
            continue
        leaf = np.uint64(Z[LEAVES_I] + 3 * leaves[p])
        terms = np.uint64(Z[leaf + one])
        c = np.uint64(Z[COEFFICIENTS] + first) + np.uint64(Z[leaf]) * stride
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
            b0, b1, b2, b3 = work[q], work[q + lanes], work[q + lanes + lanes], work[q + lanes + lanes + lanes]
            q += np.uint64(4) * lanes
            b4, b5, b6, b7 = work[q], work[q + lanes], work[q + lanes + lanes], work[q + lanes + lanes + lanes]
            q += np.uint64(4) * lanes
            b8, b9 = work[q], work[q + lanes]
            q += lanes + lanes
            for o in range(width):
                Y[at + o] = (
                    b0 * F[c + o]
                    + b1 * F[c1 + o]
                    + b2 * F[c2 + o]
                    + b3 * F[c3 + o]
                    + b4 * F[c4 + o]
                    + b5 * F[c5 + o]
                    + b6 * F[c6 + o]
                    + b7 * F[c7 + o]
                    + b8 * F[c8 + o]
                    + b9 * F[c9 + o]
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
            b0, b1, b2, b3 = work[q], work[q + lanes], work[q + lanes + lanes], work[q + lanes + lanes + lanes]
            q += np.uint64(4) * lanes
            b4 = work[q]
            q += lanes
            for o in range(width):
                total = Y[at + o] + b0 * F[c + o] + b1 * F[c1 + o]  # term by term, as `sum_point` adds them
                Y[at + o] = total + b2 * F[c2 + o] + b3 * F[c3 + o] + b4 * F[c4 + o]
            c = c4 + stride
            terms -= five
        while terms > 0:
            b0 = work[q]
            for o in range(width):
                Y[at + o] += b0 * F[c + o]
            q += lanes
            c += stride
            terms -= one


@kernel
def sum_point(F, c, stride, terms, work, b, y, width):
    """work[y + o] = Σ_k work[b + k] F[c + k stride + o] for one point, to the same bits as `sum_block`."""
    one, two, three, four, five = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4), np.uint64(5)
    for o in range(width):
        work[y + o] = 0.0
    while terms >= five:
        c1 = c + stride
        c2 = c1 + stride
        c3 = c2 + stride
        c4 = c3 + stride
        b0, b1, b2, b3, b4 = work[b], work[b + one], work[b + two], work[b + three], work[b + four]
        for o in range(width):
            total = work[y + o] + b0 * F[c + o] + b1 * F[c1 + o]
            work[y + o] = total + b2 * F[c2 + o] + b3 * F[c3 + o] + b4 * F[c4 + o]
        c = c4 + stride
        b += five
        terms -= five
    while terms > 0:
        b0 = work[b]
        for o in range(width):
            work[y + o] += b0 * F[c + o]
        c += stride
        b += one
        terms -= one


@kernel
def locate_batch(Z, F, x, found):
    """Leaves of many points (N, s)."""
    X = x.reshape(-1)
    leaves = np.empty(BLOCK, dtype=np.int64)
    for start in range(0, x.shape[0], BLOCK):
        count = min(BLOCK, x.shape[0] - start)
        locate_block(Z, F, X, start, count, leaves)
        for p in range(count):
            found[start + p] = leaves[p]


@kernel
def evaluate_batch(Z, F, x, values, inside):
    """f at many points (N, s); inside[n] is 0 where x[n] lies outside, and its values are then nan."""
    X, Y = x.reshape(-1), values.reshape(-1)
    leaves, work = np.empty(BLOCK, dtype=np.int64), np.empty(work_size(Z, BLOCK))
    t = Z[OUTPUTS]
    for start in range(0, x.shape[0], BLOCK):
        count = min(BLOCK, x.shape[0] - start)
        locate_block(Z, F, X, start, count, leaves)
        tabulate(Z, F, X, start, count, leaves, work)
        b = Z[S] * (Z[DEGREE] + 1) * count
        sum_block(Z, F, leaves, count, work, b, 0, t, Y, start * t, t)
        for p in range(count):
            inside[start + p] = 0 if leaves[p] == NOWHERE else 1


@kernel
def gradient_batch(Z, F, x, values, slopes, inside):
    """f and its gradient (N, t, s) at many points."""
    X, Y = x.reshape(-1), values.reshape(-1)
    s, t = Z[S], Z[OUTPUTS]
    leaves, work, along = np.empty(BLOCK, dtype=np.int64), np.empty(work_size(Z, BLOCK)), np.empty(BLOCK * t)
    for start in range(0, x.shape[0], BLOCK):
        count = min(BLOCK, x.shape[0] - start)
        locate_block(Z, F, X, start, count, leaves)
        tabulate_slopes(Z, F, X, start, count, leaves, work)
        table = s * (Z[DEGREE] + 1) * count
        sum_block(Z, F, leaves, count, work, table, 0, t, Y, start * t, t)
        for j in range(s):
            b = 2 * table + (1 + j) * Z[TERMS] * count
            sum_block(Z, F, leaves, count, work, b, 0, t, along, 0, t)
            for p in range(count):
                for o in range(t):
                    slopes[start + p, o, j] = along[p * t + o]
        for p in range(count):
            inside[start + p] = 0 if leaves[p] == NOWHERE else 1
