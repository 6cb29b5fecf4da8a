"""C code of all products of a box with derivatives beyond the first: second ones by θ, and rates along a motion.

Each term is an earlier one times a polynomial of one coordinate, T_α = T_β(ξ) T_n(ξ_i), i the last coordinate in α, so
that T_β does not depend on ξ_i and derivatives follow by the rule of products.
"""

from __future__ import annotations

from supple.approximation.piecewise.packing import term_factors
from supple.approximation.piecewise.piecewise import Piecewise
from supple.export.c.polynomial import basis_degree, leaf_terms, term_counts
from supple.export.c.source_text import c_table
from supple.export.template import filled, template_parts

PARTS = template_parts("supple.export.c", "basis_rates.c")


def term_table(fitted: Piecewise) -> str:
    """`term_along`: the earlier term, the coordinate and the degree of each."""
    factors = term_factors(fitted.arrays.indices)
    assert factors is not None
    return c_table("int", "term_along", factors[: term_counts(fitted)[-1]])


def basis_curved(fitted: Piecewise) -> str:
    """`basis_curved(leaf, theta, b, db, ddb)`."""
    return _filled(PARTS["curved"], fitted)


def basis_along(fitted: Piecewise) -> str:
    """`basis_along(leaf, theta, rates, accelerations, b, db)`."""
    return _filled(PARTS["along"], fitted)


def _filled(template: str, fitted: Piecewise) -> str:
    return filled(template, {"degrees": basis_degree(fitted) + 1, "terms": leaf_terms(fitted)})
