"""Columns of a model as its C code stores them: which are needed, in what order, and how often they are differentiated.

Forces follow from columns and from the slopes of those that enter the Lagrangian, L = w(δ, η̇)ᵀ f(θ): M and its changes
with δ, the potential, p_δ and K. These come first in the tables, then the other columns of forces, then outputs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from supple.export.c.horner import Window, windows

if TYPE_CHECKING:
    from supple.export.c.generated_model import CModel

OUTPUTS = ("outputs", "output_modes", "efforts")


class StoredColumn(NamedTuple):
    """Fitted column that is not zero everywhere.

    coefficient : name of its coefficient
    number      : its place within the packed coefficient
    column      : its number within the fit
    order       : derivatives that forces need, 0 or 1
    exact       : True if single-precision code computes it in double
    """

    coefficient: str
    number: int
    column: int
    order: int
    exact: bool


def stored_columns(model: CModel) -> tuple[StoredColumn, ...]:
    """Return the stored columns in the order of the tables."""
    fitted = model.rom.fitted if model.family is None else model.family.family.fitted
    used = np.any(fitted.arrays.coefficients != 0.0, axis=0)
    found = []
    for item in model.coefficients.values():
        for index, column in enumerate(range(*item.columns) if item.columns else ()):
            if used[column]:
                order = _order(model, item.name, index)
                found.append(StoredColumn(item.name, index, column, order, _is_exact(model, item.name)))
    names = list(model.coefficients)
    return tuple(
        sorted(found, key=lambda c: (c.coefficient in OUTPUTS, -c.order, not c.exact, names.index(c.coefficient)))
    )


def _order(model: CModel, name: str, index: int) -> int:
    """Return 1 if forces need the slope of a column."""
    n, s = model.layout.size, model.layout.theta
    if name == "M":
        return int(model.bent or (model.mass_gives_christoffel and max(pairs(n)[index]) < s))
    if name in ("mass_slope", "mass_curvature"):
        return 1
    if name == "potential":
        return int(model.potential_gives_force)
    if name == "force":
        return int(model.elastic > 0 and index >= s)
    return int(name == "K" and model.elastic > 0)


def _is_exact(model: CModel, name: str) -> bool:
    return model.exact and name in ("M", "force", "potential")


def pairs(n: int) -> list[tuple[int, int]]:
    """Return i, j of the upper triangle of a symmetric matrix, row by row."""
    return [(i, j) for i in range(n) for j in range(i, n)]


def force_names(model: CModel) -> list[str]:
    """Return the names of the fitted coefficients of forces."""
    return [name for name, item in model.coefficients.items() if item.columns and name not in OUTPUTS]


def runs(stored: Sequence[StoredColumn], names: Iterable[str]) -> list[tuple[int, int]]:
    """Return the ranges of adjacent stored columns that belong to some coefficients."""
    kept = set(names)
    places = [k for k, column in enumerate(stored) if column.coefficient in kept]
    found: list[tuple[int, int]] = []
    for k in places:
        if found and found[-1][1] == k:
            found[-1] = (found[-1][0], k + 1)
        else:
            found.append((k, k + 1))
    return found


def windows_of(model: CModel, names: Iterable[str], more: int, order: int | None = None) -> list[Window]:
    """Return the windows that cover some coefficients.

    more  : derivatives beyond those that forces need
    order : the same order for all columns instead
    """
    stored, found = model.stored, []
    for first, stop in runs(stored, names):
        orders = [column.order + more if order is None else order for column in stored[first:stop]]
        exact = [column.exact for column in stored[first:stop]]
        found += windows(orders, exact, first, padded=model.precision == "double")
    return found
