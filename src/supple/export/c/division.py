"""C code that distributes generalized forces among redundant actuators: weighted least squares with bounds.

    min ½ Σ_a w_a u_a²   with   B_θ(θ) u = Q,   l ≤ u ≤ h

Its dual is solved for λ (s,): u_a(λ) = clip((Bᵀλ)_a / w_a, l_a, h_a), and B u(λ) = Q is a system of s equations. It is
piecewise linear and the gradient of a convex function. A few Newton steps with the actuators that are not at a bound,
shortened where the function does not decrease, reach the solution. Their number is fixed, which bounds the number of
operations. Without bounds the first step is the solution, u = W⁻¹Bᵀ(B W⁻¹Bᵀ)⁻¹ Q.
"""

from __future__ import annotations

from supple.export.c.evaluation import call, declared, fits
from supple.export.c.generated_model import CModel
from supple.export.template import Words, fill_template, template_parts

ITERATIONS, HALVINGS = 25, 12

PARTS = template_parts("supple.export.c", "division.c")


def can_divide(model: CModel) -> bool:
    """Return True if there are at least as many inputs as coordinates θ."""
    return "input_map" in model.coefficients and len(model.layout.inputs) >= model.layout.theta


def division(model: CModel) -> str:
    """Return the C function `<prefix>_divide`."""
    if not can_divide(model):
        return ""
    item = model.coefficients["input_map"]
    words: Words = {
        "prefix": model.prefix, "UPPER": model.upper, "iterations": str(ITERATIONS), "halvings": str(HALVINGS),
        "unmet": {"double": "1e-9", "single": "1e-4"}[model.precision],
        "settled": {"double": "1e-13", "single": "1e-6"}[model.precision],
        "ridge": {"double": "1e-14", "single": "1e-6"}[model.precision], "fitted": item.columns is not None,
        "map": item.source, "arrays": declared(fits(model)["inputs"], model.real, zero=True),
        "fit": call(fits(model)["inputs"]),
    }  # fmt: skip
    return fill_template(PARTS["source"], words)
