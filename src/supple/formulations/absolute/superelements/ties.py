"""Rows that tie the touched nodes of a superelement to its floating frame and its coordinates.

    e_k·Rᵀ(x_i - r) - e_k·X_i = S_ik q,   ½ (Rᵀ R_i - R_iᵀ R)ᵛ = S_φi q      (docs/theory/superelements-in-motion.md, 2)

Both are sums of measures that joints are made of: places along the axes of the floating frame, products of directions
(in the plane the angle), and positions of the frames that hold q. The second is the sine of the turn along its axis: a
small rotation to third order, objective, and smooth.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from supple.formulations.absolute.superelements.superelement_arrays import PlacedBody
from supple.kinematics.primitives import (
    ALONG,
    ANGLE,
    DOT,
    FACTOR,
    KIND,
    NONE,
    PA,
    ROW_WIDTH,
    SCALE,
    THEN,
    A,
    B,
    U,
    V,
    W,
)
from supple.kinematics.row_arrays import RowArrays

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

_AXES = np.eye(3)
_NEXT, _LAST = (1, 2, 0), (2, 0, 1)  # axes that follow an axis


def with_ties(rows: RowArrays, placed: list[PlacedBody], planar: bool) -> tuple[RowArrays, Integers]:
    """The rows with those of the ties behind them, and the numbers of these: of every body and node, place by place,
    displacements before turns."""
    terms_i, terms_f, heads = [], [], []
    at = len(rows.rows_i)
    ground = int(rows.sizes[0])
    for item in placed:
        for node in range(len(item.body.nodes)):
            for row in _of_node(item, node, ground, rows.extent, planar):
                heads.append(at)
                for place, (kinds, numbers) in enumerate(row):
                    kinds[THEN] = at + place + 1 if place + 1 < len(row) else NONE
                    terms_i.append(kinds)
                    terms_f.append(numbers)
                at += len(row)
    if heads:
        rows = rows._replace(
            rows_i=np.vstack([rows.rows_i, *terms_i]).astype(np.int64), rows_f=np.vstack([rows.rows_f, *terms_f])
        )
    return rows, np.array(heads, dtype=np.int64)


_Term = tuple[Integers, Array]


def _term(kind: int, a: int, b: int, factor: float, scale: float) -> _Term:
    kinds, numbers = np.full(5, NONE, dtype=np.int64), np.zeros(ROW_WIDTH)
    kinds[[KIND, A, B]] = kind, a, b
    numbers[FACTOR], numbers[SCALE] = factor, scale
    return kinds, numbers


def _of_node(item: PlacedBody, node: int, ground: int, extent: float, planar: bool) -> list[list[_Term]]:
    """The rows of one node: three along axes and three about them, in the plane two and one."""
    body, frame, at = item.body, item.frame, item.nodes + node
    found = []
    for k in (0, 1) if planar else (0, 1, 2):
        along = _term(ALONG, frame, at, 1.0, extent)
        along[1][U : U + 3] = _AXES[k]
        along[1][PA : PA + 3] = body.nodes[node] - body.center
        found.append([along, *_less(item, body.shapes[node, k], ground, extent, planar)])
    for k in (2,) if planar else (0, 1, 2):
        if planar:
            angle = _term(ANGLE, frame, at, 1.0, 1.0)
            angle[1][U : U + 3], angle[1][V : V + 3], angle[1][W : W + 3] = _AXES[0], _AXES[1], _AXES[0]
            turn = [angle]
        else:
            turn = [_term(DOT, frame, at, 0.5, 1.0), _term(DOT, frame, at, -0.5, 1.0)]
            for (_, numbers), (own, other) in zip(turn, ((_LAST[k], _NEXT[k]), (_NEXT[k], _LAST[k])), strict=True):
                numbers[U : U + 3], numbers[W : W + 3] = _AXES[own], _AXES[other]
        found.append([*turn, *_less(item, body.shapes[node, 3 + k], ground, 1.0, planar)])
    return found


def _less(item: PlacedBody, shape: Array, ground: int, scale: float, planar: bool) -> list[_Term]:
    """- S q: positions of the frames that hold q, as far as they count."""
    held = 2 if planar else 3
    found = []
    for i in np.flatnonzero(shape):
        term = _term(ALONG, ground, item.first + int(i) // held, -float(shape[i]), scale)
        term[1][U : U + 3] = _AXES[int(i) % held]
        found.append(term)
    return found
