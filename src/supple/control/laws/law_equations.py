"""Equations of a law without their zeros: the numbers that a step multiplies.

    row e of [x⁺; u; x₀] = Σ_k value_k w[column_k] + Σ_j (E_j g) w[column_j],     w = (x - x_e, z - z_e, 1)

The first sum has constant numbers, the second those that change over σ, with their factors E_j of the functions g(σ).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from supple.array_types import Array, Integers
from supple.control.laws.affine_matrices import shapes

if TYPE_CHECKING:
    from supple.control.laws.affine_law import AffineLaw


class LawEquations(NamedTuple):
    """Equations of x⁺ (n), u (a) and x₀ (n), in this order; w has n + m + 1 entries.

    fixed_rows, entry_rows : (n + a + n + 1,) first number of each equation, and their end
    fixed_columns, fixed   : columns and values of constant numbers
    entry_columns, factors : columns (v,) and factors E (v, r) of numbers that change
    """

    fixed_rows: Integers
    fixed_columns: Integers
    fixed: Array
    entry_rows: Integers
    entry_columns: Integers
    factors: Array


def law_equations(law: AffineLaw) -> LawEquations:
    """Return the equations of a law."""
    n, m, a = law.states, law.ports.size, len(law.ports.outputs)
    x, z, one = np.arange(n), n + np.arange(m), np.array([n + m])
    first = {"step": 0, "output": n, "start": n + a}
    parts = [(first[kind], columns) for kind in ("step", "output") for columns in (x, z, one)]
    parts += [(first["start"], columns) for columns in (z, one)]
    rows, columns = [], []
    for (start, own), shape in zip(parts, shapes(n, law.ports), strict=True):
        places = np.arange(start, start + shape[0])
        rows.append(np.repeat(places, len(own)))
        columns.append(np.tile(own, shape[0]))
    row, column = np.concatenate(rows), np.concatenate(columns)
    template, varying = law.matrices.template, law.matrices.varying
    kept = np.flatnonzero(template)
    fixed, entries = kept[np.argsort(row[kept], kind="stable")], np.argsort(row[varying], kind="stable")
    ends = np.arange(2 * n + a + 1)
    return LawEquations(
        np.searchsorted(row[fixed], ends), column[fixed], template[fixed],
        np.searchsorted(row[varying[entries]], ends), column[varying[entries]], law.matrices.factors[entries],
    )  # fmt: skip
