"""C code that sets the parameters μ of a family, and that adapts the code of a single model to the parameters.

The slice at μ is stored in the structure of parameters, which the caller owns. No data are global, and several
parameter sets can be used in parallel. A call then costs the same as for a single model.
"""

from __future__ import annotations

import re

import numpy as np

from supple.array_types import Array
from supple.export.c.exact_parts import mass_columns, rounding_rest
from supple.export.c.family_numbers import CFamily
from supple.export.c.fitted_function import polynomial_table
from supple.export.c.generated_model import CModel
from supple.export.c.horner import LANES
from supple.export.c.source_text import brace_table, c_number, c_table, comment
from supple.export.template import fill_template, template_parts

PARTS = template_parts("supple.export.c", "setting.c")
# Functions that use the slice: internal ones, and interface functions without a parameters argument in single models.
INSIDE = ("place", "equations", "fit_forces", "fit_forces_slopes")
OUTSIDE = ("coefficients", "columns", "inverse", "forward", "outputs", "output_rates", "observe", "divide")
_FUNCTION = re.compile(
    r"^(?P<head>(?:static )?(?:int|void|double) (?P<name>\w+)\()(?P<given>[^{]*?\)\n\{\n)(?P<body>.*?)^\}",
    re.MULTILINE | re.DOTALL,
)


def family_tables(model: CModel, family: CFamily) -> str:
    """Return the tables of a family and of its slices, which replace the tables of a single model."""
    made, ranges, shapes = family.table(model.stored), family.ranges, family.shapes[0]
    several = len(shapes) > 1
    text = f"#define FAMILY_ROW(leaf) ({'family_row[leaf]' if several else f'(leaf) * {len(shapes[0])}'})\n"
    text += c_table("int", "family_row", made.leaf_row) if several else ""
    text += c_table("double", "range", np.array([family.lower, family.upper]))
    text += c_table("double", "met_from", ranges.lower) + c_table("double", "met_to", ranges.upper)
    text += c_table("int", "met_end", ranges.ends.astype(np.int64))
    text += c_table("int", "slice_terms", np.array([len(starts) - 1 for starts in family.groups]))
    most = max(len(starts) for starts in family.groups)
    text += c_table("int", "first_term", np.array([starts + [0] * (most - len(starts)) for starts in family.groups]))
    longest = max(len(shape) for shape in shapes)
    powers = np.zeros((len(shapes), longest, len(family.lower)), dtype=np.int64)
    for number, shape in enumerate(shapes):
        powers[number, : len(shape)] = np.array(shape)[:, family.theta :]
    text += c_table("int", "term_powers", powers) + polynomial_table(made.coefficients, "family")
    return text + (c_table("double", "family_rest", family_rest(model, family)) if model.exact else "")


def family_rest(model: CModel, family: CFamily) -> Array:
    """Return the rounding remainder of M for a family, (boxes, terms in μ alone, stored columns of M)."""
    made, places = family.table(model.stored), mass_columns(model)
    alone = [starts[-1] - starts[-2] for starts in family.groups]
    found = np.zeros((len(made.leaf_row), max(alone), len(places)))
    for leaf, shape in enumerate(made.leaf_shape):
        start = made.leaf_row[leaf] + family.groups[shape][-2]
        rows = made.coefficients[start : start + alone[shape]]
        found[leaf, : alone[shape]] = rounding_rest(rows[:, places])
    return found


def family_sizes(family: CFamily) -> dict[str, int]:
    """Return the sizes that the code refers to, by name."""
    parameters, leaves = len(family.family.parameters), len(family.counts)
    return {"PARAMETERS": parameters, "PLACES": family.theta + parameters, "LEAVES": leaves, "ROWS": family.largest[0]}


def set_parameters(model: CModel, family: CFamily) -> str:
    """Return the C function `<prefix>_set_parameters`."""
    words = {
        "prefix": model.prefix, "UPPER": model.upper, "real": model.real, "cast": "(exact)" if model.exact else "",
        "degrees": str(max(2, 1 + int(family.whole.arrays.indices[:, family.theta :].max(initial=1)))),
        "shape": "leaf_shape[leaf]" if len(family.shapes[0]) > 1 else "0",
        "exact": model.exact, "box": ", box = 0" if model.exact else "",
    }  # fmt: skip
    return fill_template(PARTS["set"], words)


def standard_members(model: CModel, family: CFamily) -> str:
    """Return the initializer of the parameters at the family's own values."""
    made = family.slice(model.stored)
    parts = [brace_table(np.array(family.family.values, dtype=float)), brace_table(made.rows)]
    parts += [brace_table(made.boxes)] if model.exact else []
    parts += [brace_table(np.concatenate([made.coefficients.ravel(), np.zeros(LANES - 1)]))]
    if model.exact:
        places = mass_columns(model)
        rest = np.zeros((family.largest[1], len(places)))
        met = np.flatnonzero(family.find_boxes(np.array(family.family.values)))
        rest[: len(met)] = rounding_rest(made.coefficients[np.ix_(made.rows[met] + family.counts[met] - 1, places)])
        parts += [brace_table(rest)]
    return ",\n    ".join(parts)


def add_parameter_argument(text: str, model: CModel) -> str:
    """Add the parameters argument to the functions of a single model and to their calls."""
    P = f"{model.prefix}_parameters"
    outside = {f"{model.prefix}_{name}" for name in OUTSIDE}
    calls = re.compile(rf"\b({'|'.join(INSIDE)})\(")
    own = re.compile(rf"\b({'|'.join(sorted(outside))})\(")

    def change_function(found: re.Match[str]) -> str:
        head, name, given, body = found["head"], found["name"], found["given"], found["body"]
        made = own.sub(r"\1(parameters, ", calls.sub(r"\1(p, ", body))
        made = made.replace("coefficients + ROW(leaf) * COLUMNS", "p->coefficients + p->rows[leaf] * COLUMNS")
        made = made.replace("mass_rest[leaf]", "p->mass_rest[p->boxes[leaf]]")
        if name in outside:
            head += f"const {P} *parameters, "
            made = made.replace("&standard", "p")
        if name in INSIDE:
            head += f"const {P} *p, "
            made = made if re.search(r"\bp\b", made) else f"    (void)p;\n{made}"
        elif made != body and not re.search(r"\bconst \w+_parameters \*(?:const )?p\b", given + made):
            if re.search(r"\bp\b", made):
                made = f"    const {P} *const p = parameters ? parameters : &standard;\n" + made
            made = made.replace("    (void)parameters;\n", "")
        return f"{head}{given}{made}}}"

    return _FUNCTION.sub(change_function, text)


def add_declared_parameter(text: str, model: CModel) -> str:
    """Add the parameters argument to the declarations of a header."""
    names = "|".join(OUTSIDE)
    return re.sub(
        rf"^(int {model.prefix}_(?:{names})\()", rf"\1const {model.prefix}_parameters *parameters, ", text,
        flags=re.MULTILINE,
    )  # fmt: skip


def parameter_lines(family: CFamily) -> list[str]:
    """Return lines about the parameters for the introduction of a header."""
    lines = []
    for i, (item, value) in enumerate(zip(family.family.parameters, family.family.values, strict=True)):
        unit = f" {comment(item.unit)}" if item.unit else ""
        where = f"{c_number(item.lower)} ... {c_number(item.upper)}{unit}"
        lines += [f"{i}  {comment(item.name)}  {where}, default {c_number(value)}"]
    return lines


def structure_bytes(model: CModel, family: CFamily, size: int) -> int:
    """Return the size of the structure of parameters in bytes, up to alignment; size : bytes of a number."""
    rows, boxes = family.largest
    leaves, friction = len(family.counts), len(model.layout.dry_forces)
    numbers = 1 + (friction + 1 if friction else 0) + len(family.family.parameters)
    numbers += rows * len(model.stored) + LANES - 1 + (boxes * len(mass_columns(model)) if model.exact else 0)
    return size * numbers + 4 * leaves * (2 if model.exact else 1)


def family_bytes(model: CModel, family: CFamily, size: int) -> int:
    """Return the size in bytes of the additional tables of a family: ranges, terms and its own slice."""
    leaves, parameters = len(family.ranges.lower), len(family.family.parameters)
    terms = sum(len(shape) for shape in family.shapes[0])
    integers = terms * parameters + sum(map(len, family.groups)) + leaves * (2 + parameters)
    numbers = 2 * parameters * (leaves + 1) + (family_rest(model, family).size if model.exact else 0)
    return 4 * integers + size * numbers + structure_bytes(model, family, size)
