"""Piecewise polynomial as two flat arrays, integers Z and numbers F, for kernels.

A call from Python takes time for every array it passes, and a kernel for every view it creates. A header in Z has the
sizes of the parts and their beginnings. Rows of coefficients are padded to whole groups of four numbers, and the first
one begins on a cache line: loops over them then have no remainder, and no load spans two lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from supple.array_types import Array, Integers
from supple.diagnostics import InputError

NOWHERE = -1
LINE = 8  # numbers on a cache line
HEADER = 24

# Places in the header of Z. Sizes: STRIDE numbers lie between rows of coefficients, CELLS is 0 if there is no table.
S, OUTPUTS, STRIDE, TERMS, DEGREE, ROOTS, CELLS = range(7)
# Beginnings of the parts, in Z and in F. The rest of the header is used by reduced models.
ROOTS_I, NODES_I, LEAVES_I, FACTORS, TABLE_I = range(7, 12)
ROOTS_F, NODES_F, LEAVES_F, TABLE_F = range(12, 16)
COEFFICIENTS = 16
# A leaf, a node and a term are LEAF, NODE, FACTOR integers each; slots of them. Unsigned, as kernels count.
LEAF, NODE, FACTOR = (np.uint64(3),) * 3
FIRST_ROW, TERM_COUNT, LEAF_DEGREE = (np.uint64(n) for n in range(3))
AXIS, BELOW, ABOVE = (np.uint64(n) for n in range(3))
EARLIER, ALONG, POWER = (np.uint64(n) for n in range(3))


def packed_arrays(
    roots_f: Array,
    roots_i: Integers,
    nodes_i: Integers,
    nodes_f: Array,
    leaves_i: Integers,
    leaves_f: Array,
    indices: Integers,
    coefficients: Array,
) -> tuple[Integers, Array]:
    """Return Z and F from the parts of `PiecewiseArrays`: a header, then the parts, each row by row."""
    factors = term_factors(indices)
    if factors is None:
        raise InputError("a term precedes one of its divisors", part="polynomial", hint="sort the terms by degree")
    table = cell_table(roots_f, roots_i, nodes_i, nodes_f, len(leaves_i))
    rows, outputs = coefficients.shape
    terms = leaves_i[:, 1].max(initial=0)  # of the longest polynomial; the list may be longer
    stride = 4 * groups_of_four(outputs)
    integers, numbers = (roots_i, nodes_i, leaves_i, factors[:terms], table.integers), (roots_f, nodes_f, leaves_f)
    before = sum(part.size for part in (*numbers, table.numbers))
    space = np.zeros(-before % LINE)
    header = np.zeros(HEADER, dtype=np.int64)
    header[[S, OUTPUTS, STRIDE, TERMS]] = roots_f.shape[2], outputs, stride, terms
    header[[DEGREE, ROOTS, CELLS]] = leaves_i[:, 2].max(initial=0), len(roots_i), table.cells
    header[ROOTS_I : TABLE_I + 1] = np.cumsum([HEADER, *(part.size for part in integers[:-1])])
    header[ROOTS_F : TABLE_F + 1] = np.cumsum([0, *(part.size for part in numbers)])
    header[COEFFICIENTS] = before + len(space)
    Z = np.concatenate([header, *(part.ravel() for part in integers)]).astype(np.int64)
    F = join_aligned([*numbers, table.numbers, space], rows * stride)
    filled = F[header[COEFFICIENTS] :].reshape(rows, stride)
    filled[:, :outputs], filled[:, outputs:] = coefficients, 0.0
    return Z, F


def term_factors(indices: Integers) -> Integers | None:
    """Return each term as an earlier one times a polynomial of one coordinate: (terms, 3) β, i, n.

    T_α = T_β(ξ) T_n(ξ_i), where i is the last coordinate in α. The constant must come first, and every β before its α;
    otherwise the result is None.
    """
    places: dict[tuple[int, ...], int] = {}
    factors = np.zeros((len(indices), 3), dtype=np.int64)
    for k, alpha in enumerate(indices.tolist()):
        axis = max((i for i, power in enumerate(alpha) if power), default=None)
        if axis is not None:
            before = places.get((*alpha[:axis], *[0] * (len(alpha) - axis)))
            if before is None:
                return None
            factors[k] = before, axis, alpha[axis]
        elif k:
            return None
        places.setdefault(tuple(alpha), k)
    return factors


def groups_of_four(count: int) -> int:
    """Return the number of groups of four that hold `count` numbers."""
    return -(-count // 4)


def join_aligned(parts: Sequence[Array], more: int = 0) -> Array:
    """Join parts in memory that begins on a cache line, with room for `more` numbers behind them."""
    size = sum(part.size for part in parts)
    space = np.empty(size + more + LINE)
    first = -(space.ctypes.data // space.itemsize) % LINE
    joined = space[first : first + size + more]
    np.concatenate([part.ravel() for part in parts], out=joined[:size])
    return joined


# A table of cells that replaces the search in a tree if all cuts lie on a regular grid.
#
# Axis i of the root box is divided into m_i cells by edges e_0 ... e_m. A guess k = (x - e_0) m / (e_m - e_0),
# corrected by one where x lies below e_k or not below e_{k+1}, gives the cell, and the table its leaf. The edges are
# the cuts themselves, bit for bit, so a point on a cut finds the same leaf as in the tree.


MOST_PIECES = 256  # along an axis
MOST_CELLS = 2**15
CELLS_A_LEAF = 16  # with more cells, cache misses would cost more than the search
UNEVEN = 1e-8  # of a cell: largest distance of an edge from its place in the grid; a guess is then off by one at most


class CellTable(NamedTuple):
    """Table of cells; `cells` is 0 if there is none.

    integers : m (s,), then the leaf of each cell or -1, the last axis fastest
    numbers  : m / (e_m - e_0) (s,), then the edges of each axis, the outermost ones infinite
    """

    integers: Integers
    numbers: Array
    cells: int


NONE = CellTable(np.zeros(0, dtype=np.int64), np.zeros(0), 0)


def cell_table(roots_f: Array, roots_i: Integers, nodes_i: Integers, nodes_f: Array, leaves: int) -> CellTable:
    """Return the table of a single tree with cuts, if these lie on a grid that is not too fine."""
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
    child = _descend_tree(int(roots_i[0]), nodes_i, nodes_f, centers.reshape(cells, -1))
    for edge in edges:
        edge[0], edge[-1] = -np.inf, np.inf  # a point of the region needs no correction there
    return CellTable(
        np.concatenate([pieces, np.where(child < -1, -2 - child, child)]),
        np.concatenate([pieces / (upper - lower), *edges]).astype(float),
        cells,
    )


def _edges(lower: float, upper: float, cuts: Array) -> Array | None:
    """Return the coarsest regular grid on an axis that has every cut among its edges."""
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
        return None  # two cuts differ by rounding alone
    edges[at] = cuts
    return edges


def _descend_tree(root: int, nodes_i: Integers, nodes_f: Array, points: Array) -> Integers:
    """Return the child that ends the search of each point (N, s)."""
    child = np.full(len(points), root, dtype=np.int64)
    while (going := np.flatnonzero(child >= 0)).size:
        node = child[going]
        above = points[going, nodes_i[node, 0]] >= nodes_f[node]
        child[going] = np.where(above, nodes_i[node, 2], nodes_i[node, 1])
    return child
