"""Joint rows as matrices, for rank, mobility and the completion of the drawing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from supple.array_types import Array
from supple.compilation import kernel
from supple.kinematics.elimination import scaled_rows, workspace
from supple.kinematics.numbering import Numbering, terms
from supple.kinematics.primitives import NONE, SCALE, THEN, A, row_value
from supple.kinematics.row_arrays import row_sizes

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@kernel(purpose="rows of joints")
def jacobian_batch(rows, X_all, J_all):
    """Compute [Φ_q; A] (N, m + s, n) at every position."""
    sizes = row_sizes(rows)
    d = sizes.width
    work = workspace(rows)
    J, rows_i = work.J, rows.rows_i
    for n in range(X_all.shape[0]):
        scaled_rows(rows, X_all[n], work)
        J_all[n] = 0.0
        for i in range(sizes.joint_rows + sizes.coordinates):
            term = i
            while term != NONE:
                for side in range(2):
                    b = rows_i[term, A + side]
                    if b < sizes.bodies:
                        for c in range(d):
                            J_all[n, i, b * d + c] += J[term, side, c]
                term = rows_i[term, THEN]


def scaled_jacobian(numbering: Numbering, X: Array) -> Array:
    """Return [Φ_q; A] (m + s, n), lengths in units of the mechanism's extent.

    X : (bodies + 1, 12). Interpreted: nothing is compiled.
    """
    J = np.empty((1, numbering.constraints + len(numbering.coordinates), numbering.columns))
    jacobian_batch(numbering.arrays, X[None], J)
    return J[0]


def sparse_jacobian(numbering: Numbering, X: Array) -> csr_array:
    """Return [Φ_q; A] as a sparse matrix: each row has only the entries of its bodies."""
    from scipy.sparse import csr_array

    arrays, sizes = numbering.arrays, numbering.sizes
    work = workspace(arrays)
    scaled_rows(arrays, X, work)
    rows, parts = [], []
    for i in range(sizes.joint_rows + sizes.coordinates):
        for term in terms(arrays, i):
            rows.append(i)
            parts.append(term)
    row, body = np.repeat(rows, 2), arrays.rows_i[parts][:, A : A + 2].ravel()
    moving = body < sizes.bodies
    row, body, entries = row[moving], body[moving], work.J[parts].reshape(-1, sizes.width)[moving]
    columns = body[:, None] * sizes.width + np.arange(sizes.width)
    shape = (sizes.joint_rows + sizes.coordinates, numbering.columns)
    found = csr_array((entries.ravel(), (np.repeat(row, sizes.width), columns.ravel())), shape=shape)
    found.eliminate_zeros()
    return found


def scaled_values(numbering: Numbering, X: Array) -> Array:
    """Return the scaled values (m + s,) of the rows of joints and coordinates; angles are those next to the drawing."""
    rows = range(numbering.constraints + len(numbering.coordinates))
    return row_values(numbering, X, rows) / numbering.arrays.rows_f[rows, SCALE]


def row_values(numbering: Numbering, X: Array, rows: Sequence[int]) -> Array:
    """Return the values of some rows; angles are those next to the drawing."""
    arrays = numbering.arrays
    return np.array([row_value(arrays.rows_i, arrays.rows_f, row, X, numbering.as_drawn) for row in rows])


def measured_values(numbering: Numbering, X: Array) -> Array:
    """Return the values of every row after the joints' (θ and the other measures)."""
    return row_values(numbering, X, range(numbering.constraints, numbering.rows))
