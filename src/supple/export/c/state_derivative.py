"""C code of the state derivative ẋ = f(x, u), x = (η, η̇), with its exact Jacobians.

    M δη̈ = S_η δη + S_v δη̇ + B δu,   S_η = ∂F/∂η - ∂M/∂η η̈,   S_v = -2 Γ[η̇] - c D - Σ_j J_jᵀ f_j' J_j

The sum of all forces F is linear in the columns except for dry friction. Its derivatives by θ are therefore F with
derivatives of the columns, which `change` computes (as in `supple.reduced.coefficient_slopes`).
"""

from __future__ import annotations

from supple.export.c.equations import has_slopes, input_words, silence_unused
from supple.export.c.evaluation import call, declared, fits
from supple.export.c.exact_parts import mass_words
from supple.export.c.generated_model import CModel
from supple.export.template import Words, fill_template, template_parts

PARTS = template_parts("supple.export.c", "state_derivative.c")


def state_space_functions(model: CModel) -> str:
    """Return the C functions `turning`, `tangent`, `<prefix>_derivative` and `<prefix>_jacobian`."""
    names = {name for name, _, _ in model.members()}
    inputs, fit, known, slopes = (
        "input_map" in names,
        fits(model)["forces_slopes"],
        model.coefficients,
        has_slopes(model),
    )
    first = {name: known[name].columns for name in ("input_map", "friction_map") if name in known}
    places: Words = {name: str(place[0]) for name, place in first.items() if place}
    words = input_words(model) | places | mass_words(model)
    words |= {
        "arrays": declared(fit, model.real, zero=True),
        "fit": call(fit), "slopes": slopes, "dF": ", dF[AXES][FITTED]" * slopes,
        "slope_array": "dF" if slopes else "0", "pass_dg": "dg, " * slopes, "pass_ddg": "ddg[k], " * slopes,
        "differs": any(first.values()),
        "fitted_inputs": bool(first.get("input_map")), "fitted_friction": bool(first.get("friction_map")),
        "prefix": model.prefix, "UPPER": model.upper, "states": f"{model.upper}_STATES",
        "bent": model.bent, "at": "eta" if model.bent else "at", "more": "&more" if model.bent else "0",
        "curved": "mass_curvature" in model.coefficients,
        "friction": "friction_map" in names, "elastic": model.elastic > 0, "stiffness": "K" in names,
        "coupling": "force_gradient" in names, "bending": "stiffness_gradient" in names,
        "B": f", double B[{model.upper}_STATES][{model.upper}_INPUTS]" if inputs else "",
        "christoffel": "christoffel" in names, "damping": "damping" in names,
    }  # fmt: skip
    body = fill_template(PARTS["forces_of_rates"], words)
    turning = {
        "k": ", k" if "k = 0" in body else "",
        "unused": silence_unused(("p", "m", "rates"), body),
        "turning": body,
    }
    return "".join(fill_template(PARTS[part], words | turning) for part in ("turning", "tangent", "jacobian"))
