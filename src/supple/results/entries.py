"""The short list of numbers that a result comes down to: what a map shows of it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Entries(NamedTuple):
    """Named numbers with units; of a batch, `values` has a leading axis.

    quantity : what the numbers are, "frequency"
    names    : (k,)
    units    : (k,) SI, "" where unknown
    values   : (..., k)
    """

    quantity: str
    names: tuple[str, ...]
    units: tuple[str, ...]
    values: NDArray[np.float64]


_REAL = 1e-9  # imaginary over absolute value, below which an eigenvalue counts as real
_ROUNDING = 1e-15  # of the largest eigenvalue: less is zero


def eigenvalue_entries(values: NDArray[np.complex128]) -> Entries:
    """|λ|/2π and the damping ratio -Re λ/|λ| of eigenvalues (1/s) in their order, of a conjugate pair once."""
    size = np.abs(values)
    zero = size <= _ROUNDING * size.max(initial=0.0)
    damping = np.where(zero, 0.0, 0.0 - values.real / np.where(zero, 1.0, size))
    once = values.imag >= -_REAL * size
    each = np.column_stack([size / (2.0 * np.pi), damping])[once]
    names = tuple(f"{what} {i + 1}" for i in range(len(each)) for what in ("frequency", "damping ratio"))
    return Entries("eigenvalue", names, ("Hz", "1") * len(each), each.ravel())
