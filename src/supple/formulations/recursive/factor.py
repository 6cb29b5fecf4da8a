"""The mass matrix of a tree factored without fill: M = Lᵀ D L, and its inverse.

M_jk is zero unless one axis carries the other, and eliminating from the leaves keeps it so [Featherstone, ch. 6]:
L_jk ≠ 0 only for k on the way from the ground to j. Then with X = L⁻¹ (of the same pattern) M⁻¹ = X D⁻¹ Xᵀ, a sum over
the axes that carry both. `M`, `X` : (axes², W), entry (j, k) in row j axes + k; parents have the lower numbers.
"""

from __future__ import annotations

from supple.compilation import kernel
from supple.formulations.recursive.blocks import block_place
from supple.formulations.recursive.memory import parent_of
from supple.formulations.recursive.node import lane_count
from supple.formulations.recursive.spatial import number_at, put


@kernel
def factor(side, blocks, tree, M):
    """L takes the place of M below the diagonal, 1/D on it: M_ij -= M_ki M_kj / D_k, L_ki = M_ki / D_k."""
    W, lanes, n = len(side), lane_count(side, blocks), tree.n
    for count in range(n):
        k = n - 1 - count
        pivot = k * n + k
        for lane in range(lanes):
            put(M, pivot, W, lane, 1.0 / number_at(M, pivot, W, lane))
        i = parent_of(tree, k)
        while i < n:
            below, j = k * n + i, i
            while j < n:
                beside, to = k * n + j, i * n + j
                for lane in range(lanes):
                    L = number_at(M, below, W, lane) * number_at(M, pivot, W, lane)
                    put(M, to, W, lane, number_at(M, to, W, lane) - L * number_at(M, beside, W, lane))
                j = parent_of(tree, j)
            for lane in range(lanes):
                put(M, below, W, lane, number_at(M, below, W, lane) * number_at(M, pivot, W, lane))
            i = parent_of(tree, i)


@kernel
def solve(side, blocks, tree, M, b):
    """M x = b in place, from the factor: Lᵀ y = b, L x = D⁻¹ y; b : (axes, W)."""
    W, lanes, n = len(side), lane_count(side, blocks), tree.n
    for count in range(n):
        k = n - 1 - count
        i = parent_of(tree, k)
        while i < n:
            for lane in range(lanes):
                known = number_at(M, k * n + i, W, lane) * number_at(b, k, W, lane)
                put(b, i, W, lane, number_at(b, i, W, lane) - known)
            i = parent_of(tree, i)
    for k in range(n):
        for lane in range(lanes):
            put(b, k, W, lane, number_at(b, k, W, lane) * number_at(M, k * n + k, W, lane))
        i = parent_of(tree, k)
        while i < n:
            for lane in range(lanes):
                known = number_at(M, k * n + i, W, lane) * number_at(b, i, W, lane)
                put(b, k, W, lane, number_at(b, k, W, lane) - known)
            i = parent_of(tree, i)


@kernel
def invert(side, blocks, tree, M, X, inverse):
    """M⁻¹ from the factor, into blocks; M is used up."""
    W, lanes, n = len(side), lane_count(side, blocks), tree.n
    for j in range(n):  # X_jk = -L_jk - Σ L_ji X_ik over the axes i between
        k = parent_of(tree, j)
        while k < n:
            to = j * n + k
            for lane in range(lanes):
                put(X, to, W, lane, -number_at(M, to, W, lane))
            i = parent_of(tree, j)
            while i != k:
                for lane in range(lanes):
                    known = number_at(M, j * n + i, W, lane) * number_at(X, i * n + k, W, lane)
                    put(X, to, W, lane, number_at(X, to, W, lane) - known)
                i = parent_of(tree, i)
            k = parent_of(tree, k)
    for j in range(n):  # X_jk / D_k in the place of L_jk
        k = parent_of(tree, j)
        while k < n:
            for lane in range(lanes):
                put(M, j * n + k, W, lane, number_at(X, j * n + k, W, lane) * number_at(M, k * n + k, W, lane))
            k = parent_of(tree, k)
        for lane in range(lanes):
            put(X, j * n + j, W, lane, 1.0)
        for i in range(j + 1):
            inverse_entry(side, blocks, tree, M, X, inverse, j, i)


@kernel(inline=True)
def inverse_entry(side, blocks, tree, M, X, inverse, j, i):
    """(M⁻¹)_ji = Σ_k X_jk X_ik / D_k over the axes that carry both (eq. 22)."""
    W, lanes, n = len(side), lane_count(side, blocks), tree.n
    to, mirror, k = block_place(n, j, i), block_place(n, i, j), tree.meet[j * n + i]
    for lane in range(lanes):
        put(inverse, to, W, lane, 0.0)
    while k < n:
        for lane in range(lanes):
            term = number_at(M, j * n + k, W, lane) * number_at(X, i * n + k, W, lane)
            put(inverse, to, W, lane, number_at(inverse, to, W, lane) + term)
        k = parent_of(tree, k)
    for lane in range(lanes):
        put(inverse, mirror, W, lane, number_at(inverse, to, W, lane))
