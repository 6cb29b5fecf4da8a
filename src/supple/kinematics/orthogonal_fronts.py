"""Orthogonal factorisation of sparse rows, group of columns by group, for long chains and many loops.

    A = Q R,   R (rank, columns) in echelon form                                                    (1)
    Rᵀ = W S,  S (rank, rank) triangular, where columns depend on others;  A = Q Sᵀ Wᵀ              (2)

The columns of a group (a body, or a joint of the transpose) are eliminated together: the rows that involve it form a
small dense front, whose QR with column pivoting leaves rows for the remaining groups. Groups with the fewest neighbours
go first. Columns that vanish in the elimination have no pivot [Heath 1982]; they depend on others. Q and W are kept as
the reflections of each front.

R and S have the singular values of A. If S is regular and the discarded remainder is negligible, the rank is certain.
Near a dead point it may not be; the caller then computes singular values of the dense rows.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from heapq import heapify, heappop, heappush

import numpy as np
from scipy.linalg import qr
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator, SuperLU, eigsh, splu

from supple.array_types import Array, Integers

NOTHING = 1e-10  # fraction of the largest entry: remainder of a column that depends on others
REGULAR = 3e-9  # fraction of the largest singular value; a smaller one leaves the rank uncertain
_SETTLED, _ROUGHLY = 1e-8, 1e-2  # relative accuracy of squares of singular values


class Fronts:
    """Factors of A (rows, columns), a sparse matrix whose column c belongs to group[c].

    R       : (rank, columns) rows in the order of elimination
    pivots  : (rank,) the column of each pivot; R[:, pivots] is upper triangular
    """

    def __init__(self, A: csr_array, group: Integers) -> None:
        self.A = A
        left = _Elimination(A, group)
        left.run(NOTHING * float(np.abs(A.data).max(initial=0.0)))
        self.R, self.pivots = left.triangle(), np.concatenate([np.zeros(0, dtype=np.int64), *left.pivots])
        self._steps = left.steps
        self._front_of = np.array(left.front_of, dtype=np.int64)
        self._ends = np.array(left.ends, dtype=np.int64)

    @property
    def rank(self) -> int:
        """Number of pivots; the rank of A if that is certain."""
        return len(self.pivots)

    @property
    def regular(self) -> bool:
        """Whether no column depends on others."""
        return self.rank == self.A.shape[1]

    @cached_property
    def certain(self) -> bool:
        """Whether the rank is certain: the smallest singular value of R is well above the tolerance."""
        if self.rank == 0:
            return True
        size = abs(self.A)
        bound = np.sqrt(size.sum(axis=0).max() * size.sum(axis=1).max())  # upper bound of the largest singular value
        return self._least(_ROUGHLY) > REGULAR * bound

    @cached_property
    def largest(self) -> float:
        """Largest singular value."""
        A, transposed = self.A, csr_array(self.A.T)
        return float(np.sqrt(_top(lambda x: transposed @ (A @ x), A.shape[1], _SETTLED))) if self.rank else 0.0

    @cached_property
    def smallest(self) -> float:
        """Smallest singular value of R."""
        return self._least(_SETTLED)

    def inverse(self, b: Array) -> Array:
        """Return A⁺ b, the smallest of all x with the least |A x - b|: (columns,) or (columns, count)."""
        c = self._multiply_transposed(b)
        if not self.regular:
            return self._other.transposed_inverse(c)
        x = np.empty_like(c)
        x[self.pivots] = self._solve(c)
        return x

    def transposed_inverse(self, b: Array) -> Array:
        """Return A⁺ᵀ b, the least-squares solution for Aᵀ: (rows,) or (rows, count)."""
        if self.regular:
            return self._multiply(self._solve(b[self.pivots], transposed=True))
        return self._multiply(self._other.inverse(b))

    def project_out(self, x: Array) -> Array:
        """Return the part of x (rows,) that is orthogonal to the columns of A."""
        return x - self._multiply(self._multiply_transposed(x))

    def kernel(self) -> Array:
        """Return an orthonormal basis of {x: A x = 0}: (columns, columns - rank)."""
        if self.regular:
            return np.zeros((self.rank, 0))
        return self._other._complement()

    @cached_property
    def _other(self) -> Fronts:
        """Factors W and S of Rᵀ."""
        return Fronts(csr_array(self.R.T), self._front_of)

    @cached_property
    def _solver(self) -> SuperLU:
        triangle = self.R[:, self.pivots]
        return splu(triangle.tocsc(), permc_spec="NATURAL", diag_pivot_thresh=0.0)

    def _solve(self, b: Array, *, transposed: bool = False) -> Array:
        """Return x with T x = b, or Tᵀ x = b, where T is the columns of R with a pivot."""
        return np.asarray(self._solver.solve(np.ascontiguousarray(b), "T" if transposed else "N"))

    def _least(self, accuracy: float) -> float:
        if not self.regular:
            return self._other._least(accuracy) if self._other.regular else 0.0
        top = _top(lambda x: self._solve(self._solve(x, transposed=True)), self.rank, accuracy)
        return float(1.0 / np.sqrt(top))

    def _multiply_transposed(self, b: Array) -> Array:
        """Return Qᵀ b: (rank,) or (rank, count)."""
        y = np.array(b)
        for at, Q in self._steps:
            y[at] = Q.T @ y[at]
        return y[self._ends]

    def _multiply(self, c: Array) -> Array:
        """Return Q c: (rows,) or (rows, count)."""
        y = np.zeros((self.A.shape[0], *c.shape[1:]))
        y[self._ends] = c
        return self._back(y)

    def _complement(self) -> Array:
        """Return an orthonormal basis of the orthogonal complement of all columns: (rows, rows - rank)."""
        others = np.setdiff1d(np.arange(self.A.shape[0]), self._ends)
        y = np.zeros((self.A.shape[0], len(others)))
        y[others, np.arange(len(others))] = 1.0
        return self._back(y)

    def _back(self, y: Array) -> Array:
        for at, Q in reversed(self._steps):
            y[at] = Q @ y[at]
        return y


def _top(product: Callable[[Array], Array], size: int, accuracy: float) -> float:
    """Return the largest eigenvalue of a symmetric product, from a start that is the same in every run."""
    if size < 3:
        return float(np.linalg.eigvalsh(np.column_stack([product(e) for e in np.eye(size)]))[-1])
    start = np.random.default_rng(0).standard_normal(size)
    operator = LinearOperator((size, size), matvec=product, dtype=np.float64)
    return float(eigsh(operator, 1, v0=start, ncv=min(size, 64), tol=accuracy, return_eigenvectors=False)[0])


class _Elimination:
    """Remaining pieces of rows, by number: their rows, columns and entries; and the groups they involve."""

    def __init__(self, A: csr_array, group: Integers) -> None:
        order = np.argsort(group, kind="stable")
        self.columns = np.split(order, np.flatnonzero(np.diff(group[order])) + 1) if len(group) else []
        number = np.empty(len(group), dtype=np.int64)
        for g, own in enumerate(self.columns):
            number[own] = g
        self.shape = A.shape
        self.pieces: dict[int, tuple[Integers, Integers, Array]] = {}
        self.touching: list[list[int]] = [[] for _ in self.columns]
        self.near: list[set[int]] = [set() for _ in self.columns]
        self.place = np.empty(len(group), dtype=np.int64)
        self.count = 0
        self.steps: list[tuple[Integers, Array]] = []
        self.pivots: list[Integers] = []
        self.ends: list[int] = []
        self.entries: list[tuple[Integers, Array]] = []
        self.front_of: list[int] = []
        starts = A.indptr
        for row in range(A.shape[0]):
            part = slice(starts[row], starts[row + 1])
            columns = A.indices[part]
            self._add(np.array([row]), columns, A.data[None, part], sorted(set(number[columns].tolist())))

    def _add(self, rows: Integers, columns: Integers, entries: Array, groups: list[int]) -> None:
        self.pieces[self.count] = (rows, columns, entries)
        for g in groups:
            self.touching[g].append(self.count)
            self.near[g].update(groups)
            self.near[g].discard(g)
        self.count += 1

    def _front(self, g: int) -> tuple[Integers, Integers, Array, list[int]]:
        """Remove and return all rows that involve a group, dense.

        Returns (rows, columns with its own first, entries, other groups).
        """
        others = sorted(self.near[g])
        columns = np.concatenate([self.columns[g], *(self.columns[k] for k in others)])
        self.place[columns] = np.arange(len(columns))
        pieces = [self.pieces.pop(k) for k in self.touching[g] if k in self.pieces]
        rows = np.concatenate([np.zeros(0, dtype=np.int64), *(piece[0] for piece in pieces)])
        dense, start = np.zeros((len(rows), len(columns))), 0
        for at, where, entries in pieces:
            dense[start : start + len(at), self.place[where]] = entries
            start += len(at)
        for k in others:
            self.near[k].discard(g)
        return rows, columns, dense, others

    def run(self, nothing: float) -> None:
        """Eliminate all groups, those with the fewest neighbours first."""
        waiting = [(len(near), g) for g, near in enumerate(self.near)]
        heapify(waiting)
        done: set[int] = set()
        while waiting:
            degree, g = heappop(waiting)
            if g in done or degree != len(self.near[g]):
                continue
            done.add(g)
            rows, columns, front, others = self._front(g)
            if len(rows):
                self._eliminate(g, rows, columns, front, others, nothing)
            for k in others:
                heappush(waiting, (len(self.near[k]), k))

    def _eliminate(
        self, g: int, rows: Integers, columns: Integers, front: Array, others: list[int], nothing: float
    ) -> None:
        own = len(self.columns[g])
        Q, R, order = qr(front[:, :own], pivoting=True, check_finite=False)
        count = int(np.count_nonzero(np.abs(R.diagonal()) > nothing))
        rest = Q.T @ front[:, own:]
        here = np.concatenate([columns[order], columns[own:]])
        for i in range(count):
            self.entries.append((here[i:], np.concatenate([R[i, i:], rest[i]])))
        self.front_of += [g] * count
        self.steps.append((rows, Q))
        self.pivots.append(here[:count])
        self.ends += rows[:count].tolist()
        rows, rest = rows[count:], rest[count:]
        if len(rest) > rest.shape[1] > 0:
            Q, rest = np.linalg.qr(rest, mode="complete")
            self.steps.append((rows, Q))
            rows, rest = rows[: rest.shape[1]], rest[: rest.shape[1]]
        if rest.size:
            self._add(rows, columns[own:], rest, others)

    def triangle(self) -> csr_array:
        """Return R (rank, columns)."""
        lengths = [len(where) for where, _ in self.entries]
        starts = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
        where = np.concatenate([np.zeros(0, dtype=np.int64), *(where for where, _ in self.entries)])
        values = np.concatenate([np.zeros(0), *(values for _, values in self.entries)])
        return csr_array((values, where, starts), shape=(len(lengths), self.shape[1]))
