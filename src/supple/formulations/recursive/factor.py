"""The mass matrix of a tree factored without fill: M = Lᵀ D L, its inverse, and products.

M_jk is zero unless one axis carries the other, and eliminating from the leaves keeps it so [Featherstone, ch. 6]:
L_jk ≠ 0 only for k on the way from the ground to j. Then with X = L⁻¹ (of the same pattern) M⁻¹ = X D⁻¹ Xᵀ, a sum over
the axes that carry both. `M`, `X` : (axes², W), entry (j, k) in row j axes + k; parents have the lower numbers.

M⁻¹ and the derivatives of τ (by columns) are kept in blocks of two rows and four columns, filled up with zeros, so that
their product takes one block of each at a time.
"""

from __future__ import annotations

from supple.compilation import kernel
from supple.formulations.recursive.axis_rows import INTEGERS, PARENT
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
def factor(side, blocks, n, axes_i, M):
    """L takes the place of M below the diagonal, 1/D on it."""
    W, lanes = len(side), lane_count(side, blocks)
    for count in range(n):
        k = n - 1 - count
        pivot = cut(M, k * n + k, W)
        for lane in range(lanes):
            pivot[lane] = 1.0 / pivot[lane]
        i = axes_i[k * INTEGERS + PARENT]
        while i < n:
            below = cut(M, k * n + i, W)
            j = i
            while j < n:
                beside, to = cut(M, k * n + j, W), cut(M, i * n + j, W)
                for lane in range(lanes):
                    to[lane] -= (below[lane] * pivot[lane]) * beside[lane]
                j = axes_i[j * INTEGERS + PARENT]
            i = axes_i[i * INTEGERS + PARENT]
        i = axes_i[k * INTEGERS + PARENT]
        while i < n:
            below = cut(M, k * n + i, W)
            for lane in range(lanes):
                below[lane] *= pivot[lane]
            i = axes_i[i * INTEGERS + PARENT]


@kernel
def invert(side, blocks, n, axes_i, meet, M, X, inverse):
    """M⁻¹ from the factor, into blocks. M is used up; meet : (axes²,) the last axis that carries both, or n."""
    W, lanes = len(side), lane_count(side, blocks)
    for j in range(n):
        k = axes_i[j * INTEGERS + PARENT]
        while k < n:
            to, direct = cut(X, j * n + k, W), cut(M, j * n + k, W)
            for lane in range(lanes):
                to[lane] = -direct[lane]
            i = axes_i[j * INTEGERS + PARENT]
            while i != k:
                a, b = cut(M, j * n + i, W), cut(X, i * n + k, W)
                for lane in range(lanes):
                    to[lane] -= a[lane] * b[lane]
                i = axes_i[i * INTEGERS + PARENT]
            k = axes_i[k * INTEGERS + PARENT]
    for j in range(n):
        own, pivot = cut(inverse, block_place(n, j, j), W), cut(M, j * n + j, W)
        for lane in range(lanes):
            own[lane] = pivot[lane]
        k = axes_i[j * INTEGERS + PARENT]
        while k < n:  # X_jk / D_k, in the place of L_jk
            to, a, b = cut(M, j * n + k, W), cut(X, j * n + k, W), cut(M, k * n + k, W)
            for lane in range(lanes):
                scaled = a[lane] * b[lane]
                to[lane] = scaled
                own[lane] += scaled * a[lane]
            k = axes_i[k * INTEGERS + PARENT]
        for i in range(j):
            to, k = cut(inverse, block_place(n, j, i), W), meet[j * n + i]
            for lane in range(lanes):
                to[lane] = 0.0
            if k == i:
                direct = cut(M, j * n + i, W)
                for lane in range(lanes):
                    to[lane] = direct[lane]
                k = axes_i[k * INTEGERS + PARENT]
            while k < n:
                a, b = cut(M, j * n + k, W), cut(X, i * n + k, W)
                for lane in range(lanes):
                    to[lane] += a[lane] * b[lane]
                k = axes_i[k * INTEGERS + PARENT]
            mirror = cut(inverse, block_place(n, i, j), W)
            for lane in range(lanes):
                mirror[lane] = to[lane]


@kernel
def solve(side, blocks, n, axes_i, M, b):
    """M x = b in place, from the factor; b : (axes, W)."""
    W, lanes = len(side), lane_count(side, blocks)
    for count in range(n):  # Lᵀ y = b
        k = n - 1 - count
        known = cut(b, k, W)
        i = axes_i[k * INTEGERS + PARENT]
        while i < n:
            a, to = cut(M, k * n + i, W), cut(b, i, W)
            for lane in range(lanes):
                to[lane] -= a[lane] * known[lane]
            i = axes_i[i * INTEGERS + PARENT]
    for k in range(n):
        to, pivot = cut(b, k, W), cut(M, k * n + k, W)
        for lane in range(lanes):
            to[lane] *= pivot[lane]
        i = axes_i[k * INTEGERS + PARENT]
        while i < n:
            a, known = cut(M, k * n + i, W), cut(b, i, W)
            for lane in range(lanes):
                to[lane] -= a[lane] * known[lane]
            i = axes_i[i * INTEGERS + PARENT]


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
