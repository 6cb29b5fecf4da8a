"""Row of numbers as a function of σ: constants, and a few functions that all changing numbers share.

    row = template,   row[varying] += E f̂(σ),     f̂ : R^s -> R^r,   E (v, r)

Numbers that change over σ together share their functions, so that r is much smaller than v. The fit stores r functions
and E instead of v functions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.approximation.piecewise.piecewise import Piecewise
from supple.array_types import Array, Integers

NOTHING = np.zeros(0, dtype=np.int64)
_SINGLE = 6  # decimal digits up to which a number is stored in single precision


class FittedRow(NamedTuple):
    """Row of numbers (width,) over σ.

    template : (width,) constant entries, and the constant parts of entries that change
    varying  : (v,) positions that change, increasing
    fitted   : the functions f̂; None if nothing changes
    factors  : E (v, r)
    error    : largest error of an entry that changes, relative to its size
    """

    template: Array
    varying: Integers = NOTHING
    fitted: Piecewise | None = None
    factors: Array = np.zeros((0, 0))
    error: float = 0.0

    def at(self, sigma: Array) -> Array:
        """Return the row at σ (s,), or the rows at σ (N, s)."""
        given = np.asarray(sigma, dtype=float)
        row = np.tile(self.template, (*given.shape[:-1], 1)) if given.ndim > 1 else self.template.copy()
        if self.fitted is not None:
            row[..., self.varying] += self.fitted.evaluate(given) @ self.factors.T
        return row

    def first(self, width: int) -> FittedRow:
        """Return the row of the first numbers."""
        some = self.varying < width
        if self.fitted is None or not some.any():
            return FittedRow(self.template[:width])
        return self._replace(template=self.template[:width], varying=self.varying[some], factors=self.factors[some])


def rounded(values: Array, digits: int) -> Array:
    """Return numbers with some decimal digits, up to 6 of them as single-precision numbers.

    Single-precision tables then hold them exactly, and a table needs half the memory.
    """
    if digits > _SINGLE:
        return values
    size = np.where(values == 0.0, 1.0, 10.0 ** np.floor(np.log10(np.maximum(np.abs(values), 1e-300))))
    return (np.round(values / size, digits - 1) * size).astype(np.float32).astype(float)
