"""Rows of a mechanism in the form that kernels use, and the names of their sizes."""

from __future__ import annotations

from typing import NamedTuple

from supple.array_types import Array, Integers
from supple.compilation import kernel

# Columns of RowArrays.tree.
PARENT, FIRST_ROW, ROW_COUNT, FIRST_FREE, CHILD_SIDE = range(5)

# Indices of RowArrays.sizes.
BODIES, WIDTH, TREE_ROWS, JOINT_ROWS, COORDINATES, ROWS, FREE, ACTUATORS = range(8)


class RowArrays(NamedTuple):
    """Arguments of the kernels of kinematics, in this order.

    sizes  : bodies, columns per body (6, or 3 in the plane), tree rows, joint rows, θ, all rows, free columns,
    actuators tree   : (bodies, 5) parent, first row, number of rows, first free column, whether the child side is a
    (0) or b (1) reach  : (bodies + 1, 1 + free columns) number of free columns that move a body, and their numbers
    column : (columns,) component of (v, ω) of each column
    extent : the mechanism's size, m
    """

    sizes: Integers
    tree: Integers
    reach: Integers
    column: Integers
    rows_i: Integers
    rows_f: Array
    extent: float


class RowSizes(NamedTuple):
    """Numbers of bodies, rows and columns.

    bodies      : without the ground
    width       : columns per body, 6 or in the plane 3
    tree_rows   : of the joints of the spanning tree
    joint_rows  : of all joints, m; measures follow
    coordinates : θ, s
    rows        : constraints and measures
    free        : columns that the tree's joints leave free
    actuators   : inputs
    """

    bodies: int
    width: int
    tree_rows: int
    joint_rows: int
    coordinates: int
    rows: int
    free: int
    actuators: int


@kernel(inline=True)
def row_sizes(rows):
    """Return the sizes of RowArrays by name, for use inside a kernel.

    With `sizes = row_sizes(rows)`, the number of bodies is `sizes.bodies`.
    """
    n = rows.sizes
    return RowSizes(n[BODIES], n[WIDTH], n[TREE_ROWS], n[JOINT_ROWS], n[COORDINATES], n[ROWS], n[FREE], n[ACTUATORS])
