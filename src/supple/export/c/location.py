"""C code that finds the box of a point: the binary tree, or at once where the boxes are a regular grid.

C code in double precision as the same code in single: types, literals and functions of the mathematics.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.approximation.piecewise.piecewise import NOWHERE, Piecewise, PiecewiseArrays
from supple.array_types import Array
from supple.diagnostics import InputError
from supple.export.c.identifiers import c_table
from supple.export.template import Words, filled, template_parts

PARTS = template_parts("supple.export.c", "location.c")
CLOSE = {"double": 1e-6, "single": 1e-3}  # of a box: from where on edges are looked at, by precision
UNEVEN = 1e-8  # of a box: how far an edge may lie from its place in the grid, well below what the code above looks at


class BoxGrid(NamedTuple):
    """Equal boxes: edges along each axis; the leaves in the order of the cells, the last axis fastest."""

    edges: list[Array]
    fitted: Piecewise


def regular_grid(fitted: Piecewise) -> BoxGrid | None:
    """The grid that the leaves of a single tree form, if they do and its boxes are equal along each axis."""
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
    return BoxGrid(edges, _reordered(fitted, leaves))


def _reordered(fitted: Piecewise, order: NDArray[np.int64]) -> Piecewise:
    """The same leaves in another order, their coefficients one after the other; the way to them is left out."""
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
    """The function `place`, with the region around all boxes that it clamps to; bounds : of roots (roots, 2, s)."""
    region = c_table("double", "region", np.array([bounds[:, 0].min(axis=0), bounds[:, 1].max(axis=0)]))
    return filled(PARTS["place"], {"UPPER": upper, "region": region, "family": family})


def location(fitted: Piecewise, grid: BoxGrid | None, axes: str = "AXES") -> tuple[str, str, dict[str, int]]:
    """Tables, the function `locate`, and the sizes it needs by name; axes : the number of coordinates in C."""
    tables, sizes = _tree_tables(fitted.arrays) if grid is None else (_grid_tables(grid), {})
    words: Words = {"axes": axes, "nodes": len(fitted.arrays.nodes_f)}
    return tables, filled(PARTS["tree" if grid is None else "grid"], words), sizes


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
            "/* A child is a node, or leaf l as -2 - l. */\n"
            "struct node { double cut; int axis; int child[2]; };\n"
            f"static const struct node nodes[{len(arrays.nodes_f)}] = {{\n{rows}\n}};\n"
        )
    return tables, {"ROOTS": len(arrays.roots_i)}


Precision = Literal["double", "single"]
PRECISIONS = ("double", "single")
BYTES = {"double": 8, "single": 4}

# Comments, strings and what is exact (`exact_parts`) are passed over; a number is one with a point or an exponent.
_TOKEN = re.compile(
    r"/\*.*?\*/"
    r"|typedef double exact;|\(sqrt\)"
    r'|"(?:\\.|[^"\\])*"'
    r"|(?<![\w.])(?:\d+\.\d*(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)(?![\w.])"
    r"|\b(?:double|sqrt|tanh|exp|log|pow|sin|cos|fabs|fmax|fmin|ceil|floor|rint|DBL_MAX)\b",
    re.DOTALL,
)
_NAMES = {"double": "float", "DBL_MAX": "FLT_MAX"}
_CLOSE = f"#define CLOSE {CLOSE['double']!r}"


def single_precision(text: str) -> str:
    """The code with `float` in the place of `double`; refused where a number is too large for it."""
    return _TOKEN.sub(_token, text.replace(_CLOSE, f"#define CLOSE {CLOSE['single']!r}"))


def _token(found: re.Match[str]) -> str:
    text = found.group()
    if text[0] in '/"(' or text.startswith("typedef"):
        return text
    if text[0].isalpha():
        return _NAMES.get(text, f"{text}f")
    if float(text) == np.finfo(float).max:
        return "FLT_MAX"
    with np.errstate(over="ignore", under="ignore"):
        value = np.float32(float(text))
    if not np.isfinite(value):
        raise InputError(
            f"{text} is too large for single precision", part="export", hint="export it in double precision"
        )
    shortest = str(value)
    return f"{shortest}f" if any(c in shortest for c in ".e") else f"{shortest}.0f"
