"""C code of outputs and their time derivatives."""

from __future__ import annotations

from supple.export.c.generated_model import CModel, Coefficient
from supple.export.c.polynomial import combine_call
from supple.export.template import Words, fill_template, template_parts

PARTS = template_parts("supple.export.c", "outputs.c")


def outputs(model: CModel) -> str:
    """Return the C functions `<prefix>_outputs`, y = ρ_o(θ) + Ψ_o(θ) δ, and `<prefix>_output_rates`.

    The text is empty for a model without outputs.
    """
    if "outputs" not in model.coefficients:
        return ""
    y, modes = model.coefficients["outputs"], model.coefficients.get("output_modes")
    words: Words = {
        "prefix": model.prefix, "UPPER": model.upper, "x": model.state, "outputs": _source(y),
        "outputs_width": str(y.width), "fitted_outputs": y.columns is not None, "modes": "", "fitted_modes": False,
    }  # fmt: skip
    if y.columns is not None:
        words["combine_outputs"] = combine_call(model.fitted, y.columns, "b", _source(y))
        words["combine_slope"] = combine_call(model.fitted, y.columns, "db[j]", "slope")
    if modes is not None:
        words |= {"modes": _source(modes), "modes_width": str(modes.width), "fitted_modes": modes.columns is not None}
        if modes.columns is not None:
            words["combine_modes"] = combine_call(model.fitted, modes.columns, "b", _source(modes))
    words["fitted"] = words["fitted_outputs"] or words["fitted_modes"]
    words["counted"] = words["fitted_outputs"] or modes is not None
    return fill_template(PARTS["values"], words) + fill_template(PARTS["rates"], words)


def _source(item: Coefficient) -> str:
    return f"fitted_{item.name}" if item.columns else item.source
