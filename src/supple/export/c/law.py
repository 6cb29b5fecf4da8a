"""A law of control as C: the matrices at what is measured, one step, one start.

command = C x + D z + d,   x ← A x + B z + b,   at the start x = A0 z + a0

A law that keeps an equilibrium has a second row over what is measured, x_e, z_e and u_e: x and z are then counted from
it (`supple.control.laws.equilibrium`).
"""

from __future__ import annotations

import re

import numpy as np

from supple.approximation.piecewise.piecewise import NOWHERE
from supple.control.laws.affine_law import AffineLaw
from supple.control.laws.equilibrium import FittedRow
from supple.control.laws.ports import ORDERS
from supple.diagnostics import InputError
from supple.export.c import location, polynomial
from supple.export.c.fitted_function import coefficient_table, leaf_tables, row_macro
from supple.export.c.law_header import arguments, law_header
from supple.export.c.literals import table
from supple.export.c.names import comment
from supple.export.c.sections import with_sections
from supple.export.template import filled, parts

PARTS = parts("supple.export.c", "law.c")
# Where the law keeps an equilibrium: z becomes its deviation from it, and what answers begins there.
KEPT = {
    "rest_row": ", still[REST_WIDTH]",
    "rest_flag": ", known",
    "rest": """\
    known = rest(z, still);
    if (known == @UPPER@_OUTSIDE) return known;
    flag = known > flag ? known : flag;
    for (i = 0; i < KNOWN; ++i) z[i] -= still[STATES + i];
""",
    "plus_x": " + still[i]",
    "minus_x": " - still[i]",
    "plus_u": " + still[STATES + KNOWN + i]",
}
_DEFINED = re.compile(
    r"^static (?:const )?(?:double|int|void|struct node) (\w+)|^#define (\w+)|^(?:struct) (node) ", re.MULTILINE
)
_ENUM = re.compile(r"^enum \{ (.*) \};$", re.MULTILINE)


def law_files(law: AffineLaw, prefix: str) -> dict[str, str]:
    """Name and text of each file of the C code."""
    for row in _rows(law):
        numbers = [row.template] if row.fitted is None else [row.template, row.fitted.arrays.coefficients]
        if not all(np.isfinite(part).all() for part in numbers):
            raise InputError("some of its numbers are not finite", part=f'law "{law.name}"', hint="make it again")
    name = f"{prefix}_law"
    return {f"{name}.h": law_header(law, name), f"{name}.c": with_sections(law_source(law, name), name.upper())}


def _rows(law: AffineLaw) -> list[FittedRow]:
    """Fitted rows of the matrices, and of the equilibrium if the law keeps one."""
    matrices = FittedRow(law.template, law.varying, law.fitted)
    return [matrices] if law.equilibrium is None else [matrices, law.equilibrium]


def law_source(law: AffineLaw, prefix: str) -> str:
    """The text of `<prefix>.c`."""
    n, m, a = law.states, law.ports.size, len(law.ports.answered)
    ends = np.cumsum([0, n * n, n * m, n, a * n, a * m, a, n * m, n]).tolist()
    places = dict(zip(("A", "B", "b", "C", "D", "d", "A0", "a0"), map(str, ends[:-1]), strict=True))
    words = {
        "name": comment(law.name), "prefix": prefix, "UPPER": prefix.upper(), "memory": str(max(1, n)),
        "arguments": arguments(law, prefix.upper()), "known": _known(law), **places,
    }  # fmt: skip
    sizes = {"STATES": n, "KNOWN": m, "ANSWERS": a, "WIDTH": ends[-1]}
    matrices, *rest = _rows(law)
    text = filled(PARTS["head"], words) + _enum(sizes)
    about = words | {"row": "matrices", "width": "WIDTH", "what": "The numbers of A, B, b, C, D, d, A0, a0"}
    text += _row_function(matrices, law, about)
    for row in rest:
        about = words | {"row": "rest", "width": "REST_WIDTH", "what": "x, z and the answer of the equilibrium"}
        text += "\n" + _enum({"REST_WIDTH": n + m + a}) + _renamed(_row_function(row, law, about, tree=True))
    kept = {key: filled(part, words) for key, part in KEPT.items()} if rest else dict.fromkeys(KEPT, "")
    return text + PARTS["product"] + filled(PARTS["step"], words | kept)


def _enum(sizes: dict[str, int]) -> str:
    return "enum { " + ", ".join(f"{name} = {value}" for name, value in sizes.items()) + " };\n"


def _row_function(row: FittedRow, law: AffineLaw, words: dict[str, str], *, tree: bool = False) -> str:
    """Tables of a row of numbers over what is measured, and the function that gives it; tree : never as a grid."""
    if row.fitted is None:
        return "\n" + table("double", "constant", row.template) + filled(PARTS["constant"], words)
    grid = None if tree else location.regular_grid(row.fitted)
    fitted = row.fitted if grid is None else grid.fitted
    tables, locate, more = location.location(fitted, grid)
    sizes = {
        "AXES": fitted.dimension, "COLUMNS": fitted.outputs, "TERMS": polynomial.term_counts(fitted)[-1], **more,
        "NOWHERE": NOWHERE,
    }  # fmt: skip
    assert law.bounds is not None
    text = _enum(sizes) + row_macro(fitted) + tables + leaf_tables(fitted)
    text += table("double", "constant", row.template) + table("int", "varying", row.varying)
    text += table("int", "sigma_place", np.array([law.ports.place(name) for name in law.scheduled_by]))
    text += table("double", "sigma_bounds", law.bounds) + coefficient_table(fitted)
    text += locate + polynomial.tabulated(fitted, slopes=False) + polynomial.combined(fitted, fitted.outputs)
    call = polynomial.combine_call(fitted, (0, fitted.outputs), "b", "values")
    return text + filled(PARTS["scheduled"], words | {"combine": call})


def _renamed(text: str) -> str:
    """The tables and functions of a second row in one file: every name that they define begins with rest_ or REST_."""
    names = {name for found in _DEFINED.findall(text) for name in found if name}
    names |= {item.split(" = ")[0] for line in _ENUM.findall(text) for item in line.split(", ")}
    names -= {"rest"}
    renamed = {name: f"{'REST_' if name.isupper() else 'rest_'}{name}" for name in names}
    return re.sub(r"\b\w+\b", lambda word: renamed.get(word.group(), word.group()), text)


def _known(law: AffineLaw) -> str:
    """Lines that fill z."""
    ports = law.ports
    s = len(ports.coordinates)
    wanted = f"wanted[i / {ORDERS * s}][i / {s} % {ORDERS}][i % {s}]"
    parts = [(ports.y, "measured[i]"), (ports.wanted_all, wanted), (ports.applied, "applied[i]")]
    parts += [(ports.fed_forward, "fed[i]")]
    lines = []
    for place, source in parts:
        count = place.stop - place.start
        if count:
            at = f"z[{place.start} + i]" if place.start else "z[i]"
            lines.append(f"    for (i = 0; i < {count}; ++i) {at} = {source};")
    rates = ports.wanted(1).start
    for k, (first, second) in enumerate(zip(*ports.factors, strict=True) if ports.swept else ()):
        lines.append(f"    z[{ports.products.start + k}] = z[{rates + first}] * z[{rates + second}];")
    return "\n".join(lines)
