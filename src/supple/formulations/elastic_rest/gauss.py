"""Gauss's elimination, real or complex: for matrices of a few tens of rows, where a library's call costs as much."""

from __future__ import annotations

from supple.compilation import kernel


@kernel
def solved(A, B, least):
    """B ← A⁻¹B with pivots from each column, each more than `least`; A is overwritten. Whether it was regular."""
    n, p = B.shape
    for k in range(n):
        pivot, largest = k, 0.0
        for i in range(k, n):
            size = abs(A[i, k])
            if size > largest:
                pivot, largest = i, size
        if not largest > least:
            return False
        if pivot != k:
            for j in range(k, n):
                A[k, j], A[pivot, j] = A[pivot, j], A[k, j]
            for j in range(p):
                B[k, j], B[pivot, j] = B[pivot, j], B[k, j]
        inverse = 1.0 / A[k, k]
        for i in range(k + 1, n):
            factor = A[i, k] * inverse
            if factor != 0.0:
                for j in range(k + 1, n):
                    A[i, j] -= factor * A[k, j]
                for j in range(p):
                    B[i, j] -= factor * B[k, j]
    for k in range(n - 1, -1, -1):
        inverse = 1.0 / A[k, k]
        for j in range(p):
            total = B[k, j]
            for i in range(k + 1, n):
                total -= A[k, i] * B[i, j]
            B[k, j] = total * inverse
    return True
