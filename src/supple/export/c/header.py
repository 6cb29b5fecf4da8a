"""The header of a reduced model: what each function takes and gives, in which order and units, and how exact it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from supple.equations.dry_friction import FRICTION_SPEED
from supple.export.c.equations import coefficient_argument
from supple.export.c.literals import number
from supple.export.c.model import CModel
from supple.export.c.names import comment, identifiers
from supple.export.c.polynomial import operations
from supple.export.c.source import table_bytes


def header(model: CModel) -> str:
    """The text of `<prefix>.h`."""
    P, U = model.prefix, model.upper
    return "\n".join(
        [
            *_introduction(model),
            f"#ifndef {U}_H",
            f"#define {U}_H",
            "",
            "#ifdef __cplusplus",
            'extern "C" {',
            "#endif",
            "",
            *_sizes(model),
            *_slip_rate(model),
            *_outside(model),
            *_indices(model),
            "/* Coefficients of the equations at a point. */",
            "typedef struct {",
            *(
                f"    double {name}{''.join(f'[{size}]' for size in shape)}; /* {meaning} */"
                for name, shape, meaning in model.members()
            ),
            f"}} {P}_model;",
            "",
            *_parameters(model),
            *_functions(model),
            "#ifdef __cplusplus",
            "}",
            "#endif",
            "",
            f"#endif /* {U}_H */",
            "",
        ]
    )


def _introduction(model: CModel) -> list[str]:
    layout, fitted, x = model.layout, model.fitted, model.state
    names = {name for name, _, _ in model.members()}
    terms = [f"M({x if model.bent else 'theta'}) {x}''"]
    terms += [f"Gamma(theta)[{x}', {x}']"] if "christoffel" in names else []
    terms += [f"Gamma({x})[{x}', {x}']"] if model.bent else []
    terms += [f"D(theta) {x}'"] if "damping" in names else []
    terms += [f"K(theta) {x}"] if "K" in names else []
    terms += [f"J(theta)' f sgn(J(theta) {x}')"] if "friction_map" in names else []
    right = [item for item, name in (("p(theta)", "force"), ("B(theta) u", "input_map")) if name in names]
    lines = [f"{comment(model.rom.name)}: a reduced model", ""]
    lines += [f"    {' + '.join(terms)} = {' + '.join(right) or '0'}", ""]
    lines += ["Units are SI: m, rad, s, kg, N, N m. Coordinates in this order, the region from and to:"]
    lower, upper = fitted.arrays.roots_f[:, 0].min(axis=0), fitted.arrays.roots_f[:, 1].max(axis=0)
    for i, name in enumerate(layout.coordinates):
        where = f"  {number(lower[i])} ... {number(upper[i])}" if i < layout.theta else "  elastic"
        lines += [f"    {i}  {comment(name)}{where}"]
    for title, items in (("Inputs u", layout.inputs), ("Outputs y", layout.outputs)):
        lines += [
            f"{title}: {'' if items else 'none'}".rstrip(),
            *(f"    {i}  {comment(n)}" for i, n in enumerate(items)),
        ]
    if layout.dry_forces:
        lines += ["Dry friction, by joint:"]
        lines += [f"    {comment(name)}: {number(value)}" for name, value in layout.dry_forces.items()]
        lines += [f"    Its direction is tanh(rate / {model.upper}_SLIP_RATE), or the sign if that is defined as 0."]
    lines += ["", *_errors(model)]
    lines += [f"Boxes: {len(fitted.arrays.leaves_i)}. Tables: {table_bytes(model)} bytes of constants. One evaluation"]
    lines += [f"of all {fitted.outputs} columns: about {operations(fitted)} multiplications and additions."]
    lines += ["", "Compile (FMA and vector instructions of the target make it faster):"]
    lines += [f"    cc -std=c99 -O3 -c {model.prefix}.c"]
    lines += [f"    cc -std=c99 -O3 example_main.c {model.prefix}.c -lm -o example"]
    return ["/*", *(f" * {line}".rstrip() for line in lines), " */", ""]


def _errors(model: CModel) -> list[str]:
    error = model.rom.error
    if not isinstance(error, Mapping) or not error:
        return ["Error of the fit: not stated."]
    lines = ["Error of the fit, by family: the largest over the check points of |f - fit| / max(|f|, median |f|)"]
    for name, value in error.items():
        lines += [f"    {comment(name)}: {_worst(value):.3g}"]
    return lines


def _worst(value: Any) -> float:
    """The number of a family: given as such, or with where it was found."""
    return float(getattr(value, "worst", value))


def _sizes(model: CModel) -> list[str]:
    n, s, u, y, _ = model.sizes
    rows = [("THETA", s, "independent coordinates theta")]
    rows += [("COORDINATES", n, "all coordinates eta = (theta, delta)" if n > s else "all coordinates: theta")]
    rows += [("STATES", 2 * n, "states x: coordinates, then their rates")]
    rows += [
        ("INPUTS", u, "inputs u"),
        ("OUTPUTS", len(model.layout.outputs), "outputs y"),
        *([] if model.layout.observation is None else [("MEASURES", y, "measures that outputs are made of")]),
        ("COLUMNS", model.fitted.outputs, "fitted columns"),
    ]
    return [*(f"#define {model.upper}_{name} {value} /* {what} */" for name, value, what in rows), ""]


def _slip_rate(model: CModel) -> list[str]:
    if not model.layout.dry_forces:
        return []
    name = f"{model.upper}_SLIP_RATE"
    return [
        "/* Rate below which dry friction is rounded off, m/s or rad/s; 0 for the plain sign. */",
        f"#ifndef {name}",
        f"#define {name} {number(FRICTION_SPEED)}",
        "#endif",
        "",
    ]


def _outside(model: CModel) -> list[str]:
    U = model.upper
    return [
        "/* Outside its region a model has no coefficients: functions say so and leave results as they were. With 1 they",
        " * take those at the nearest point of the region instead, and say that. */",
        f"#ifndef {U}_CLAMP",
        f"#define {U}_CLAMP 0",
        "#endif",
        "",
        "/* What every function returns. Results are there with INSIDE and CLAMPED only; UNDEFINED: a step that gave no",
        " * finite numbers. */",
        f"enum {{ {U}_INSIDE = 0, {U}_OUTSIDE = 1, {U}_INDEFINITE = 2, {U}_CLAMPED = 3, {U}_UNDEFINED = 4 }};",
        "",
    ]


def _parameters(model: CModel) -> list[str]:
    friction = len(model.layout.dry_forces)
    lines = ["/* What may be changed while it runs; defaults are the model's own. */", "typedef struct {"]
    lines += ["    double damping; /* factor on viscous damping */"]
    if friction:
        lines += [f"    double friction[{friction}]; /* dry friction, N or N m, in the order above */"]
        lines += ["    double slip_rate; /* below which it is rounded off, m/s or rad/s */"]
    return [*lines, f"}} {model.prefix}_parameters;", ""]


def _indices(model: CModel) -> list[str]:
    lines = []
    groups = (
        ("COORDINATE", model.layout.coordinates),
        ("INPUT", model.layout.inputs),
        ("OUTPUT", model.layout.outputs),
    )
    for kind, names in groups:
        if names:
            # Numbered within its group: a name can never meet one of another group or a size above.
            made = [f"{model.upper}_{kind}_{item} = {i}" for i, item in enumerate(identifiers(names))]
            lines += [f"/* Where each {kind.lower()} stands. */", "enum {", "    " + ",\n    ".join(made), "};", ""]
    return lines


def _functions(model: CModel) -> list[str]:
    P, U, x = model.prefix, model.upper, model.state
    names = {name for name, _, _ in model.members()}
    n = f"{U}_COORDINATES"
    state = f"const double {x}[{n}], const double rates[{n}]"
    lines = [
        "/*",
        f" * All functions return {U}_INSIDE, or {U}_OUTSIDE where theta lies outside the region (also if it is not",
        " * a number): the results are then left as they were. All may be called from several threads at once.",
        " */",
        "",
        "/* All coefficients; M and its gradient at theta and delta. */"
        if model.bent
        else "/* All coefficients at theta. */",
        f"int {P}_coefficients(const double {coefficient_argument(model)}, {P}_model *model);",
        "",
        "/* The fitted columns as they are, symmetric matrices by their upper triangles, row by row: the fastest. */",
        f"int {P}_columns(const double theta[{U}_THETA], double values[{U}_COLUMNS]);",
        "",
        "/* Generalized forces that a motion needs from the inputs, B u = forces: N along m, N m along rad. */",
        f"int {P}_inverse({state},",
        f"    const double accelerations[{n}], double forces[{n}]);",
        "",
        f"/* Accelerations under given inputs; {U}_INDEFINITE where M is not positive definite. */",
    ]
    inputs = f"\n    const double inputs[{U}_INPUTS]," if "input_map" in names else ""
    lines += [f"int {P}_forward({state},{inputs} double accelerations[{n}]);", ""]
    if model.layout.observation is not None:
        given = f", const double inputs[{U}_INPUTS]" if model.layout.inputs else ""
        lines += ["/* Outputs of a motion under given inputs: with rates, accelerations and forces inside. */"]
        lines += [
            f"int {P}_observe({state},",
            f"    const double accelerations[{n}]{given}, double outputs[{U}_OUTPUTS]);",
            "",
        ]
    elif "outputs" in names:
        lines += [
            "/* Outputs, and their rates of change (at delta = 0). */"
            if model.elastic
            else "/* Outputs and their rates of change. */"
        ]
        lines += [f"int {P}_outputs(const double {x}[{n}], double outputs[{U}_OUTPUTS]);"]
        lines += [f"int {P}_output_rates({state},", f"    double output_rates[{U}_OUTPUTS]);", ""]
    return lines + _state_functions(model, "input_map" in names)


def _state_functions(model: CModel, inputs: bool) -> list[str]:
    """What takes the state as one."""
    P, U = model.prefix, model.upper
    u, B = (f"const double inputs[{U}_INPUTS], ", f", double B[{U}_STATES][{U}_INPUTS]") if inputs else ("", "")
    given = f"const {P}_parameters *parameters, const double state[{U}_STATES],\n    {u}"
    step = f"const {P}_parameters *parameters, double state[{U}_STATES],\n    {u}double step);"
    lines = ["/* parameters: null for the model's own. */", f"void {P}_defaults({P}_parameters *parameters);", ""]
    lines += ["/* dx/dt = f(x, u), and its Jacobians A = df/dx and B = df/du. */" if inputs else "/* dx/dt = f(x), and A = df/dx. */"]
    lines += [f"int {P}_derivative({given}double rate[{U}_STATES]);"]
    lines += [f"int {P}_jacobian({given}double rate[{U}_STATES], double A[{U}_STATES][{U}_STATES]{B});", ""]
    if model.layout.outputs:
        D = f", double D[{U}_OUTPUTS][{U}_INPUTS]" if inputs else ""
        lines += ["/* All outputs y = g(x, u) at a state, and C = dg/dx, D = dg/du. */"]
        lines += [f"int {P}_measure({given}double outputs[{U}_OUTPUTS]);"]
        lines += [f"int {P}_output_jacobian({given}double outputs[{U}_OUTPUTS],"]
        lines += [f"    double C[{U}_OUTPUTS][{U}_STATES]{D});", ""]
    lines += ["/* One step with inputs held: Runge-Kutta's of order 4; and Rosenbrock's of order 3, L-stable, for stiff models."]
    lines += [" * The state is left as it was unless the step was done. Both take the same operations at every step. */"]
    return [*lines, f"int {P}_step_explicit({step}", f"int {P}_step_implicit({step}", ""]
