"""Kernels that evaluate all coefficients of a reduced model: at one θ in place, or at many."""

from __future__ import annotations

import numpy as np

from supple.approximation.piecewise.basis_kernel import tabulate, tabulate_slopes, work_size
from supple.approximation.piecewise.location_kernel import locate_block
from supple.approximation.piecewise.packing import DEGREE, NOWHERE, STRIDE, TERMS
from supple.approximation.piecewise.piecewise_kernel import BLOCK
from supple.approximation.piecewise.sum_kernel import Points, Sums, Terms, sum_block
from supple.compilation import kernel
from supple.reduced.arrays import (
    COPIES,
    COPIES_FROM,
    COPIES_TO,
    FACTOR,
    RANGES,
    RANGES_I,
    ROW,
    SLOPES,
    SLOPES_FROM,
    SLOPES_TO,
    TEMPLATE,
    VALUES,
    VALUES_FROM,
    VALUES_TO,
    WIDTH,
    S,
)

INSIDE, OUTSIDE = 0, 1


@kernel
def scratch_size(Z, count):
    """Numbers of workspace that `coefficients` needs for blocks of `count` points."""
    return work_size(Z, count) + count * (1 + Z[Z[ROW] + S]) * Z[STRIDE]


@kernel
def coefficients(Z, F, X, start, count, leaves, work, rows):
    """Rows of `count` points of the flat X, from point `start` on, into their places in the flat `rows`.

    leaves (count,) and work (scratch_size,) are workspace; leaves[p] is NOWHERE for a point outside, whose row is nan.
    """
    r = Z[ROW]
    s, pitch, width = Z[r + S], Z[STRIDE], np.uint64(Z[r + WIDTH])
    values = work_size(Z, count)  # then f̂ of every point, and its slopes, direction by direction
    slopes = values + count * pitch
    table = s * (Z[DEGREE] + 1) * count
    locate_block(Z, F, X, start, count, leaves)
    points = Points(leaves, 0, count)
    if Z[r + RANGES] > 0:
        tabulate_slopes(Z, F, X, start, count, leaves, work)
        for k in range(Z[r + RANGES]):
            low, groups = Z[Z[r + RANGES_I] + 2 * k], Z[Z[r + RANGES_I] + 2 * k + 1]
            for j in range(s):
                terms = Terms(work, 2 * table + (1 + j) * Z[TERMS] * count, count)
                sum_block(Z, F, points, terms, low, Sums(work, slopes + j * pitch + low, groups), s * pitch)
    else:
        tabulate(Z, F, X, start, count, leaves, work)
    sum_block(Z, F, points, Terms(work, table, count), 0, Sums(work, values, pitch // 4), pitch)
    template, factor = np.uint64(Z[r + TEMPLATE]), np.uint64(Z[r + FACTOR])
    values_from, values_to = np.uint64(Z[r + VALUES_FROM]), np.uint64(Z[r + VALUES_TO])
    slopes_from, slopes_to = np.uint64(Z[r + SLOPES_FROM]), np.uint64(Z[r + SLOPES_TO])
    copies_from, copies_to = np.uint64(Z[r + COPIES_FROM]), np.uint64(Z[r + COPIES_TO])
    one, two, three = np.uint64(1), np.uint64(2), np.uint64(3)
    for p in range(count):
        to = np.uint64(start + p) * width
        if leaves[p] == NOWHERE:
            for k in range(width):
                rows[to + k] = np.nan
            continue
        for k in range(width):
            rows[to + k] = F[template + k]
        at = np.uint64(values + p * pitch)
        for k in range(np.uint64(Z[r + VALUES])):
            rows[to + np.uint64(Z[values_to + k])] = work[at + np.uint64(Z[values_from + k])]
        at = np.uint64(slopes + p * s * pitch)
        source, weight = slopes_from, factor
        for k in range(np.uint64(Z[r + SLOPES])):
            total = F[weight] * work[at + np.uint64(Z[source])]
            total += F[weight + one] * work[at + np.uint64(Z[source + one])]
            total += F[weight + two] * work[at + np.uint64(Z[source + two])]
            rows[to + np.uint64(Z[slopes_to + k])] = total
            source += three
            weight += three
        for k in range(np.uint64(Z[r + COPIES])):
            rows[to + np.uint64(Z[copies_to + k])] = rows[to + np.uint64(Z[copies_from + k])]


@kernel(purpose="evaluating reduced models")
def coefficients_batch(Z, F, theta, rows, status):
    """Rows (N, width) at many θ (N, s); status (N,) is OUTSIDE where the region does not reach."""
    X, flat = theta.reshape(-1), rows.reshape(-1)
    block = min(BLOCK, theta.shape[0])
    leaves, work = np.empty(block, dtype=np.int64), np.empty(scratch_size(Z, block))
    for start in range(0, theta.shape[0], BLOCK):
        count = min(BLOCK, theta.shape[0] - start)
        coefficients(Z, F, X, start, count, leaves, work, flat)
        for p in range(count):
            status[start + p] = OUTSIDE if leaves[p] == NOWHERE else INSIDE
