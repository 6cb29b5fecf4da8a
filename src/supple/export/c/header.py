"""C header of a reduced model: interfaces of all functions with units, and accuracy, size and cost of the model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from supple.equations.forces import FRICTION_SPEED
from supple.export.c import setting
from supple.export.c.division import can_divide
from supple.export.c.equations import coefficient_argument
from supple.export.c.evaluation import fits, operations
from supple.export.c.exact_parts import mass_columns
from supple.export.c.family_numbers import CFamily
from supple.export.c.forces import forces_function
from supple.export.c.generated_model import CModel
from supple.export.c.horner import LANES
from supple.export.c.model_source import table_bytes
from supple.export.c.setting import family_rest
from supple.export.c.source_text import BYTES, c_number, comment, identifiers, string
from supple.export.c.stability import StableStep
from supple.export.target import fixed_lines
from supple.export.template import Words, fill_template, template_parts

PARTS = template_parts("supple.export.c", "header.h")


def header(model: CModel, stable: StableStep) -> str:
    """Return the text of `<prefix>.h`; stable : limit of explicit steps."""
    U, family, layout = model.upper, model.family, model.layout
    names = {name for name, _, _ in model.members()}
    inputs, observed = "input_map" in names, layout.observation is not None
    words: Words = {
        "introduction": _introduction(model, stable), "UPPER": U,
        "prefix": model.prefix, "x": model.state, "n": f"{U}_COORDINATES", "bent": model.bent, "inputs": inputs,
        "sizes": sizes(model), "sections": fill_template(PARTS["sections"], {"UPPER": U}), "indices": _indices(model),
        "structure": structure(model), "parameters": parameters(model), "observed": observed,
        "argument": coefficient_argument(model),
        "given_inputs": f", const double inputs[{U}_INPUTS]" if layout.inputs else "", "elastic": model.elastic > 0,
        "outputs": "outputs" in names and not observed, "family": family is not None,
        "u": f"const double inputs[{U}_INPUTS], " if inputs else "", "divided": can_divide(model),
        "B": f", double B[{U}_STATES][{U}_INPUTS]" if inputs else "", "measured": bool(layout.outputs),
        "instant": model.instant,
        "D": f", double D[{U}_OUTPUTS][{U}_INPUTS]" if inputs else "",
    }  # fmt: skip
    text = fill_template(PARTS["whole"], words)
    return text if family is None else setting.add_declared_parameter(text, model)


def _introduction(model: CModel, stable: StableStep) -> str:
    layout, fitted, family = model.layout, model.fitted, model.family
    bounds = fitted.arrays.roots_f[:, :, : layout.theta]
    regions = [
        f"{c_number(lower)} ... {c_number(upper)}"
        for lower, upper in zip(bounds[:, 0].min(axis=0), bounds[:, 1].max(axis=0), strict=True)
    ]
    regions += ["elastic"] * model.elastic
    error = model.rom.error if isinstance(model.rom.error, Mapping) else {}
    words: Words = {
        "name": comment(model.rom.name), "precision": model.precision, "equation": _equation(model),
        "UPPER": model.upper, "prefix": model.prefix, "fixed": comment_lines(fixed_lines(model.rom), ""),
        "coordinates": comment_lines(
            f"{i}  {comment(name)}  {region}"
            for i, (name, region) in enumerate(zip(layout.coordinates, regions, strict=True))
        ),
        "inputs": comment_lines(f"{i}  {comment(name)}" for i, name in enumerate(layout.inputs)),
        "outputs": comment_lines(f"{i}  {comment(name)}" for i, name in enumerate(layout.outputs)),
        "friction": comment_lines(f"{comment(name)}: {c_number(value)}" for name, value in layout.dry_forces.items()),
        "parameters": "" if family is None else comment_lines(setting.parameter_lines(family)),
        "errors": comment_lines(f"{comment(name)}: {_worst(value):.3g}" for name, value in error.items()),
        "boxes": len(fitted.arrays.leaves_i), "bytes": table_bytes(model),
        "operations": comment_lines(f"{name}: {count}" for name, count in worst_operations(model).items()),
        "points": stable.points, "bounded": bool(np.isfinite(stable.step)), "step": f"{stable.step:.3g}",
        "fastest": f"{stable.fastest:.3g}",
    }  # fmt: skip
    if family is not None:
        words["structure_bytes"] = setting.structure_bytes(model, family, BYTES[model.precision])
    return fill_template(PARTS["introduction"], words)


def comment_lines(lines: Iterable[str], indent: str = "    ") -> str:
    """Return lines for the inside of a comment."""
    return "\n".join(f" * {indent}{line}".rstrip() for line in lines)


def _equation(model: CModel) -> str:
    x, names = model.state, {name for name, _, _ in model.members()}
    terms = [f"M({x if model.bent else 'theta'}) {x}''"]
    terms += [f"Gamma(theta)[{x}', {x}']"] if "christoffel" in names else []
    terms += [f"Gamma({x})[{x}', {x}']"] if model.bent else []
    terms += [f"D(theta) {x}'"] if "damping" in names else []
    terms += [f"K(theta) {x}"] if "K" in names else []
    terms += [f"J(theta)' f sgn(J(theta) {x}')"] if "friction_map" in names else []
    right = [item for item, name in (("p(theta)", "force"), ("B(theta) u", "input_map")) if name in names]
    return f"{' + '.join(terms)} = {' + '.join(right) or '0'}"


def _worst(value: Any) -> float:
    """Return the error of a coefficient, which is stored as a number or together with its location."""
    return float(getattr(value, "worst", value))


def sizes(model: CModel) -> str:
    """Return the macros of all sizes, and of the slip rate of dry friction."""
    n, s, u, measures, friction = model.sizes
    return fill_template(PARTS["sizes"], {
        "UPPER": model.upper, "theta": s, "coordinates": n, "states": 2 * n, "inputs": u, "elastic": model.elastic,
        "outputs": len(model.layout.outputs), "measures": measures, "observed": model.layout.observation is not None,
        "columns": model.fitted.outputs, "friction": friction, "slip_rate": c_number(FRICTION_SPEED),
        "parameters": 0 if model.family is None else len(model.family.family.parameters),
    })  # fmt: skip


def structure(model: CModel) -> str:
    """Return the C structure of all coefficients."""
    members = (
        f"    double {name}{''.join(f'[{size}]' for size in shape)}; /* {meaning} */"
        for name, shape, meaning in model.members()
    )
    return fill_template(PARTS["structure"], {"members": "\n".join(members), "prefix": model.prefix})


def parameters(model: CModel) -> str:
    """Return the C structure of what can be changed at run time; for a family it includes the slice at μ."""
    family, friction = model.family, len(model.layout.dry_forces)
    words: Words = {"UPPER": model.upper, "prefix": model.prefix, "friction": friction, "family": family is not None}
    if family is not None:
        rows, boxes = family.largest
        words |= {"leaves": len(family.counts), "coefficients": rows * len(model.stored) + LANES - 1}
        words |= {"exact": model.exact, "boxes": boxes, "pairs": len(mass_columns(model))}
    return fill_template(PARTS["parameters"], words)


def _indices(model: CModel) -> str:
    layout, made = model.layout, ""
    for kind, names in (("coordinate", layout.coordinates), ("input", layout.inputs), ("output", layout.outputs)):
        if names:
            # Names are numbered within their group: they cannot clash with other groups or with the sizes above.
            made += fill_template(
                PARTS["indices"], {"kind": kind, "places": number_names(f"{model.upper}_{kind.upper()}", names)}
            )
    return made if model.family is None else made + _family_macros(model, model.family)


def _family_macros(model: CModel, family: CFamily) -> str:
    """Return the macros for names, units, ranges and default values of the parameters of a family."""
    items = family.family.parameters
    return fill_template(PARTS["family"], {
        "UPPER": model.upper, "names": ", ".join(string(item.name) for item in items),
        "units": ", ".join(string(item.unit) for item in items),
        "lower": ", ".join(c_number(item.lower) for item in items),
        "upper": ", ".join(c_number(item.upper) for item in items),
        "nominal": ", ".join(map(c_number, family.family.values)),
        "places": number_names(f"{model.upper}_PARAMETER", family.family.names),
    })  # fmt: skip


def number_names(start: str, names: Iterable[str]) -> str:
    """Return the entries of a C enum that are indices of names, one per line: `START_NAME = 0`."""
    return ",\n    ".join(f"{start}_{item} = {i}" for i, item in enumerate(identifiers(names)))


# Upper bounds of the numbers of operations of exported functions: additions, multiplications, divisions.
#
# A call of sqrt, tanh or fabs counts as one; copies and loop counters do not count. A compiler may need fewer, since
# it removes operations with zeros. `tests/export/test_hardened_export.py` counts operations of the running code.


def worst_operations(model: CModel) -> dict[str, int]:
    """Return the largest number of operations of each function, in the largest box."""
    n, u, made = model.layout.size, len(model.layout.inputs), fits(model)
    place = 2 * model.layout.theta
    one, jacobian = _accelerate(model), _jacobian(model)
    found = {"columns": place + operations(model, made["all"])}
    found["inverse"] = place + operations(model, made["forces"]) + _forces(model) + 2 * n * n + 4 * n
    found["forward, derivative"] = one
    found["jacobian"] = jacobian + (2 * n + u) * (2 * n * n + n) + 4 * n
    found["step_explicit"] = 4 * one + 2 * n * 4 * 5 + 2 * n * 5
    solved = 4 * (2 * n * 12 + 4 * n * n + 2 * n * n + 5 * n)
    found["step_implicit"] = jacobian + 2 * one + n * n * 6 + n**3 + 4 * n * n + solved + 20 * n
    if model.family is not None:
        found["set_parameters"] = _set(model, model.family)
    return found


def _set(model: CModel, family: CFamily) -> int:
    """Return the operations of setting parameters: every term of every box of the largest slice, once."""
    parameters, boxes = len(family.family.parameters), family.largest[1]
    top = int(family.whole.arrays.indices[:, family.theta :].max(initial=1))
    rest = (2 * family_rest(model, family).shape[1] + 1) * len(mass_columns(model)) if model.exact else 0
    terms = max(len(shape) for shape in family.shapes[0])
    return boxes * (parameters * (2 + top) + terms * (parameters + 2 * len(model.stored)) + rest)


_OPERATION = re.compile(r" [-+*] | [-+]= |= -\(")


def _forces(model: CModel, *, change: bool = False) -> int:
    """Return the operations of `forces`, counted in its code."""
    s, total = model.layout.theta, 0
    for line in forces_function(model, change=change).splitlines():
        repeated = re.search(r"for \(o = 0; o < (\d+)", line)
        total += (
            len(_OPERATION.findall(line))
            * (int(repeated[1]) if repeated else 1)
            * (s if line.startswith("     ") else 1)
        )
    return total + (20 * len(model.layout.dry_forces) if not change else 0)


def _solve(n: int) -> int:
    return n**3 + 4 * n * n + 4 * n


def _accelerate(model: CModel) -> int:
    n, s, u, _, _ = model.sizes
    return 2 * s + operations(model, fits(model)["forces"]) + _forces(model) + 2 * n * u + 4 * n + u + _solve(n)


def _jacobian(model: CModel) -> int:
    """Return the operations of `tangent`: second derivatives of columns, and slopes of forces."""
    n, s, u, _, f = model.sizes
    d = n - s
    total = 2 * s + operations(model, fits(model)["forces_slopes"]) + _unpack(model) + _solve(n) + 2 * n * u + n
    total += _forces(model) + s * _forces(model, change=True)
    total += s * (n * (1 + 2 * n + 2 * u) + f * (4 * n + 12 + 4 * n)) + f * (2 * n + 8 + 3 * n * n)
    total += n * n * (3 * n + 4) + n * d * (2 + 3 * d)
    if model.bent:
        total += n * n * (2 * n + 1) + n * n * (4 * n + 2) + model.layout.slope_rows * n * d * (7 * s + 8) + 2 * n * n
        curvature = model.coefficients.get("mass_curvature")
        total += 25 * curvature.width if curvature is not None else 0
    return total


def _unpack(model: CModel) -> int:
    """Return the operations of `assemble`: Γ from slopes of M, and the terms in δ."""
    n, s = model.layout.size, model.layout.theta
    total = (3 * s**3 if model.mass_gives_christoffel else 0) + s
    if model.bent:
        rows = model.layout.slope_rows * n
        total += (1 + s) * rows * (2 * (n - s) + 2)
        curvature = model.coefficients.get("mass_curvature")
        total += (1 + s) * 12 * curvature.width if curvature is not None else 0
    return total
