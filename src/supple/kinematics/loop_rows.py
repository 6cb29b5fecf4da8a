"""The rows of loops and coordinates in the freedoms of the spanning tree, each with the joints it goes through only.

A body moves with its parent and by the freedoms N of its tree joint, whose rows are J_c in its own twist and J_p in
that of its parent:

    x_c = -J_c⁺ J_p x_p + N z_c

A row between two bodies is carried along both of their branches up to the body they share, which moves both alike.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from supple.array_types import Array
from supple.kinematics.elimination import scaled_rows, workspace
from supple.kinematics.numbering import Numbering, terms
from supple.kinematics.primitives import A
from supple.kinematics.row_arrays import FIRST_FREE, PARENT

_CANCELLED = 1e-11  # what is left of a row at the body that its branches share


def loop_rows(found: Numbering, X: Array) -> csr_array:
    """G (rows of loops, couplings and coordinates, free columns) with G z = g."""
    arrays, sizes = found.arrays, found.sizes
    work = workspace(arrays)
    scaled_rows(arrays, X, work)
    carried, freedoms = [], []
    for body in range(sizes.bodies):
        _, start, count, _, side = arrays.tree[body]
        rows = work.J[start : start + count]
        left, sigma, right = np.linalg.svd(rows[:, side])
        carried.append(-(right[:count].T / sigma) @ (left.T @ rows[:, 1 - side]))
        freedoms.append(right[count:].T)
    place: list[tuple[int, int]] = []
    entries: list[float] = []
    for i in range(sizes.tree_rows, sizes.joint_rows + sizes.coordinates):
        left_over: dict[int, Array] = {}
        for term in terms(arrays, i):
            for side in range(2):
                body = int(arrays.rows_i[term, A + side])
                left_over[body] = left_over.get(body, 0.0) + work.J[term, side]
        left_over.pop(sizes.bodies, None)
        while left_over:
            body = max(left_over)  # children come after their parents
            row = left_over.pop(body)
            if np.abs(row).max() < _CANCELLED:
                continue
            parent, first = int(arrays.tree[body, PARENT]), int(arrays.tree[body, FIRST_FREE])
            for k, entry in enumerate(row @ freedoms[body]):
                place.append((i - sizes.tree_rows, first + k))
                entries.append(float(entry))
            if parent < sizes.bodies:
                left_over[parent] = left_over.get(parent, 0.0) + row @ carried[body]
    shape = (sizes.joint_rows + sizes.coordinates - sizes.tree_rows, sizes.free)
    at = np.array(place, dtype=np.int64).reshape(-1, 2)
    return csr_array((entries, (at[:, 0], at[:, 1])), shape=shape)
