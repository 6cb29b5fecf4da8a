"""Kernels that sum the terms of a polynomial: f̂_o = Σ_k T_k(ξ) c_k,o, all columns o of a point one after the other.

Every pass over the columns loads and stores the sums and checks that arrays do not overlap, so a pass takes several
terms: ten, five, then one by one, each added to the sum so far. A point's sum has the same bits in a block and alone.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.approximation.piecewise.packing import COEFFICIENTS, FIRST_ROW, LEAF, LEAVES_I, NOWHERE, STRIDE, TERM_COUNT
from supple.array_types import Array
from supple.compilation import kernel

Size = Any  # an integer, signed or not

ONE, TWO, THREE, FOUR, FIVE, TEN = (np.uint64(n) for n in (1, 2, 3, 4, 5, 10))


class Points(NamedTuple):
    """Points first ... end - 1 of a block, and the leaf of every point of it."""

    leaves: NDArray[np.int64]
    first: Size
    end: Size


class Terms(NamedTuple):
    """T_k(ξ) is numbers[at + k step]; in a block, that of point p stands p numbers further on."""

    numbers: Array
    at: Size
    step: Size


class Rows(NamedTuple):
    """c_k,o is numbers[at + k stride + o]."""

    numbers: Array
    at: Size
    stride: Size


class Sums(NamedTuple):
    """f̂_o is numbers[at + o]. Columns are counted in groups of four, so that loops over them have no remainder; of the
    last some may be mere filling."""

    numbers: Array
    at: Size
    groups: Size


@kernel(inline=True)
def five(T, q, step):
    """Five terms from number q on."""
    return T[q], T[q + step], T[q + TWO * step], T[q + THREE * step], T[q + FOUR * step]


@kernel(inline=True)
def sum_five(T, F, c, stride):
    """Σ_k T_k c_k over five rows from number c on."""
    return (
        T[0] * F[c]
        + T[1] * F[c + stride]
        + T[2] * F[c + TWO * stride]
        + T[3] * F[c + THREE * stride]
        + T[4] * F[c + FOUR * stride]
    )


@kernel(inline=True)
def plus_five(total, T, F, c, stride):
    """total + Σ_k T_k c_k, term after term."""
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
    """Sums of the columns from `column` on at each of the points; those of the next point are `pitch` numbers on.

    nan outside. A quadratic of three coordinates has ten terms and needs no second pass.
    """
    if sum_ten(Z, F, points, terms, column, sums, pitch):
        add_others(Z, F, points, terms, column, sums, pitch)


@kernel
def sum_ten(Z, F, points, terms, column, sums, pitch):
    """The first ten terms of each point, or zero where a leaf has fewer; whether terms are left."""
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
    """The terms that `sum_ten` left, in their order."""
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
    """Sums of `count` terms at one point, to the same bits as `sum_block`."""
    Y, y = sums.numbers, sums.at
    for o in range(FOUR * sums.groups):
        Y[y + o] = 0.0
    add_terms(count, rows, terms, sums)
