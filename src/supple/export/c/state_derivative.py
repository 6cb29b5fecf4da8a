"""C code of the state derivative ẋ = f(x, u), x = (η, η̇), with its exact Jacobians.

    M δη̈ = S_η δη + S_v δη̇ + B δu,   S_η = ∂F/∂η - ∂M/∂η η̈,   S_v = -2 Γ[η̇] - c D - Σ_j J_jᵀ f_j' J_j

The sum of all forces F is linear in the coefficients except for dry friction. Its derivatives by θ are therefore F
with derivatives of the coefficients, which `assemble` computes from derivatives of the products (as in
`supple.reduced.coefficient_slopes`).
"""

from __future__ import annotations

from supple.export.c.equations import input_words, silence_unused
from supple.export.c.exact_parts import mass_words, product_functions
from supple.export.c.generated_model import CModel
from supple.export.template import fill_template, template_parts

PARTS = template_parts("supple.export.c", "state_derivative.c")


def state_space_functions(model: CModel) -> str:
    """Return the C functions `turning`, `tangent`, `<prefix>_derivative` and `<prefix>_jacobian`."""
    names = {name for name, _, _ in model.members()}
    inputs = "input_map" in names
    words = input_words(model) | {
        "prefix": model.prefix, "UPPER": model.upper, "states": f"{model.upper}_STATES", "exact": model.exact,
        "bent": model.bent, "at": "eta" if model.bent else "at", "more": "&more" if model.bent else "0",
        "refine": product_functions(model, slopes=True), "curved": "mass_curvature" in model.coefficients,
        "friction": "friction_map" in names, "elastic": model.elastic > 0, "stiffness": "K" in names,
        "coupling": "force_gradient" in names, "bending": "stiffness_gradient" in names,
        "B": f", double B[{model.upper}_STATES][{model.upper}_INPUTS]" if inputs else "",
        "christoffel": "christoffel" in names, "damping": "damping" in names,
    } | mass_words(model)  # fmt: skip
    body = fill_template(PARTS["forces_of_rates"], words)
    turning = {
        "k": ", k" if "k = 0" in body else "",
        "unused": silence_unused(("p", "m", "rates"), body),
        "turning": body,
    }
    return "".join(fill_template(PARTS[part], words | turning) for part in ("turning", "tangent", "jacobian"))
