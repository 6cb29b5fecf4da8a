"""Arrays as kernels are compiled for.

A compiled kernel knows its arrays by type, order and whether they may be written to; one that is read-only (as what is
broadcast) or lies otherwise in memory would be compiled for once more, which takes seconds.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def native_array(values: ArrayLike) -> NDArray[np.float64]:
    """The same numbers row by row, writable; copied only where they are not."""
    found = np.ascontiguousarray(values, dtype=np.float64)
    return found if found.flags.writeable else found.copy()
