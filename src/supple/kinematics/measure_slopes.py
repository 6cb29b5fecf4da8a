"""Derivatives of measures with respect to θ: ∂w/∂θ = a Ψ, from the rows of the position, without Ψ itself."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from supple.array_types import Array
from supple.kinematics.numbering import Numbering, terms
from supple.kinematics.primitives import SCALE, A, gradient
from supple.kinematics.ranked_rows import RankedRows


def measure_jacobian(found: Numbering, X: Array, rows: RankedRows, measured: Sequence[int]) -> Array:
    """Return ∂w/∂θ (measures, s) of some rows of measures; `rows` are those of joints and coordinates at X.

    With y [Φ_q; A] = a it is the part of y on the coordinates; a measure that is a coordinate has its unit vector.
    """
    first, s = found.constraints, len(found.coordinates)
    slopes = np.zeros((len(measured), s))
    others = [i for i, row in enumerate(measured) if row - first >= s]
    for i, row in enumerate(measured):
        if row - first < s:
            slopes[i, row - first] = 1.0
    if others:
        solution = rows.row_solution(np.array([slope_row(found, X, measured[i]) for i in others]))
        slopes[others] = solution[:, first:] / found.arrays.rows_f[first : first + s, SCALE]
    return slopes


def slope_row(found: Numbering, X: Array, row: int) -> Array:
    """Return the rates of a measure with the scaled velocities of all bodies: (n,)."""
    arrays = found.arrays
    g = np.empty(13)
    scale = np.where(arrays.column < 3, arrays.extent, 1.0)
    slope = np.zeros((len(found.bodies), len(arrays.column)))
    for term in terms(arrays, row):
        gradient(arrays.rows_i, arrays.rows_f, term, X, g)
        for side in range(2):
            body = int(arrays.rows_i[term, A + side])
            if body < len(found.bodies):
                slope[body] += scale * g[1 + 6 * side + arrays.column]
    return slope.ravel()
