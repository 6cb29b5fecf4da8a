"""C tables of a fitted function: boxes, first rows of their coefficients, and the coefficients."""

from __future__ import annotations

from supple.approximation.piecewise.piecewise import Piecewise
from supple.array_types import Array
from supple.export.c import polynomial
from supple.export.c.horner import LANES
from supple.export.c.monomials import Monomials
from supple.export.c.source_text import c_table


def row_macro(fitted: Piecewise) -> str:
    """Return the macro `ROW(leaf)`: first row of coefficients of a leaf."""
    regular = polynomial.first_rows(fitted) is None
    return f"#define ROW(leaf) ({'(leaf) * TERMS' if regular else 'leaf_row[leaf]'})\n\n"


def leaf_tables(fitted: Piecewise) -> str:
    """Return the tables of leaves: positions, first rows, numbers of terms, term recurrence."""
    rows, steps = polynomial.first_rows(fitted), polynomial.step_table(fitted)
    text = c_table("double", "leaf_place", fitted.arrays.leaves_f)
    text += "" if rows is None else c_table("int", "leaf_row", rows)
    several = len(polynomial.term_counts(fitted)) > 1
    text += c_table("int", "leaf_terms", fitted.arrays.leaves_i[:, 1]) if several else ""
    return text + ("" if steps is None else c_table("int", "term_steps", steps))


def coefficient_table(fitted: Piecewise) -> str:
    """Return the table of coefficients.

    It is flat, so that a range of columns of a leaf is a pointer into it. Each row is one line.
    """
    values = fitted.arrays.coefficients
    lines = ",\n".join(", ".join(map(repr, row)) for row in values.tolist())
    head = "/* [row][column]; the rows of a leaf are consecutive */\n"
    return f"{head}static const double coefficients[{values.size}] = {{\n{lines}\n}};\n"


def polynomial_rows(made: Monomials) -> str:
    """Return the macro `ROW(leaf)`: first row of coefficients of a leaf."""
    regular = len(made.shapes) == 1
    return f"#define ROW(leaf) ({f'(leaf) * {len(made.shapes[0])}' if regular else 'leaf_row[leaf]'})\n\n"


def polynomial_places(fitted: Piecewise, made: Monomials, *, first: bool) -> str:
    """Return the tables of leaves: positions, and first rows if they are not regular."""
    text = c_table("double", "leaf_place", fitted.arrays.leaves_f)
    return text + (c_table("int", "leaf_row", made.leaf_row) if first and len(made.shapes) > 1 else "")


def polynomial_table(coefficients: Array, name: str = "coefficients") -> str:
    """Return the table of coefficients, with zeros at the end that the last window of columns may read."""
    rows = coefficients.tolist() or [[0.0]]
    lines = ",\n".join(", ".join(map(repr, row or [0.0])) for row in rows)
    end = ", ".join(["0.0"] * (LANES - 1))
    size = max(1, coefficients.shape[1]) * len(rows) + LANES - 1
    head = "/* [row][column]; the rows of a leaf are consecutive */\n"
    return f"{head}static const double {name}[{size}] = {{\n{lines},\n{end}\n}};\n"
