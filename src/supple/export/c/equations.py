"""C code of the equations: coefficients at a point, inverse and forward dynamics, outputs."""

from __future__ import annotations

import re

from supple.export.c.deformation import BENDING, bent
from supple.export.c.literals import number
from supple.export.c.model import CModel
from supple.export.c.polynomial import combine_call

SYMMETRIC = """
static void symmetric(const double *packed, double full[SIZE][SIZE])
{
    int i, j;
    for (i = 0; i < SIZE; ++i)
        for (j = i; j < SIZE; ++j) {
            full[i][j] = *packed;
            full[j][i] = *packed++;
        }
}
"""

SOLVE = """
/* M x = x by Cholesky's factors; 0, or 1 if M is not positive definite. */
static int solve(double M[SIZE][SIZE], double x[SIZE])
{
    int i, j, k;
    for (j = 0; j < SIZE; ++j) {
        double pivot = M[j][j];
        for (k = 0; k < j; ++k) pivot -= M[j][k] * M[j][k];
        if (!(pivot > 0.0)) return 1;
        M[j][j] = sqrt(pivot);
        for (i = j + 1; i < SIZE; ++i) {
            double sum = M[i][j];
            for (k = 0; k < j; ++k) sum -= M[i][k] * M[j][k];
            M[i][j] = sum / M[j][j];
        }
    }
    for (i = 0; i < SIZE; ++i) {
        for (k = 0; k < i; ++k) x[i] -= M[i][k] * x[k];
        x[i] /= M[i][i];
    }
    for (i = SIZE - 1; i >= 0; --i) {
        for (k = i + 1; k < SIZE; ++k) x[i] -= M[k][i] * x[k];
        x[i] /= M[i][i];
    }
    return 0;
}
"""

DIRECTION = """
/* The direction of dry friction: the sign of the rate, rounded off below the slip rate. */
static double direction(double rate)
{
    return @UPPER@_SLIP_RATE > 0.0 ? tanh(rate / @UPPER@_SLIP_RATE) : (double)((rate > 0.0) - (rate < 0.0));
}
"""


def needs_slopes(model: CModel) -> bool:
    """Whether the coefficients of the equations need gradients of fitted columns."""
    elastic = model.elastic_force_columns is not None or model.stiffness_columns is not None
    return bool(model.inertia_columns) or model.potential_gives_force or elastic


def located(model: CModel, theta: str, declarations: list[str], tabulate: str) -> list[str]:
    """First lines of a function: find the box, tabulate the basis; `row` points at the coefficients."""
    return [
        f"    const int leaf = locate({theta});",
        *declarations,
        "    const double *row;",
        f"    if (leaf == NOWHERE) return {model.upper}_OUTSIDE;",
        "    row = coefficients + ROW(leaf) * COLUMNS;",
        f"    {tabulate}",
    ]


def columns(model: CModel) -> str:
    """`<prefix>_columns`: the fitted columns as they are."""
    U = model.upper
    body = located(model, "theta", ["    double b[TERMS];"], "basis(leaf, theta, b);")
    body += [f"    {combine_call(model.fitted, (0, model.fitted.outputs), 'b', 'values')}"]
    return function(
        model, f"int {model.prefix}_columns(const double theta[{U}_THETA], double values[{U}_COLUMNS])", body
    )


def counters(lines: list[str]) -> list[str]:
    """The declaration of those of i, j, k that the lines count with."""
    used = [name for name in "ijk" if any(re.search(rf"\b{name} = ", line) for line in lines)]
    return [f"    int {', '.join(used)};"] if used else []


def coefficients(model: CModel) -> str:
    """`<prefix>_coefficients`: every member of the structure."""
    known, slopes, P = model.coefficients, needs_slopes(model), model.prefix
    body = [f"    {combine_call(model.fitted, (0, model.fitted.outputs), 'b', 'values')}"]
    body += [f"    symmetric({known['M'].source}, model->M);"]
    body += bent(model) if model.bent else _christoffel(model)
    body += [f"    symmetric({known[name].source}, model->{name});" for name in ("damping", "K") if name in known]
    if "potential" in known:
        body += [f"    model->potential = *({known['potential'].source});"]
    body += _force(model)
    for name, shape, _ in model.members():
        if name == "outputs":
            body += [f"    for (i = 0; i < OUTPUTS; ++i) model->outputs[i] = ({known[name].source})[i];"]
        elif name in ("input_map", "output_modes", "friction_map"):
            rows, width = shape
            body += [f"    for (i = 0; i < {rows}; ++i)", f"        for (j = 0; j < {width}; ++j)"]
            body += [f"            model->{name}[i][j] = ({known[name].source})[i * {width} + j];"]
    arrays = ["    double values[COLUMNS], b[TERMS];"]
    arrays += ["    double db[AXES][TERMS];"] if slopes else []
    arrays += ["    double dM[AXES][SIZE][SIZE];"] if model.mass_gives_christoffel else []
    at = "eta" if model.bent else "theta"
    tabulate = f"basis_slopes(leaf, {at}, b, db);" if slopes else f"basis(leaf, {at}, b);"
    signature = f"int {P}_coefficients(const double {coefficient_argument(model)}, {P}_model *model)"
    lines = located(model, at, arrays + counters(body), tabulate)
    return function(model, signature, lines + body)


def coefficient_argument(model: CModel) -> str:
    """θ, or η where M is that at θ and δ."""
    return f"eta[{model.upper}_COORDINATES]" if model.bent else f"theta[{model.upper}_THETA]"


def function(model: CModel, signature: str, body: list[str]) -> str:
    """A function that ends by saying that the point was inside."""
    return "\n".join(["", signature, "{", *body, f"    return {model.upper}_INSIDE;", "}", ""])


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
    """Everything of the equations but inertia and inputs: Γ[η̇, η̇] + D η̇ + K η + friction - p."""
    names, x = {name for name, _, _ in model.members()}, model.state
    lines = ["    for (i = 0; i < SIZE; ++i) {"]
    lines += [f"        double force = {'-m->force[i]' if 'force' in names else '0.0'};"]
    if {"christoffel", "damping", "K"} & names:
        lines += ["        for (j = 0; j < SIZE; ++j) {"]
        if "christoffel" in names:
            lines += ["            double along = 0.0;"]
            lines += ["            for (k = 0; k < SIZE; ++k) along += m->christoffel[i][j][k] * rates[k];"]
            lines += ["            force += along * rates[j];"]
        lines += ["            force += m->damping[i][j] * rates[j];"] if "damping" in names else []
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
    lines += BENDING.split("\n") if model.bent else []
    if "friction_map" in names:
        forces = ", ".join(number(value) for value in model.layout.dry_forces.values())
        lines += ["    for (j = 0; j < FRICTION; ++j) {"]
        lines += [f"        static const double dry_forces[FRICTION] = {{{forces}}};"]
        lines += ["        double rate = 0.0;"]
        lines += ["        for (i = 0; i < SIZE; ++i) rate += m->friction_map[j][i] * rates[i];"]
        lines += ["        rate = dry_forces[j] * direction(rate);"]
        lines += ["        for (i = 0; i < SIZE; ++i) sum[i] += m->friction_map[j][i] * rate;", "    }"]
    given = f"const double {x}[SIZE], const double rates[SIZE]"
    head = ["", f"static void resistance(const {model.prefix}_model *m, {given}, double sum[SIZE])", "{"]
    head += counters(lines)
    unused = [f"    (void){name};" for name in (x, "rates") if not any(f"{name}[" in line for line in lines)]
    return "\n".join([*head, *lines, *unused, "}", ""])


def dynamics(model: CModel) -> str:
    """`<prefix>_inverse` and `<prefix>_forward`."""
    names = {name for name, _, _ in model.members()}
    n, x, P, U = model.upper + "_COORDINATES", model.state, model.prefix, model.upper
    given = f"const double {x}[{n}], const double rates[{n}], "
    inputs = f"const double inputs[{U}_INPUTS], " if "input_map" in names else ""
    feed = (
        "        for (j = 0; j < INPUTS; ++j) rest[i] += m.input_map[i][j] * inputs[j];\n"
        if "input_map" in names
        else ""
    )
    counters = "int i, j, flag;" if "input_map" in names else "int i, flag;"
    return f"""
int {P}_inverse({given}const double accelerations[{n}], double forces[{n}])
{{
    {P}_model m;
    double rest[SIZE];
    int i, j;
    if ({P}_coefficients({x}, &m)) return {U}_OUTSIDE;
    resistance(&m, {x}, rates, rest);
    for (i = 0; i < SIZE; ++i) {{
        for (j = 0; j < SIZE; ++j) rest[i] += m.M[i][j] * accelerations[j];
        forces[i] = rest[i];
    }}
    return {U}_INSIDE;
}}

int {P}_forward({given}{inputs}double accelerations[{n}])
{{
    {P}_model m;
    double rest[SIZE];
    {counters}
    flag = {P}_coefficients({x}, &m);
    if (flag) return flag;
    resistance(&m, {x}, rates, rest);
    for (i = 0; i < SIZE; ++i) {{
        rest[i] = -rest[i];
{feed}    }}
    if (solve(m.M, rest)) return {U}_INDEFINITE;
    for (i = 0; i < SIZE; ++i) accelerations[i] = rest[i];
    return {U}_INSIDE;
}}
"""
