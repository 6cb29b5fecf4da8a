"""Stiffnesses of joints that follow a table, at one posture: as functions of the values at its knots.

k = k(q; v)                over a coordinate, the monotone cubic through v
k = k(|λ|; v),   λ = k C u,   K u = f          over the load that the row carries at rest    (updating, eqs. 31-32)
∂k/∂p = (1 - T Λ)⁻¹ (∂k/∂v ∂v/∂p + T ∂λ/∂p),   T = ∂k/∂|λ|,   Λ = ∂|λ|/∂k
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import scipy.linalg as la

from supple.approximation.monotone_cubic import monotone_cubic
from supple.array_types import Array
from supple.diagnostics import NumericalError

_TURNS, _SETTLED = 50, 1e-12


class TableRow(NamedTuple):
    """A soft row (its number among them) with a table: knots (n,), and where the posture is on it, or NaN: the load."""

    row: int
    at: Array
    place: float

    @property
    def by_load(self) -> bool:
        return bool(np.isnan(self.place))


class Springs(NamedTuple):
    """Stiffness of the soft rows at a posture, (rows,), and slopes (k, rows)."""

    values: Array
    slopes: Array


def over_coordinates(rows: Sequence[TableRow], knots: dict[int, tuple[Array, Array]], springs: Springs) -> None:
    """Stiffnesses of rows that follow a coordinate, in place; knots: values (n,) and slopes (k, n) by row."""
    for item in rows:
        if not item.by_load:
            values, slopes = knots[item.row]
            found = monotone_cubic(item.at, values, item.place)
            springs.values[item.row] = found.value
            springs.slopes[:, item.row] = slopes @ found.by_values


def over_loads(
    rows: Sequence[TableRow],
    knots: dict[int, tuple[Array, Array]],
    springs: Springs,
    C: Array,
    load: Array,
    stiffness: Callable[[Array], Array],
    forces: Callable[[Array, Array], Array],
) -> None:
    """Stiffnesses of rows that depend on their load, in place, by Newton's method.

    C (rows, f), load (f,); stiffness(springs) : K with these; forces(slopes, u) : K'u (k, f), slopes those of springs
    """
    chosen = [item for item in rows if item.by_load]
    if not chosen:
        return
    which = np.array([item.row for item in chosen])
    Ci = C[which]
    k = np.array([float(np.max(knots[row][0])) for row in which])
    for _ in range(_TURNS):
        springs.values[which] = k
        factor = la.cho_factor(stiffness(springs.values))
        u = la.cho_solve(factor, load)
        moved = Ci @ u
        carried, sign = np.abs(k * moved), np.sign(k * moved)
        told = [monotone_cubic(item.at, knots[item.row][0], float(x)) for item, x in zip(chosen, carried, strict=True)]
        T = np.array([item.slope for item in told])
        across = Ci @ la.cho_solve(factor, Ci.T)
        Lambda = sign[:, None] * (np.diag(moved) - k[:, None] * across * moved[None])
        off = np.array([item.value for item in told]) - k
        step = np.linalg.solve(np.eye(len(k)) - T[:, None] * Lambda, off)
        k = np.maximum(k + step, 0.1 * k)
        if np.abs(off).max() <= _SETTLED * k.max():
            break
    else:
        raise NumericalError(
            "a stiffness over the load and the load that it then takes do not agree", part="tables",
            hint="look whether its table rises or falls in a step",
        )  # fmt: skip
    springs.values[which] = k
    springs.slopes[:, which] = 0.0
    bent = forces(springs.slopes, u)  # K'u by all other numbers
    by_others = -(sign * k) * (bent @ la.cho_solve(factor, Ci.T))
    by_knots = np.array([knots[row][1] @ item.by_values for row, item in zip(which, told, strict=True)]).T
    A = np.eye(len(k)) - T[:, None] * Lambda
    springs.slopes[:, which] = np.linalg.solve(A, (by_knots + by_others * T).T).T
