"""Sparse equations of small motions that keep their rows, redundant ones too.

    [S   Jᵀ] [ p ]   [f]
    [J  -C ] [ λ ] = [g]

A row that does not yield is given a compliance of 1e-12 of what the frames themselves yield along it. Redundant rows
then pass: of their multipliers one solution out of many is found, and p is the same for all of them.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spla

from supple.array_types import Array
from supple.diagnostics import NumericalError

_YIELDING = 1e-12
_LEAST = 1e-9  # of the largest stiffness: less is rounding
_NOTHING = 1e-200
_REFINED = 2


class Saddle:
    """Factors of the equations with S (n, n)."""

    def __init__(self, S: sp.csc_array, J: sp.csc_array, compliance: Array) -> None:
        self.n, rows = S.shape[0], J.shape[0]
        squares = sp.csr_array(J.multiply(J))
        springs = np.divide(1.0, compliance, out=np.zeros(rows), where=compliance > 0.0)
        size = np.abs(S.diagonal()) + squares.T @ springs
        stiffest = float(size.max(initial=0.0))
        size = np.maximum(size, _LEAST * stiffest if stiffest > _NOTHING else 1.0)
        along = [size[squares.indices[squares.indptr[i] : squares.indptr[i + 1]]].max(initial=0.0) for i in range(rows)]
        stiffness = np.where(np.array(along) > 0.0, along, max(stiffest, 1.0))
        soft = np.where(compliance > 0.0, compliance, _YIELDING * (squares.sum(axis=1) + _NOTHING) / stiffness)
        self._matrix = sp.csc_array(sp.block_array([[S, J.T], [J, sp.diags_array(-compliance, shape=(rows, rows))]]))
        given = sp.csc_array(sp.block_array([[S, J.T], [J, sp.diags_array(-soft, shape=(rows, rows))]]))
        try:
            self._factors = spla.splu(given)
        except RuntimeError:
            raise NumericalError("its stiffness is singular", hint="hold what is free to move") from None

    def solve(self, f: Array, g: Array | None = None) -> tuple[Array, Array]:
        """p (n,) and λ (rows,)."""
        right = np.concatenate([f, np.zeros(self._matrix.shape[0] - self.n) if g is None else g])
        found = self._factors.solve(right)
        for _ in range(_REFINED):
            found += self._factors.solve(right - self._matrix @ found)
        return found[: self.n], found[self.n :]
