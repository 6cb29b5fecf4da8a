"""C functions that evaluate the stored columns of a model in a box, with derivatives up to the third.

`fit_NAME_ORDER(leaf, row, at, g, dg, ddg, dddg)` evaluates the columns of some coefficients: values g, slopes dg[i],
second derivatives ddg[i][j], and third ones dddg for i ≤ j ≤ k. Arrays are indexed by stored columns; `spread` copies
them to their places in the fit, where the equations look for them.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np

from supple.export.c.columns import force_names, windows_of
from supple.export.c.generated_model import CModel
from supple.export.c.horner import LANES, Derivative, Rule, Window, derivatives, horner_rule
from supple.export.c.source_text import brace_table, c_table
from supple.export.template import Words, fill_template, template_parts

PARTS = template_parts("supple.export.c", "evaluation.c")
ARRAYS = ("dg", "ddg", "dddg")  # arrays of the derivatives of order 1, 2, 3


class Fit(NamedTuple):
    """A function that evaluates some coefficients.

    name    : of the C function
    windows : what it evaluates
    order   : highest derivative
    """

    name: str
    windows: tuple[Window, ...]
    order: int

    @property
    def arrays(self) -> str:
        """Arguments of the derivatives in a call."""
        return "".join(f", {name}" for name in ARRAYS[: self.order])


def fits(model: CModel) -> dict[str, Fit]:
    """Return all functions that a model may use, by name."""
    known = [name for name, item in model.coefficients.items() if item.columns]
    forces = force_names(model)
    seen = [name for name in ("outputs", "output_modes") if name in known]
    inner = [name for name in ("efforts", "friction_map") if name in known]
    slopes = int(any(column.order for column in model.stored))
    made = {
        "forces": Fit("fit_forces", tuple(windows_of(model, forces, 0)), slopes),
        "forces_slopes": Fit("fit_forces_slopes", tuple(windows_of(model, forces, 1)), slopes + 1),
        "all": Fit("fit_all", tuple(windows_of(model, known, 0, 0)), 0),
        "inputs": Fit("fit_inputs", tuple(windows_of(model, ["input_map"], 0, 0)), 0),
    }
    for order in range(4):
        made[f"outputs_{order}"] = Fit(f"fit_outputs_{order}", tuple(windows_of(model, seen, 0, order)), order)
    for order in range(2):
        made[f"inner_{order}"] = Fit(f"fit_inner_{order}", tuple(windows_of(model, inner, 0, order)), order)
    return made


def declared(fit: Fit, real: str, *, zero: bool = False) -> str:
    """Return the declaration of the arrays of a fit; zero : with zeros where the fit evaluates nothing."""
    shapes = ["g[WIDE]", "dg[AXES][WIDE]", "ddg[AXES][AXES][WIDE]", "dddg[TRIPLES][WIDE]"][: fit.order + 1]
    if zero:  # gcc's analyzer does not see that the windows of a fit cover its columns
        shapes = [f"{shape} = {'{' * shape.count('[')}0.0{'}' * shape.count('[')}" for shape in shapes]
    return f"{real} {', '.join(shapes)};"


def call(fit: Fit) -> str:
    """Return the call of a fit at `at` in box `leaf` with coefficients from `row` on."""
    return f"{fit.name}(leaf, row, at, g{fit.arrays});"


def evaluation_functions(model: CModel, text: str) -> str:
    """Return the C functions of the fits that a text calls, and the rules that they need."""
    used = {name: fit for name, fit in fits(model).items() if f"{fit.name}(" in text}
    chosen = list(used.values())
    rules = sorted({window[1:] for fit in chosen for window in fit.windows})
    made = "".join(_rule(model, Window(0, *rule)) for rule in rules)
    made += "".join(_fit(model, fit) for fit in chosen)
    made += fill_template(PARTS["spread"], {"real": model.real})
    if "outputs_2" in used or "outputs_3" in used:
        made += fill_template(PARTS["along"], {"real": model.real})
    if "outputs_3" in used:
        made += fill_template(PARTS["gradient_along"], {"real": model.real, "triples": brace_table(_triples(model))})
    return made


def _triples(model: CModel) -> np.ndarray:
    """Return the number of the third derivative by i, j, k."""
    s = model.layout.theta
    number = {key: n for n, key in enumerate(combinations_with_replacement(range(s), 3))}
    return np.array([number[tuple(sorted(key))] for key in np.ndindex(s, s, s)], dtype=np.int64).reshape(s, s, s)


def _name(window: Window) -> str:
    return f"{'exact_' if window.exact else ''}sum_{window.order}_{window.width}"


def _types(real: str, order: int) -> str:
    shapes = ("(*RESTRICT dg)[WIDE]", "(*RESTRICT ddg)[AXES][WIDE]", "(*RESTRICT dddg)[WIDE]")
    return "".join(f", {real} {shape}" for shape in shapes[:order])


@cache
def _rules(exponents: tuple[tuple[int, ...], ...], order: int, real: str) -> Rule:
    return horner_rule(list(exponents), order, real)


def rule_of(model: CModel, window: Window, shape: int = -1) -> Rule:
    """Return the straight-line code of a window; shape -1: the largest one."""
    exponents = tuple(model.polynomials.shapes[shape])
    return _rules(exponents, window.order, "exact" if window.exact else "double")


def _rule(model: CModel, window: Window) -> str:
    """Return the C function of a window, for all shapes of boxes."""
    shapes, real = model.polynomials.shapes, model.real
    several = len(shapes) > 1
    text = ""
    for number in range(len(shapes)):
        name = f"{_name(window)}_of_{number}" if several else _name(window)
        text += _straight_line(model, window, rule_of(model, window, number), name)
    if several:
        given = ", ".join(["c, x, h, from, g", *ARRAYS[: window.order]])
        cases = [f"    case {k}: {_name(window)}_of_{k}({given}); break;" for k in range(len(shapes) - 1)]
        cases += [f"    default: {_name(window)}_of_{len(shapes) - 1}({given}); break;"]
        text += fill_template(PARTS["shapes"], {
            "name": _name(window), "real": real, "arguments": _types(real, window.order), "cases": "\n".join(cases),
        })  # fmt: skip
    return text


def _straight_line(model: CModel, window: Window, rule: Rule, name: str) -> str:
    s, real = model.layout.theta, model.real
    own = "exact" if window.exact else "double"
    cast = "" if own == real else "(double)"
    text = "\n".join(f"        {line}" for line in rule.lines)
    scales = "".join(
        f"    const {own} x{i} = {cast}x[{i}];\n" for i in range(s) if any(f" x{i}" in line for line in rule.lines)
    )
    scaled = [i for i in range(s) if window.order]
    scales += "".join(f"    const {own} h{i} = {cast}h[{i}];\n" for i in scaled)
    stores = [store for key in derivatives(s, window.order) for store in _stores(key, rule.results.get(key, "0.0"), s)]
    words: Words = {
        "name": name, "real": real, "order": window.order, "width": window.width, "last": window.width - 1,
        "arguments": _types(real, window.order), "scales": scales, "scaled": bool(scaled),
        "lines": "\n".join([part for part in (text, *stores) if part]),
    }  # fmt: skip
    body = fill_template(PARTS["rule"], words)
    return (
        body if "x0 = " in scales or "x[" in scales else body.replace("    int o;\n", "    int o;\n    (void)x;\n", 1)
    )


def _stores(key: Derivative, value: str, s: int) -> list[str]:
    """Return the lines that store a derivative."""
    scaled = " * ".join([value if " " not in value or "c[" in value else f"({value})", *(f"h{i}" for i in key)])
    if value == "0.0":
        scaled = value
    if not key:
        places = ["g[o]"]
    elif len(key) == 1:
        places = [f"dg[{key[0]}][from + o]"]
    elif len(key) == 2:
        i, j = key
        places = [f"ddg[{i}][{j}][from + o]"] + ([f"ddg[{j}][{i}][from + o]"] if i != j else [])
    else:
        number = list(combinations_with_replacement(range(s), 3)).index((key[0], key[1], key[2]))
        places = [f"dddg[{number}][from + o]"]
    return [f"        {' = '.join(places)} = {scaled};"]


def _fit(model: CModel, fit: Fit) -> str:
    """Return the C function of a fit."""
    several = len(model.polynomials.shapes) > 1
    calls = []
    for window in fit.windows:
        given = ", ".join(["row, x, h", str(window.first), "g", *ARRAYS[: window.order]])
        calls.append(f"    {_name(window)}({'leaf_shape[leaf], ' if several else ''}{given});")
    reached = max((window.order for window in fit.windows), default=0)
    unused = " ".join(f"(void){name};" for name in ARRAYS[reached : fit.order])
    rest = model.exact and any(model.stored[k].coefficient == "M" for w in fit.windows for k in covered(model, w))
    return fill_template(PARTS["fit"], {
        "name": fit.name, "real": model.real, "cast": "" if model.real == "double" else "(exact)",
        "arguments": "".join(f", {model.real} {shape}" for shape in
                             ("dg[AXES][WIDE]", "ddg[AXES][AXES][WIDE]", "dddg[TRIPLES][WIDE]")[: fit.order]),
        "calls": "\n".join(calls) if calls else "    (void)g;", "no_columns": not calls, "unused": unused,
        "rest": rest and "forces" in fit.name,
    })  # fmt: skip


def covered(model: CModel, window: Window) -> range:
    """Return the stored columns in a window."""
    return range(window.first, min(window.first + window.width, len(model.stored)))


def evaluation_tables(model: CModel) -> tuple[dict[str, int], str]:
    """Return the sizes of the evaluation, and its tables."""
    s, stored = model.layout.theta, model.stored
    seen = [k for k, c in enumerate(stored) if c.coefficient in ("outputs", "output_modes")]
    sizes = {
        "FITTED": max(1, model.fitted.outputs), "SLOPED_COLUMNS": sum(c.order > 0 for c in stored),
        "OUTPUTS_TO": max(seen, default=-1) + 1, "OUTPUTS_FROM": min(seen, default=0),
        "STORED": len(stored), "WIDE": len(stored) + LANES - 1, "TRIPLES": s * (s + 1) * (s + 2) // 6,
    }  # fmt: skip
    places = [column.column for column in stored] or [0]
    text = c_table("int", "fitted_place", np.array(places, dtype=np.int64))
    if len(model.polynomials.shapes) > 1:
        text += c_table("int", "leaf_shape", model.polynomials.leaf_shape)
    if model.exact:
        mass = [k for k, column in enumerate(stored) if column.coefficient == "M"]
        sizes["MASS_COLUMNS"] = len(mass)
        text += c_table("int", "mass_place", np.array(mass, dtype=np.int64))
    return sizes, text


def operations(model: CModel, fit: Fit) -> int:
    """Return the largest number of additions and multiplications of a fit."""
    total = 3 * model.layout.theta
    for window in fit.windows:
        rule = rule_of(model, window)
        total += window.width * (
            2 * rule.products + sum(len(key) for key in derivatives(model.layout.theta, window.order))
        )
    return total
