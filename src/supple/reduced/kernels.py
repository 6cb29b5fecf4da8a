"""Kernels that evaluate all coefficients of a reduced model: at one θ in place, or at many."""

from __future__ import annotations

import numpy as np

from supple.approximation.piecewise_kernel import (
    BLOCK,
    NOWHERE,
    locate_block,
    sum_block,
    tabulate,
    tabulate_slopes,
)
from supple.compilation import kernel
from supple.reduced.arrays import parts, sizes_of

INSIDE, OUTSIDE = 0, 1


@kernel
def scratch_size(integers, terms, count):
    """Numbers that `coefficients` needs as workspace for blocks of `count` points."""
    sizes = sizes_of(integers)
    s, t, degree = sizes[1], sizes[5], sizes[7]
    return count * (2 * s * (degree + 1) + (1 + s) * terms + (1 + s) * t)


@kernel
def coefficients(integers, pieces, row, X, start, count, leaves, work, rows, first):
    """Rows of `count` points of the flat X, from point `start` on, into the flat `rows` from number `first` on.

    leaves (count,) and work (scratch_size,) are workspace; leaves[p] is NOWHERE for a point outside, whose row is nan.
    """
    sizes = sizes_of(integers)
    s, t, width, degree = sizes[1], sizes[5], sizes[6], sizes[7]
    template, values_from, values_to, slopes_from, slopes_to, factor, copies, ranges = row
    size = s * (degree + 1) * count
    terms = pieces[6].shape[0] * count
    T, dT = work[:size], work[size : 2 * size]
    at = 2 * size
    B, dB = work[at : at + terms], work[at + terms : at + (1 + s) * terms]
    at += (1 + s) * terms
    values, slopes = work[at : at + count * t], work[at + count * t : at + count * t * (1 + s)]
    locate_block(pieces, X, start, count, leaves)
    if ranges.shape[0] > 0:
        tabulated = tabulate_slopes(pieces, X, start, count, leaves, T, dT, B, dB)
        for r in range(ranges.shape[0]):
            columns = (ranges[r, 0], ranges[r, 1])
            for j in range(s):
                sum_block(pieces, leaves, count, dB, j * tabulated * count, columns, slopes, j * t + columns[0], s * t)
    else:
        tabulate(pieces, X, start, count, leaves, T, B)
    sum_block(pieces, leaves, count, B, 0, (0, t), values, 0, t)
    half = copies.shape[0] // 2
    for p in range(count):
        to = first + p * width
        if leaves[p] == NOWHERE:
            for k in range(width):
                rows[to + k] = np.nan
            continue
        for k in range(width):
            rows[to + k] = template[k]
        for k in range(values_from.shape[0]):
            rows[to + values_to[k]] = values[p * t + values_from[k]]
        for k in range(slopes_from.shape[0]):
            rows[to + slopes_to[k]] += factor[k] * slopes[p * s * t + slopes_from[k]]
        for k in range(half):
            rows[to + copies[half + k]] = rows[to + copies[k]]


@kernel
def coefficients_batch(integers, numbers, theta, rows, status):
    """Rows (N, width) at many θ (N, s); status (N,) is OUTSIDE where the region does not reach."""
    pieces, row = parts(integers, numbers)
    X, flat = theta.reshape(-1), rows.reshape(-1)
    block = min(BLOCK, theta.shape[0])
    leaves = np.empty(block, dtype=np.int64)
    work = np.empty(scratch_size(integers, pieces[6].shape[0], block))
    for start in range(0, theta.shape[0], block):
        count = min(block, theta.shape[0] - start)
        coefficients(integers, pieces, row, X, start, count, leaves, work, flat, start * rows.shape[1])
        for p in range(count):
            status[start + p] = OUTSIDE if leaves[p] == NOWHERE else INSIDE


@kernel
def coefficients_in_place(integers, numbers, leaves, work, theta, row):
    """The row (width,) at one θ (s,). Returns INSIDE or OUTSIDE; allocates nothing."""
    pieces, places = parts(integers, numbers)
    coefficients(integers, pieces, places, theta, 0, 1, leaves, work, row, 0)
    return OUTSIDE if leaves[0] == NOWHERE else INSIDE
