"""C code of outputs that are made of measures, their rates, and forces inside (docs/theory/outputs.md)."""

from __future__ import annotations

from supple.equations.effort_row import effort_places
from supple.export.c.equations import counters, function, location_lines
from supple.export.c.generated_model import CModel, Coefficient
from supple.export.c.literals import c_number
from supple.export.c.polynomial import combine_call


def observed(model: CModel) -> str:
    """`<prefix>_observe`: outputs of a motion under inputs."""
    U, x, layout = model.upper, model.state, model.layout
    assert layout.observation is not None
    known = model.coefficients
    measures, efforts = len(layout.measures), len(layout.efforts)
    body: list[str] = []
    declared = [f"    double b[3][TERMS], x[3][{max(measures + efforts, 1)}];"]
    for p in range(3):
        body += _value(model, known.get("outputs"), p, f"x[{p}]", measures)
    if "output_modes" in known:
        declared += [f"    double modes[3][{known['output_modes'].width}];"]
        for p in range(3):
            body += _value(model, known["output_modes"], p, f"modes[{p}]", known["output_modes"].width)
        body += _MODES.format(x=x, measures=measures).splitlines()
    if efforts:
        more, lines = _efforts(model)
        declared += more
        body += lines
    for o, form in enumerate(layout.observation.outputs.values()):
        products = [
            " * ".join([c_number(item.weight), *(f"x[{order}][{factor}]" for factor, order in item.factors)])
            for item in form
        ]
        body += [f"    outputs[{o}] = {' + '.join(products)};"]
    body += ["    (void)inputs;"] if layout.inputs and not efforts else []
    body += ["    (void)p;"] if not any("direction(" in line for line in body) else []
    given = f"const double {x}[{U}_COORDINATES], const double rates[{U}_COORDINATES]"
    given += f",\n    const double accelerations[{U}_COORDINATES]"
    given += f", const double inputs[{U}_INPUTS]" if layout.inputs else ""
    given += f", double outputs[{U}_OUTPUTS]"
    start = location_lines(
        model, x, [*declared, *counters(body)], "basis_along(leaf, at, rates, accelerations, b, 0);"
    )  # fmt: skip
    text = function(model, f"static int observe(const {model.prefix}_parameters *p, {given})", start + body)
    pass_on = f"{x}, rates, accelerations, {'inputs, ' if layout.inputs else ''}outputs"
    return text + f"\nint {model.prefix}_observe({given})\n{{\n    return observe(&standard, {pass_on});\n}}\n"


_MODES = """\
    for (i = 0; i < {measures}; ++i)
        for (j = AXES; j < SIZE; ++j) {{
            const int mode = i * (SIZE - AXES) + j - AXES;
            x[0][i] += modes[0][mode] * {x}[j];
            x[1][i] += modes[1][mode] * {x}[j] + modes[0][mode] * rates[j];
            x[2][i] += modes[2][mode] * {x}[j] + 2.0 * modes[1][mode] * rates[j] + modes[0][mode] * accelerations[j];
        }}"""


def _value(model: CModel, item: Coefficient | None, order: int, out: str, width: int) -> list[str]:
    """Lines that put a coefficient, or its rate of some order, into an array."""
    if item is not None and item.columns is not None:
        return [f"    {combine_call(model.fitted, item.columns, f'b[{order}]', out)}"]
    if not width:
        return []
    source = "0.0" if item is None or order else f"{item.source}[i]"
    return [f"    for (i = 0; i < {width}; ++i) {out}[i] = {source};"]


def _efforts(model: CModel) -> tuple[list[str], list[str]]:
    """Declarations, and lines that put forces inside behind the measures: rows times what they depend on."""
    layout, known, x = model.layout, model.coefficients, model.state
    n, s, count = layout.size, layout.theta, len(layout.efforts)
    places = effort_places(n, s, len(layout.inputs), len(layout.dry_forces))
    declared = [f"    double rows[{count * places.width}], depends[{places.width}];"]
    body = _value(model, known.get("efforts"), 0, "rows", count * places.width)
    body += ["    depends[0] = 1.0;"]
    body += [f"    for (i = AXES; i < SIZE; ++i) depends[{places.modes} + i - AXES] = {x}[i];"] if n > s else []
    if layout.inputs:
        body += [f"    for (i = 0; i < INPUTS; ++i) depends[{places.inputs} + i] = inputs[i];"]
    body += ["    for (i = 0; i < SIZE; ++i) {"]
    body += [f"        depends[{places.accelerations} + i] = accelerations[i];"]
    body += [f"        depends[{places.rates} + i] = rates[i];", "    }"]
    for i, (j, k) in enumerate(places.pairs):
        body += [f"    depends[{places.turning + i}] = rates[{j}] * rates[{k}];"]
    if "friction_map" in known:
        width = known["friction_map"].width
        declared += [f"    double slides[{width}], steep;"]
        body += _value(model, known["friction_map"], 0, "slides", width)
        for f in range(len(layout.dry_forces)):
            slip = " + ".join(f"slides[{f * n + i}] * rates[{i}]" for i in range(n))
            body += [f"    depends[{places.friction + f}] = p->friction[{f}] * direction(p, {slip}, &steep);"]
    body += [f"    for (i = 0; i < {count}; ++i) {{", f"        x[0][{len(layout.measures)} + i] = 0.0;"]
    body += [f"        for (j = 0; j < {places.width}; ++j)"]
    body += [f"            x[0][{len(layout.measures)} + i] += rows[i * {places.width} + j] * depends[j];", "    }"]
    return declared, body
