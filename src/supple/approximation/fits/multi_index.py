"""Which products of one-dimensional polynomials make a basis."""

from __future__ import annotations

from functools import cache
from itertools import product
from math import comb

import numpy as np
from numpy.typing import NDArray

Indices = NDArray[np.int64]


@cache
def _total(dimension: int, degree: int) -> tuple[tuple[int, ...], ...]:
    if dimension == 1:
        return tuple((n,) for n in range(degree + 1))
    indices = []
    for first in range(degree + 1):
        indices += [(first, *rest) for rest in _total(dimension - 1, degree - first)]
    return tuple(sorted(indices, key=lambda index: (sum(index), tuple(-n for n in index))))


def total_degree(dimension: int, degree: int) -> Indices:
    """All α with |α| <= degree, by rising degree: those of a lower degree come first. (terms, dimension)."""
    return np.array(_total(dimension, degree), dtype=np.int64)


def tensor(dimension: int, degree: int) -> Indices:
    """All α with α_i <= degree. (terms, dimension)."""
    return np.array(list(product(range(degree + 1), repeat=dimension)), dtype=np.int64)


def count(dimension: int, degree: int) -> int:
    """Number of terms of total degree at most `degree`."""
    return comb(dimension + degree, dimension)
