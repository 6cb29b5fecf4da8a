"""Kernels that find the leaf of a point: from the table of cells if there is one, otherwise down the tree.

Both find the same leaf, to the bit of a coordinate. Unsigned offsets let the compiler see that no index is negative.
"""

from __future__ import annotations

import numpy as np

from supple.approximation.piecewise.packing import (
    ABOVE,
    AXIS,
    BELOW,
    CELLS,
    NODE,
    NODES_F,
    NODES_I,
    NOWHERE,
    ROOTS,
    ROOTS_F,
    ROOTS_I,
    TABLE_F,
    TABLE_I,
    S,
)
from supple.compilation import kernel


@kernel
def locate_block(Z, F, X, start, count, leaves):
    """Find the leaf of each of `count` points from point `start` of the flat X on, or NOWHERE."""
    if Z[CELLS] > 0:
        look_up_block(Z, F, X, start, count, leaves)
    else:
        descend_block(Z, F, X, start, count, leaves)


@kernel
def locate(Z, F, X, point):
    """Return the leaf of one point of the flat X, or NOWHERE."""
    return looked_up(Z, F, X, point) if Z[CELLS] > 0 else descend_tree(Z, F, X, point)


@kernel
def place_on_axis(F, value, low, scale, edges, last):
    """Return the cell of an axis that contains a value, see `cell_table`; any cell for a value outside."""
    guess = (value - low) * scale
    guess = guess if guess > 0.0 else 0.0  # also for nan, which cannot be converted to an integer
    guess = guess if guess < last else last
    k = np.int64(guess)
    at = edges + np.uint64(k)
    return k + np.int64(value >= F[at + np.uint64(1)]) - np.int64(value < F[at])


@kernel
def look_up_block(Z, F, X, start, count, leaves):
    """Find the leaf of each of `count` points from the table of cells, axis by axis."""
    s, one = np.uint64(Z[S]), np.uint64(1)
    bounds, pieces, scales = np.uint64(Z[ROOTS_F]), np.uint64(Z[TABLE_I]), np.uint64(Z[TABLE_F])
    edges = scales + s
    for p in range(count):
        leaves[p] = 0
    for i in range(s):
        many, low, high, scale = Z[pieces + i], F[bounds + i], F[bounds + s + i], F[scales + i]
        last = np.float64(many - 1)
        x = np.uint64(start) * s + i
        for p in range(count):
            value, cell = X[x], leaves[p]
            k = place_on_axis(F, value, low, scale, edges, last)
            leaves[p] = cell * many + k if (low <= value) & (value <= high) & (cell >= 0) else NOWHERE
            x += s
        edges += np.uint64(many) + one
    for p in range(count):
        if leaves[p] != NOWHERE:
            leaves[p] = Z[pieces + s + np.uint64(leaves[p])]


@kernel
def looked_up(Z, F, X, point):
    """Return the leaf of one point from the table of cells."""
    s, one = np.uint64(Z[S]), np.uint64(1)
    bounds, pieces, scales = np.uint64(Z[ROOTS_F]), np.uint64(Z[TABLE_I]), np.uint64(Z[TABLE_F])
    edges, x = scales + s, np.uint64(point) * s
    inside, cell = True, 0
    for i in range(s):
        value, many, low = X[x + i], Z[pieces + i], F[bounds + i]
        cell = cell * many + place_on_axis(F, value, low, F[scales + i], edges, np.float64(many - 1))
        inside &= (low <= value) & (value <= F[bounds + s + i])
        edges += np.uint64(many) + one
    return Z[pieces + s + np.uint64(cell)] if inside else NOWHERE


@kernel
def descend_block(Z, F, X, start, count, leaves):
    """Find the leaf of each of `count` points down the tree, all at once, so that their cache misses overlap."""
    s, one, two = np.uint64(Z[S]), np.uint64(1), np.uint64(2)
    roots_i, nodes_i = np.uint64(Z[ROOTS_I]), np.uint64(Z[NODES_I])
    roots_f, nodes_f = np.uint64(Z[ROOTS_F]), np.uint64(Z[NODES_F])
    roots = np.uint64(Z[ROOTS])
    x = np.uint64(start) * s
    for p in range(count):
        child = NOWHERE
        for r in range(roots):
            inside = True
            at = roots_f + r * two * s
            for i in range(s):
                inside &= (F[at + i] <= X[x + i]) & (X[x + i] <= F[at + s + i])
            if inside:
                child = Z[roots_i + r]
                break
        leaves[p] = child
        x += s
    going = True
    while going:
        going = False
        x = np.uint64(start) * s
        for p in range(count):
            if leaves[p] >= 0:
                node = np.uint64(leaves[p])
                at = nodes_i + NODE * node
                above = X[x + np.uint64(Z[at + AXIS])] >= F[nodes_f + node]
                child = Z[at + (ABOVE if above else BELOW)]
                leaves[p] = child
                going |= child >= 0
            x += s
    for p in range(count):
        if leaves[p] != NOWHERE:
            leaves[p] = -2 - leaves[p]
        elif roots > one:  # on a face of two roots, the other one may have a fit
            leaves[p] = descend_tree(Z, F, X, start + p)


@kernel
def descend_tree(Z, F, X, point):
    """Return the leaf of one point down the tree, searched in every root, or NOWHERE."""
    s, nodes_i, nodes_f = Z[S], np.uint64(Z[NODES_I]), np.uint64(Z[NODES_F])
    x = point * s
    for r in range(Z[ROOTS]):
        inside = True
        at = Z[ROOTS_F] + 2 * s * r
        for i in range(s):
            inside &= (F[at + i] <= X[x + i]) & (X[x + i] <= F[at + s + i])
        if inside:
            child = Z[Z[ROOTS_I] + r]
            while child >= 0:
                node = nodes_i + NODE * np.uint64(child)
                above = X[x + Z[node + AXIS]] >= F[nodes_f + np.uint64(child)]
                child = Z[node + (ABOVE if above else BELOW)]
            if child != NOWHERE:
                return -2 - child
    return NOWHERE
