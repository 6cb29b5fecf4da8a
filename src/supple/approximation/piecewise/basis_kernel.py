"""Kernels that tabulate the basis T_α(ξ) and its gradient, for a block of points side by side.

A point's numbers do not depend on its companions.
"""

from __future__ import annotations

import numpy as np

from supple.approximation.piecewise.packing import (
    ALONG,
    DEGREE,
    EARLIER,
    FACTOR,
    FACTORS,
    LEAF,
    LEAF_DEGREE,
    LEAVES_F,
    LEAVES_I,
    NOWHERE,
    POWER,
    TERM_COUNT,
    TERMS,
    S,
)
from supple.compilation import kernel


@kernel
def work_size(Z, count):
    """Numbers of workspace for blocks of `count` points: T, B, dT, dB, one after the other."""
    return count * (2 * Z[S] * (Z[DEGREE] + 1) + (1 + Z[S]) * Z[TERMS])


@kernel
def block_extent(Z, leaves, count):
    """Highest degree and largest number of terms among the leaves of a block."""
    degree, terms = 0, 0
    for p in range(count):
        if leaves[p] != NOWHERE:
            leaf = np.uint64(Z[LEAVES_I]) + LEAF * np.uint64(leaves[p])
            terms = max(terms, Z[leaf + TERM_COUNT])
            degree = max(degree, Z[leaf + LEAF_DEGREE])
    return degree, terms


@kernel
def tabulate(Z, F, X, start, count, leaves, work):
    """T_n(ξ_i) in T[(i (degree + 1) + n) count + p], and T_α(ξ) in B[α count + p]; some numbers for a point outside."""
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
    """The same, and T_n' in dT and ∂T_α/∂x_j in dB[(j terms + α) count + p], terms being those of the longest list."""
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
            # One of the two factors depends on ξ_j, and only one.
            left, right = (B + before, dT + at) if axis == j else (first + before, at)
            for p in range(lanes):
                work[b + p] = work[left + p] * work[right + p]
