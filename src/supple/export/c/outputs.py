"""C code of the outputs and their rates."""

from __future__ import annotations

from supple.export.c.equations import counters, function, located
from supple.export.c.model import CModel, Coefficient
from supple.export.c.polynomial import combine_call


def outputs(model: CModel) -> str:
    """`<prefix>_outputs`: y = ρ_o(θ) + Ψ_o(θ) δ, and `<prefix>_output_rates`; nothing for a model without outputs."""
    if "outputs" not in model.coefficients:
        return ""
    y, modes = model.coefficients["outputs"], model.coefficients.get("output_modes")
    return _values(model, y, modes) + _rates(model, y, modes)


def _values(model: CModel, y: Coefficient, modes: Coefficient | None) -> str:
    U, x = model.upper, model.state
    body = [f"    {_combine(model, item)}" for item in (y, modes) if item is not None and item.columns]
    body += ["    for (i = 0; i < OUTPUTS; ++i) {", f"        double sum = {_source(y)}[i];"]
    if modes:
        body += ["        for (j = AXES; j < SIZE; ++j)"]
        body += [f"            sum += {_source(modes)}[i * (SIZE - AXES) + j - AXES] * {x}[j];"]
    body += ["        outputs[i] = sum;", "    }"]
    signature = f"int {model.prefix}_outputs(const double {x}[{U}_COORDINATES], double outputs[{U}_OUTPUTS])"
    declared = [f"    double fitted_{item.name}[{item.width}];" for item in (y, modes) if item and item.columns]
    if not declared:
        return function(
            model,
            signature,
            [
                "    double at[AXES];",
                "    int flag;",
                *counters(body),
                f"    if (place({x}, at, &flag) == NOWHERE) return {U}_OUTSIDE;",
                *body,
            ],
        )
    declared += ["    double b[TERMS];", *counters(body)]
    return function(model, signature, located(model, x, declared, "basis(leaf, at, b);") + body)


def _rates(model: CModel, y: Coefficient, modes: Coefficient | None) -> str:
    U, x = model.upper, model.state
    body = ["    for (i = 0; i < OUTPUTS; ++i) output_rates[i] = 0.0;"]
    declared = []
    if y.columns:
        declared += [f"    double db[AXES][TERMS], slope[{y.width}];"]
        body += ["    for (j = 0; j < AXES; ++j) {"]
        body += [f"        {combine_call(model.fitted, y.columns, 'db[j]', 'slope')}"]
        body += ["        for (i = 0; i < OUTPUTS; ++i) output_rates[i] += slope[i] * rates[j];", "    }"]
    if modes:
        if modes.columns:
            declared += [f"    double fitted_{modes.name}[{modes.width}];"]
            body += [f"    {_combine(model, modes)}"]
        body += ["    for (i = 0; i < OUTPUTS; ++i)", "        for (j = AXES; j < SIZE; ++j)"]
        body += [f"            output_rates[i] += {_source(modes)}[i * (SIZE - AXES) + j - AXES] * rates[j];"]
    if not y.columns and not modes:
        body += ["    (void)rates;"]
    given = f"const double {x}[{U}_COORDINATES], const double rates[{U}_COORDINATES]"
    signature = f"int {model.prefix}_output_rates({given}, double output_rates[{U}_OUTPUTS])"
    if not declared:
        return function(
            model,
            signature,
            [
                "    double at[AXES];",
                "    int flag;",
                *counters(body),
                f"    if (place({x}, at, &flag) == NOWHERE) return {U}_OUTSIDE;",
                *body,
            ],
        )
    declared += ["    double b[TERMS];", *counters(body)]
    tabulate = "basis_slopes(leaf, at, b, db);" if y.columns else "basis(leaf, at, b);"
    return function(model, signature, located(model, x, declared, tabulate) + body)


def _source(item: Coefficient) -> str:
    return f"fitted_{item.name}" if item.columns else item.source


def _combine(model: CModel, item: Coefficient) -> str:
    assert item.columns is not None
    return combine_call(model.fitted, item.columns, "b", f"fitted_{item.name}")
