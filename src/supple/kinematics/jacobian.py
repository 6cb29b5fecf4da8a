"""The joint rows as dense matrices, for rank, mobility and the completion of the drawing."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from supple.compilation import kernel
from supple.kinematics.elimination import scaled_rows
from supple.kinematics.numbering import Numbering
from supple.kinematics.primitives import SCALE, value

Array = NDArray[np.float64]


@kernel(purpose="rows of joints")
def jacobian_batch(sizes, column, rows_i, rows_f, extent, X_all, J_all):
    """[Φ_q; A] (N, m + s, n) at every position."""
    nb, d, rows = sizes[0], sizes[1], sizes[3] + sizes[4]
    J = np.empty((rows, 2, d))
    values = np.empty(rows)
    for n in range(X_all.shape[0]):
        scaled_rows(sizes, column, rows_i, rows_f, extent, X_all[n], J, values)
        J_all[n] = 0.0
        for i in range(rows):
            for side in range(2):
                b = rows_i[i, 1 + side]
                if b < nb:
                    for c in range(d):
                        J_all[n, i, b * d + c] += J[i, side, c]


def scaled_jacobian(numbering: Numbering, X: Array) -> tuple[Array, Array]:
    """[Φ_q; A] (m + s, n) and the values of its rows, lengths in units of the mechanism's extent.

    X : (bodies + 1, 12). Interpreted: nothing is compiled.
    """
    sizes, _, _, column, rows_i, rows_f, extent = numbering.arrays
    rows = int(sizes[3] + sizes[4])
    J = np.empty((1, rows, numbering.columns))
    values = np.empty(rows)
    scaled_rows(sizes, column, rows_i, rows_f, extent, X, np.empty((rows, 2, int(sizes[1]))), values)
    jacobian_batch(sizes, column, rows_i, rows_f, extent, X[None], J)
    return J[0], values / rows_f[:rows, SCALE]


def measured_values(numbering: Numbering, X: Array) -> Array:
    """Values of every row after the joints' (θ and the other measures), angles within a turn."""
    sizes, _, _, _, rows_i, rows_f, _ = numbering.arrays
    return np.array([value(rows_i, rows_f, row, X) for row in range(int(sizes[3]), int(sizes[5]))])
