"""Which of the model's frequencies a measured one is: by order, by closeness in rising order, by shapes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from supple.diagnostics import InputError

Array = NDArray[np.float64]


def closest_in_order(measured: Array, model: Array) -> NDArray[np.int64]:
    """For each measured frequency one of the model's, rising, no one twice, Σ (ln f/f')² least."""
    k, n = len(measured), len(model)
    if n < k:
        raise InputError(f"{k} frequencies were measured, the model has {n}", hint="ask for more modes")
    off = np.square(np.log(np.asarray(measured)[:, None] / np.asarray(model)[None]))
    best = np.full((k + 1, n + 1), np.inf)
    best[0] = 0.0
    for i in range(1, k + 1):
        for j in range(i, n + 1):
            best[i, j] = min(best[i, j - 1], best[i - 1, j - 1] + off[i - 1, j - 1])
    found, j = np.empty(k, dtype=np.int64), n
    for i in range(k, 0, -1):
        while best[i, j] == best[i, j - 1]:
            j -= 1
        found[i - 1] = j - 1
        j -= 1
    return found


def by_assurance(mac: Array, measured: Array, model: Array, window: float = 0.5) -> NDArray[np.int64]:
    """For each measured frequency the level of largest MAC (k, n), no one twice, within a window of ln f."""
    from scipy.optimize import linear_sum_assignment

    far = np.abs(np.log(np.asarray(measured)[:, None] / np.asarray(model)[None])) > window
    _, found = linear_sum_assignment(np.where(far, 2.0, 0.0) - mac)
    return np.asarray(found, dtype=np.int64)
