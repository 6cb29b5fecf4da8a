"""Export target "casadi": data, C code of the functions, and the Python file that loads both."""

from __future__ import annotations

import hashlib
import json
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.diagnostics import InputError, SuppleNote
from supple.export.c import location
from supple.export.c.generated_model import CModel, Exportable
from supple.export.c.header import parameters, sizes, structure
from supple.export.c.model_source import PARTS as SOURCE_PARTS
from supple.export.c.model_source import equations_of, number_tables
from supple.export.c.source_text import c_table, comment
from supple.export.plain.target import plain_model
from supple.export.target import ExportTarget, fixed_lines
from supple.export.template import fill_template, template_parts

# C code that CasADi loads: state derivative and inverse dynamics, each with first and second derivatives.
#
#     dynamics(x, u) = ẋ,   jac_dynamics = (∂ẋ/∂x, ∂ẋ/∂u),   jac_jac_dynamics = their derivatives by x and u
#     inverse(η, η̇, η̈) = τ, and its derivatives likewise
#
# CasADi passes the results of a function to its derivatives as further arguments. Nothing depends on them, and the
# blocks of derivatives by them are declared empty. Half of ẋ is η̇ itself, and second derivatives by inputs twice, or
# by inputs and rates, are zero: blocks omit entries that are always zero.


# A function that `casadi.external` finds in a library: numbers of arguments and results, and their sparsity.


Pattern = NDArray[np.bool_]  # True where a matrix may be nonzero

ENTRY_POINT_PARTS = template_parts("supple.export.casadi_files", "entry_point.c")


@dataclass(frozen=True, eq=False)
class EntryPoint:
    """C function with its name, the sparsity of its arguments and results, and their names for the user."""

    name: str
    takes: list[Pattern]
    gives: list[Pattern]
    arguments: tuple[str, ...] = ()
    results: tuple[str, ...] = ()


def declarations(entries: Sequence[EntryPoint]) -> str:
    """Return sparsity tables, each once, and the C functions that CasADi queries for every entry point."""
    tables: dict[tuple[int, ...], str] = {}
    text = ""
    for entry in entries:
        known = [
            [tables.setdefault(compress_pattern(pattern), f"pattern_{len(tables)}") for pattern in patterns]
            for patterns in (entry.takes, entry.gives)
        ]
        in_cases, out_cases = (_cases(names) for names in known)
        text += fill_template(ENTRY_POINT_PARTS["signature"], {
            "name": entry.name, "inputs": len(entry.takes), "outputs": len(entry.gives), "in_cases": in_cases,
            "out_cases": out_cases,
        })  # fmt: skip
        for way, names in (("in", entry.arguments), ("out", entry.results)):
            if names:
                text += fill_template(
                    ENTRY_POINT_PARTS["names"],
                    {"name": entry.name, "way": way, "cases": _cases([f'"{name}"' for name in names])},
                )
    made = (
        f"static const casadi_int {name}[] = {{{', '.join(map(str, numbers))}}};\n" for numbers, name in tables.items()
    )
    return "".join(made) + text


def compress_pattern(pattern: Pattern) -> tuple[int, ...]:
    """Return a sparsity pattern in CasADi's format.

    A dense pattern is (rows, columns, 1); others are column offsets and the row of each entry.
    """
    rows, columns = pattern.shape
    if pattern.all() and pattern.size:
        return rows, columns, 1
    starts = np.concatenate([[0], np.cumsum(pattern.sum(axis=0))])
    return rows, columns, *starts.astype(int).tolist(), *np.nonzero(pattern.T)[1].tolist()


def _cases(results: list[str]) -> str:
    return " ".join(f"case {i}: return {result};" for i, result in enumerate(results))


DYNAMICS_PARTS = template_parts("supple.export.casadi_files", "dynamics.c")


def dynamics_source(rom: Exportable, prefix: str) -> str:
    """Return the text of `<prefix>_dynamics.c`."""
    model = CModel(f"{prefix}_core", rom)
    words = {"name": comment(rom.name), "prefix": prefix}
    text = fill_template(DYNAMICS_PARTS["head"], words)
    text += "\n".join([sizes(model), statuses(model), structure(model), parameters(model)])
    text += SOURCE_PARTS["finite"] + number_tables(model) + casadi_place_function(model) + equations_of(model)
    fed = "input_map" in model.coefficients
    wrapped = fill_template(DYNAMICS_PARTS["wrapped"], {
        "prefix": model.prefix, "UPPER": model.upper, "entry": prefix,
        "declared": declarations(entry_points(model, prefix)),
        "u": "u, " if fed else "", "B": ", B[2 * N][U]" if fed else "", "pass_B": ", B" if fed else "",
    })  # fmt: skip
    return text + wrapped.replace(f"{model.prefix}_second", f"{prefix}_second")


def casadi_place_function(model: CModel) -> str:
    """Return the C functions `locate` and `place`; here `place` never reports a point outside the region."""
    bounds = model.fitted.arrays.roots_f
    text = location.location(model.fitted, model.grid)[1] + f"enum {{ AROUND = {len(bounds)} }};\n"
    return text + c_table("double", "around", bounds) + fill_template(DYNAMICS_PARTS["place"], {"UPPER": model.upper})


def statuses(model: CModel) -> str:
    """Return the C enum of return values."""
    U = model.upper
    names = ("INSIDE", "OUTSIDE", "INDEFINITE", "CLAMPED", "UNDEFINED")
    return "enum { " + ", ".join(f"{U}_{name} = {i}" for i, name in enumerate(names)) + " };\n"


def entry_points(model: CModel, prefix: str) -> list[EntryPoint]:
    """Return all functions that CasADi finds, with the sparsity of their arguments and results."""
    n, u = model.layout.size, len(model.layout.inputs)
    fed = "input_map" in model.coefficients
    whole, zero = (lambda *shape: np.ones(shape, dtype=bool)), (lambda *shape: np.zeros(shape, dtype=bool))
    lower = np.vstack([zero(n, 2 * n), whole(n, 2 * n)])
    A, B = lower | np.eye(2 * n, k=n, dtype=bool), np.vstack([zero(n, u), np.full((n, u), fed)])
    x_x = np.repeat(lower.reshape(-1, 1, order="F"), 2 * n, axis=1)
    x_u = np.repeat((lower & (np.arange(2 * n) < n)).reshape(-1, 1, order="F"), u, axis=1) & fed
    u_x = np.repeat(B.reshape(-1, 1, order="F"), 2 * n, axis=1) & (np.arange(2 * n) < n)
    x, w, e, M, H = whole(2 * n, 1), whole(u, 1), whole(n, 1), whole(n, n), whole(n * n, n)
    o = zero(n * n, n)
    d, i = f"{prefix}_dynamics", f"{prefix}_inverse"
    return [
        EntryPoint(d, [x, w], [x], ("x", "u"), ("dx",)),
        EntryPoint(f"jac_{d}", [x, w, x], [A, B]),
        EntryPoint(
            f"jac_jac_{d}", [x, w, x, A, B],
            [x_x, x_u, zero(4 * n * n, 2 * n), u_x, zero(2 * n * u, u), zero(2 * n * u, 2 * n)],
        ),
        EntryPoint(i, [e, e, e], [e], ("eta", "v", "a"), ("tau",)),
        EntryPoint(f"jac_{i}", [e, e, e, e], [M, M, M]),
        EntryPoint(f"jac_jac_{i}", [e, e, e, e, M, M, M], [H, H, H, o, H, H, o, o, H, o, o, o]),
    ]  # fmt: skip


# C code that CasADi loads: the fitted columns with their gradient, and the first two derivatives of both.
#
#     y(θ) = (f̂, ∂f̂/∂θ_1, ..., ∂f̂/∂θ_s),   jac_y = ∂y/∂θ,   jac_jac_y = ∂ vec(jac_y)/∂θ
#
# All are sums over the terms of one box with derivatives of Chebyshev polynomials up to the third. Outside the region
# the polynomials of the nearest box are extrapolated, so that an optimizer may pass through; a solution there is not
# valid. For a family θ means (θ, μ), except for the gradients in y, which are along θ alone.


_ORDER = 3  # highest derivative of the columns

COLUMNS_PARTS = template_parts("supple.export.casadi_files", "columns.c")


def columns_source(data: dict[str, Any], prefix: str) -> str:
    """Return the C text for the plain data of a model."""
    whole = data.get("family", data)
    theta, boxes = data["theta"], whole["boxes"]
    polynomials = np.array(whole["polynomials"], dtype=float)
    t, s = polynomials.shape[1], len(whole["degrees"][0])
    degrees = np.array(whole["degrees"], dtype=int).reshape(-1, s)
    orders = [_orders(combination, s) for q in range(_ORDER + 1) for combination in _combinations(s, q)]
    place = {item: i for i, item in enumerate(orders)}
    plain = [(0,) * s, *(_orders((j,), s) for j in range(theta))]
    gathers = {
        "from_y": [place[item] for item in plain],
        "from_jac": [place[_plus(item, m)] for m in range(s) for item in plain],
        "from_jac_jac": [place[_plus(_plus(item, m), k)] for k in range(s) for m in range(s) for item in plain],
    }
    nodes = boxes["nodes"]
    tables = "".join(
        c_table("double" if np.asarray(values).dtype.kind == "f" else "int", name, np.asarray(values))
        for name, values in {
            "root_bounds": np.array(boxes["roots"]["bounds"], dtype=float).reshape(-1, 2, s),
            "root_child": np.array(boxes["roots"]["child"], dtype=int),
            "node_axis": np.array(nodes["axis"] or [0], dtype=int),
            "node_cut": np.array(nodes["cut"] or [0.0], dtype=float),
            "node_child": np.array(nodes["children"] or [[-1, -1]], dtype=int).reshape(-1, 2),
            "leaf_first": np.array(boxes["leaves"]["first"], dtype=int),
            "leaf_terms": np.array(boxes["leaves"]["terms"], dtype=int),
            "leaf_center": np.array(boxes["leaves"]["center"], dtype=float).reshape(-1, s),
            "leaf_scale": np.array(boxes["leaves"]["scale"], dtype=float).reshape(-1, s),
            "degrees": degrees, "polynomials": polynomials, "orders": np.array(orders, dtype=int).reshape(-1, s),
            **{name: np.array(values, dtype=int) for name, values in gathers.items()},
        }.items()
    )  # fmt: skip
    counts = np.cumsum([len(list(_combinations(s, q))) for q in range(_ORDER + 1)]).tolist()
    functions = [
        _function("y", ["in_theta"], ["out_y"], counts[1], "from_y", len(gathers["from_y"]), prefix),
        _function("jac", ["in_theta", "out_y"], ["out_jac"], counts[2], "from_jac", len(gathers["from_jac"]), prefix),
        _function("jac_jac", ["in_theta", "out_y", "out_jac"], ["out_jac_jac", "none"], counts[3],
                  "from_jac_jac", len(gathers["from_jac_jac"]), prefix),
    ]  # fmt: skip
    width = (1 + theta) * t
    return "".join([fill_template(COLUMNS_PARTS["code"], {
        "prefix": prefix, "s": s, "t": t, "roots": len(boxes["roots"]["child"]), "tables": tables, "order": _ORDER,
        "top": max(1, int(degrees.max(initial=1))), "combinations": len(orders), "zeros": ", 0" * width,
        "parts": "(1 + S)" if theta == s else f"(1 + {theta})",
    }), *functions])  # fmt: skip


def _function(kind: str, given: list[str], found: list[str], count: int, gather: str, blocks: int, prefix: str) -> str:
    before = "" if kind == "y" else f"{kind}_"

    def cases(names: list[str]) -> str:
        return " ".join(f"case {i}: return {name};" for i, name in enumerate(names))

    return fill_template(COLUMNS_PARTS["function"], {
        "name": f"{before}{prefix}_columns", "inputs": len(given), "outputs": len(found), "in_cases": cases(given),
        "out_cases": cases(found), "count": count, "gather": gather, "blocks": blocks,
    })  # fmt: skip


def _combinations(s: int, order: int) -> list[tuple[int, ...]]:
    return list(combinations_with_replacement(range(s), order))


def _orders(axes: tuple[int, ...], s: int) -> tuple[int, ...]:
    return tuple(axes.count(i) for i in range(s))


def _plus(orders: tuple[int, ...], axis: int) -> tuple[int, ...]:
    return tuple(value + (i == axis) for i, value in enumerate(orders))


TAIL_PARTS = template_parts("supple.export.casadi_files", "tail.txt")


def casadi_files(rom: Exportable, prefix: str) -> dict[str, str]:
    """Return the files of the target: `PREFIX_casadi.py` with `FUNCTIONS`, its C sources and `PREFIX_data.json`."""
    data = plain_model(rom)
    if not data["polynomials"] or not data["polynomials"][0]:
        raise InputError(
            "its coefficients do not depend on θ", part=f'model "{rom.name}"',
            hint='export its linear model rom.linearize(theta), or use to="numpy"',
        )  # fmt: skip
    if rom.hardware:
        note = "the CasADi functions take forces and return exact outputs: drives and instruments are not exported"
        warnings.warn(SuppleNote(note), stacklevel=4)
    source = resources.files("supple.export.casadi_files").joinpath("functions.py").read_text("utf-8")
    compiled = {f"{prefix}_columns.c": columns_source(data, prefix)}
    words = {"prefix": prefix, "sources": '"columns",', "names": '"columns",'}
    # Derivatives by parameters use the columns: the equations of the columns are CasADi expressions.
    if "family" not in data:
        words |= {"sources": '"columns", "dynamics", "second"', "names": '"columns", "dynamics", "inverse"'}
        compiled[f"{prefix}_dynamics.c"] = dynamics_source(rom, prefix)
        compiled[f"{prefix}_second.c"] = second_source(rom, prefix)
    comment_text = "".join(f"# {line}\n" for line in ["Generated by supple.", *fixed_lines(rom)])
    beside = {**compiled, f"{prefix}_data.json": json.dumps(data, ensure_ascii=False, allow_nan=False) + "\n"}
    words["digest"] = hashlib.sha256("".join(beside.values()).encode()).hexdigest()
    return {f"{prefix}_casadi.py": comment_text + source + fill_template(TAIL_PARTS["tail"], words), **beside}


CASADI = ExportTarget("casadi", "CasADi functions with exact first and second derivatives", casadi_files, families=True)


# C code of second derivatives: the same equations in dual numbers a + εb, ε² = 0, stored as complex ones with tiny ε.
#
#     ∂J/∂η_k = Im J(η + iε e_k)/ε,   ε = 1e-30:  exact, since ε² is negligible
#
# Jacobians J of accelerations or forces are those of the C export, unchanged; comparisons and roots use real parts.
# Second derivatives by rates need only the coefficients of the point itself, and others follow from the symmetry of
# second derivatives, so that n + 1 Jacobians are needed in all.


PARTS = template_parts("supple.export.casadi_files", "second.c")


def second_source(rom: Exportable, prefix: str) -> str:
    """Return the text of `<prefix>_second.c`."""
    model = CModel(f"{prefix}_second", rom)
    fed = "input_map" in model.coefficients
    text = fill_template(PARTS["head"], {"name": comment(rom.name), "prefix": prefix})
    text += "\n".join([sizes(model), statuses(model)]) + in_duals(structure(model)) + parameters(model)
    text += (
        _dual_constants(number_tables(model))
        + re.sub(r"\bplace\(", "place_real(", casadi_place_function(model))
        + PARTS["place"]
    )
    words = {"prefix": model.prefix, "UPPER": model.upper, "u": "u, " if fed else ""}
    return text + in_duals(equations_of(model)) + fill_template(PARTS["second"], words)


def in_duals(text: str) -> str:
    """Return the code with dual numbers in place of doubles; fitted coefficients stay doubles."""
    text = re.sub(r"\bdouble\b", "dual", text)
    text = re.sub(r"\b(sqrt|tanh)\(", r"dual_\1(", text)
    text = re.sub(r"\b(pivot|rate) ([<>]) 0\.0", r"creal(\1) \2 0.0", text)
    return re.sub(r"const dual (\*RESTRICT c|\*const row|\*row)\b", r"const double \1", text)


def _dual_constants(text: str) -> str:
    """Convert constants to dual numbers, since they can replace fitted values."""
    text = re.sub(r"^static const double (constant_|nothing)", r"static const dual \1", text, flags=re.MULTILINE)
    return re.sub(r"^typedef struct \{.*\} changes;$", lambda found: in_duals(found.group()), text, flags=re.MULTILINE)
