"""Parts of single-precision code that are computed in double precision: M, p and the solution of M x = f.

Coordinates of elastic modes and of the rigid motion move nearly the same mass, so that M, scaled to ones on its
diagonal, may have a condition number of some hundreds. M⁻¹ f amplifies rounding errors of M and p by this number.
Tables stay in single precision, the constant part of M in a box as a sum of two numbers. Their products, and the sums
of those columns only, have the type `exact`. It is double, or single if PREFIX_EXACT is defined as 0.
"""

from __future__ import annotations

import numpy as np

from supple.export.c import polynomial
from supple.export.c.family_numbers import CFamily
from supple.export.c.generated_model import CModel
from supple.export.c.source_text import c_table
from supple.export.template import Words, fill_template, template_parts

PARTS = template_parts("supple.export.c", "exact_parts.c")


def exact_type(model: CModel) -> str:
    """Return the C type `exact`, and the rounding remainder of the constant part of M in each box."""
    if not model.exact:
        return ""
    rest = c_table("double", "mass_rest", constant_rest(model)) if model.family is None else ""
    return fill_template(PARTS["type"], {"UPPER": model.upper}) + rest


def exact_functions(model: CModel) -> str:
    """Return the C functions `exact_basis` and `exact_parts`; "" in double precision."""
    if not model.exact:
        return ""
    force, potential = model.coefficients.get("force"), model.potential_gives_force
    fitted_force = force is not None and force.columns is not None
    words: Words = {
        "prefix": model.prefix, "terms": polynomial.leaf_terms(model.fitted), "mass": _first(model, "M"),
        "pairs": model.coefficients["M"].width, "fitted_force": fitted_force, "from_potential": potential,
        "force": _first(model, "force") if fitted_force else 0,
        "potential": _first(model, "potential") if potential else 0,
        "constant_potential": fitted_force and model.layout.force == "from-potential",
    }  # fmt: skip
    basis = polynomial.basis_function(model.fitted, slopes=True, real="exact", name="exact_basis")
    return basis + fill_template(PARTS["exact_parts"], words)


def _first(model: CModel, name: str) -> int:
    columns = model.coefficients[name].columns
    assert columns is not None
    return columns[0]


def constant_rest(model: CModel) -> np.ndarray:
    """Return the rounding remainder of the constant part of M, (boxes, numbers of M)."""
    columns = model.coefficients["M"].columns
    assert columns is not None
    arrays = model.fitted.arrays
    constant = arrays.coefficients[arrays.leaves_i[:, 0], slice(*columns)]
    return constant - constant.astype(np.float32).astype(float)


def family_rest(model: CModel, family: CFamily) -> np.ndarray:
    """Return the rounding remainder for a family, (boxes, terms in μ alone, numbers of M)."""
    columns = model.coefficients["M"].columns
    assert columns is not None
    arrays, (order, first) = family.whole.arrays, family.order
    found = np.zeros((len(arrays.leaves_i), int(first[1]), columns[1] - columns[0]))
    for leaf, (start, terms, _) in enumerate(arrays.leaves_i.tolist()):
        here = order[: first[1]]
        here = here[here < terms]
        constant = arrays.coefficients[start + here, slice(*columns)]
        found[leaf, : len(here)] = constant - constant.astype(np.float32).astype(float)
    return found


def product_functions(model: CModel, *, slopes: bool) -> str:
    """Return the call that evaluates Chebyshev products, and their slopes, at a point.

    In single precision they are rounded from those of type `exact`.
    """
    if not model.exact:
        return "basis_slopes(leaf, at, b, db);" if slopes else "basis(leaf, at, b);"
    terms, gradient = polynomial.leaf_terms(model.fitted), "db" if slopes else "0"
    return f"exact_basis(leaf, at, eb, edb);\n    rounded(eb, edb, {terms}, b, {gradient});"


def no_mass(model: CModel) -> str:
    """Return the null argument of `assemble` for calls without a solution of M x = f."""
    return ", 0" if model.exact else ""


def mass_words(model: CModel) -> Words:
    """Return the template words for the type in which M is factorized, and for the source of this M."""
    known = model.exact
    return {
        "real": model.real, "cast": "(exact)" if known else "", "root": "ROOT" if known else "sqrt",
        "no_mass": no_mass(model), "exact_terms": "    exact eb[TERMS], edb[AXES][TERMS];\n" if known else "",
        "given_mass": ", exact (*mass)[SIZE]" if known else "", "mass": ", mass" if known else "",
        "its_mass": ", L" if known else "", "factor": "    exact L[SIZE][SIZE];\n" if known else "",
        "factored": "L" if known else "m.M",
        "exact_parts": "    if (mass) exact_parts(leaf, eb, edb, m, mass);\n" if known else "",
    }  # fmt: skip
