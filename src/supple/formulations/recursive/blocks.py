"""Matrices in blocks of two rows and four columns, filled up with zeros, and their products in blocks of two by two.

So a product takes one block of each factor at a time, and several states in one instruction.
"""

from __future__ import annotations

from supple.compilation import kernel
from supple.formulations.recursive.node import cut, lane_count


@kernel
def quarters(n):
    """Blocks in a row of n entries."""
    return (n + 3) // 4


@kernel
def block_place(n, row, column):
    """Where entry (row, column) of a matrix with rows of n entries is kept."""
    return ((row // 2) * quarters(n) + column // 4) * 8 + (row % 2) * 4 + column % 4


@kernel
def spare_place(n):
    """Behind the entries of a matrix of 2n rows of n entries: room for what is not kept."""
    return n * quarters(n) * 8


@kernel
def product_place(columns, row, column):
    """Where entry (row, column) of the product is kept: blocks of two by two; two divides `columns`."""
    return ((row // 2) * (columns // 2) + column // 2) * 4 + (row % 2) * 2 + column % 2


@kernel
def negative_product(side, blocks, n, left, right, out):
    """out = -left rightᵀ, n by 2n, for left (n, n) and right (2n, n) in blocks of two by four; out of two by two."""
    W, lanes, quads = len(side), lane_count(side, blocks), quarters(n)
    for i in range((n + 1) // 2):
        for c in range(n):
            to = cut(out, i * n + c, 4 * W)
            for at in range(4 * W):
                to[at] = 0.0
            for r in range(quads):
                a, b = cut(left, i * quads + r, 8 * W), cut(right, c * quads + r, 8 * W)
                for lane in range(lanes):
                    a0, a1, a2, a3 = a[lane], a[W + lane], a[2 * W + lane], a[3 * W + lane]
                    a4, a5, a6, a7 = a[4 * W + lane], a[5 * W + lane], a[6 * W + lane], a[7 * W + lane]
                    b0, b1, b2, b3 = b[lane], b[W + lane], b[2 * W + lane], b[3 * W + lane]
                    to[lane] -= a0 * b0 + a1 * b1 + a2 * b2 + a3 * b3
                    to[2 * W + lane] -= a4 * b0 + a5 * b1 + a6 * b2 + a7 * b3
                    b0, b1, b2, b3 = b[4 * W + lane], b[5 * W + lane], b[6 * W + lane], b[7 * W + lane]
                    to[W + lane] -= a0 * b0 + a1 * b1 + a2 * b2 + a3 * b3
                    to[3 * W + lane] -= a4 * b0 + a5 * b1 + a6 * b2 + a7 * b3
