"""C code of the Chebyshev products of a box with second derivatives by θ, and with rates along a motion.

Each term is an earlier one times a polynomial of one coordinate, T_α = T_β(ξ) T_n(ξ_i), i the last coordinate in α, so
that T_β does not depend on ξ_i and derivatives follow by the product rule.
"""

from __future__ import annotations

from supple.approximation.piecewise.packing import term_factors
from supple.approximation.piecewise.piecewise import Piecewise
from supple.export.c.polynomial import basis_degree, leaf_terms, term_counts
from supple.export.c.source_text import c_table
from supple.export.template import fill_template, template_parts

PARTS = template_parts("supple.export.c", "basis_rates.c")


def term_table(fitted: Piecewise) -> str:
    """Return the table `term_along`: parent term, coordinate and degree of each term."""
    factors = term_factors(fitted.arrays.indices)
    assert factors is not None
    return c_table("int", "term_along", factors[: term_counts(fitted)[-1]])


def basis_curved(fitted: Piecewise) -> str:
    """Return the C function `basis_curved(leaf, theta, b, db, ddb)`."""
    return _fill_basis(PARTS["curved"], fitted)


def basis_along(fitted: Piecewise) -> str:
    """Return the C function `basis_along(leaf, theta, rates, accelerations, b, db)`."""
    return _fill_basis(PARTS["along"], fitted)


def _fill_basis(template: str, fitted: Piecewise) -> str:
    return fill_template(template, {"degrees": basis_degree(fitted) + 1, "terms": leaf_terms(fitted)})
