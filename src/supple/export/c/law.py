"""A law of control as C: the matrices at what is measured, one step, one start.

command = C x + D z + d,   x ← A x + B z + b,   at the start x = A0 z + a0
"""

from __future__ import annotations

import numpy as np

from supple.approximation.piecewise.piecewise import NOWHERE, Piecewise
from supple.control.laws.affine_law import AffineLaw
from supple.control.laws.ports import ORDERS
from supple.diagnostics import InputError
from supple.export.c import location, polynomial
from supple.export.c.fitted_function import coefficient_table, leaf_tables, row_macro
from supple.export.c.law_header import arguments, filled, law_header
from supple.export.c.literals import table
from supple.export.c.names import comment

HEAD = """\
/* @name@: generated, see @prefix@.h. No allocation, no writable globals, no recursion: reentrant. */

#include "@prefix@.h"

#ifdef __cplusplus
#define RESTRICT
#else
#define RESTRICT restrict
#endif

"""
CONSTANT = """
/* The numbers of A, B, b, C, D, d, A0, a0, one after another. */
static int matrices(const double z[KNOWN], double numbers[WIDTH])
{
    int i;
    (void)z;
    for (i = 0; i < WIDTH; ++i) numbers[i] = constant[i];
    return @UPPER@_ANSWERED;
}
"""
SCHEDULED = """
/* The numbers of A, B, b, C, D, d, A0, a0, one after another, at what is measured. */
static int matrices(const double z[KNOWN], double numbers[WIDTH])
{
    double sigma[AXES], b[TERMS], values[COLUMNS];
    const double *row;
    int i, leaf, flag = @UPPER@_ANSWERED;
    for (i = 0; i < AXES; ++i) {
        const double given = z[sigma_place[i]];
        sigma[i] = given > sigma_bounds[0][i] ? given : sigma_bounds[0][i];
        sigma[i] = sigma[i] < sigma_bounds[1][i] ? sigma[i] : sigma_bounds[1][i];
        if (sigma[i] < given || sigma[i] > given) flag = @UPPER@_CLAMPED;
    }
    leaf = locate(sigma);
    if (leaf == NOWHERE) return @UPPER@_OUTSIDE;
    basis(leaf, sigma, b);
    row = coefficients + ROW(leaf) * COLUMNS;
    @combine@
    for (i = 0; i < WIDTH; ++i) numbers[i] = constant[i];
    for (i = 0; i < COLUMNS; ++i) numbers[varying[i]] = values[i];
    return flag;
}
"""
STEP = """
static double product(const double *RESTRICT a, const double *RESTRICT x, int count)
{
    double total = 0.0;
    int i;
    for (i = 0; i < count; ++i) total += a[i] * x[i];
    return total;
}

int @prefix@_start(@prefix@_state *state, @arguments@)
{
    double z[KNOWN], numbers[WIDTH];
    int i, flag;
@known@
    flag = matrices(z, numbers);
    if (flag == @UPPER@_OUTSIDE) return flag;
    for (i = 0; i < STATES; ++i) state->x[i] = product(numbers + @A0@ + i * KNOWN, z, KNOWN) + numbers[@a0@ + i];
    return flag;
}

int @prefix@_step(@prefix@_state *state, @arguments@, double answer[@UPPER@_ANSWERS])
{
    double z[KNOWN], numbers[WIDTH], next[@memory@];
    int i, flag;
@known@
    flag = matrices(z, numbers);
    if (flag == @UPPER@_OUTSIDE) return flag;
    for (i = 0; i < ANSWERS; ++i)
        answer[i] = product(numbers + @C@ + i * STATES, state->x, STATES)
                     + product(numbers + @D@ + i * KNOWN, z, KNOWN) + numbers[@d@ + i];
    for (i = 0; i < STATES; ++i)
        next[i] = product(numbers + i * STATES, state->x, STATES) + product(numbers + @B@ + i * KNOWN, z, KNOWN)
                  + numbers[@b@ + i];
    for (i = 0; i < STATES; ++i) state->x[i] = next[i];
    return flag;
}
"""


def law_files(law: AffineLaw, prefix: str) -> dict[str, str]:
    """Name and text of each file of the C code."""
    if not np.isfinite(law.template).all() or (
        law.fitted is not None and not np.isfinite(law.fitted.arrays.coefficients).all()
    ):
        raise InputError("some of its numbers are not finite", part=f'law "{law.name}"', hint="make it again")
    name = f"{prefix}_law"
    return {f"{name}.h": law_header(law, name), f"{name}.c": law_source(law, name)}


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
    if law.fitted is None:
        text = filled(HEAD, words) + _enum(sizes) + "\n" + table("double", "constant", law.template)
        return text + filled(CONSTANT, words) + filled(STEP, words)
    return filled(HEAD, words) + _scheduled(law, law.fitted, sizes, words) + filled(STEP, words)


def _enum(sizes: dict[str, int]) -> str:
    return "enum { " + ", ".join(f"{name} = {value}" for name, value in sizes.items()) + " };\n"


def _scheduled(law: AffineLaw, fitted: Piecewise, sizes: dict[str, int], words: dict[str, str]) -> str:
    grid = location.regular_grid(fitted)
    fitted = fitted if grid is None else grid.fitted
    tables, locate, more = location.location(fitted, grid)
    sizes = sizes | {
        "AXES": fitted.dimension, "COLUMNS": fitted.outputs, "TERMS": polynomial.term_counts(fitted)[-1], **more,
        "NOWHERE": NOWHERE,
    }  # fmt: skip
    assert law.bounds is not None
    text = _enum(sizes) + row_macro(fitted) + tables + leaf_tables(fitted)
    text += table("double", "constant", law.template) + table("int", "varying", law.varying)
    text += table("int", "sigma_place", np.array([law.ports.place(name) for name in law.scheduled_by]))
    text += table("double", "sigma_bounds", law.bounds) + coefficient_table(fitted)
    text += locate + polynomial.tabulated(fitted, slopes=False) + polynomial.combined(fitted, fitted.outputs)
    call = polynomial.combine_call(fitted, (0, fitted.outputs), "b", "values")
    return text + filled(SCHEDULED, words | {"combine": call})


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
