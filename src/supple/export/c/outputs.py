"""C code of outputs and their time derivatives."""

from __future__ import annotations

from supple.export.c.evaluation import call, declared, fits
from supple.export.c.generated_model import CModel
from supple.export.template import Words, fill_template, template_parts

PARTS = template_parts("supple.export.c", "outputs.c")


def outputs(model: CModel) -> str:
    """Return the C functions `<prefix>_outputs`, y = ρ_o(θ) + Ψ_o(θ) δ, and `<prefix>_output_rates`.

    The text is empty for a model without outputs.
    """
    if "outputs" not in model.coefficients:
        return ""
    y, modes = model.coefficients["outputs"], model.coefficients.get("output_modes")
    made = fits(model)
    words: Words = {
        "prefix": model.prefix, "UPPER": model.upper, "x": model.state, "outputs": y.source,
        "fitted_outputs": y.columns is not None, "modes": "" if modes is None else modes.source,
        "fitted_modes": modes is not None and modes.columns is not None,
    }  # fmt: skip
    for order in range(2):
        fit = made[f"outputs_{order}"]
        words |= {f"arrays_{order}": declared(fit, model.real), f"fit_{order}": call(fit)}
    words["fitted"] = words["fitted_outputs"] or words["fitted_modes"]
    words["counted"] = words["fitted_outputs"] or modes is not None
    return fill_template(PARTS["values"], words) + fill_template(PARTS["rates"], words)
