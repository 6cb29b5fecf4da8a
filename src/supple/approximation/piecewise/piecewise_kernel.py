"""Kernels that evaluate a piecewise polynomial: find the leaf, tabulate the basis, sum the terms.

They take the function as two flat arrays, Z and F, see `packing`. Points go in blocks of up to
BLOCK, for which the basis is tabulated side by side. A point's result does not depend on its companions.
"""

from __future__ import annotations

import numpy as np

from supple.approximation.piecewise.basis_kernel import tabulate, tabulate_slopes, work_size
from supple.approximation.piecewise.location_kernel import locate_block
from supple.approximation.piecewise.packing import COEFFICIENTS, DEGREE, LEAVES_I, NOWHERE, OUTPUTS, STRIDE, TERMS, S
from supple.compilation import kernel

BLOCK = 128


@kernel
def sum_block(Z, F, leaves, begin, end, lanes, work, b, first, groups, Y, y, pitch):
    """Y[y + pitch p + o] = Σ_k work[b + k lanes + p] c_k,o on the leaf of point p, for the points begin ... end - 1.

    o counts columns from `first` on, four for each of the `groups`: of the last ones some may be mere filling, which Y
    must have room for. nan outside. Every pass over the columns loads and stores the sums and checks that arrays do not
    overlap, so a pass takes several terms; a quadratic of three coordinates has ten and needs no second one.
    """
    if sum_ten(Z, F, leaves, begin, end, lanes, work, b, first, groups, Y, y, pitch):
        add_others(Z, F, leaves, begin, end, lanes, work, b, first, groups, Y, y, pitch)


@kernel
def sum_ten(Z, F, leaves, begin, end, lanes, work, b, first, groups, Y, y, pitch):
    """The first ten terms of each point, or zero where a leaf has fewer; whether terms are left."""
    stride, step, width = np.uint64(Z[STRIDE]), np.uint64(lanes), np.uint64(groups) * np.uint64(4)
    twice, thrice, fourfold = stride * np.uint64(2), stride * np.uint64(3), stride * np.uint64(4)
    one, ten = np.uint64(1), np.uint64(10)
    left = False
    for p in range(begin, end):
        at = np.uint64(y + pitch * p)
        if leaves[p] == NOWHERE:
            for o in range(width):
                Y[at + o] = np.nan
            continue
        leaf = np.uint64(Z[LEAVES_I] + 3 * leaves[p])
        terms = np.uint64(Z[leaf + one])
        c = np.uint64(Z[COEFFICIENTS] + first) + np.uint64(Z[leaf]) * stride
        q = np.uint64(b + p)
        left |= terms != ten
        if terms >= ten:
            b0, b1, b2, b3 = work[q], work[q + step], work[q + step + step], work[q + step + step + step]
            q += np.uint64(4) * step
            b4, b5, b6, b7 = work[q], work[q + step], work[q + step + step], work[q + step + step + step]
            q += np.uint64(4) * step
            b8, b9 = work[q], work[q + step]
            for o in range(width):
                d = c + o
                total = b0 * F[d] + b1 * F[d + stride] + b2 * F[d + twice] + b3 * F[d + thrice] + b4 * F[d + fourfold]
                d += fourfold + stride
                total = total + b5 * F[d] + b6 * F[d + stride] + b7 * F[d + twice]
                Y[at + o] = total + b8 * F[d + thrice] + b9 * F[d + fourfold]
        else:
            for o in range(width):
                Y[at + o] = 0.0
    return left


@kernel
def add_others(Z, F, leaves, begin, end, lanes, work, b, first, groups, Y, y, pitch):
    """The terms that `sum_ten` left, in their order, as `sum_point` adds them: ten at a time, five, one by one."""
    stride, step, width = np.uint64(Z[STRIDE]), np.uint64(lanes), np.uint64(groups) * np.uint64(4)
    twice, thrice, fourfold = stride * np.uint64(2), stride * np.uint64(3), stride * np.uint64(4)
    one, five, ten = np.uint64(1), np.uint64(5), np.uint64(10)
    for p in range(begin, end):
        if leaves[p] == NOWHERE:
            continue
        at = np.uint64(y + pitch * p)
        leaf = np.uint64(Z[LEAVES_I] + 3 * leaves[p])
        terms = np.uint64(Z[leaf + one])
        c = np.uint64(Z[COEFFICIENTS] + first) + np.uint64(Z[leaf]) * stride
        q = np.uint64(b + p)
        if terms >= ten:
            c += ten * stride
            q += ten * step
            terms -= ten
        while terms >= ten:
            b0, b1, b2, b3 = work[q], work[q + step], work[q + step + step], work[q + step + step + step]
            q += np.uint64(4) * step
            b4, b5, b6, b7 = work[q], work[q + step], work[q + step + step], work[q + step + step + step]
            q += np.uint64(4) * step
            b8, b9 = work[q], work[q + step]
            q += step + step
            for o in range(width):
                d = c + o
                total = Y[at + o] + b0 * F[d] + b1 * F[d + stride] + b2 * F[d + twice]
                total = total + b3 * F[d + thrice] + b4 * F[d + fourfold]
                d += fourfold + stride
                total = total + b5 * F[d] + b6 * F[d + stride] + b7 * F[d + twice]
                Y[at + o] = total + b8 * F[d + thrice] + b9 * F[d + fourfold]
            c += ten * stride
            terms -= ten
        while terms >= five:
            b0, b1, b2, b3 = work[q], work[q + step], work[q + step + step], work[q + step + step + step]
            q += np.uint64(4) * step
            b4 = work[q]
            q += step
            for o in range(width):
                d = c + o
                total = Y[at + o] + b0 * F[d] + b1 * F[d + stride] + b2 * F[d + twice]
                Y[at + o] = total + b3 * F[d + thrice] + b4 * F[d + fourfold]
            c += five * stride
            terms -= five
        while terms > 0:
            b0 = work[q]
            for o in range(width):
                Y[at + o] += b0 * F[c + o]
            q += step
            c += stride
            terms -= one


@kernel
def sum_point(F, c, stride, groups, terms, work, b, y):
    """work[y + o] = Σ_k work[b + k] F[c + k stride + o] for one point, to the same bits as `sum_block`."""
    width = groups * np.uint64(4)
    twice, thrice, fourfold = stride * np.uint64(2), stride * np.uint64(3), stride * np.uint64(4)
    one, two, three, four, five = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4), np.uint64(5)
    ten = np.uint64(10)
    for o in range(width):
        work[y + o] = 0.0
    while terms >= ten:
        b0, b1, b2, b3, b4 = work[b], work[b + one], work[b + two], work[b + three], work[b + four]
        b += five
        b5, b6, b7, b8, b9 = work[b], work[b + one], work[b + two], work[b + three], work[b + four]
        b += five
        for o in range(width):
            d = c + o
            total = work[y + o] + b0 * F[d] + b1 * F[d + stride] + b2 * F[d + twice]
            total = total + b3 * F[d + thrice] + b4 * F[d + fourfold]
            d += fourfold + stride
            total = total + b5 * F[d] + b6 * F[d + stride] + b7 * F[d + twice]
            work[y + o] = total + b8 * F[d + thrice] + b9 * F[d + fourfold]
        c += ten * stride
        terms -= ten
    while terms >= five:
        b0, b1, b2, b3, b4 = work[b], work[b + one], work[b + two], work[b + three], work[b + four]
        for o in range(width):
            d = c + o
            total = work[y + o] + b0 * F[d] + b1 * F[d + stride] + b2 * F[d + twice]
            work[y + o] = total + b3 * F[d + thrice] + b4 * F[d + fourfold]
        c += five * stride
        b += five
        terms -= five
    while terms > 0:
        b0 = work[b]
        for o in range(width):
            work[y + o] += b0 * F[c + o]
        c += stride
        b += one
        terms -= one


@kernel(purpose="finding boxes")
def locate_batch(Z, F, x, found):
    """Leaves of many points (N, s)."""
    X = x.reshape(-1)
    leaves = np.empty(BLOCK, dtype=np.int64)
    for start in range(0, x.shape[0], BLOCK):
        count = min(BLOCK, x.shape[0] - start)
        locate_block(Z, F, X, start, count, leaves)
        for p in range(count):
            found[start + p] = leaves[p]


@kernel(purpose="evaluating functions on boxes")
def evaluate_batch(Z, F, x, values, inside):
    """f at many points (N, s); inside[n] is 0 where x[n] lies outside, and its values are then nan."""
    X, Y = x.reshape(-1), values.reshape(-1)
    t, groups = Z[OUTPUTS], Z[STRIDE] // 4
    leaves, work, last = np.empty(BLOCK, dtype=np.int64), np.empty(work_size(Z, BLOCK)), np.empty(Z[STRIDE])
    for start in range(0, x.shape[0], BLOCK):
        count = min(BLOCK, x.shape[0] - start)
        locate_block(Z, F, X, start, count, leaves)
        tabulate(Z, F, X, start, count, leaves, work)
        b = Z[S] * (Z[DEGREE] + 1) * count
        # Filling falls on the first values of the next points, which overwrite it; the last ones have no such room.
        whole = min(max((x.shape[0] * t - Z[STRIDE]) // t + 1 - start, 0), count)
        sum_block(Z, F, leaves, 0, whole, count, work, b, 0, groups, Y, start * t, t)
        for p in range(whole, count):
            sum_block(Z, F, leaves, p, p + 1, count, work, b, 0, groups, last, 0, 0)
            for o in range(t):
                Y[(start + p) * t + o] = last[o]
        for p in range(count):
            inside[start + p] = 0 if leaves[p] == NOWHERE else 1


@kernel
def gradient_batch(Z, F, x, values, slopes, inside):
    """f and its gradient (N, t, s) at many points."""
    X = x.reshape(-1)
    s, t, pitch = Z[S], Z[OUTPUTS], Z[STRIDE]
    leaves, work, sums = np.empty(BLOCK, dtype=np.int64), np.empty(work_size(Z, BLOCK)), np.empty(BLOCK * pitch)
    for start in range(0, x.shape[0], BLOCK):
        count = min(BLOCK, x.shape[0] - start)
        locate_block(Z, F, X, start, count, leaves)
        tabulate_slopes(Z, F, X, start, count, leaves, work)
        table = s * (Z[DEGREE] + 1) * count
        sum_block(Z, F, leaves, 0, count, count, work, table, 0, pitch // 4, sums, 0, pitch)
        for p in range(count):
            for o in range(t):
                values[start + p, o] = sums[p * pitch + o]
        for j in range(s):
            b = 2 * table + (1 + j) * Z[TERMS] * count
            sum_block(Z, F, leaves, 0, count, count, work, b, 0, pitch // 4, sums, 0, pitch)
            for p in range(count):
                for o in range(t):
                    slopes[start + p, o, j] = sums[p * pitch + o]
        for p in range(count):
            inside[start + p] = 0 if leaves[p] == NOWHERE else 1
