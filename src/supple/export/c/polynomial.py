"""C code that evaluates the functions of a control law in a box: Chebyshev tables, their products, sums over the terms.

Models are evaluated in monomials (`evaluation`). Laws keep Chebyshev products: their equilibria are resolved nearly to
rounding, with degrees at which monomials lose digits.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.approximation.piecewise.piecewise import Piecewise
from supple.export.template import fill_template, template_parts

PARTS = template_parts("supple.export.c", "polynomial.c")
LARGEST_STRAIGHT = 120  # most terms that are written out one by one; more terms are evaluated in a loop over a table
LARGEST_BLOCK = 12


class TermRecurrence(NamedTuple):
    """Recurrence of term k: term `parent` times T_degree along `axis`."""

    parent: int
    axis: int
    degree: int


def steps(fitted: Piecewise) -> list[TermRecurrence]:
    """Return one multiplication per term; without its last axis a term is always an earlier one."""
    rows = [tuple(row) for row in fitted.arrays.indices.tolist()]
    place = {row: k for k, row in enumerate(rows)}
    found = []
    for row in rows:
        axis = max((i for i, n in enumerate(row) if n), default=0)
        rest = tuple(0 if i == axis else n for i, n in enumerate(row))
        found.append(TermRecurrence(place.get(rest, -1), axis, row[axis]))
    return found


def term_counts(fitted: Piecewise) -> list[int]:
    """Return the distinct numbers of terms of the leaves, increasing."""
    return sorted({int(n) for n in fitted.arrays.leaves_i[:, 1]})


def basis_degree(fitted: Piecewise) -> int:
    """Return the largest degree, at least 1, so that the table contains ξ itself."""
    return max(1, int(fitted.arrays.leaves_i[:, 2].max()))


def leaf_terms(fitted: Piecewise) -> str:
    """Return the C expression for the number of terms of a leaf."""
    return "TERMS" if len(term_counts(fitted)) == 1 else "leaf_terms[leaf]"


def basis_function(fitted: Piecewise) -> str:
    """Return the C function `basis(leaf, theta, b)`: Chebyshev products at a point."""
    degree, looped = basis_degree(fitted), step_table(fitted) is not None
    recurrence = "".join(
        f"        t[i][{n}] = 2.0 * x * t[i][{n - 1}] - t[i][{n - 2}];\n" for n in range(2, degree + 1)
    )
    return fill_template(PARTS["basis"], {
        "size": degree + 1, "recurrence": recurrence, "looped": looped, "terms": leaf_terms(fitted),
        "products": "" if looped else _products(fitted),
    })  # fmt: skip


def _products(fitted: Piecewise) -> str:
    """Return a line for each term."""
    indices, counts = fitted.arrays.indices.tolist(), term_counts(fitted)
    lines = []
    for k, step in enumerate(steps(fitted)[: counts[-1]]):
        if k in counts:
            lines.append(f"    if (leaf_terms[leaf] == {k}) return;\n")
        factors = [f"t[{i}][{n}]" for i, n in enumerate(indices[k]) if n]
        if 0 < step.parent < k:
            factors = [f"b[{step.parent}]", f"t[{step.axis}][{step.degree}]"]
        lines.append(f"    b[{k}] = {' * '.join(factors) or '1.0'};\n")
    return "".join(lines)


def step_table(fitted: Piecewise) -> np.ndarray | None:
    """Return parent, axis and degree of each term if a loop is shorter than a line for each term; None otherwise."""
    count = term_counts(fitted)[-1]
    found = np.array(steps(fitted)[:count])
    followed = (found[1:, 0] >= 0) & (found[1:, 0] < np.arange(1, count))
    return found if count > LARGEST_STRAIGHT and not fitted.arrays.indices[0].any() and followed.all() else None


def block_length(fitted: Piecewise) -> int:
    """Return the number of terms summed in one expression, chosen for the fewest passes over the outputs."""
    counts, leaves = np.unique(fitted.arrays.leaves_i[:, 1], return_counts=True)
    pairs = list(zip(counts.tolist(), leaves.tolist(), strict=True))
    return min(range(1, LARGEST_BLOCK + 1), key=lambda size: (sum(w * (c // size + c % size) for c, w in pairs), -size))


def combine_function(fitted: Piecewise, width: int) -> str:
    """Return the C function `combine_W(c, b, terms, out)` for W columns of c.

    It computes out[o] = sum of b[k] c[k][o] over the terms.

    The sum runs from the last term to the first: terms of high degree are small, and the constant term, added last,
    leaves one rounding error.
    """
    counts, block = term_counts(fitted), block_length(fitted)
    products = (f"b[{k}] * c[{f'{k} * COLUMNS + ' if k else ''}o]" for k in reversed(range(block)))
    whole = counts == [block]
    return fill_template(PARTS["combine"], {
        "width": width, "block": block, "whole": whole, "terms": "" if whole else ", int terms",
        "rest": any(count % block for count in counts), "products": "\n                + ".join(products),
    })  # fmt: skip


def combine_call(fitted: Piecewise, columns: tuple[int, int], basis: str, out: str) -> str:
    """Return a call of `combine_W` for a range of columns; `row` points to the coefficients of the leaf."""
    first, stop = columns
    start = f"row + {first}" if first else "row"
    terms = "" if term_counts(fitted) == [block_length(fitted)] else f"{leaf_terms(fitted)}, "
    return f"combine_{stop - first}({start}, {basis}, {terms}{out});"


def first_rows(fitted: Piecewise) -> np.ndarray | None:
    """Return the first row of coefficients of each leaf; None if leaf l starts at l times the number of terms."""
    leaves = fitted.arrays.leaves_i
    regular = np.arange(len(leaves)) * leaves[:, 1].max()
    return None if np.array_equal(leaves[:, 0], regular) else leaves[:, 0]
