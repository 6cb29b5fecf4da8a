"""Kernels that evaluate a piecewise polynomial: find the leaf, tabulate the basis, sum the terms.

They take the function as two flat arrays, Z and F, see `packing`. Points go in blocks of up to
BLOCK, for which the basis is tabulated side by side. A point's result does not depend on its companions.
"""

from __future__ import annotations

import numpy as np

from supple.approximation.piecewise.basis_kernel import tabulate, tabulate_slopes, work_size
from supple.approximation.piecewise.location_kernel import locate_block
from supple.approximation.piecewise.packing import DEGREE, NOWHERE, OUTPUTS, STRIDE, TERMS, S
from supple.approximation.piecewise.sum_kernel import Points, Sums, Terms, sum_block
from supple.compilation import kernel

BLOCK = 128


@kernel(purpose="finding boxes")
def locate_batch(Z, F, x, leaf_of):
    """Leaves of many points (N, s)."""
    X = x.reshape(-1)
    leaves = np.empty(BLOCK, dtype=np.int64)
    for start in range(0, x.shape[0], BLOCK):
        count = min(BLOCK, x.shape[0] - start)
        locate_block(Z, F, X, start, count, leaves)
        for p in range(count):
            leaf_of[start + p] = leaves[p]


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
        terms = Terms(work, Z[S] * (Z[DEGREE] + 1) * count, count)
        # Filling falls on the first values of the next points, which overwrite it; the last ones have no such room.
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
    """f and its gradient (N, t, s) at many points."""
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
