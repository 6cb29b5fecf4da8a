"""C code of outputs that are made of measures, their rates, and forces inside (docs/theory/outputs.md)."""

from __future__ import annotations

from supple.approximation.piecewise.packing import term_factors
from supple.equations.effort_row import effort_places
from supple.export.c.equations import counters, function, located
from supple.export.c.literals import number, table
from supple.export.c.model import CModel, Coefficient
from supple.export.c.polynomial import combine_call, highest_degree

ALONG = """
/* All products at a point that moves, and their first and second rates. */
static void basis_along(int leaf, const double *theta, const double *rates, const double *accelerations,
    double b[3][TERMS])
{
    double t[AXES][@degrees@][3];
    int i, k;
    for (i = 0; i < AXES; ++i) {
        const double inverse = leaf_place[leaf][1][i];
        const double x = (theta[i] - leaf_place[leaf][0][i]) * inverse;
        const double v = rates[i] * inverse, a = accelerations[i] * inverse;
        t[i][0][0] = 1.0, t[i][0][1] = 0.0, t[i][0][2] = 0.0;
        t[i][1][0] = x, t[i][1][1] = v, t[i][1][2] = a;
        for (k = 2; k < @degrees@; ++k) {
            const double *one = t[i][k - 1], *two = t[i][k - 2];
            t[i][k][0] = 2.0 * x * one[0] - two[0];
            t[i][k][1] = 2.0 * (v * one[0] + x * one[1]) - two[1];
            t[i][k][2] = 2.0 * (a * one[0] + 2.0 * v * one[1] + x * one[2]) - two[2];
        }
    }
    b[0][0] = 1.0, b[1][0] = 0.0, b[2][0] = 0.0;
    for (k = 1; k < TERMS; ++k) {
        const int from = term_along[k][0];
        const double *f = t[term_along[k][1]][term_along[k][2]];
        b[2][k] = b[2][from] * f[0] + 2.0 * b[1][from] * f[1] + b[0][from] * f[2];
        b[1][k] = b[1][from] * f[0] + b[0][from] * f[1];
        b[0][k] = b[0][from] * f[0];
    }
}
"""


def observed(model: CModel) -> str:
    """`<prefix>_observe`: outputs of a motion under inputs."""
    U, x, layout = model.upper, model.state, model.layout
    assert layout.observation is not None
    known = model.coefficients
    measures, efforts = len(layout.measures), len(layout.efforts)
    factors = term_factors(model.fitted.arrays.indices)
    assert factors is not None
    text = table("int", "term_along", factors[: int(model.fitted.arrays.leaves_i[:, 1].max())])
    text += ALONG.replace("@degrees@", str(highest_degree(model.fitted) + 1))
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
            " * ".join([number(item.weight), *(f"x[{order}][{factor}]" for factor, order in item.factors)])
            for item in form
        ]
        body += [f"    outputs[{o}] = {' + '.join(products)};"]
    body += ["    (void)inputs;"] if layout.inputs and not efforts else []
    given = f"const double {x}[{U}_COORDINATES], const double rates[{U}_COORDINATES]"
    given += f",\n    const double accelerations[{U}_COORDINATES]"
    given += f", const double inputs[{U}_INPUTS]" if layout.inputs else ""
    signature = f"int {model.prefix}_observe({given}, double outputs[{U}_OUTPUTS])"
    start = located(
        model, x, [*declared, *counters(body)], f"basis_along(leaf, {x}, rates, accelerations, b);"
    )  # fmt: skip
    return text + function(model, signature, start + body)


_MODES = """\
    for (i = 0; i < {measures}; ++i)
        for (j = AXES; j < SIZE; ++j) {{
            const int at = i * (SIZE - AXES) + j - AXES;
            x[0][i] += modes[0][at] * {x}[j];
            x[1][i] += modes[1][at] * {x}[j] + modes[0][at] * rates[j];
            x[2][i] += modes[2][at] * {x}[j] + 2.0 * modes[1][at] * rates[j] + modes[0][at] * accelerations[j];
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
        declared += [f"    double slides[{width}];"]
        body += _value(model, known["friction_map"], 0, "slides", width)
        for f, force in enumerate(layout.dry_forces.values()):
            slip = " + ".join(f"slides[{f * n + i}] * rates[{i}]" for i in range(n))
            body += [f"    depends[{places.friction + f}] = {number(force)} * direction({slip});"]
    body += [f"    for (i = 0; i < {count}; ++i) {{", f"        x[0][{len(layout.measures)} + i] = 0.0;"]
    body += [f"        for (j = 0; j < {places.width}; ++j)"]
    body += [f"            x[0][{len(layout.measures)} + i] += rows[i * {places.width} + j] * depends[j];", "    }"]
    return declared, body
