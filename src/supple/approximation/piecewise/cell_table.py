"""A table of cells that takes the place of the search in a tree, where all cuts lie on a regular grid.

Axis i of the root box is divided into m_i cells by edges e_0 ... e_m. A guess k = (x - e_0) m / (e_m - e_0), corrected
by one where x lies below e_k or not below e_{k+1}, gives the cell, and the table its leaf. The edges are the cuts
themselves, to the bit, so a point on a cut finds the leaf that the tree finds.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.array_types import Array, Integers

MOST_PIECES = 256  # along an axis
MOST_CELLS = 2**15
CELLS_A_LEAF = 16  # more would cost the cache more than the search costs
UNEVEN = 1e-8  # of a cell: how far an edge may lie from its place in the grid; a guess is then off by one at most


class CellTable(NamedTuple):
    """The table in numbers; cells is 0 where there is none.

    integers : m (s,), then the leaf of each cell or -1, the last axis fastest
    numbers  : m / (e_m - e_0) (s,), then the edges of each axis, the outermost ones infinite
    """

    integers: Integers
    numbers: Array
    cells: int


NONE = CellTable(np.zeros(0, dtype=np.int64), np.zeros(0), 0)


def cell_table(roots_f: Array, roots_i: Integers, nodes_i: Integers, nodes_f: Array, leaves: int) -> CellTable:
    """The table of a single tree that is cut at all, if its cuts lie on a grid that is not too fine."""
    if len(roots_i) != 1 or len(nodes_f) == 0:
        return NONE
    lower, upper = roots_f[0]
    edges = []
    for i in range(len(lower)):
        along = _edges(lower[i], upper[i], np.unique(nodes_f[nodes_i[:, 0] == i]))
        if along is None:
            return NONE
        edges.append(along)
    pieces = np.array([len(edge) - 1 for edge in edges], dtype=np.int64)
    cells = int(np.prod(pieces.astype(float)))
    if cells > min(MOST_CELLS, CELLS_A_LEAF * leaves):
        return NONE
    centers = np.stack(np.meshgrid(*[0.5 * (e[1:] + e[:-1]) for e in edges], indexing="ij"), axis=-1)
    child = _descended(int(roots_i[0]), nodes_i, nodes_f, centers.reshape(cells, -1))
    for edge in edges:
        edge[0], edge[-1] = -np.inf, np.inf  # a point of the region needs no correction there
    return CellTable(
        np.concatenate([pieces, np.where(child < -1, -2 - child, child)]),
        np.concatenate([pieces / (upper - lower), *edges]).astype(float),
        cells,
    )


def _edges(lower: float, upper: float, cuts: Array) -> Array | None:
    """The coarsest regular grid on an axis that has every cut among its edges."""
    if len(cuts) >= MOST_PIECES:
        return None
    fraction = (cuts - lower) / (upper - lower)
    pieces = np.arange(1, MOST_PIECES + 1)
    places = fraction[:, None] * pieces
    fits = (np.abs(places - np.rint(places)) <= UNEVEN).all(axis=0)
    if not fits.any():
        return None
    count = int(pieces[np.argmax(fits)])
    edges = np.linspace(lower, upper, count + 1)
    at = np.rint(fraction * count).astype(int)
    if len(np.unique(at)) < len(at) or (at.min(initial=1) < 1) or (at.max(initial=0) >= count):
        return None  # two cuts that differ by rounding alone
    edges[at] = cuts
    return edges


def _descended(root: int, nodes_i: Integers, nodes_f: Array, points: Array) -> Integers:
    """The child that ends the search of each point (N, s)."""
    child = np.full(len(points), root, dtype=np.int64)
    while (going := np.flatnonzero(child >= 0)).size:
        node = child[going]
        above = points[going, nodes_i[node, 0]] >= nodes_f[node]
        child[going] = np.where(above, nodes_i[node, 2], nodes_i[node, 1])
    return child
