"""How a linear model changes with a parameter: its four matrices, and its eigenvalues.

∂λ/∂μ = lᴴ (∂A/∂μ) r / lᴴr,    A r = λ r,  lᴴA = λ lᴴ                                            (parameters, 13)
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eig

from supple.array_types import Array, Complex
from supple.results.result import arrays_repr

_SINGLE = 1e-6  # |lᴴr| of unit vectors: below it the eigenvalue is one of several that share a vector


class LinearSlopes(NamedTuple):
    """∂A/∂μ, ∂B/∂μ, ∂C/∂μ and ∂D/∂μ, the operating point following."""

    A: Array
    B: Array
    C: Array
    D: Array

    def __repr__(self) -> str:
        return arrays_repr(self)


def by_magnitude(values: Complex) -> NDArray[np.int64]:
    """The order of eigenvalues by rising magnitude, which is not one of rounding errors."""
    digits = values / max(float(np.abs(values).max(initial=0.0)), 1e-300)
    return np.lexsort(tuple(np.round(part, 10) for part in (digits.imag, digits.real, np.abs(digits))))


def eigenvalue_slopes(A: Array, slopes: Array) -> Complex:
    """∂λ/∂μ of the eigenvalues of A, by rising magnitude; no number where several share one vector (a motion that
    nothing holds has position and rate in one), for these have none."""
    values, left, right = (np.asarray(item, dtype=complex) for item in eig(A, left=True, right=True))
    share = np.einsum("ik,ik->k", left.conj(), right)
    single = np.abs(share) > _SINGLE
    found: Any = np.einsum("ik,ij,jk->k", left.conj(), slopes, right)
    found = np.where(single, found / np.where(single, share, 1.0), np.nan)
    return np.asarray(found[by_magnitude(values)])
