"""Kernels that evaluate all coefficients of a reduced model at many θ, or at one in place."""

from __future__ import annotations

import numpy as np

from supple.approximation.piecewise.location_kernel import locate, locate_block
from supple.approximation.piecewise.packing import (
    COEFFICIENTS,
    DEGREE,
    FACTORS,
    LEAVES_F,
    LEAVES_I,
    NOWHERE,
    STRIDE,
    TERMS,
)
from supple.approximation.piecewise.packing import S as AXES
from supple.approximation.piecewise.piecewise_kernel import (
    BLOCK,
    Points,
    Rows,
    Sums,
    Terms,
    sum_block,
    sum_point,
    tabulate,
    tabulate_slopes,
    work_size,
)
from supple.compilation import kernel
from supple.equations.deformation import deform
from supple.reduced.arrays import (
    COPIES,
    COPIES_FROM,
    COPIES_TO,
    FACTOR,
    NUMBERS,
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
    coefficient_row,
)

# Coefficients at many θ.


INSIDE, OUTSIDE = 0, 1


@kernel
def scratch_size(Z, count):
    """Return the size of the workspace of `coefficients` for blocks of `count` points."""
    return work_size(Z, count) + count * (1 + Z[Z[ROW] + S]) * Z[STRIDE]


@kernel
def coefficients(Z, F, X, start, count, leaves, work, rows):
    """Fill the rows of `count` points of the flat X, from point `start` on, in the flat `rows`.

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
    """Fill rows (N, width) at many θ (N, s); status (N,) is OUTSIDE outside the region."""
    X, flat = theta.reshape(-1), rows.reshape(-1)
    block = min(BLOCK, theta.shape[0])
    leaves, work = np.empty(block, dtype=np.int64), np.empty(scratch_size(Z, block))
    for start in range(0, theta.shape[0], BLOCK):
        count = min(BLOCK, theta.shape[0] - start)
        coefficients(Z, F, X, start, count, leaves, work, flat)
        for p in range(count):
            status[start + p] = OUTSIDE if leaves[p] == NOWHERE else INSIDE


# Coefficients at one θ, for controllers and integrators.
#
# The numbers equal those of `coefficients` for a batch, bit for bit. A point in the leaf of the previous call needs no
# search.


_WITHIN = 1.0 - 1e-9  # |ξ| below this lies in the leaf despite rounding at its faces


@kernel
def single_scratch(Z):
    """Return the size of the workspace of `row_at`."""
    return 2 * Z[AXES] * (Z[DEGREE] + 1) + (1 + Z[AXES]) * (Z[TERMS] + Z[STRIDE])


@kernel
def row_at(Z, F, x, work, w, row, guess):
    """Fill the row at x (s,) in place; return the leaf, or NOWHERE (the row is then nan).

    Workspace is `work` from number w on.

    guess : a leaf that may hold x, or NOWHERE
    """
    leaf = guess
    if leaf != NOWHERE:
        at = Z[LEAVES_F] + 2 * Z[AXES] * leaf
        for i in range(Z[AXES]):
            if not abs((x[i] - F[at + i]) * F[at + Z[AXES] + i]) < _WITHIN:
                leaf = NOWHERE
                break
    if leaf == NOWHERE:
        leaf = locate(Z, F, x, 0)
    header = Z[ROW]
    width = np.uint64(Z[header + WIDTH])
    if leaf == NOWHERE:
        for k in range(width):
            row[k] = np.nan
        return leaf
    s, stride, one, two = np.uint64(Z[AXES]), np.uint64(Z[STRIDE]), np.uint64(1), np.uint64(2)
    pitch, longest = np.uint64(Z[DEGREE] + 1), np.uint64(Z[TERMS])
    entry = np.uint64(Z[LEAVES_I] + 3 * leaf)
    terms, degree = np.uint64(Z[entry + one]), np.uint64(Z[entry + two])
    c = np.uint64(Z[COEFFICIENTS]) + np.uint64(Z[entry]) * stride
    T = np.uint64(w)
    dT = T + s * pitch
    B = dT + s * pitch
    dB = B + longest
    values = dB + s * longest
    slopes = values + stride
    box, f = np.uint64(Z[LEAVES_F] + 2 * Z[AXES] * leaf), np.uint64(Z[FACTORS])
    for i in range(s):
        inverse = F[box + s + i]
        xi = (x[i] - F[box + i]) * inverse
        at, d = T + i * pitch, dT + i * pitch
        work[at], work[d] = 1.0, 0.0
        if degree > 0:
            work[at + one], work[d + one] = xi, inverse
        for n in range(two, degree + one):
            work[at + n] = 2.0 * xi * work[at + n - one] - work[at + n - two]
            work[d + n] = 2.0 * inverse * work[at + n - one] + 2.0 * xi * work[d + n - one] - work[d + n - two]
    sloped = Z[header + RANGES] > 0
    work[B] = 1.0
    for j in range(s):
        work[dB + j * longest] = 0.0
    for k in range(one, terms):
        f += np.uint64(3)
        before, axis = np.uint64(Z[f]), np.uint64(Z[f + one])
        at = axis * pitch + np.uint64(Z[f + two])
        value = work[T + at]
        work[B + k] = work[B + before] * value
        if sloped:
            d = dB
            for _ in range(s):
                work[d + k] = work[d + before] * value
                d += longest
            work[dB + axis * longest + k] = work[B + before] * work[dT + at]
    sum_point(terms, Rows(F, c, stride), Terms(work, B, one), Sums(work, values, stride // np.uint64(4)))
    ranges = np.uint64(Z[header + RANGES_I])
    for k in range(np.uint64(Z[header + RANGES])):
        low, groups = np.uint64(Z[ranges + two * k]), np.uint64(Z[ranges + two * k + one])
        for j in range(s):
            sums = Sums(work, slopes + j * stride + low, groups)
            sum_point(terms, Rows(F, c + low, stride), Terms(work, dB + j * longest, one), sums)
    template, factor = np.uint64(Z[header + TEMPLATE]), np.uint64(Z[header + FACTOR])
    values_from, values_to = np.uint64(Z[header + VALUES_FROM]), np.uint64(Z[header + VALUES_TO])
    slopes_from, slopes_to = np.uint64(Z[header + SLOPES_FROM]), np.uint64(Z[header + SLOPES_TO])
    copies_from, copies_to = np.uint64(Z[header + COPIES_FROM]), np.uint64(Z[header + COPIES_TO])
    for k in range(width):
        row[k] = F[template + k]
    for k in range(np.uint64(Z[header + VALUES])):
        row[np.uint64(Z[values_to + k])] = work[values + np.uint64(Z[values_from + k])]
    for k in range(np.uint64(Z[header + SLOPES])):
        total = F[factor] * work[slopes + np.uint64(Z[slopes_from])]
        total += F[factor + one] * work[slopes + np.uint64(Z[slopes_from + one])]
        total += F[factor + two] * work[slopes + np.uint64(Z[slopes_from + two])]
        row[np.uint64(Z[slopes_to + k])] = total
        slopes_from += np.uint64(3)
        factor += np.uint64(3)
    for k in range(np.uint64(Z[header + COPIES])):
        row[np.uint64(Z[copies_to + k])] = row[np.uint64(Z[copies_from + k])]
    return leaf


@kernel(purpose="single calls of reduced models")
def row_in_place(memory, theta, row):
    """Fill the row at one θ, or at η = (θ, δ), without allocation; return INSIDE or OUTSIDE.

    memory : `one_array` of the model
    theta  : (s,) or, for η, (n,)
    row    : (width + 1 + single_scratch,): the coefficients, the leaf, workspace
    """
    Z = memory.view(np.int64)
    width = Z[Z[ROW] + WIDTH]
    leaf = row_at(Z, memory[Z[NUMBERS] :], theta, row, width + 1, row, np.int64(row[width]))
    row[width] = leaf
    c = coefficient_row(Z, row)
    if leaf != NOWHERE and theta.shape[0] == c.n:
        deform(c, theta)
    return OUTSIDE if leaf == NOWHERE else INSIDE
