"""The C file of a reduced model: tables, then functions from the box of a point to the equations."""

from __future__ import annotations

import numpy as np

from supple.approximation.piecewise.piecewise import NOWHERE
from supple.export.c import (
    basis_rates,
    deformation,
    equations,
    integrators,
    location,
    measured,
    observed,
    outputs,
    polynomial,
    state_space,
)
from supple.export.c.fitted_function import coefficient_table, leaf_tables, row_macro
from supple.export.c.law_header import filled
from supple.export.c.literals import number, table
from supple.export.c.model import CModel
from supple.export.c.names import comment

HEAD = """\
/* @name@: generated, see @prefix@.h. No allocation, no writable globals, no recursion: reentrant. */

#include "@prefix@.h"

#include <math.h>

#ifdef __cplusplus
#define RESTRICT
#else
#define RESTRICT restrict
#endif

"""


def source(model: CModel) -> str:
    """The text of `<prefix>.c`."""
    fitted, n_s = model.fitted, model.sizes
    tables, locate, sizes = location.location(fitted, model.grid)
    counts = polynomial.term_counts(fitted)
    enum = {
        "SIZE": n_s[0], "AXES": n_s[1], "INPUTS": n_s[2], "OUTPUTS": n_s[3], "FRICTION": n_s[4],
        "COLUMNS": fitted.outputs, "TERMS": counts[-1], **sizes, "NOWHERE": NOWHERE,
    }  # fmt: skip
    if model.bent:
        enum["SLOPED"] = model.layout.sloped
    text = filled(HEAD, {"name": comment(model.rom.name), "prefix": model.prefix})
    text += "enum { " + ", ".join(f"{name} = {value}" for name, value in enum.items()) + " };\n"
    text += row_macro(fitted) + tables + leaf_tables(fitted) + basis_rates.term_table(fitted)
    for item in model.coefficients.values():
        if item.columns is None:
            text += table("double", f"constant_{item.name}", np.ravel(model.layout.constants[item.name]).astype(float))
    text += equations.nothing(model) + coefficient_table(fitted) + deformation.changes(model) + _standard(model)
    text += locate + location.placing(fitted, model.upper)
    text += "".join(polynomial.tabulated(fitted, slopes=slopes) for slopes in _tabulated(model))
    text += basis_rates.basis_curved(fitted) + ("" if model.layout.observation is None else basis_rates.basis_along(fitted))
    text += "".join(polynomial.combined(fitted, width) for width in sorted(_widths(model)))
    text += equations.SYMMETRIC + equations.SOLVE + (deformation.DEFORMED if model.bent else "")
    text += deformation.CURVED if "mass_curvature" in model.coefficients else ""
    if "friction_map" in model.coefficients:
        text += filled(equations.FRICTION, {"prefix": model.prefix})
    text += equations.columns(model) + equations.coefficients(model) + equations.resistance(model)
    text += equations.dynamics(model) + state_space.state_space(model) + integrators.integrators(model)
    seen = outputs.outputs(model) if model.layout.observation is None else observed.observed(model)
    return text + seen + measured.measured(model)


def _standard(model: CModel) -> str:
    """The model's own parameters."""
    friction = ", ".join(number(value) for value in model.layout.dry_forces.values())
    values = f"1.0, {{{friction}}}, {model.upper}_SLIP_RATE" if friction else "1.0"
    return f"static const {model.prefix}_parameters standard = {{{values}}};\n"


def _tabulated(model: CModel) -> list[bool]:
    """Whether products are tabulated without and with their slopes."""
    plain = model.layout.observation is None and "outputs" in model.coefficients
    return [False, *([True] if equations.needs_slopes(model) or plain else [])]


def _widths(model: CModel) -> set[int]:
    """Numbers of columns that some function sums at once."""
    known = model.coefficients
    ranges = [(0, model.fitted.outputs), model.elastic_force_columns, model.stiffness_columns]
    ranges += [(0, model.force_columns)] if model.force_columns else []
    ranges += model.inertia_columns
    ranges += [known["potential"].columns] if model.potential_gives_force else []
    made = () if model.layout.observation is None else ("efforts", "friction_map")
    ranges += [known[name].columns for name in ("outputs", "output_modes", *made) if name in known]
    return {stop - first for first, stop in (item for item in ranges if item is not None)}


def table_bytes(model: CModel) -> int:
    """Bytes of the constant tables, with 4 for an integer and 8 for a number, up to alignment."""
    arrays = model.fitted.arrays
    if model.grid is None:
        place = 8 * arrays.roots_f.size + 4 * arrays.roots_i.size + 24 * arrays.nodes_f.size
    else:
        place = sum(8 * edge.size + 16 for edge in model.grid.edges)
    constants = sum(np.size(values) for values in model.layout.constants.values())
    return place + 8 * (arrays.leaves_f.size + arrays.coefficients.size + constants) + 8 * len(arrays.leaves_i)
