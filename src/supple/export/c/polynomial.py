"""C code that evaluates the polynomial of a box: Chebyshev tables, their products, sums over the terms."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from supple.approximation.piecewise.piecewise import Piecewise

LARGEST_STRAIGHT = 120  # terms written out one by one; more of them go through a table
LARGEST_BLOCK = 12


class TermRecurrence(NamedTuple):
    """Term k is term `parent` times T_degree along `axis`."""

    parent: int
    axis: int
    degree: int


def steps(fitted: Piecewise) -> list[TermRecurrence]:
    """One multiplication a term: leave out the last axis, and the rest is a term that came before."""
    rows = [tuple(row) for row in fitted.arrays.indices.tolist()]
    place = {row: k for k, row in enumerate(rows)}
    found = []
    for row in rows:
        axis = max((i for i, n in enumerate(row) if n), default=0)
        rest = tuple(0 if i == axis else n for i, n in enumerate(row))
        found.append(TermRecurrence(place.get(rest, -1), axis, row[axis]))
    return found


def term_counts(fitted: Piecewise) -> list[int]:
    """The numbers of terms that occur, rising."""
    return sorted({int(n) for n in fitted.arrays.leaves_i[:, 1]})


def basis_degree(fitted: Piecewise) -> int:
    """At least one, so that a table holds ξ itself."""
    return max(1, int(fitted.arrays.leaves_i[:, 2].max()))


def tabulated(fitted: Piecewise, *, slopes: bool, real: str = "double", name: str = "") -> str:
    """`basis(leaf, theta, b)`: all products at a point; with slopes also their derivatives db[axis][term].

    real, name : another type, and the name of the function in it
    """
    name, more = name or ("basis_slopes" if slopes else "basis"), f", {real} db[AXES][TERMS]" if slopes else ""
    degree, counts = basis_degree(fitted), term_counts(fitted)
    lines = ["", f"static void {name}(int leaf, const double theta[AXES], {real} b[TERMS]{more})", "{"]
    lines += [f"    {real} t[AXES][{degree + 1}];"]
    lines += [f"    {real} d[AXES][{degree + 1}];"] if slopes else []
    lines += ["    int i;"]
    lines += ["    for (i = 0; i < AXES; ++i) {"]
    lines += [f"        const {real} inverse = leaf_place[leaf][1][i];"]
    start = "theta[i]" if real == "double" else f"({real})theta[i]"
    lines += [f"        const {real} x = ({start} - leaf_place[leaf][0][i]) * inverse;"]
    lines += ["        t[i][0] = 1.0;", "        t[i][1] = x;"]
    lines += ["        d[i][0] = 0.0;", "        d[i][1] = inverse;"] if slopes else []
    for n in range(2, degree + 1):
        lines += [f"        t[i][{n}] = 2.0 * x * t[i][{n - 1}] - t[i][{n - 2}];"]
        if slopes:
            lines += [f"        d[i][{n}] = 2.0 * (inverse * t[i][{n - 1}] + x * d[i][{n - 1}]) - d[i][{n - 2}];"]
    lines += ["    }"]
    lines += _straight(fitted, counts, slopes) if step_table(fitted) is None else _looped(fitted, slopes)
    return "\n".join([*lines, "}", ""])


def _straight(fitted: Piecewise, counts: list[int], slopes: bool) -> list[str]:
    indices = fitted.arrays.indices.tolist()
    lines = []
    for k, step in enumerate(steps(fitted)[: counts[-1]]):
        if k in counts:
            lines.append(f"    if (leaf_terms[leaf] == {k}) return;")
        factors = [f"t[{i}][{n}]" for i, n in enumerate(indices[k]) if n]
        if 0 < step.parent < k:
            factors = [f"b[{step.parent}]", f"t[{step.axis}][{step.degree}]"]
        lines.append(f"    b[{k}] = {' * '.join(factors) or '1.0'};")
        for j, n in enumerate(indices[k] if slopes else ()):
            others = [f"t[{i}][{m}]" for i, m in enumerate(indices[k]) if m and i != j]
            lines.append(f"    db[{j}][{k}] = {' * '.join([f'd[{j}][{n}]', *others]) if n else '0.0'};")
    return lines


def _looped(fitted: Piecewise, slopes: bool) -> list[str]:
    """By `term_steps`; the derivative of the parent along the axis it leaves out is zero."""
    lines = ["    {", "        int k;", "        b[0] = 1.0;"]
    lines += ["        for (i = 0; i < AXES; ++i) db[i][0] = 0.0;"] if slopes else []
    lines += [f"        for (k = 1; k < {'TERMS' if len(term_counts(fitted)) == 1 else 'leaf_terms[leaf]'}; ++k) {{"]
    lines += ["            const int parent = term_steps[k][0], axis = term_steps[k][1], n = term_steps[k][2];"]
    lines += ["            b[k] = b[parent] * t[axis][n];"]
    if slopes:
        lines += ["            for (i = 0; i < AXES; ++i) db[i][k] = db[i][parent] * t[axis][n];"]
        lines += ["            db[axis][k] = b[parent] * d[axis][n];"]
    return [*lines, "        }", "    }"]


def step_table(fitted: Piecewise) -> np.ndarray | None:
    """Parent, axis and degree of each term where a loop over them is shorter than a line for each; None otherwise."""
    count = term_counts(fitted)[-1]
    found = np.array(steps(fitted)[:count])
    followed = (found[1:, 0] >= 0) & (found[1:, 0] < np.arange(1, count))
    return found if count > LARGEST_STRAIGHT and not fitted.arrays.indices[0].any() and followed.all() else None


def block_length(counts: Iterable[int], weights: Iterable[int]) -> int:
    """Terms summed in one expression: as many as leave the fewest passes over the outputs."""
    pairs = list(zip(counts, weights, strict=True))
    return min(range(1, LARGEST_BLOCK + 1), key=lambda size: (sum(w * (c // size + c % size) for c, w in pairs), -size))


def combined(fitted: Piecewise, width: int) -> str:
    """`combine_W(c, b, terms, out)`: out[o] = sum of b[k] c[k][o] over the terms, for W columns from c on.

    From the last term to the first: high degrees are small, and the constant, added last, leaves one rounding error.
    """
    counts = term_counts(fitted)
    terms = fitted.arrays.leaves_i[:, 1]
    block = block_length(counts, [int((terms == count).sum()) for count in counts])
    products = "\n                + ".join(
        f"b[{k}] * c[{f'{k} * COLUMNS + ' if k else ''}o]" for k in reversed(range(block))
    )
    whole = len(counts) == 1 and counts[0] == block
    given = "const double *RESTRICT c, const double *RESTRICT b" + ("" if whole else ", int terms")
    head = f"\nstatic void combine_{width}({given}, double *RESTRICT out)\n{{\n    int o;\n"
    if whole:
        return f"{head}    for (o = 0; o < {width}; ++o)\n        out[o] = {products};\n}}\n"
    rest = f"""\
    for (; terms % {block}; --terms, c -= COLUMNS, --b)
        for (o = 0; o < {width}; ++o) out[o] += b[-1] * c[o - COLUMNS];
"""
    return f"""{head}    for (o = 0; o < {width}; ++o) out[o] = 0.0;
    c += terms * COLUMNS;
    b += terms;
{rest if any(count % block for count in counts) else ""}\
    for (; terms > 0; terms -= {block}) {{
        c -= {block} * COLUMNS;
        b -= {block};
        for (o = 0; o < {width}; ++o)
            out[o] += {products};
    }}
}}
"""


def combine_call(fitted: Piecewise, columns: tuple[int, int], basis: str, out: str) -> str:
    """A call for a range of columns; `row` points at the coefficients of the leaf."""
    counts = term_counts(fitted)
    terms = fitted.arrays.leaves_i[:, 1]
    block = block_length(counts, [int((terms == count).sum()) for count in counts])
    first, stop = columns
    start = f"row + {first}" if first else "row"
    if len(counts) == 1:
        amount = "" if counts[0] == block else "TERMS, "
    else:
        amount = "leaf_terms[leaf], "
    return f"combine_{stop - first}({start}, {basis}, {amount}{out});"


def first_rows(fitted: Piecewise) -> np.ndarray | None:
    """First row of coefficients of each leaf; None where leaf l simply starts at l times the number of terms."""
    leaves = fitted.arrays.leaves_i
    regular = np.arange(len(leaves)) * leaves[:, 1].max()
    return None if np.array_equal(leaves[:, 0], regular) else leaves[:, 0]
