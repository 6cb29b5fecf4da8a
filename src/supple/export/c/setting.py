"""C code that sets the parameters μ of a family, and that adapts the code of a single model to the parameters.

The slice at μ is stored in the structure of parameters, which the caller owns. No data are global, and several
parameter sets can be used in parallel. A call then costs the same as for a single model.
"""

from __future__ import annotations

import re

import numpy as np

from supple.export.c.exact_parts import family_rest
from supple.export.c.family_numbers import CFamily
from supple.export.c.generated_model import CModel
from supple.export.c.polynomial import term_counts
from supple.export.c.source_text import brace_table, c_number, c_table, comment
from supple.export.template import fill_template, template_parts

PARTS = template_parts("supple.export.c", "setting.c")
# Functions that use the slice: internal ones, and interface functions without a parameters argument in single models.
INSIDE = ("place", "assemble", "equations", "exact_parts")
OUTSIDE = ("coefficients", "columns", "inverse", "forward", "outputs", "output_rates", "observe", "divide")
_FUNCTION = re.compile(
    r"^(?P<head>(?:static )?(?:int|void|double) (?P<name>\w+)\()(?P<given>[^{]*?\)\n\{\n)(?P<body>.*?)^\}",
    re.MULTILINE | re.DOTALL,
)


def family_tables(model: CModel, family: CFamily) -> str:
    """Return the tables of a family and of its slices, which replace the tables of a single model."""
    arrays, ranges = family.whole.arrays, family.ranges
    order, first = family.order
    terms = family.whole.arrays.leaves_i[:, 1]
    starts, regular = arrays.leaves_i[:, 0], np.arange(len(terms)) * terms[0]
    same = np.array_equal(starts, regular)
    text = f"#define FAMILY_ROW(leaf) ({f'(leaf) * {terms[0]}' if same else 'family_row[leaf]'})\n"
    text += "" if same else c_table("int", "family_row", starts)
    text += c_table("int", "family_terms", terms) if len(np.unique(terms)) > 1 else ""
    text += c_table("double", "range", np.array([family.lower, family.upper]))
    text += c_table("double", "met_from", ranges.lower) + c_table("double", "met_to", ranges.upper)
    text += c_table("int", "met_end", ranges.ends.astype(np.int64))
    text += c_table("int", "slice_terms", order) + c_table("int", "first_term", first)
    text += c_table("int", "term_degrees", arrays.indices[:, family.theta :])
    lines = ",\n".join(", ".join(map(repr, row)) for row in arrays.coefficients.tolist())
    text += "/* [row][column]; the rows of a box are consecutive */\n"
    text += f"static const double family[{arrays.coefficients.size}] = {{\n{lines}\n}};\n"
    return text + (c_table("double", "family_rest", family_rest(model, family)) if model.exact else "")


def family_sizes(family: CFamily) -> dict[str, int]:
    """Return the sizes that the code refers to, by name."""
    parameters = len(family.family.parameters)
    leaves = len(family.boxes.arrays.leaves_i)
    return {"PARAMETERS": parameters, "PLACES": family.theta + parameters, "LEAVES": leaves, "ROWS": family.largest[0]}


def set_parameters(model: CModel, family: CFamily) -> str:
    """Return the C function `<prefix>_set_parameters`."""
    several = len(term_counts(family.boxes)) > 1
    counts = np.unique(family.whole.arrays.leaves_i[:, 1])
    columns = model.coefficients["M"].columns
    words = {
        "prefix": model.prefix, "UPPER": model.upper, "real": model.real, "cast": "(exact)" if model.exact else "",
        "degrees": str(max(2, 1 + int(family.whole.arrays.indices[:, family.theta :].max(initial=1)))),
        "terms": "leaf_terms[leaf]" if several else "TERMS",
        "family_terms": "family_terms[leaf]" if len(counts) > 1 else str(counts[0]),
        "pairs": str(model.coefficients["M"].width), "mass": str(columns[0] if columns else 0),
        "exact": model.exact, "box": ", box = 0" if model.exact else "",
    }  # fmt: skip
    return fill_template(PARTS["set"], words)


def standard_members(model: CModel, family: CFamily) -> str:
    """Return the initializer of the parameters at the family's own values."""
    made = family.slice()
    parts = [brace_table(np.array(family.family.values, dtype=float)), brace_table(made.rows)]
    parts += [brace_table(made.boxes)] if model.exact else []
    parts += [brace_table(made.coefficients.ravel())]
    if model.exact:
        columns = model.coefficients["M"].columns
        assert columns is not None
        rest = np.zeros((family.largest[1], columns[1] - columns[0]))
        met = np.flatnonzero(family.find_boxes(np.array(family.family.values)))
        constant = made.coefficients[made.rows[met], slice(*columns)]
        rest[: len(met)] = constant - constant.astype(np.float32).astype(float)
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
    leaves, friction = len(family.boxes.arrays.leaves_i), len(model.layout.dry_forces)
    numbers = 1 + (friction + 1 if friction else 0) + len(family.family.parameters) + rows * model.fitted.outputs
    numbers += boxes * model.coefficients["M"].width if model.exact else 0
    return size * numbers + 4 * leaves * (2 if model.exact else 1)


def family_bytes(model: CModel, family: CFamily, size: int) -> int:
    """Return the size in bytes of the additional tables of a family: ranges, terms and its own slice."""
    order, first = family.order
    leaves, parameters = len(family.ranges.lower), len(family.family.parameters)
    integers = len(order) * (1 + parameters) + len(first) + leaves * (2 + parameters)
    numbers = 2 * parameters * (leaves + 1) + (family_rest(model, family).size if model.exact else 0)
    return 4 * integers + size * numbers + structure_bytes(model, family, size)
