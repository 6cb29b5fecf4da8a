"""The same as factor.py for one state alone, where cutting rows out of the memory would take longer than the sums."""

from __future__ import annotations

from supple.compilation import kernel
from supple.formulations.recursive.axis_rows import INTEGERS, PARENT
from supple.formulations.recursive.factor import block_place


@kernel
def factor_single(n, axes_i, M):
    """M = Lᵀ D L in place, 1/D on the diagonal."""
    for count in range(n):
        k = n - 1 - count
        pivot = 1.0 / M[k * n + k]
        M[k * n + k] = pivot
        i = axes_i[k * INTEGERS + PARENT]
        while i < n:
            below = M[k * n + i] * pivot
            j = i
            while j < n:
                M[i * n + j] -= below * M[k * n + j]
                j = axes_i[j * INTEGERS + PARENT]
            M[k * n + i] = below
            i = axes_i[i * INTEGERS + PARENT]


@kernel
def solve_single(n, axes_i, M, b):
    """M x = b in place, from the factor."""
    for count in range(n):
        k = n - 1 - count
        known = b[k]
        i = axes_i[k * INTEGERS + PARENT]
        while i < n:
            b[i] -= M[k * n + i] * known
            i = axes_i[i * INTEGERS + PARENT]
    for k in range(n):
        total = b[k] * M[k * n + k]
        i = axes_i[k * INTEGERS + PARENT]
        while i < n:
            total -= M[k * n + i] * b[i]
            i = axes_i[i * INTEGERS + PARENT]
        b[k] = total


@kernel
def invert_single(n, axes_i, meet, M, X, inverse):
    """M⁻¹ = X D⁻¹ Xᵀ, X = L⁻¹, into blocks."""
    for j in range(n):
        k = axes_i[j * INTEGERS + PARENT]
        while k < n:
            total = -M[j * n + k]
            i = axes_i[j * INTEGERS + PARENT]
            while i != k:
                total -= M[j * n + i] * X[i * n + k]
                i = axes_i[i * INTEGERS + PARENT]
            X[j * n + k] = total
            k = axes_i[k * INTEGERS + PARENT]
    for j in range(n):
        X[j * n + j] = 1.0
        k = axes_i[j * INTEGERS + PARENT]
        while k < n:
            M[j * n + k] = X[j * n + k] * M[k * n + k]
            k = axes_i[k * INTEGERS + PARENT]
        for i in range(j + 1):
            total, k = 0.0, meet[j * n + i]
            while k < n:
                total += M[j * n + k] * X[i * n + k]
                k = axes_i[k * INTEGERS + PARENT]
            inverse[block_place(n, j, i)] = total
            inverse[block_place(n, i, j)] = total
