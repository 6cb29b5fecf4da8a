"""C code of outputs that depend on measures, their rates, and internal forces (docs/theory/outputs.md)."""

from __future__ import annotations

from supple.equations.row import effort_places
from supple.export.c.equations import counters
from supple.export.c.evaluation import call, declared, fits
from supple.export.c.generated_model import CModel, Coefficient
from supple.export.c.source_text import c_number
from supple.export.template import Words, fill_template, template_parts

PARTS = template_parts("supple.export.c", "observation_code.c")


def write_observation(model: CModel) -> str:
    """Return the C function `<prefix>_observe`: outputs of a motion for given inputs."""
    U, x, layout, known = model.upper, model.state, model.layout, model.coefficients
    assert layout.observation is not None
    measures, efforts, modes = len(layout.measures), len(layout.efforts), known.get("output_modes")
    words: Words = {
        "prefix": model.prefix, "UPPER": U, "x": x, "all": max(measures + efforts, 1), "measures": measures,
        "efforts": efforts, "modes": 0 if modes is None else modes.width, "pass": "inputs, " if layout.inputs else "",
    }  # fmt: skip
    fit = fits(model)["outputs_2"]
    words |= {
        "arrays": declared(fit, model.real, zero=True),
        "fit": call(fit),
        "fit_inner": call(fits(model)["inner_0"]),
    }
    words["fitted"] = any(known[name].columns for name in ("efforts", "friction_map") if name in known)
    words["given"] = (
        f"const double {x}[{U}_COORDINATES], const double rates[{U}_COORDINATES]"
        f",\n    const double accelerations[{U}_COORDINATES]"
        f"{f', const double inputs[{U}_INPUTS]' if layout.inputs else ''}, double outputs[{U}_OUTPUTS]"
    )
    body = "".join(_value(model, known.get("outputs"), p, f"x[{p}]", measures) for p in range(3))
    if modes is not None:
        body += "".join(_value(model, modes, p, f"modes[{p}]", modes.width) for p in range(3))
        body += fill_template(PARTS["modes"], words)
    if efforts:
        words |= _effort_words(model)
        body += fill_template(PARTS["efforts"], words)
    for o, form in enumerate(layout.observation.outputs.values()):
        products = [
            " * ".join([c_number(item.weight), *(f"x[{order}][{factor}]" for factor, order in item.factors)])
            for item in form
        ]
        body += f"    outputs[{o}] = {' + '.join(products)};\n"
    body += "    (void)inputs;\n" if layout.inputs and not efforts else ""
    body += "" if "direction(" in body else "    (void)p;\n"
    return fill_template(PARTS["observe"], words | {"body": body, "counters": counters(body)})


def _value(model: CModel, item: Coefficient | None, order: int, out: str, width: int) -> str:
    """Return a line that copies a coefficient, or its time derivative of some order, into an array."""
    if item is not None and item.columns is not None:
        return f"    for (i = 0; i < {width}; ++i) {out}[i] = X[{order}][{item.columns[0]} + i];\n"
    if not width:
        return ""
    source = "0.0" if item is None or order else f"{item.source}[i]"
    return f"    for (i = 0; i < {width}; ++i) {out}[i] = {source};\n"


def _effort_words(model: CModel) -> Words:
    """Return the template words for internal forces: rows times the quantities they depend on."""
    layout, known = model.layout, model.coefficients
    n, friction = layout.size, known.get("friction_map")
    places = effort_places(n, layout.theta, len(layout.inputs), len(layout.dry_forces))
    numbers, slides = len(layout.efforts) * places.width, ""
    if friction is not None:
        slides = _value(model, friction, 0, "slides", friction.width)
        for f in range(len(layout.dry_forces)):
            slip = " + ".join(f"slides[{f * n + i}] * rates[{i}]" for i in range(n))
            slides += f"    depends[{places.friction + f}] = p->friction[{f}] * direction(p, {slip}, &steep);\n"
    return {
        "elastic": model.elastic, "inputs": bool(layout.inputs), "numbers": numbers, "width": places.width,
        "rows": _value(model, known.get("efforts"), 0, "rows", numbers), "slides": slides,
        "friction": 0 if friction is None else friction.width, "at_modes": places.modes, "at_inputs": places.inputs,
        "at_accelerations": places.accelerations, "at_rates": places.rates,
        "turning": "".join(
            f"    depends[{places.turning + i}] = rates[{j}] * rates[{k}];\n" for i, (j, k) in enumerate(places.pairs)
        ),
    }  # fmt: skip
