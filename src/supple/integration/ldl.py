"""LDLᵀ factorisation of symmetric quasi-definite matrices of a fixed sparse pattern, without pivoting.

A matrix [[A, Bᵀ], [B, -C]] with A and C positive definite has a factor LDLᵀ in every symmetric ordering
[Vanderbei 1995]. The ordering and the pattern of L are computed once; a kernel fills in the numbers as often as needed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import reverse_cuthill_mckee

from supple.array_types import Integers
from supple.compilation import kernel


class Pattern(NamedTuple):
    """Positions of the entries of the matrix and of its factor.

    order : (n,) order[k] is the row that is eliminated k-th
    start, entries : column k of the upper triangle, in the new order, holds rows entries[start[k]:start[k + 1]],
                     the diagonal among them
    row_start, row_index : columns with an entry in row k of L, each after all it depends on
    below_start, below_index : rows with an entry in column k of L, ascending
    """

    order: Integers
    start: Integers
    entries: Integers
    row_start: Integers
    row_index: Integers
    below_start: Integers
    below_index: Integers


class TriangleEntries(NamedTuple):
    """Indices of the entries of a symmetric matrix among the values of its upper triangle.

    keys     : (entries,) ascending, column * size + row in the order of elimination
    position : (n,) of a row in that order
    """

    keys: Integers
    position: Integers

    def of(self, rows: NDArray[np.integer], columns: NDArray[np.integer]) -> Integers:
        """Return the index of each entry (rows, columns), the same for (i, j) and (j, i)."""
        one, other = self.position[rows], self.position[columns]
        keys = np.maximum(one, other) * len(self.position) + np.minimum(one, other)
        return np.searchsorted(self.keys, keys).astype(np.int64)


def pattern_of(size: int, rows: Integers, columns: Integers) -> tuple[Pattern, TriangleEntries]:
    """Return the pattern of a symmetric matrix with entries at (rows, columns), and the index of each entry.

    The indices are those of the upper triangle, for both (i, j) and (j, i); the diagonal is always included.
    """
    diagonal = np.arange(size)
    i, j = np.concatenate([rows, columns, diagonal]), np.concatenate([columns, rows, diagonal])
    matrix = coo_array((np.ones(len(i)), (i, j)), shape=(size, size)).tocsr()
    order = np.asarray(reverse_cuthill_mckee(matrix, symmetric_mode=True), dtype=np.int64)
    position = np.empty(size, dtype=np.int64)
    position[order] = diagonal
    keys = np.unique(np.maximum(position[i], position[j]) * size + np.minimum(position[i], position[j]))
    column, index = np.divmod(keys, size)
    start = np.searchsorted(column, np.arange(size + 1)).astype(np.int64)
    return Pattern(order, start, index, *_fill(size, start, index)), TriangleEntries(keys, position)


def _fill(size: int, start: Integers, index: Integers) -> tuple[Integers, Integers, Integers, Integers]:
    """Return row patterns of L along the elimination tree, and column patterns from them [Davis 2005]."""
    parent = [-1] * size
    row_patterns: list[list[int]] = []
    below: list[list[int]] = [[] for _ in range(size)]
    rows, first = index.tolist(), start.tolist()
    for k in range(size):
        visited = {k}
        pattern: list[int] = []
        for i in rows[first[k] : first[k + 1]]:
            path = []
            node = i
            while node not in visited:
                visited.add(node)
                path.append(node)
                if parent[node] == -1:
                    parent[node] = k
                node = parent[node]
            pattern = path + pattern
        row_patterns.append(pattern)
        for i in pattern:
            below[i].append(k)
    row_start = np.cumsum([0, *(len(item) for item in row_patterns)]).astype(np.int64)
    below_start = np.cumsum([0, *(len(item) for item in below)]).astype(np.int64)
    flat = [np.array([k for item in lists for k in item], dtype=np.int64) for lists in (row_patterns, below)]
    return row_start, flat[0], below_start, flat[1]


@kernel
def factorise(pattern, values, L, D, y, filled):
    """Compute L (unit lower triangle, by columns) and D from the upper triangle's values.

    Returns whether no pivot vanished.
    """
    start, entries, row_start, row_index = pattern.start, pattern.entries, pattern.row_start, pattern.row_index
    below_start, below_index = pattern.below_start, pattern.below_index
    n = D.shape[0]
    for k in range(n):
        filled[k] = below_start[k]
        y[k] = 0.0
    for k in range(n):
        for p in range(start[k], start[k + 1]):
            y[entries[p]] = values[p]
        pivot = y[k]
        y[k] = 0.0
        for p in range(row_start[k], row_start[k + 1]):
            i = row_index[p]
            yi = y[i]
            y[i] = 0.0
            last = filled[i]
            for q in range(below_start[i], last):
                y[below_index[q]] -= L[q] * yi
            L[last] = yi / D[i]
            pivot -= L[last] * yi
            filled[i] = last + 1
        if pivot == 0.0 or pivot != pivot:
            return False
        D[k] = pivot
    return True


@kernel
def substitute(pattern, L, D, b, y):
    """Solve L D Lᵀ x = b in place; y is workspace."""
    order, below_start, below_index = pattern.order, pattern.below_start, pattern.below_index
    n = D.shape[0]
    for k in range(n):
        y[k] = b[order[k]]
    for k in range(n):
        yk = y[k]
        if yk != 0.0:
            for p in range(below_start[k], below_start[k + 1]):
                y[below_index[p]] -= L[p] * yk
    for k in range(n):
        y[k] /= D[k]
    for k in range(n - 1, -1, -1):
        total = y[k]
        for p in range(below_start[k], below_start[k + 1]):
            total -= L[p] * y[below_index[p]]
        y[k] = total
    for k in range(n):
        b[order[k]] = y[k]


@kernel
def multiply(pattern, values, x, out):
    """Compute out = A x, with A given by the values of its upper triangle."""
    order, start, entries = pattern.order, pattern.start, pattern.entries
    out[:] = 0.0
    for k in range(order.shape[0]):
        column = order[k]
        total = 0.0
        for p in range(start[k], start[k + 1]):
            row = order[entries[p]]
            if row == column:
                total += values[p] * x[column]
            else:
                total += values[p] * x[row]
                out[row] += values[p] * x[column]
        out[column] += total
