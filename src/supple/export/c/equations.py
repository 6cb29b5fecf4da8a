"""C code of the equations of motion: coefficients at a point, inverse and forward dynamics."""

from __future__ import annotations

import re
from collections.abc import Iterable

from supple.export.c import inertia_rates
from supple.export.c.evaluation import call, declared, fits
from supple.export.c.exact_parts import mass_words
from supple.export.c.forces import forces_function
from supple.export.c.generated_model import CModel, Coefficient
from supple.export.template import Words, fill_template, template_parts

PARTS = template_parts("supple.export.c", "equations.c")


def has_slopes(model: CModel) -> bool:
    """Return True if forces need slopes of columns."""
    return any(column.order for column in model.stored)


def counters(text: str) -> str:
    """Return those of the counters i, j, k, a that are used in a text, as a declaration list."""
    return ", ".join(name for name in "ijka" if re.search(rf"\b{name} = ", text))


def silence_unused(names: Iterable[str], text: str) -> str:
    """Return `(void)` lines for the function arguments that a text does not use."""
    return "".join(f"    (void){name};\n" for name in names if not re.search(rf"\b{name}\b", text))


def columns(model: CModel) -> str:
    """Return the C function `<prefix>_columns`, which evaluates the fitted columns."""
    words = {"prefix": model.prefix, "UPPER": model.upper, "real": model.real, "fit_all": call(fits(model)["all"])}
    return fill_template(PARTS["columns"], words)


def coefficient_functions(model: CModel) -> str:
    """Return the C functions `assemble` and `<prefix>_coefficients`.

    `assemble` computes the coefficients of forces, the other one all members of the structure.
    """
    known, made, slopes = model.coefficients, fits(model), has_slopes(model)
    output_items = [known[name] for name in ("outputs", "output_modes") if name in known]
    seen = "".join(_output_line(model, item) for item in output_items)
    words: Words = {
        "prefix": model.prefix, "UPPER": model.upper, "argument": coefficient_argument(model),
        "point": "eta" if model.bent else "theta", "bent_at": "eta" if model.bent else "at",
        "arrays": declared(made["forces"], model.real), "dF": ", dF[AXES][FITTED]" if slopes else "",
        "slopes": slopes, "slope_array": "dF" if slopes else "0", "fit": call(made["forces"]), "bent": model.bent,
        "counted": slopes or bool(seen), "fit_outputs": call(made["outputs_0"]),
        "fitted_outputs": any(item.columns is not None for item in output_items), "seen": seen,
    }  # fmt: skip
    return _assemble(model) + fill_template(PARTS["coefficients"], words)


def _output_line(model: CModel, item: Coefficient) -> str:
    """Return a line that copies outputs or their modes into the structure."""
    if item.name == "outputs":
        return f"    for (i = 0; i < {item.width}; ++i) model->outputs[i] = ({item.source})[i];\n"
    to = f"model->output_modes[i / {model.elastic}][i % {model.elastic}]"
    return f"    for (i = 0; i < {item.width}; ++i) {to} = ({item.source})[i];\n"


_SLOPES = ("M", "K", "mass_slope", "mass_curvature", "potential")


def _coefficient_words(model: CModel) -> Words:
    """Return source, width and slope along θ_i of every coefficient as template words; "" where there is none."""
    words: Words = {}
    for name in model.layout.widths:
        item, slope = model.coefficients.get(name), ""
        if item is not None and item.columns is not None and name in _SLOPES:
            slope = f"dF[i] + {item.columns[0]}"
        words[name] = "" if item is None else item.source
        words |= {f"{name}_width": 0 if item is None else item.width, f"{name}_slope": slope}
    return words


def _assemble(model: CModel) -> str:
    """Return the C function `assemble`.

    Γ comes from its own columns; the part of θ alone comes from the mass matrix if the layout specifies it. Likewise
    p_θ comes from the potential.
    """
    known, layout, elastic = model.coefficients, model.layout, model.elastic
    words = _coefficient_words(model) | {
        "prefix": model.prefix, "bent": model.bent, "from_mass": model.mass_gives_christoffel,
        "no_elastic_christoffel": model.mass_gives_christoffel and elastic > 0,
        "constant_mass": "christoffel" in known and layout.christoffel == "from-mass",
        "from_potential": model.potential_gives_force, "no_elastic_force": model.potential_gives_force and elastic > 0,
        "constant_potential": "force" in known and layout.force == "from-potential", "elastic": elastic,
        "coupling": model.elastic_force_columns is not None, "bending": model.stiffness_columns is not None,
        "size": layout.size, "inputs": len(layout.inputs), "friction": len(layout.dry_forces),
    }  # fmt: skip
    if model.elastic_force_columns is not None:
        words["force_slope"] = f"dF[i] + {model.elastic_force_columns[0]}"
    inertia = inertia_rates.PARTS["mass"] if model.bent else PARTS["christoffel"]
    body = fill_template(PARTS["assembled"], words | {"inertia": fill_template(inertia, words).rstrip("\n")})
    words |= {"counters": counters(body), "unused": silence_unused(["eta", "F", "dF", "model", "more"], body)}
    return fill_template(PARTS["assemble"], words | {"body": body})


def coefficient_argument(model: CModel) -> str:
    """Return the C argument of the coefficients: θ, or η if M depends on δ."""
    return f"eta[{model.upper}_COORDINATES]" if model.bent else f"theta[{model.upper}_THETA]"


def dynamics(model: CModel) -> str:
    """Return the C functions `forces`, `<prefix>_inverse` and `<prefix>_forward`."""
    n, x, fit = f"{model.upper}_COORDINATES", model.state, fits(model)["forces"]
    slopes = has_slopes(model)
    text = forces_function(model) + forces_function(model, change=True)
    return text + fill_template(PARTS["dynamics"], input_words(model) | {
        "prefix": model.prefix, "UPPER": model.upper, "n": n, "state": x, "fit": call(fit),
        "declared": f"{model.real} g[WIDE]" + (f", {model.real} dg[AXES][WIDE]" if slopes else ""),
        "arrays": declared(fit, model.real), "dg": ", dg" if slopes else "", "pass_dg": "dg, " if slopes else "",
        "given": f"const double {x}[{n}], const double rates[{n}], ",
    } | mass_words(model))  # fmt: skip


def input_words(model: CModel) -> Words:
    """Return the template words for inputs; they are empty if the model has no inputs."""
    if "input_map" not in model.coefficients:
        return {"inputs": "", "pass": "", "feed": "", "j": ""}
    item = model.coefficients["input_map"]
    inputs, feed = len(model.layout.inputs), ""
    places = {(c.coefficient, c.number): k for k, c in enumerate(model.stored)}
    for i in range(model.layout.size):
        for j in range(inputs):
            index = i * inputs + j
            if item.columns is None:
                value = f"{item.source}[{index}]" if model.layout.constants["input_map"].ravel()[index] else ""
            else:
                value = f"g[{places[item.name, index]}]" if (item.name, index) in places else ""
            feed += f"    sum[{i}] -= {value} * inputs[{j}];\n" if value else ""
    used = "inputs[" in feed
    return {
        "inputs": f"const double inputs[{model.upper}_INPUTS], ", "pass": "inputs, ", "j": "",
        "feed": feed if used else "    (void)inputs;\n",
    }  # fmt: skip
