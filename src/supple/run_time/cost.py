"""Cost of a run-time form: multiply-adds of `inverse` and `forward`, and bytes of its tables.

The columns of a box are polynomials in monomials of ξ ∈ [-1, 1]^s, evaluated by Horner's rule with their slopes
(`export/c/horner.py`). Every partial sum that is not zero takes one multiply-add. For N terms of a total degree above
one, values take N - 1 of them, and values with all s slopes

    2 N - s - 2                                                                                                    (1)

Tables hold each column that changes once for each term and box. A column that is the same everywhere is one number.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.approximation.confidence import uniform_points
from supple.approximation.piecewise.piecewise import Piecewise
from supple.array_types import Flags, Integers
from supple.reduced.layout import CoefficientLayout

_INERTIA = ("M", "mass_slope", "mass_curvature")
_AXIS = 12  # bytes for each axis of the grid, beside its edges
_POINTS, _STILL = 200, 1e-9  # points at which columns are compared, and change relative to the coefficient


class Cost(NamedTuple):
    """Cost of a run-time form.

    inverse, forward : multiply-adds of one call in the interior of a box
    memory           : bytes of the tables that `inverse` and `forward` read
    whole            : bytes of all tables, with the columns of outputs and other coefficients
    """

    inverse: int
    forward: int
    memory: int
    whole: int


class ColumnUse(NamedTuple):
    """Columns that `inverse` and `forward` need and that change over the region.

    sloped : with slopes; plain : with values alone; inputs : entries of the input map, which `forward` needs
    others : number of further columns that change; still : columns that are the same everywhere
    """

    sloped: tuple[int, ...]
    plain: tuple[int, ...]
    inputs: tuple[int, ...]
    others: int
    still: tuple[int, ...]


def horner_steps(indices: Integers, *, slopes: bool) -> int:
    """Return the multiply-adds of one column with the multi-indices (terms, s) of a lower set, equation 1."""
    below: dict[tuple[int, ...], set[int]] = {}
    for term in indices.tolist():
        for k in range(len(term)):
            below.setdefault(tuple(term[:k]), set()).add(term[k])
    s, total = indices.shape[1], 0

    def sums(prefix: tuple[int, ...], axis: int) -> set[int]:
        """Count the steps of an inner polynomial; return the axes along which it has a slope."""
        nonlocal total
        if axis == s:
            return set()
        found: set[int] | None = None
        for n in sorted(below[prefix], reverse=True):
            inner = sums((*prefix, n), axis + 1)
            if found is None:
                found = inner
                continue
            total += 1 + (len(found) if slopes else 0)
            found = found | inner | {axis}
        return found or set()

    sums((), 0)
    return total


def still_columns(layout: CoefficientLayout, fitted: Piecewise) -> Flags:
    """Return which columns are the same everywhere, to rounding of their coefficient: (t,)."""
    points = uniform_points(fitted, _POINTS, np.random.default_rng(0))
    values = fitted.evaluate(points)
    still = np.zeros(fitted.outputs, dtype=bool)
    for first, stop in layout.columns.values():
        part = values[:, first:stop]
        still[first:stop] = np.ptp(part, axis=0) <= _STILL * np.abs(part).max(initial=0.0)
    return still


def column_use(layout: CoefficientLayout, fitted: Piecewise) -> ColumnUse:
    """Return which fitted columns the dynamics need."""
    n, s, columns = layout.size, layout.theta, layout.columns
    still = still_columns(layout, fitted)
    spans = {name: list(range(*span)) for name, span in columns.items()}
    force = spans.get("force", [])
    inertia = [column for name in _INERTIA for column in spans.get(name, ())]
    elastic = force[s:] + spans.get("K", [])
    sloped, plain = (inertia, []) if layout.christoffel == "from-mass" else ([], inertia)
    if layout.force == "from-potential":
        sloped = sloped + spans.get("potential", [])
    else:
        plain = plain + force[:s]
    (sloped if n > s else plain).extend(elastic)
    plain = plain + [column for name in ("christoffel", "damping", "friction_map") for column in spans.get(name, ())]
    inputs = tuple(column for column in spans.get("input_map", ()) if not still[column])
    used = [tuple(column for column in part if not still[column]) for part in (sloped, plain)]
    others = int((~still).sum()) - len(used[0]) - len(used[1]) - len(inputs)
    return ColumnUse(used[0], used[1], inputs, others, tuple(np.flatnonzero(still).tolist()))


def combination_steps(layout: CoefficientLayout) -> tuple[int, int]:
    """Return the multiply-adds of `inverse` and `forward` beside the columns.

    ξ and slopes over h: 2 s. Ṁ = Σ_k ∂_k M θ̇_k, Ṁ η̇, M η̈ and ½ η̇ᵀ ∂_k M η̇ with the products of rates. M and ∂_k M
    at δ, forces of K and p_δ with their slopes, damping, friction. `forward` factorizes M instead of multiplying it.
    """
    n, s = layout.size, layout.theta
    d, pairs = n - s, n * (n + 1) // 2
    width = layout.widths
    bias = 2 * s + pairs + 2 * s * pairs + n * n + s
    if layout.bent:
        bias += (1 + s) * width["mass_slope"] + d * pairs
    if layout.curved:
        bias += (1 + s) * width["mass_curvature"]
    if d:
        bias += d * d + (1 + s) * d + s * (d * (d + 1) // 2)
    if "damping" in layout.columns or not layout.vanishes("damping"):
        bias += n * n
    bias += 2 * len(layout.dry_forces) * n
    inputs = n * len(layout.inputs)
    factors = n * (n - 1) * (n + 1) // 6 + n * (n - 1) // 2 + n * n
    return bias + n * n, bias + inputs + factors


def cost_of(layout: CoefficientLayout, use: ColumnUse, indices: Integers, boxes: int, edges: int, number: int) -> Cost:
    """Return the cost of a form.

    indices : multi-indices of every box, (terms, s); boxes : number of boxes; edges : of all axes together
    number  : bytes of a number
    """
    sloped, plain = horner_steps(indices, slopes=True), horner_steps(indices, slopes=False)
    inverse, forward = combination_steps(layout)
    columns = sloped * len(use.sloped) + plain * len(use.plain)
    place = number * edges + _AXIS * indices.shape[1]
    needed = len(use.sloped) + len(use.plain) + len(use.inputs)

    def table(count: int) -> int:
        return place + number * (boxes * len(indices) * count + len(use.still))

    return Cost(
        columns + inverse, columns + plain * len(use.inputs) + forward, table(needed), table(needed + use.others)
    )
