"""Trees of boxes that were split and leaves that were fitted, and their conversion to a piecewise function."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from supple.approximation.fits.chebyshev_products import Indices
from supple.approximation.fits.lower_set import union_of_terms
from supple.approximation.piecewise.piecewise import NOWHERE, Piecewise, PiecewiseArrays
from supple.approximation.refinement.box import Box
from supple.array_types import Array


@dataclass(eq=False, slots=True)
class BoxNode:
    """Box that was split along an axis, leaf with coefficients (terms, t), or leaf without a fit.

    indices : a leaf's own list of multi-indices, of which it uses the first; None: that of its forest
    """

    box: Box
    axis: int | None = None
    children: tuple[BoxNode, BoxNode] | None = None
    coefficients: Array | None = None
    indices: Indices | None = None

    def leaves(self) -> list[BoxNode]:
        """Return all leaves below, in order."""
        if self.children is None:
            return [self]
        return self.children[0].leaves() + self.children[1].leaves()

    def terms(self, common: Indices) -> Indices:
        """Return the terms of a leaf's coefficients, the first of its own list or else of the common one."""
        assert self.coefficients is not None
        return (common if self.indices is None else self.indices)[: len(self.coefficients)]

    def undo_division(self, pending: Collection[BoxNode]) -> None:
        """Undo the last division wherever both halves are pending; the node's own coefficients are then valid again."""
        if self.children is None:
            return
        if self.children[0] in pending and self.children[1] in pending:
            self.axis, self.children = None, None
        else:
            for child in self.children:
                child.undo_division(pending)


@dataclass
class Forest:
    """Root boxes with their trees, and the common list of multi-indices.

    A leaf uses the first terms of the common list, unless it has its own.

    stagnant : a box whose error no longer fell, so that refinement ended
    needed   : predicted evaluations for the tolerance if refinement ended early; otherwise 0
    """

    roots: list[BoxNode]
    indices: Indices
    stagnant: Box | None = None
    needed: float = 0.0

    def piecewise(self) -> Piecewise:
        """Return the function as arrays, with leaves in the order of their boxes.

        Lists of leaves become one: a leaf then uses its first terms up to the last one of its own, with zeros for those
        that are not its own.
        """
        nodes_i: list[list[int]] = []
        nodes_f: list[float] = []
        leaves: list[BoxNode] = []

        def number(node: BoxNode) -> int:
            if node.children is None:
                if node.coefficients is None:
                    return NOWHERE
                leaves.append(node)
                return -2 - (len(leaves) - 1)
            at = len(nodes_i)
            assert node.axis is not None
            nodes_i.append([node.axis, 0, 0])
            nodes_f.append(node.children[0].box.upper[node.axis])
            nodes_i[at][1:] = [number(child) for child in node.children]
            return at

        roots_i = [number(root) for root in self.roots]
        s = self.roots[0].box.dimension
        indices, parts = self._join_leaves(leaves)
        first = np.cumsum([0, *(len(part) for part in parts)])[:-1]
        degrees = [int(indices[: len(part)].max(initial=0)) for part in parts]
        arrays = PiecewiseArrays(
            np.array([[root.box.lower, root.box.upper] for root in self.roots], dtype=float),
            np.array(roots_i, dtype=np.int64),
            np.array(nodes_i, dtype=np.int64).reshape(-1, 3),
            np.array(nodes_f, dtype=float),
            np.array(
                [[a, len(part), n] for a, part, n in zip(first, parts, degrees, strict=True)], dtype=np.int64
            ).reshape(-1, 3),
            np.array([[leaf.box.center, 1.0 / leaf.box.half] for leaf in leaves], dtype=float).reshape(-1, 2, s),
            np.ascontiguousarray(indices),
            _stack_rows(parts),
        )
        return Piecewise(arrays)

    def _join_leaves(self, leaves: Sequence[BoxNode]) -> tuple[Indices, list[Array]]:
        """Return one list of multi-indices for all leaves, and their coefficients by it."""
        parts = [leaf.coefficients for leaf in leaves if leaf.coefficients is not None]
        lists = [self.indices if leaf.indices is None else leaf.indices for leaf in leaves]
        if all(indices is self.indices for indices in lists):
            return self.indices, parts
        lists = [indices[: len(part)] for indices, part in zip(lists, parts, strict=True)]
        whole = union_of_terms(lists)
        place = {tuple(term): k for k, term in enumerate(whole.tolist())}
        spread = []
        for indices, part in zip(lists, parts, strict=True):
            rows = [place[tuple(term)] for term in indices.tolist()]
            spread.append(np.zeros((max(rows) + 1, part.shape[1])))
            spread[-1][rows] = part
        return whole, spread


def _stack_rows(parts: Sequence[Array]) -> Array:
    """Return the rows of all parts; adjacent parts of one array are not copied."""
    if not parts:
        return np.zeros((0, 0))
    whole, rows = parts[0].base, sum(len(part) for part in parts)
    if whole is None or whole.ndim != 2 or rows > len(whole):
        return np.ascontiguousarray(np.vstack(parts))
    place = whole.ctypes.data
    for part in parts:
        if part.base is not whole or part.ctypes.data != place or not part.flags.c_contiguous:
            return np.ascontiguousarray(np.vstack(parts))
        place += part.nbytes
    return np.asarray(whole[:rows])


def cut_box(box: Box, levels: tuple[int, ...]) -> BoxNode:
    """Return a box cut into 2^levels[i] equal parts along each axis, as a binary tree, the longest axis first."""
    node = BoxNode(box)
    remaining = list(levels)

    def cut(item: BoxNode, left: list[int]) -> None:
        if not any(left):
            return
        axis = int(np.argmax(left))
        lower, upper = item.box.split(axis)
        item.axis, item.children = axis, (BoxNode(lower), BoxNode(upper))
        rest = [count - (i == axis) for i, count in enumerate(left)]
        for child in item.children:
            cut(child, rest)

    cut(node, remaining)
    return node


def grid_tree(box: Box, edges: Sequence[Array]) -> BoxNode:
    """Return a box cut by planes, as a binary tree that cuts in the middle of the axis with most parts first.

    edges : for each axis its rising coordinates, from the lower to the upper bound of the box
    """
    node = BoxNode(box)
    pieces = [len(edge) - 1 for edge in edges]
    if max(pieces) == 1:
        return node
    axis = int(np.argmax(pieces))
    middle = pieces[axis] // 2
    cut = float(edges[axis][middle])
    lower, upper = list(box.lower), list(box.upper)
    lower[axis], upper[axis] = cut, cut
    parts = (edges[axis][: middle + 1], edges[axis][middle:])
    below, above = (
        grid_tree(half, [*edges[:axis], part, *edges[axis + 1 :]])
        for half, part in zip((Box(box.lower, tuple(upper)), Box(tuple(lower), box.upper)), parts, strict=True)
    )
    node.axis, node.children = axis, (below, above)
    return node
