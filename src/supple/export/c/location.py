"""C code that finds the box of a point: by a binary tree, or directly if the boxes form a regular grid."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.approximation.piecewise.piecewise import NOWHERE, Piecewise, PiecewiseArrays
from supple.array_types import Array
from supple.export.c.source_text import CLOSE, c_table
from supple.export.template import Words, fill_template, template_parts

PARTS = template_parts("supple.export.c", "location.c")
UNEVEN = (
    1e-8  # largest deviation of an edge from the regular grid, in box widths; well below CLOSE in the generated code
)


class BoxGrid(NamedTuple):
    """Regular grid of equal boxes.

    edges  : edges along each axis
    fitted : fit with its leaves in the order of the cells, last axis fastest
    """

    edges: list[Array]
    fitted: Piecewise


def regular_grid(fitted: Piecewise) -> BoxGrid | None:
    """Return the regular grid formed by the leaves of a single tree; None if they do not form one with equal boxes."""
    arrays = fitted.arrays
    if len(arrays.roots_i) != 1:
        return None
    edges = [
        np.unique([*arrays.roots_f[0, :, i], *arrays.nodes_f[arrays.nodes_i[:, 0] == i]])
        for i in range(fitted.dimension)
    ]
    cells = int(np.prod([float(len(edge) - 1) for edge in edges]))
    if cells != len(arrays.leaves_i):
        return None
    for edge in edges:
        even = np.linspace(edge[0], edge[-1], len(edge))
        if np.abs(edge - even).max() > UNEVEN * (even[1] - even[0]):
            return None
    centers = np.stack(np.meshgrid(*[0.5 * (e[1:] + e[:-1]) for e in edges], indexing="ij"), axis=-1)
    leaves = fitted.locate(centers.reshape(-1, fitted.dimension))
    if (leaves == NOWHERE).any() or len(np.unique(leaves)) != cells:
        return None
    return BoxGrid(edges, _reorder_leaves(fitted, leaves))


def _reorder_leaves(fitted: Piecewise, order: NDArray[np.int64]) -> Piecewise:
    """Return the fit with its leaves and coefficients reordered, without the nodes of the tree."""
    arrays = fitted.arrays
    leaves_i = arrays.leaves_i[order]
    rows = [np.arange(first, first + terms) for first, terms, _ in leaves_i.tolist()]
    first = np.cumsum([0, *(len(part) for part in rows)])[:-1]
    return Piecewise(
        arrays._replace(
            nodes_i=arrays.nodes_i[:0],
            nodes_f=arrays.nodes_f[:0],
            leaves_i=np.column_stack([first, leaves_i[:, 1:]]),
            leaves_f=arrays.leaves_f[order],
            coefficients=arrays.coefficients[np.concatenate(rows)],
        )
    )


def location_function(bounds: Array, upper: str, *, family: bool) -> str:
    """Return the C function `place`, with the bounds of the region; bounds : those of the roots, (roots, 2, s)."""
    region = c_table("double", "region", np.array([bounds[:, 0].min(axis=0), bounds[:, 1].max(axis=0)]))
    return fill_template(PARTS["place"], {"UPPER": upper, "region": region, "family": family})


def location(fitted: Piecewise, grid: BoxGrid | None, axes: str = "AXES") -> tuple[str, str, dict[str, int]]:
    """Return tables, the C function `locate`, and the sizes it needs by name.

    axes : C expression for the number of axes
    """
    tables, sizes = _tree_tables(fitted.arrays) if grid is None else (_grid_tables(grid), {})
    words: Words = {"axes": axes, "nodes": len(fitted.arrays.nodes_f)}
    return tables, fill_template(PARTS["tree" if grid is None else "grid"], words), sizes


def _grid_tables(grid: BoxGrid) -> str:
    counts = np.array([len(edge) - 1 for edge in grid.edges])
    starts = np.concatenate([[0], np.cumsum(counts + 1)[:-1]])
    spans = np.array([edge[-1] - edge[0] for edge in grid.edges])
    return (
        f"#define CLOSE {CLOSE['double']!r}\n"
        + c_table("int", "boxes", counts)
        + c_table("int", "first_edge", starts)
        + c_table("double", "per_length", counts / spans)
        + c_table("double", "edges", np.concatenate(grid.edges))
    )


def _tree_tables(arrays: PiecewiseArrays) -> tuple[str, dict[str, int]]:
    tables = c_table("double", "root_bounds", arrays.roots_f) + c_table("int", "root_child", arrays.roots_i)
    if len(arrays.nodes_f):
        rows = ",\n".join(
            f"    {{{cut!r}, {axis}, {{{below}, {above}}}}}"
            for cut, (axis, below, above) in zip(arrays.nodes_f.tolist(), arrays.nodes_i.tolist(), strict=True)
        )
        tables += (
            "/* A child is the index of a node, or -2 - l for leaf l. */\n"
            "struct node { double cut; int axis; int child[2]; };\n"
            f"static const struct node nodes[{len(arrays.nodes_f)}] = {{\n{rows}\n}};\n"
        )
    return tables, {"ROOTS": len(arrays.roots_i)}
