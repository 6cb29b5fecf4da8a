"""C code of all outputs at a state under inputs, y = g(x, u), and their exact Jacobians C and D.

Of a measure μ(η) with J = ∂μ/∂η: ∂μ̇/∂(η, η̇) = (J̇, J) and ∂μ̈/∂(η, η̇, η̈) = (J̈, 2 J̇, J); accelerations follow from
the state derivative, η̈ = A x + B u to first order (`supple.equations.output_motion`).
"""

from __future__ import annotations

from supple.equations.effort_row import effort_places
from supple.export.c.equations import input_words
from supple.export.c.literals import number
from supple.export.c.model import CModel, Coefficient
from supple.export.c.polynomial import combine_call
from supple.export.template import filled, parts

PARTS = parts("supple.export.c", "measured.c")


def has_measure(model: CModel) -> bool:
    """Whether there is anything to be measured."""
    return bool(model.layout.outputs) and ("outputs" in model.coefficients or model.layout.observation is not None)


def measured(model: CModel) -> str:
    """`<prefix>_measure` and `<prefix>_output_jacobian`; nothing for a model without outputs."""
    if not has_measure(model):
        return ""
    inputs = "input_map" in model.coefficients
    words = input_words(model) | {
        "prefix": model.prefix, "UPPER": model.upper, "states": f"{model.upper}_STATES",
        "outputs": f"{model.upper}_OUTPUTS", "unused": "    (void)inputs;\n" if inputs else "",
        "D": f", double D[{model.upper}_OUTPUTS][{model.upper}_INPUTS]" if inputs else "",
    }  # fmt: skip
    if model.layout.observation is None:
        words["measure"] = filled(PARTS["plain"], words)
        declared, body = _plain(model, inputs)
    else:
        words["accelerate"] = filled(PARTS["accelerate"], words) if model.instant else ""
        words["measure"] = filled(PARTS["observed"], words)
        declared, body = _observed(model, inputs)
    words |= {"declared": "\n".join(declared), "body": "\n".join(body)}
    return filled(PARTS["measure"], words) + filled(PARTS["jacobian"], words)


def _plain(model: CModel, inputs: bool) -> tuple[list[str], list[str]]:
    """y = ρ(θ) + Ψ(θ) δ: C = (∂ρ/∂θ + ∂Ψ/∂θ δ, Ψ, 0), D = 0."""
    y, modes = model.coefficients["outputs"], model.coefficients.get("output_modes")
    width, shapes = y.width, modes.width if modes else 1
    declared = [f"    double at[AXES], b[TERMS], db[AXES][TERMS], fitted[{width}], shape[{shapes}];"]
    declared += ["    const double *row;", "    int i, j, k, flag;", "    const int leaf = place(state, at, &flag);"]
    body = ["    (void)parameters;", f"    if ({model.prefix}_outputs(state, outputs) == {model.upper}_OUTSIDE) "
            f"return {model.upper}_OUTSIDE;"]  # fmt: skip
    body += ["    basis_slopes(leaf, at, b, db);", "    for (i = 0; i < OUTPUTS; ++i) {"]
    body += [f"        for (j = 0; j < {model.upper}_STATES; ++j) C[i][j] = 0.0;"]
    body += ["        for (j = 0; j < INPUTS; ++j) D[i][j] = 0.0;"] if inputs else []
    body += ["    }", "    for (k = 0; k < AXES; ++k) {", "        if (HELD(k, at, state)) continue;"]
    body += [f"        {_value(model, y, 'db[k]', 'fitted')}"]
    body += ["        for (i = 0; i < OUTPUTS; ++i) C[i][k] = fitted[i];"]
    if modes:
        body += [f"        {_value(model, modes, 'db[k]', 'shape')}", "        for (i = 0; i < OUTPUTS; ++i)"]
        body += ["            for (j = AXES; j < SIZE; ++j)"]
        body += ["                C[i][k] += shape[i * (SIZE - AXES) + j - AXES] * state[j];"]
    body += ["    }"]
    if modes:
        shape = "shape" if modes.columns else modes.source
        body += [f"    {_value(model, modes, 'b', 'shape')}"] if modes.columns else []
        body += ["    for (i = 0; i < OUTPUTS; ++i)", "        for (j = AXES; j < SIZE; ++j) "
                 f"C[i][j] = {shape}[i * (SIZE - AXES) + j - AXES];"]  # fmt: skip
    else:
        body += ["    (void)shape;"]
    body += [] if any(item and item.columns for item in (y, modes)) else ["    (void)row;"]
    return declared, body + (["    (void)inputs;"] if inputs else [])


def _value(model: CModel, item: Coefficient, basis: str, out: str) -> str:
    """A call that puts derivatives of a coefficient into an array; those of a constant are zero."""
    if item.columns is None:
        return f"for (i = 0; i < {item.width}; ++i) {out}[i] = 0.0;"
    return combine_call(model.fitted, item.columns, basis, out)


def _observed(model: CModel, inputs: bool) -> tuple[list[str], list[str]]:
    """Through values, rates and second rates of all measures, and forces inside."""
    layout, U, P = model.layout, model.upper, model.prefix
    assert layout.observation is not None
    measures, count = len(layout.measures), max(1, len(layout.measures) + len(layout.efforts))
    known = model.coefficients
    pass_on = "inputs, " if inputs else ""
    declared = [f"    const {P}_parameters *const p = parameters ? parameters : &standard;"]
    declared += [
        "    const double *row, *const v = state + SIZE;",
        "    double at[AXES], b[3][TERMS], db[AXES][3][TERMS];",
    ]
    declared += [f"    double A[{U}_STATES][{U}_STATES], rate[{U}_STATES], x[3][{count}], G[3][{count}][SIZE];"]
    declared += [f"    double by_v[{count}][SIZE], by_a[{count}][SIZE], *const a = rate + SIZE;"]
    declared += [f"    double B[{U}_STATES][{U}_INPUTS], by_u[{count}][{U}_INPUTS];"] if inputs else []
    declared += ["    int i, j, k, q, flag;", "    const int leaf = place(state, at, &flag);"]
    body = [f"    flag = {P}_jacobian(p, state, {pass_on}rate, A{', B' if inputs else ''});"]
    body += [f"    if (flag == {U}_OUTSIDE || flag == {U}_INDEFINITE) return flag;"]
    body += ["    basis_along(leaf, at, v, a, b, db);", f"    for (i = 0; i < {count}; ++i) {{"]
    body += ["        for (q = 0; q < 3; ++q) {", "            x[q][i] = 0.0;"]
    body += ["            for (j = 0; j < SIZE; ++j) G[q][i][j] = 0.0;", "        }"]
    body += ["        for (j = 0; j < SIZE; ++j) by_v[i][j] = by_a[i][j] = 0.0;"]
    body += ["        for (j = 0; j < INPUTS; ++j) by_u[i][j] = 0.0;"] if inputs else []
    body += ["    }"]
    body += _measure_motion(model, known.get("outputs"), known.get("output_modes"), measures)
    body += _effort_slopes(model, inputs) if layout.efforts else []
    body += [f"    for (i = 0; i < {len(layout.outputs)}; ++i) {{"]
    body += [f"        for (j = 0; j < {U}_STATES; ++j) C[i][j] = 0.0;"]
    body += ["        for (j = 0; j < INPUTS; ++j) D[i][j] = 0.0;"] if inputs else []
    body += ["    }"]
    for o, form in enumerate(layout.observation.outputs.values()):
        products = []
        for item in form:
            factors = [f"x[{order}][{factor}]" for factor, order in item.factors]
            products.append(" * ".join([number(item.weight), *factors]))
            for at, (factor, order) in enumerate(item.factors):
                rest = " * ".join([number(item.weight), *factors[:at], *factors[at + 1 :]])
                body += _chain(o, factor, order, rest, inputs)
        body += [f"    outputs[{o}] = {' + '.join(products)};"]
    return declared, [*body, "    (void)row;", "    (void)k;"]


def _chain(o: int, k: int, order: int, factor: str, inputs: bool) -> list[str]:
    """C and D of one output, of one factor of one of its products."""
    lines = ["    {", f"        const double slope = {factor};", "        for (j = 0; j < SIZE; ++j) {"]
    by_rate = {0: f"by_v[{k}][j]", 1: f"G[0][{k}][j]", 2: f"2.0 * G[1][{k}][j]"}[order]
    by_acceleration = {0: f"by_a[{k}][j]", 1: "", 2: f"G[0][{k}][j]"}[order]
    lines += [f"            C[{o}][j] += HELD(j, at, state) ? 0.0 : slope * G[{order}][{k}][j];"]
    lines += [f"            C[{o}][SIZE + j] += slope * {by_rate};"]
    if by_acceleration:
        lines += ["            for (i = 0; i < 2 * SIZE; ++i)"]
        lines += [f"                C[{o}][i] += slope * {by_acceleration} * A[SIZE + j][i];"]
        if inputs:
            lines += ["            for (i = 0; i < INPUTS; ++i)"]
            lines += [f"                D[{o}][i] += slope * {by_acceleration} * B[SIZE + j][i];"]
    lines += ["        }"]
    lines += (
        [f"        for (j = 0; j < INPUTS; ++j) D[{o}][j] += slope * by_u[{k}][j];"] if inputs and not order else []
    )
    return [*lines, "    }"]


def _measure_motion(model: CModel, y: Coefficient | None, modes: Coefficient | None, count: int) -> list[str]:
    lines = []
    if y is not None:
        for q in range(3):
            if y.columns is not None:
                lines += [f"    {combine_call(model.fitted, y.columns, f'b[{q}]', f'x[{q}]')}"]
        if y.columns is None:
            lines += [f"    for (i = 0; i < {count}; ++i) x[0][i] = {y.source}[i];"]
        else:
            call = combine_call(model.fitted, y.columns, "db[k][q]", "fitted")
            words = {"width": str(y.width), "combine": f"            {call}"}
            lines += filled(PARTS["gradient"], words).rstrip("\n").replace("MEASURED", str(count)).split("\n")
    if modes is not None:
        lines += ["    {", f"        double shape[3][{modes.width}];"]
        for q in range(3):
            if modes.columns is not None:
                lines += [f"        {combine_call(model.fitted, modes.columns, f'b[{q}]', f'shape[{q}]')}"]
            else:
                value = f"{modes.source}[i]" if not q else "0.0"
                lines += [f"        for (i = 0; i < {modes.width}; ++i) shape[{q}][i] = {value};"]
        lines += [f"        for (i = 0; i < {count}; ++i)", "            for (j = AXES; j < SIZE; ++j) {"]
        lines += ["                const int at_mode = i * (SIZE - AXES) + j - AXES;"]
        lines += ["                for (q = 0; q < 3; ++q) G[q][i][j] = shape[q][at_mode];"]
        lines += ["                x[0][i] += shape[0][at_mode] * state[j];"]
        lines += ["                x[1][i] += shape[1][at_mode] * state[j] + shape[0][at_mode] * v[j];"]
        lines += ["                x[2][i] += shape[2][at_mode] * state[j] + 2.0 * shape[1][at_mode] * v[j]"]
        lines += ["                           + shape[0][at_mode] * a[j];", "            }", "    }"]
        if modes.columns is not None:
            call = combine_call(model.fitted, modes.columns, "db[k][q]", "shape[q]")
            words = {"width": str(modes.width), "combine": f"            {call}"}
            lines += filled(PARTS["gradient_modes"], words).rstrip("\n").replace("MEASURED", str(count)).split("\n")
    return lines


def _effort_slopes(model: CModel, inputs: bool) -> list[str]:
    """Forces inside, behind the measures: rows(θ) times what they depend on, and the derivatives of both."""
    layout, known = model.layout, model.coefficients
    n, s, count, first = layout.size, layout.theta, len(layout.efforts), len(layout.measures)
    places = effort_places(n, s, len(layout.inputs), len(layout.dry_forces))
    item, w = known.get("efforts"), places.width
    if item is None:
        return []
    lines = ["    {", f"        double rows[{count * w}], depends[{w}] = {{0.0}};"]
    lines += [f"        double on_v[{w}][SIZE] = {{{{0.0}}}}, on_eta[{w}][SIZE] = {{{{0.0}}}};"]
    if item.columns is not None:
        lines += [f"        {combine_call(model.fitted, item.columns, 'b[0]', 'rows')}"]
    else:
        lines += [f"        for (i = 0; i < {count * w}; ++i) rows[i] = {item.source}[i];"]
    lines += ["        depends[0] = 1.0;"]
    lines += [f"        for (i = AXES; i < SIZE; ++i) depends[{places.modes} + i - AXES] = state[i], "
              f"on_eta[{places.modes} + i - AXES][i] = 1.0;"] if n > s else []  # fmt: skip
    lines += [f"        for (i = 0; i < INPUTS; ++i) depends[{places.inputs} + i] = inputs[i];"] if inputs else []
    lines += [f"        for (i = 0; i < SIZE; ++i) depends[{places.accelerations} + i] = a[i], "
              f"depends[{places.rates} + i] = v[i], on_v[{places.rates} + i][i] = 1.0;"]  # fmt: skip
    for i, (j, k) in enumerate(places.pairs):
        at = places.turning + i
        lines += [f"        depends[{at}] = v[{j}] * v[{k}], on_v[{at}][{j}] += v[{k}], on_v[{at}][{k}] += v[{j}];"]
    friction = known.get("friction_map")
    if friction is not None:
        lines += [f"        {{ double slides[{friction.width}], turned[{friction.width}], steep, slope;"]
        if friction.columns is not None:
            lines += [f"        {combine_call(model.fitted, friction.columns, 'b[0]', 'slides')}"]
        else:
            lines += [f"        for (i = 0; i < {friction.width}; ++i) slides[i] = {friction.source}[i];"]
        for f in range(len(layout.dry_forces)):
            slip = " + ".join(f"slides[{f * n + i}] * v[{i}]" for i in range(n))
            at = places.friction + f
            lines += [f"        depends[{at}] = p->friction[{f}] * direction(p, {slip}, &steep);"]
            lines += [f"        slope = p->friction[{f}] * steep;"]
            lines += [f"        for (i = 0; i < SIZE; ++i) on_v[{at}][i] = slope * slides[{f * n} + i];"]
            if friction.columns is not None:
                lines += ["        for (k = 0; k < AXES; ++k) {"]
                lines += [f"            {combine_call(model.fitted, friction.columns, 'db[k][0]', 'turned')}"]
                lines += [
                    f"            for (i = 0; i < SIZE; ++i) on_eta[{at}][k] += slope * turned[{f * n} + i] * v[i];"
                ]
                lines += ["        }"]
        lines += ["        (void)turned; }"]
    lines += [f"        for (i = 0; i < {count}; ++i)", f"            for (j = 0; j < {w}; ++j) {{"]
    lines += [f"                const double number = rows[i * {w} + j];"]
    lines += [
        f"                x[0][{first} + i] += number * depends[j];",
        "                for (k = 0; k < SIZE; ++k) {",
    ]
    lines += [f"                    G[0][{first} + i][k] += number * on_eta[j][k];"]
    lines += [f"                    by_v[{first} + i][k] += number * on_v[j][k];", "                }", "            }"]
    lines += [f"        for (i = 0; i < {count}; ++i) {{", "            for (k = 0; k < SIZE; ++k)"]
    lines += [f"                by_a[{first} + i][k] = rows[i * {w} + {places.accelerations} + k];"]
    if inputs:
        lines += [
            f"            for (k = 0; k < INPUTS; ++k) by_u[{first} + i][k] = rows[i * {w} + {places.inputs} + k];"
        ]
    lines += ["        }"]
    if item.columns is not None:
        lines += ["        for (k = 0; k < AXES; ++k) {"]
        lines += [f"            {combine_call(model.fitted, item.columns, 'db[k][0]', 'rows')}"]
        lines += [f"            for (i = 0; i < {count}; ++i)", f"                for (j = 0; j < {w}; ++j)"]
        lines += [f"                    G[0][{first} + i][k] += rows[i * {w} + j] * depends[j];", "        }"]
    return [*lines, "    }"]
