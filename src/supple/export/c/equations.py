"""C code of the equations: coefficients at a point, inverse and forward dynamics, outputs."""

from __future__ import annotations

import re

from supple.export.c import inertia_rates
from supple.export.c.exact_parts import mass_declarations, mass_lines, mass_words, no_mass, product_functions
from supple.export.c.generated_model import CModel
from supple.export.c.inertia_rates import deformed_mass
from supple.export.c.polynomial import combine_call
from supple.export.template import Words, filled, template_parts

PARTS = template_parts("supple.export.c", "equations.c")


def needs_slopes(model: CModel) -> bool:
    """Whether the coefficients of the equations need gradients of fitted columns."""
    elastic = model.elastic_force_columns is not None or model.stiffness_columns is not None
    return bool(model.inertia_columns) or model.potential_gives_force or elastic


def location_lines(model: CModel, theta: str, declarations: list[str], tabulate: str) -> list[str]:
    """First lines of a function: find the box, tabulate the basis `at` the point; `row` points at the coefficients."""
    return [
        "    double at[AXES];",
        "    int flag;",
        f"    const int leaf = place({theta}, at, &flag);",
        *declarations,
        "    const double *row;",
        f"    if (leaf == NOWHERE) return {model.upper}_OUTSIDE;",
        "    row = coefficients + ROW(leaf) * COLUMNS;",
        f"    {tabulate}",
    ]


def columns(model: CModel) -> str:
    """`<prefix>_columns`: the fitted columns as they are."""
    U = model.upper
    body = location_lines(model, "theta", ["    double b[TERMS];"], "basis(leaf, at, b);")
    body += [f"    {combine_call(model.fitted, (0, model.fitted.outputs), 'b', 'values')}"]
    return function(
        model, f"int {model.prefix}_columns(const double theta[{U}_THETA], double values[{U}_COLUMNS])", body
    )


def counters(lines: list[str]) -> list[str]:
    """The declaration of those of i, j, k, a that the lines count with."""
    used = [name for name in "ijka" if any(re.search(rf"\b{name} = ", line) for line in lines)]
    return [f"    int {', '.join(used)};"] if used else []


def coefficient_functions(model: CModel) -> str:
    """`assemble`, what forces are made of, and `<prefix>_coefficients`: every member of the structure."""
    slopes, P = needs_slopes(model), model.prefix
    arrays = [f"    double b[TERMS]{', db[AXES][TERMS]' if slopes else ''};"]
    at, db = "eta" if model.bent else "at", "db" if slopes else "0"
    body = [f"    assemble(leaf, {at}, b, {db}, 1, model, 0{no_mass(model)});"]
    for name, shape, _ in model.members():
        item = model.coefficients.get(name)
        if item is None or name not in ("outputs", "output_modes"):
            continue
        start = f"&model->{name}[0][0]" if len(shape) > 1 else f"model->{name}"
        if item.columns is not None:
            body += [f"    {combine_call(model.fitted, item.columns, 'b', start)}"]
        else:
            body += [f"    for (i = 0; i < {item.width}; ++i) ({start})[i] = {item.source}[i];"]
    tabulate = "basis_slopes(leaf, at, b, db);" if slopes else "basis(leaf, at, b);"
    row = any("row" in line for line in body)
    place = location_lines(model, "eta" if model.bent else "theta", arrays + counters(body), tabulate)
    place = [line for line in place if row or not re.search(r"\brow\b", line)]
    signature = f"int {P}_coefficients(const double {coefficient_argument(model)}, {P}_model *model)"
    return _assemble(model) + function(model, signature, place + body)


def _assemble(model: CModel) -> str:
    """`assemble`: coefficients from products b and their derivatives db; derivatives of coefficients from those of
    both, with known = 0: what is constant has none."""
    known, P = model.coefficients, model.prefix
    body = mass_lines(model, known["M"].source, deformed_mass(model) if model.bent else _christoffel(model))
    body += [f"    symmetric({known[name].source}, model->{name});" for name in ("damping", "K") if name in known]
    if "potential" in known:
        body += [f"    model->potential = *({known['potential'].source});"]
    body += _force(model)
    for name, shape, _ in model.members():
        if name in ("input_map", "friction_map"):
            rows, width = shape
            body += [f"    for (i = 0; i < {rows}; ++i)", f"        for (j = 0; j < {width}; ++j)"]
            body += [f"            model->{name}[i][j] = ({known[name].source})[i * {width} + j];"]
    body = [re.sub(r"\bconstant_\w+", r"(known ? \g<0> : nothing)", line) for line in body]
    declared = ["    double dM[AXES][SIZE][SIZE];"] if model.mass_gives_christoffel else []
    declared += mass_declarations(model)
    if model.force_columns:
        body = [f"    {combine_call(model.fitted, (0, model.force_columns), 'b', 'values')}", *body]
        declared += [f"    double values[{model.force_columns}];"]
    declared += counters(body)
    if any("row" in line for line in body):
        declared += ["    const double *const row = coefficients + ROW(leaf) * COLUMNS;"]
    text = "\n".join(body)
    given = {"leaf": "int leaf", "eta": "const double *eta", "b": "const double *b", "db": "double (*db)[TERMS]"}
    given |= {"known": "int known", "model": f"{P}_model *model", "more": "changes *more"}
    given |= {"mass": "exact (*mass)[SIZE]"} if model.exact else {}
    unused = [f"    (void){name};" for name in given if not re.search(rf"\b{name}\b", text + "".join(declared))]
    head = f"\nstatic void assemble({', '.join(given.values())})\n{{\n"
    return head + "\n".join([*declared, *unused, *body, "}", ""])


def zero_constants(model: CModel) -> str:
    """Zeros in the place of constants, where derivatives are asked for."""
    widths = [item.width for item in model.coefficients.values() if item.columns is None]
    return f"static const double nothing[{max(widths)}] = {{0.0}};\n" if widths else ""


def coefficient_argument(model: CModel) -> str:
    """θ, or η where M is that at θ and δ."""
    return f"eta[{model.upper}_COORDINATES]" if model.bent else f"theta[{model.upper}_THETA]"


def function(model: CModel, signature: str, body: list[str]) -> str:
    """A function that ends by saying where the point was."""
    return "\n".join(["", signature, "{", *body, "    return flag;", "}", ""])


def _christoffel(model: CModel) -> list[str]:
    """Γ from its own columns; that of θ alone from the mass, whatever the columns say, if the layout wants it so."""
    mass, fitted = model.coefficients["M"], model.coefficients.get("christoffel")
    lines = []
    if fitted is not None:
        lines += ["    for (i = 0; i < SIZE; ++i)"]
        lines += [f"        symmetric({fitted.source} + i * {mass.width}, model->christoffel[i]);"]
    elif model.mass_gives_christoffel and model.elastic:
        lines += _cube("SIZE", "0.0")
    if model.mass_gives_christoffel:
        assert mass.columns is not None
        lines += ["    for (i = 0; i < AXES; ++i) {", f"        double packed[{mass.width}];"]
        lines += [f"        {combine_call(model.fitted, mass.columns, 'db[i]', 'packed')}"]
        lines += ["        symmetric(packed, dM[i]);", "    }"]
        lines += _cube("AXES", "0.5 * (dM[k][i][j] + dM[j][i][k] - dM[i][j][k])")
    elif fitted is not None and model.layout.christoffel == "from-mass":
        lines += _cube("AXES", "0.0")  # of a constant mass
    return lines


def _cube(size: str, value: str) -> list[str]:
    loops = [f"{'    ' * (n + 1)}for ({i} = 0; {i} < {size}; ++{i})" for n, i in enumerate("ijk")]
    return [*loops, f"                model->christoffel[i][j][k] = {value};"]


def _force(model: CModel) -> list[str]:
    """p at δ = 0 from its own columns; p_θ from the potential, whatever they say, if the layout wants it so."""
    force, elastic, lines = model.coefficients.get("force"), model.elastic, []
    if force is not None:
        lines += [f"    for (i = 0; i < SIZE; ++i) model->force[i] = ({force.source})[i];"]
    elif model.has_force and elastic:
        lines += ["    for (i = 0; i < SIZE; ++i) model->force[i] = 0.0;"]
    if model.potential_gives_force:
        potential = model.coefficients["potential"].columns
        assert potential is not None
        lines += ["    for (i = 0; i < AXES; ++i) {", "        double slope[1];"]
        lines += [f"        {combine_call(model.fitted, potential, 'db[i]', 'slope')}"]
        lines += ["        model->force[i] = -slope[0];", "    }"]
    elif force is not None and model.layout.force == "from-potential":
        lines += ["    for (i = 0; i < AXES; ++i) model->force[i] = 0.0;"]
    if model.elastic_force_columns is not None:
        lines += ["    for (i = 0; i < AXES; ++i) {", f"        double slope[{elastic}];"]
        lines += [f"        {combine_call(model.fitted, model.elastic_force_columns, 'db[i]', 'slope')}"]
        lines += [f"        for (j = 0; j < {elastic}; ++j) model->force_gradient[j][i] = slope[j];", "    }"]
    if model.stiffness_columns is not None:
        first, stop = model.stiffness_columns
        lines += ["    for (i = 0; i < AXES; ++i) {", f"        double packed[{stop - first}];"]
        lines += [f"        {combine_call(model.fitted, (first, stop), 'db[i]', 'packed')}"]
        lines += ["        symmetric(packed, model->stiffness_gradient[i]);", "    }"]
    return lines


def resistance(model: CModel) -> str:
    """Everything of the equations but inertia and inputs: Γ[η̇, η̇] + D η̇ + K η - p, and dry friction behind it."""
    names, x = {name for name, _, _ in model.members()}, model.state
    lines = ["    for (i = 0; i < SIZE; ++i) {"]
    lines += [f"        double force = {'-m->force[i]' if 'force' in names else '0.0'};"]
    if {"christoffel", "damping", "K"} & names:
        lines += ["        for (j = 0; j < SIZE; ++j) {"]
        if "christoffel" in names:
            lines += ["            double along = 0.0;"]
            lines += ["            for (k = 0; k < SIZE; ++k) along += m->christoffel[i][j][k] * rates[k];"]
            lines += ["            force += along * rates[j];"]
        lines += ["            force += p->damping * m->damping[i][j] * rates[j];"] if "damping" in names else []
        lines += [f"            force += m->K[i][j] * {x}[j];"] if "K" in names else []
        lines += ["        }"]
    if "force_gradient" in names:
        lines += ["        if (i < AXES)"]
        lines += [f"            for (j = AXES; j < SIZE; ++j) force -= m->force_gradient[j - AXES][i] * {x}[j];"]
    if "stiffness_gradient" in names:
        lines += ["        if (i < AXES)", "            for (j = AXES; j < SIZE; ++j)"]
        lines += ["                for (k = AXES; k < SIZE; ++k)"]
        lines += [f"                    force += 0.5 * {x}[j] * m->stiffness_gradient[i][j][k] * {x}[k];"]
    lines += ["        sum[i] = force;", "    }"]
    lines += inertia_rates.PARTS["bending"].splitlines() if model.bent else []
    given = {"p": f"const {model.prefix}_parameters *p", "m": f"const {model.prefix}_model *m"}
    given |= {x: f"const double {x}[SIZE]", "rates": "const double rates[SIZE]", "sum": f"{model.real} sum[SIZE]"}
    lines = [in_real(line, model) for line in lines]
    text = "\n".join(lines)
    unused = [f"    (void){name};" for name in given if not re.search(rf"\b{name}\b", text)]
    head = [
        "",
        "/* Forces that are linear in the coefficients. */",
        f"static void smooth({', '.join(given.values())})",
        "{",
    ]
    made = "\n".join([*head, *counters(lines), *unused, *lines, "}", ""])
    friction = PARTS["friction_forces"] if "friction_map" in names else ""
    return made + filled(PARTS["resistance"], {
        "prefix": model.prefix, "state": x, "friction": friction, "count": "    int i, j;\n" if friction else "",
        "real": model.real,
    })  # fmt: skip


def dynamics(model: CModel) -> str:
    """`<prefix>_inverse` and `<prefix>_forward`."""
    n, x, slopes = f"{model.upper}_COORDINATES", model.state, needs_slopes(model)
    return filled(PARTS["dynamics"], input_words(model) | {
        "prefix": model.prefix, "UPPER": model.upper, "n": n, "state": x, "db": ", db[AXES][TERMS]" if slopes else "",
        "tabulate": product_functions(model, slopes=slopes),
        "bent": "eta" if model.bent else "at", "slopes": "db" if slopes else "0",
        "given": f"const double {x}[{n}], const double rates[{n}], ",
    } | mass_words(model))  # fmt: skip


def in_real(line: str, model: CModel) -> str:
    """A line of sums in the type that forces are summed in."""
    if not model.exact:
        return line
    line = re.sub(r"\bdouble\b", "exact", line)
    return re.sub(r"((?:[-+]=|exact \w+ =)) (?!\d)", r"\1 (exact)", line)


def input_words(model: CModel) -> Words:
    """What templates ask for where there may be no inputs."""
    if "input_map" not in model.coefficients:
        return {"inputs": "", "pass": "", "feed": "", "j": ""}
    return {
        "inputs": f"const double inputs[{model.upper}_INPUTS], ", "pass": "inputs, ", "j": ", j",
        "feed": in_real("        for (j = 0; j < INPUTS; ++j) rest[i] += m.input_map[i][j] * inputs[j];\n", model),
    }  # fmt: skip
