"""Which of the model's frequencies a measured one is: by order, by closeness in rising order, by shapes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array
from supple.diagnostics import InputError
from supple.identification.modal_parameters.spaces import close_groups, to_spaces

_DOUBLE = 1e-4  # of a frequency: modes closer than this are one level


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


def as_subspaces(
    measured_hz: Array, shapes: NDArray[Any], model_hz: Array, model_shapes: Array, close: float, window: float = 0.5
) -> list[tuple[list[int], list[int]]]:
    """Measured modes (k) with modes of a model (n) by shape, no one twice: groups of both.

    Modes of one side closer than `close` are any of the space that they span: likeness is the cos² of the angle to such
    a space, where that is more than the MAC. Beyond a window of ln f nothing is alike. Measured modes that are close
    are one group with all that they were paired with.
    """
    from scipy.optimize import linear_sum_assignment

    groups, families = close_groups(measured_hz, close), close_groups(model_hz, close)
    likeness = np.maximum(to_spaces(shapes, model_shapes, families), to_spaces(model_shapes, shapes, groups).T)
    far = np.abs(np.log(np.asarray(measured_hz)[:, None] / np.asarray(model_hz)[None])) > window
    rows, columns = linear_sum_assignment(np.where(far, 2.0, 0.0) - likeness)
    partner = dict(zip(rows.tolist(), columns.tolist(), strict=True))
    taken = set(partner.values())
    found = []
    for group in groups:
        modes = {partner[i] for i in group}
        for level in close_groups(model_hz, _DOUBLE):  # the rest of a double mode of which less was measured
            if modes & set(level):
                modes |= {j for j in level if j not in taken}
        found.append((sorted(group), sorted(modes)))
    return sorted(found)
