"""Modes that are close: what they span together, and how far shapes are from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array


def close_groups(hertz: Array, close: float) -> list[list[int]]:
    """Modes one after the other, each in the group of the one before it if it is close to that."""
    found: list[list[int]] = []
    for i in np.argsort(hertz, kind="stable").tolist():
        if found and hertz[i] - hertz[found[-1][-1]] <= close * hertz[i]:
            found[-1].append(i)
        else:
            found.append([i])
    return found


def to_spaces(shapes: NDArray[Any], others: NDArray[Any], groups: Sequence[Sequence[int]]) -> Array:
    """(shapes, others): cos² of the angle of each shape to what the group of each of the others spans."""
    found = np.zeros((len(shapes), len(others)))
    unit = shapes / np.maximum(np.linalg.norm(shapes, axis=1, keepdims=True), np.finfo(float).tiny)
    for group in groups:
        Q = np.linalg.qr(np.asarray(others)[list(group)].astype(complex).T)[0]
        found[:, group] = np.sum(np.abs(unit @ Q.conj()) ** 2, axis=1)[:, None]
    return found
