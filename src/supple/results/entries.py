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
