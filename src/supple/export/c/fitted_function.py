"""C tables of a fitted function: boxes, first rows of their coefficients, and the coefficients."""

from __future__ import annotations

from supple.approximation.piecewise.piecewise import Piecewise
from supple.export.c import polynomial
from supple.export.c.source_text import c_table


def row_macro(fitted: Piecewise) -> str:
    """Return the macro `ROW(leaf)`: first row of coefficients of a leaf."""
    regular = polynomial.first_rows(fitted) is None
    return f"#define ROW(leaf) ({'(leaf) * TERMS' if regular else 'leaf_row[leaf]'})\n\n"


def leaf_tables(fitted: Piecewise, *, first: bool = True) -> str:
    """Return the tables of leaves: positions, first rows (if `first`), numbers of terms, term recurrence."""
    rows, steps = polynomial.first_rows(fitted) if first else None, polynomial.step_table(fitted)
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
