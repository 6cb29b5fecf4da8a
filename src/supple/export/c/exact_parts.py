"""Parts of single-precision code that are computed in double precision: M, p and the solution of M x = f.

Coordinates of elastic modes and of the rigid motion move nearly the same mass, so that M, scaled to ones on its
diagonal, may have a condition number of some hundreds. M⁻¹ f amplifies rounding errors of M and p by this number.
Tables stay in single precision, the constant part of M in a box as a sum of two numbers. Horner's rule of these columns
and the sums of forces have the type `exact`. It is double, or single if PREFIX_EXACT is defined as 0.
"""

from __future__ import annotations

import numpy as np

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


def mass_columns(model: CModel) -> np.ndarray:
    """Return the stored columns of M."""
    return np.array([k for k, column in enumerate(model.stored) if column.coefficient == "M"], dtype=np.int64)


def constant_rest(model: CModel) -> np.ndarray:
    """Return the rounding remainder of the constant part of M, (boxes, stored columns of M)."""
    made = model.polynomials
    last = made.leaf_row + np.array(made.counts) - 1  # the exponents end with zeros
    return rounding_rest(made.coefficients[np.ix_(last, mass_columns(model))])


def rounding_rest(values: np.ndarray) -> np.ndarray:
    """Return what rounding to single precision takes from numbers."""
    return values - values.astype(np.float32).astype(float)


def mass_words(model: CModel) -> Words:
    """Return the template words for the type in which M is factorized."""
    return {
        "real": model.real, "cast": "(exact)" if model.exact else "", "root": "ROOT" if model.exact else "sqrt",
        "exact": model.exact,
    }  # fmt: skip
