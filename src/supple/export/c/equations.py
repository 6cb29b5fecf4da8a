"""C code of the equations of motion: coefficients at a point, inverse and forward dynamics, outputs."""

from __future__ import annotations

import re
from collections.abc import Iterable

from supple.export.c import inertia_rates
from supple.export.c.exact_parts import mass_words, no_mass, product_functions
from supple.export.c.generated_model import CModel, Coefficient
from supple.export.c.polynomial import combine_call
from supple.export.template import Words, fill_template, template_parts

PARTS = template_parts("supple.export.c", "equations.c")


def needs_slopes(model: CModel) -> bool:
    """Return True if the coefficients of the equations need gradients of fitted columns."""
    elastic = model.elastic_force_columns is not None or model.stiffness_columns is not None
    return bool(model.inertia_columns) or model.potential_gives_force or elastic


def counters(text: str) -> str:
    """Return those of the counters i, j, k, a that are used in a text, as a declaration list."""
    return ", ".join(name for name in "ijka" if re.search(rf"\b{name} = ", text))


def silence_unused(names: Iterable[str], text: str) -> str:
    """Return `(void)` lines for the function arguments that a text does not use."""
    return "".join(f"    (void){name};\n" for name in names if not re.search(rf"\b{name}\b", text))


def columns(model: CModel) -> str:
    """Return the C function `<prefix>_columns`, which evaluates the fitted columns."""
    combine = combine_call(model.fitted, (0, model.fitted.outputs), "b", "values")
    return fill_template(PARTS["columns"], {"prefix": model.prefix, "UPPER": model.upper, "combine_columns": combine})


def coefficient_functions(model: CModel) -> str:
    """Return the C functions `assemble` and `<prefix>_coefficients`.

    `assemble` computes the coefficients of forces, the other one all members of the structure.
    """
    slopes, known = needs_slopes(model), model.coefficients
    output_items = [known[name] for name in ("outputs", "output_modes") if name in known]
    words: Words = {
        "prefix": model.prefix, "UPPER": model.upper, "argument": coefficient_argument(model),
        "point": "eta" if model.bent else "theta", "bent_at": "eta" if model.bent else "at",
        "db": ", db[AXES][TERMS]" if slopes else "", "slopes": "db" if slopes else "0", "no_mass": no_mass(model),
        "products": "basis_slopes(leaf, at, b, db);" if slopes else "basis(leaf, at, b);",
        "constant_outputs": any(item.columns is None for item in output_items),
        "fitted_outputs": any(item.columns is not None for item in output_items),
        "seen": "".join(_output_line(model, item) for item in output_items),
    }  # fmt: skip
    return _assemble(model) + fill_template(PARTS["coefficients"], words)


def _output_line(model: CModel, item: Coefficient) -> str:
    """Return a line that copies outputs or their modes into the structure."""
    start = "model->outputs" if item.name == "outputs" else "&model->output_modes[0][0]"
    if item.columns is not None:
        return f"    {combine_call(model.fitted, item.columns, 'b', start)}\n"
    return f"    for (i = 0; i < {item.width}; ++i) ({start})[i] = {item.source}[i];\n"


_SLOPES = {"M": "packed", "K": "packed", "mass_slope": "changed", "mass_curvature": "changed", "potential": "slope"}


def _coefficient_words(model: CModel) -> Words:
    """Return source, width and slope call of every coefficient as template words.

    The slope call sums the derivative along θ_i; it is "" if there is none. Derivatives of constants are zero.
    """
    words: Words = {}
    for name in model.layout.widths:
        item, slope = model.coefficients.get(name), ""
        if item is not None and item.columns is not None and name in _SLOPES:
            slope = combine_call(model.fitted, item.columns, "db[i]", _SLOPES[name])
        source = "" if item is None else item.source
        words[name] = source if item is None or item.columns is not None else f"(known ? {source} : nothing)"
        words |= {f"{name}_width": 0 if item is None else item.width, f"{name}_slope": slope}
    return words


def _assemble(model: CModel) -> str:
    """Return the C function `assemble`, which computes coefficients from products b and their derivatives db.

    With known = 0 it computes derivatives of the coefficients from derivatives of b and db; those of constants are
    zero. Γ comes from its own columns; the part of θ alone comes from the mass matrix if the layout specifies it.
    Likewise p_θ comes from the potential.
    """
    known, layout, elastic = model.coefficients, model.layout, model.elastic
    words = _coefficient_words(model) | {
        "prefix": model.prefix, "exact": model.exact, "bent": model.bent, "split": model.exact and model.bent,
        "mass_argument": ", exact (*mass)[SIZE]" if model.exact else "", "from_mass": model.mass_gives_christoffel,
        "no_elastic_christoffel": model.mass_gives_christoffel and elastic > 0,
        "constant_mass": "christoffel" in known and layout.christoffel == "from-mass",
        "from_potential": model.potential_gives_force, "no_elastic_force": model.potential_gives_force and elastic > 0,
        "constant_potential": "force" in known and layout.force == "from-potential", "elastic": elastic,
        "coupling": model.elastic_force_columns is not None, "bending": model.stiffness_columns is not None,
        "force_columns": model.force_columns, "size": layout.size, "inputs": len(layout.inputs),
        "friction": len(layout.dry_forces),
    }  # fmt: skip
    if model.force_columns:
        words["combine_forces"] = combine_call(model.fitted, (0, model.force_columns), "b", "values")
    if model.elastic_force_columns is not None:
        words["force_slope"] = combine_call(model.fitted, model.elastic_force_columns, "db[i]", "slope")
    inertia = inertia_rates.PARTS["mass"] if model.bent else PARTS["christoffel"]
    body = fill_template(PARTS["assembled"], words | {"inertia": fill_template(inertia, words).rstrip("\n")})
    row = "row" in body
    given = ["leaf", "eta", "b", "db", "known", "model", "more", *(["mass"] if model.exact else [])]
    words |= {"counters": counters(body), "row": row, "unused": silence_unused(given, f"{body} leaf" if row else body)}
    return fill_template(PARTS["assemble"], words | {"body": body})


def zero_constants(model: CModel) -> str:
    """Return a table of zeros that replaces constants where derivatives are computed."""
    widths = [item.width for item in model.coefficients.values() if item.columns is None]
    return f"static const double nothing[{max(widths)}] = {{0.0}};\n" if widths else ""


def coefficient_argument(model: CModel) -> str:
    """Return the C argument of the coefficients: θ, or η if M depends on δ."""
    return f"eta[{model.upper}_COORDINATES]" if model.bent else f"theta[{model.upper}_THETA]"


def resistance(model: CModel) -> str:
    """Return the C code of all terms except inertia and inputs: Γ[η̇, η̇] + D η̇ + K η - p, followed by dry friction."""
    names, x = {name for name, _, _ in model.members()}, model.state
    words: Words = {
        "prefix": model.prefix, "state": x, "real": model.real, "force": "-m->force[i]" if "force" in names else "0.0",
        "summed": bool({"christoffel", "damping", "K"} & names), "coupling": "force_gradient" in names,
        "bending": "stiffness_gradient" in names, **{name: name in names for name in ("christoffel", "damping", "K")},
    }  # fmt: skip
    body = in_real(
        fill_template(PARTS["forces"], words) + (inertia_rates.PARTS["bending"] if model.bent else ""), model
    )
    words |= {"counters": counters(body), "unused": silence_unused(("p", "m", x, "rates", "sum"), body), "body": body}
    friction = PARTS["friction_forces"] if "friction_map" in names else ""
    words |= {"friction": friction, "count": "    int i, j;\n" if friction else ""}
    return fill_template(PARTS["smooth"], words) + fill_template(PARTS["resistance"], words)


def dynamics(model: CModel) -> str:
    """Return the C functions `<prefix>_inverse` and `<prefix>_forward`."""
    n, x, slopes = f"{model.upper}_COORDINATES", model.state, needs_slopes(model)
    return fill_template(PARTS["dynamics"], input_words(model) | {
        "prefix": model.prefix, "UPPER": model.upper, "n": n, "state": x, "db": ", db[AXES][TERMS]" if slopes else "",
        "tabulate": product_functions(model, slopes=slopes),
        "bent": "eta" if model.bent else "at", "slopes": "db" if slopes else "0",
        "given": f"const double {x}[{n}], const double rates[{n}], ",
    } | mass_words(model))  # fmt: skip


def in_real(text: str, model: CModel) -> str:
    """Return a text with sums cast to the type in which forces are summed."""
    if not model.exact:
        return text
    text = re.sub(r"\bdouble\b", "exact", text)
    return re.sub(r"((?:[-+]=|exact \w+ =)) (?!\d)", r"\1 (exact)", text)


def input_words(model: CModel) -> Words:
    """Return the template words for inputs; they are empty if the model has no inputs."""
    if "input_map" not in model.coefficients:
        return {"inputs": "", "pass": "", "feed": "", "j": ""}
    return {
        "inputs": f"const double inputs[{model.upper}_INPUTS], ", "pass": "inputs, ", "j": ", j",
        "feed": in_real("        for (j = 0; j < INPUTS; ++j) rest[i] += m.input_map[i][j] * inputs[j];\n", model),
    }  # fmt: skip
