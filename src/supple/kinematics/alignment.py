"""Axes that a joint makes point the same way.

The rows x·z' = y·z' = 0 of a hinge vanish where z' is z, and where it is -z; those of a weld vanish at other turns as
well. Near a drawing that almost closes this makes no difference. Far from one it does: only a joint is closed whose
axes

    n = w          n fixed in body a, w in body b

coincide. A hinge whose axes are drawn opposite each other keeps them so.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array, Integers
from supple.kinematics.numbering import Numbering
from supple.kinematics.primitives import DOT, KIND, NONE, THEN, A, B, U, W

_OPPOSITE = -0.9  # n·w of a hinge as drawn below which its axes are meant to be opposite


class Alignments(NamedTuple):
    """Pairs of axes, one each in bodies a and b (k,): n and w (k, 3) in their axes; joint (k,) by number."""

    joint: Integers
    a: Integers
    b: Integers
    n: Array
    w: Array

    def of(self, chosen: NDArray[np.bool_]) -> Alignments:
        """Some of the pairs."""
        return Alignments(self.joint[chosen], self.a[chosen], self.b[chosen], self.n[chosen], self.w[chosen])


def alignments(found: Numbering) -> Alignments:
    """The axes that joints hold together, from their rows."""
    rows_i, rows_f = found.arrays.rows_i, found.arrays.rows_f
    pairs: list[tuple[int, int, int, Array, Array]] = []
    for number, rows in enumerate(found.joint_rows.values()):
        dots = [row for row in range(rows.start, rows.stop) if rows_i[row, KIND] == DOT and rows_i[row, THEN] == NONE]
        u, w = (rows_f[dots, at : at + 3] for at in (U, W))
        if not dots:
            continue
        a, b = int(rows_i[dots[0], A]), int(rows_i[dots[0], B])
        if len(dots) == 3:  # x·y', y·z', z·x'
            pairs += [(number, a, b, u[i], w[i - 1]) for i in range(3)]
        elif len(dots) == 2:  # x·z', y·z'
            n = np.cross(u[0], u[1])
            drawn = float((_axes(found.drawn)[a] @ n) @ (_axes(found.drawn)[b] @ w[0]))
            pairs.append((number, a, b, -n if drawn < _OPPOSITE else n, w[0]))
        elif found.mechanism.planar:  # x·y'
            pairs.append((number, a, b, np.cross([0.0, 0.0, 1.0], u[0]), w[0]))
    joint, a_, b_ = (np.array([pair[i] for pair in pairs], dtype=np.int64) for i in range(3))
    n_, w_ = (np.array([pair[i] for pair in pairs], dtype=float).reshape(-1, 3) for i in (3, 4))
    return Alignments(joint, a_, b_, n_, w_)


def apart(found: Numbering, X: Array, axes: Alignments) -> Array:
    """cos of the angle between the axes of each pair: (k,), one where they coincide."""
    R = _axes(X)
    first, second = (np.einsum("kij,kj->ki", R[body], vector) for body, vector in ((axes.a, axes.n), (axes.b, axes.w)))
    return np.einsum("ki,ki->k", first, second)


def _axes(X: Array) -> Array:
    return X[:, 3:].reshape(-1, 3, 3)
