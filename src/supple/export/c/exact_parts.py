"""What code in single precision sums in double where M x = f is solved: M, p, and the solution.

Coordinates of elastic modes and of the rigid motion move much the same mass, so that M, scaled to ones on its diagonal,
may have conditions of some hundreds. Rounding errors of M and p come out of M⁻¹ f times that. Tables stay in
single precision, the constant part of M in a box as a sum of two numbers; their products, and the sums of those columns
alone, are of the type `exact`. It is double, and single if PREFIX_EXACT is defined as 0.
"""

from __future__ import annotations

import numpy as np

from supple.export.c import polynomial
from supple.export.c.family_numbers import CFamily
from supple.export.c.generated_model import CModel
from supple.export.c.source_text import c_table
from supple.export.template import Words, filled, template_parts

PARTS = template_parts("supple.export.c", "exact_parts.c")


def exact_type(model: CModel) -> str:
    """The type, and what single precision cuts off the constant part of M in each box."""
    if not model.exact:
        return ""
    rest = c_table("double", "mass_rest", constant_rest(model)) if model.family is None else ""
    return filled(PARTS["type"], {"UPPER": model.upper}) + rest


def exact_functions(model: CModel) -> str:
    """`exact_basis` and `exact_parts`; nothing in double precision."""
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
    basis = polynomial.tabulated(model.fitted, slopes=True, real="exact", name="exact_basis")
    return basis + filled(PARTS["exact_parts"], words)


def _first(model: CModel, name: str) -> int:
    columns = model.coefficients[name].columns
    assert columns is not None
    return columns[0]


def constant_rest(model: CModel) -> np.ndarray:
    """(boxes, numbers of M)."""
    columns = model.coefficients["M"].columns
    assert columns is not None
    arrays = model.fitted.arrays
    constant = arrays.coefficients[arrays.leaves_i[:, 0], slice(*columns)]
    return constant - constant.astype(np.float32).astype(float)


def family_rest(model: CModel, family: CFamily) -> np.ndarray:
    """(boxes, terms in μ alone, numbers of M): the same of a family."""
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
    """Products, and their slopes, at a point; in single precision rounded from the others."""
    if not model.exact:
        return "basis_slopes(leaf, at, b, db);" if slopes else "basis(leaf, at, b);"
    terms, gradient = polynomial.leaf_terms(model.fitted), "db" if slopes else "0"
    return f"exact_basis(leaf, at, eb, edb);\n    rounded(eb, edb, {terms}, b, {gradient});"


def no_mass(model: CModel) -> str:
    """The argument of `assemble` where M is not solved with."""
    return ", 0" if model.exact else ""


def mass_words(model: CModel) -> Words:
    """What templates ask for: the type M is solved with, and where that M comes from."""
    known = model.exact
    return {
        "real": model.real, "cast": "(exact)" if known else "", "root": "ROOT" if known else "sqrt",
        "no_mass": no_mass(model), "exact_terms": "    exact eb[TERMS], edb[AXES][TERMS];\n" if known else "",
        "given_mass": ", exact (*mass)[SIZE]" if known else "", "mass": ", mass" if known else "",
        "its_mass": ", L" if known else "", "factor": "    exact L[SIZE][SIZE];\n" if known else "",
        "factored": "L" if known else "m.M",
        "exact_parts": "    if (mass) exact_parts(leaf, eb, edb, m, mass);\n" if known else "",
    }  # fmt: skip
