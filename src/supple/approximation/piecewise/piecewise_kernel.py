"""Kernels that evaluate a piecewise polynomial: find the leaf, tabulate the basis and its gradient, sum the terms.

They take the function as two flat arrays, Z and F, see `packing`. Points are processed in blocks of up to BLOCK, for
which the basis is tabulated side by side. The result of a point does not depend on the others: it has the same bits in
a block and alone.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.approximation.piecewise.location_kernel import locate_block
from supple.approximation.piecewise.packing import (
    ALONG,
    COEFFICIENTS,
    DEGREE,
    EARLIER,
    FACTOR,
    FACTORS,
    FIRST_ROW,
    LEAF,
    LEAF_DEGREE,
    LEAVES_F,
    LEAVES_I,
    NOWHERE,
    OUTPUTS,
    POWER,
    STRIDE,
    TERM_COUNT,
    TERMS,
    S,
)
from supple.array_types import Array
from supple.compilation import kernel

# The basis T_α(ξ) and its gradient, for a block of points side by side.


@kernel
def work_size(Z, count):
    """Return the size of the workspace for blocks of `count` points: T, B, dT, dB, one after the other."""
    return count * (2 * Z[S] * (Z[DEGREE] + 1) + (1 + Z[S]) * Z[TERMS])


@kernel
def block_extent(Z, leaves, count):
    """Return the highest degree and the largest number of terms among the leaves of a block."""
    degree, terms = 0, 0
    for p in range(count):
        if leaves[p] != NOWHERE:
            leaf = np.uint64(Z[LEAVES_I]) + LEAF * np.uint64(leaves[p])
            terms = max(terms, Z[leaf + TERM_COUNT])
            degree = max(degree, Z[leaf + LEAF_DEGREE])
    return degree, terms


@kernel
def tabulate(Z, F, X, start, count, leaves, work):
    """Fill T_n(ξ_i) in T[(i (degree + 1) + n) count + p], and T_α(ξ) in B[α count + p].

    Entries of points outside are meaningless.
    """
    degree, terms = block_extent(Z, leaves, count)
    s, lanes, one, two = np.uint64(Z[S]), np.uint64(count), np.uint64(1), np.uint64(2)
    width = np.uint64(Z[DEGREE] + 1) * lanes
    boxes, factor = np.uint64(Z[LEAVES_F]), np.uint64(Z[FACTORS])
    x = np.uint64(start) * s
    for p in range(lanes):
        at = boxes + two * s * np.uint64(max(leaves[p], 0))
        for i in range(s):
            work[i * width + p] = 1.0
            if degree > 0:
                work[i * width + lanes + p] = (X[x + i] - F[at + i]) * F[at + s + i]
        x += s
    for i in range(s):
        xi = i * width + lanes
        for n in range(two, np.uint64(degree) + one):
            at = i * width + n * lanes
            for p in range(lanes):
                work[at + p] = 2.0 * work[xi + p] * work[at - lanes + p] - work[at - two * lanes + p]
    B = s * width
    b = B
    for p in range(lanes):
        work[b + p] = 1.0
    for _ in range(1, terms):
        b += lanes
        factor += FACTOR
        before = B + np.uint64(Z[factor + EARLIER]) * lanes
        at = np.uint64(Z[factor + ALONG]) * width + np.uint64(Z[factor + POWER]) * lanes
        for p in range(lanes):
            work[b + p] = work[before + p] * work[at + p]


@kernel
def tabulate_slopes(Z, F, X, start, count, leaves, work):
    """Tabulate like `tabulate`, with T_n' in dT and ∂T_α/∂x_j in dB[(j terms + α) count + p].

    `terms` is the number of terms of the longest list.
    """
    tabulate(Z, F, X, start, count, leaves, work)
    degree, terms = block_extent(Z, leaves, count)
    s, lanes, one, two = np.uint64(Z[S]), np.uint64(count), np.uint64(1), np.uint64(2)
    width, longest = np.uint64(Z[DEGREE] + 1) * lanes, np.uint64(Z[TERMS]) * lanes
    boxes, factor = np.uint64(Z[LEAVES_F]), np.uint64(Z[FACTORS])
    dT = s * width + longest
    dB = dT + s * width
    for i in range(s):
        at = i * width
        for p in range(lanes):
            work[dT + at + p] = 0.0
            if degree > 0:
                work[dT + at + lanes + p] = F[boxes + two * s * np.uint64(max(leaves[p], 0)) + s + i]
        for _ in range(one, np.uint64(degree)):
            at += lanes
            for p in range(lanes):
                slope, twice = work[dT + i * width + lanes + p], 2.0 * work[i * width + lanes + p]
                d = dT + at + p
                work[d + lanes] = 2.0 * slope * work[at + p] + twice * work[d] - work[d - lanes]
    B = s * width
    for j in range(s):
        first = dB + j * longest
        b, f = first, factor
        for p in range(lanes):
            work[b + p] = 0.0
        for _ in range(1, terms):
            b += lanes
            f += FACTOR
            before, axis = np.uint64(Z[f + EARLIER]) * lanes, np.uint64(Z[f + ALONG])
            at = axis * width + np.uint64(Z[f + POWER]) * lanes
            # Exactly one of the two factors depends on ξ_j.
            left, right = (B + before, dT + at) if axis == j else (first + before, at)
            for p in range(lanes):
                work[b + p] = work[left + p] * work[right + p]


# The sums f̂_o = Σ_k T_k(ξ) c_k,o, all columns o of a point one after the other.
#
# Every pass over the columns loads and stores the sums and checks that arrays do not overlap, so a pass takes several
# terms: ten, five, then one by one, each added to the sum so far. A point's sum has the same bits in a block and alone.


Size = Any  # an integer, signed or not

ONE, TWO, THREE, FOUR, FIVE, TEN = (np.uint64(n) for n in (1, 2, 3, 4, 5, 10))


class Points(NamedTuple):
    """Points first ... end - 1 of a block, and the leaf of every point of it."""

    leaves: NDArray[np.int64]
    first: Size
    end: Size


class Terms(NamedTuple):
    """T_k(ξ) is numbers[at + k step]; in a block, that of point p is p numbers further on."""

    numbers: Array
    at: Size
    step: Size


class Rows(NamedTuple):
    """c_k,o is numbers[at + k stride + o]."""

    numbers: Array
    at: Size
    stride: Size


class Sums(NamedTuple):
    """f̂_o is numbers[at + o].

    Columns are counted in groups of four, so that loops over them have no remainder; the last group may have padding.
    """

    numbers: Array
    at: Size
    groups: Size


@kernel(inline=True)
def five(T, q, step):
    """Return five terms from number q on."""
    return T[q], T[q + step], T[q + TWO * step], T[q + THREE * step], T[q + FOUR * step]


@kernel(inline=True)
def sum_five(T, F, c, stride):
    """Return Σ_k T_k c_k over five rows from number c on."""
    return (
        T[0] * F[c]
        + T[1] * F[c + stride]
        + T[2] * F[c + TWO * stride]
        + T[3] * F[c + THREE * stride]
        + T[4] * F[c + FOUR * stride]
    )


@kernel(inline=True)
def plus_five(total, T, F, c, stride):
    """Return total + Σ_k T_k c_k, term after term."""
    return (
        total
        + T[0] * F[c]
        + T[1] * F[c + stride]
        + T[2] * F[c + TWO * stride]
        + T[3] * F[c + THREE * stride]
        + T[4] * F[c + FOUR * stride]
    )


@kernel(inline=True)
def add_terms(count, rows, terms, sums):
    """Add `count` terms of one point: ten at a time, five, one by one. All sizes are unsigned."""
    F, B, Y = rows.numbers, terms.numbers, sums.numbers
    stride, step, width = rows.stride, terms.step, FOUR * sums.groups
    c, q, y = rows.at, terms.at, sums.at
    while count >= TEN:
        low, high = five(B, q, step), five(B, q + FIVE * step, step)
        d = c + FIVE * stride
        for o in range(width):
            Y[y + o] = plus_five(plus_five(Y[y + o], low, F, c + o, stride), high, F, d + o, stride)
        c += TEN * stride
        q += TEN * step
        count -= TEN
    while count >= FIVE:
        low = five(B, q, step)
        for o in range(width):
            Y[y + o] = plus_five(Y[y + o], low, F, c + o, stride)
        c += FIVE * stride
        q += FIVE * step
        count -= FIVE
    while count > 0:
        term = B[q]
        for o in range(width):
            Y[y + o] += term * F[c + o]
        c += stride
        q += step
        count -= ONE


@kernel
def sum_block(Z, F, points, terms, column, sums, pitch):
    """Sum the columns from `column` on at each of the points; sums of the next point are `pitch` numbers further on.

    They are nan outside. A quadratic of three coordinates has ten terms and needs no second pass.
    """
    if sum_ten(Z, F, points, terms, column, sums, pitch):
        add_others(Z, F, points, terms, column, sums, pitch)


@kernel
def sum_ten(Z, F, points, terms, column, sums, pitch):
    """Sum the first ten terms of each point, or set zero where a leaf has fewer; return whether terms are left."""
    stride, step, width = np.uint64(Z[STRIDE]), np.uint64(terms.step), FOUR * np.uint64(sums.groups)
    leaves, B, Y = points.leaves, terms.numbers, sums.numbers
    left = False
    for p in range(points.first, points.end):
        y = np.uint64(sums.at + pitch * p)
        if leaves[p] == NOWHERE:
            for o in range(width):
                Y[y + o] = np.nan
            continue
        leaf = np.uint64(Z[LEAVES_I]) + LEAF * np.uint64(leaves[p])
        count = np.uint64(Z[leaf + TERM_COUNT])
        left |= count != TEN
        if count >= TEN:
            c = np.uint64(Z[COEFFICIENTS] + column) + np.uint64(Z[leaf + FIRST_ROW]) * stride
            q = np.uint64(terms.at + p)
            low, high = five(B, q, step), five(B, q + FIVE * step, step)
            d = c + FIVE * stride
            for o in range(width):
                Y[y + o] = plus_five(sum_five(low, F, c + o, stride), high, F, d + o, stride)
        else:
            for o in range(width):
                Y[y + o] = 0.0
    return left


@kernel
def add_others(Z, F, points, terms, column, sums, pitch):
    """Add the terms that `sum_ten` left, in their order."""
    stride, step = np.uint64(Z[STRIDE]), np.uint64(terms.step)
    for p in range(points.first, points.end):
        if points.leaves[p] == NOWHERE:
            continue
        leaf = np.uint64(Z[LEAVES_I]) + LEAF * np.uint64(points.leaves[p])
        count = np.uint64(Z[leaf + TERM_COUNT])
        done = TEN if count >= TEN else np.uint64(0)
        c = np.uint64(Z[COEFFICIENTS] + column) + (np.uint64(Z[leaf + FIRST_ROW]) + done) * stride
        q = np.uint64(terms.at + p) + done * step
        y = np.uint64(sums.at + pitch * p)
        here = Sums(sums.numbers, y, np.uint64(sums.groups))
        add_terms(count - done, Rows(F, c, stride), Terms(terms.numbers, q, step), here)


@kernel
def sum_point(count, rows, terms, sums):
    """Sum `count` terms at one point, with the same bits as `sum_block`."""
    Y, y = sums.numbers, sums.at
    for o in range(FOUR * sums.groups):
        Y[y + o] = 0.0
    add_terms(count, rows, terms, sums)


# Batches of points, block by block.


BLOCK = 128


@kernel(purpose="finding boxes")
def locate_batch(Z, F, x, leaf_of):
    """Find the leaves of many points (N, s)."""
    X = x.reshape(-1)
    leaves = np.empty(BLOCK, dtype=np.int64)
    for start in range(0, x.shape[0], BLOCK):
        count = min(BLOCK, x.shape[0] - start)
        locate_block(Z, F, X, start, count, leaves)
        for p in range(count):
            leaf_of[start + p] = leaves[p]


@kernel(purpose="evaluating functions on boxes")
def evaluate_batch(Z, F, x, values, inside):
    """Compute f at many points (N, s); inside[n] is 0 where x[n] lies outside, and its values are then nan."""
    X, Y = x.reshape(-1), values.reshape(-1)
    t, groups = Z[OUTPUTS], Z[STRIDE] // 4
    leaves, work, last = np.empty(BLOCK, dtype=np.int64), np.empty(work_size(Z, BLOCK)), np.empty(Z[STRIDE])
    for start in range(0, x.shape[0], BLOCK):
        count = min(BLOCK, x.shape[0] - start)
        locate_block(Z, F, X, start, count, leaves)
        tabulate(Z, F, X, start, count, leaves, work)
        terms = Terms(work, Z[S] * (Z[DEGREE] + 1) * count, count)
        # Padding falls on the first values of the next points, which overwrite it; the last points have no such room.
        whole = min(max((x.shape[0] * t - Z[STRIDE]) // t + 1 - start, 0), count)
        sum_block(Z, F, Points(leaves, 0, whole), terms, 0, Sums(Y, start * t, groups), t)
        for p in range(whole, count):
            sum_block(Z, F, Points(leaves, p, p + 1), terms, 0, Sums(last, 0, groups), 0)
            for o in range(t):
                Y[(start + p) * t + o] = last[o]
        for p in range(count):
            inside[start + p] = 0 if leaves[p] == NOWHERE else 1


@kernel
def gradient_batch(Z, F, x, values, slopes, inside):
    """Compute f and its gradient (N, t, s) at many points."""
    X = x.reshape(-1)
    s, t, pitch = Z[S], Z[OUTPUTS], Z[STRIDE]
    leaves, work, sums = np.empty(BLOCK, dtype=np.int64), np.empty(work_size(Z, BLOCK)), np.empty(BLOCK * pitch)
    for start in range(0, x.shape[0], BLOCK):
        count = min(BLOCK, x.shape[0] - start)
        locate_block(Z, F, X, start, count, leaves)
        tabulate_slopes(Z, F, X, start, count, leaves, work)
        table = s * (Z[DEGREE] + 1) * count
        points, here = Points(leaves, 0, count), Sums(sums, 0, pitch // 4)
        sum_block(Z, F, points, Terms(work, table, count), 0, here, pitch)
        for p in range(count):
            for o in range(t):
                values[start + p, o] = sums[p * pitch + o]
        for j in range(s):
            slopes_of = Terms(work, 2 * table + (1 + j) * Z[TERMS] * count, count)
            sum_block(Z, F, points, slopes_of, 0, here, pitch)
            for p in range(count):
                for o in range(t):
                    slopes[start + p, o, j] = sums[p * pitch + o]
        for p in range(count):
            inside[start + p] = 0 if leaves[p] == NOWHERE else 1
