"""The rows of a mechanism as kernels take them, and the names of their sizes."""

from __future__ import annotations

from typing import NamedTuple

from supple.array_types import Array, Integers
from supple.compilation import kernel

# Columns of RowArrays.tree.
PARENT, FIRST_ROW, ROW_COUNT, FIRST_FREE, CHILD_SIDE = range(5)

# Places in RowArrays.sizes.
BODIES, WIDTH, TREE_ROWS, JOINT_ROWS, COORDINATES, ROWS, FREE, ACTUATORS = range(8)


class RowArrays(NamedTuple):
    """What the kernels of kinematics take, in this order.

    sizes  : bodies, columns a body (6, or 3 in the plane), tree rows, joint rows, θ, all rows, free columns,
             actuators
    tree   : (bodies, 5) parent, first row, number of rows, first free column, is the child side a (0) or b (1)
    reach  : (bodies + 1, 1 + free columns) how many free columns move a body, and which
    column : (columns,) which of (v, ω) a column is; extent: the mechanism's size, m
    """

    sizes: Integers
    tree: Integers
    reach: Integers
    column: Integers
    rows_i: Integers
    rows_f: Array
    extent: float


class RowSizes(NamedTuple):
    """How many of what.

    bodies      : without the ground
    width       : columns a body, 6 or in the plane 3
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
    """The sizes of RowArrays by name, for use inside a kernel: `sizes = row_sizes(rows)`, then `sizes.bodies`."""
    n = rows.sizes
    return RowSizes(n[BODIES], n[WIDTH], n[TREE_ROWS], n[JOINT_ROWS], n[COORDINATES], n[ROWS], n[FREE], n[ACTUATORS])
