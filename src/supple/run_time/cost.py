"""Cost of a run-time form: multiply-adds of `inverse` and `forward`, and bytes of its tables.

The columns of a box are polynomials in monomials of ξ ∈ [-1, 1]^s, evaluated by nested Horner schemes with their
slopes. With N_k prefixes (α_1 ... α_k) of the multi-indices, and L_k lines of at least two terms at level k, the value
and all s slopes of one column take

    Σ_k (N_k - N_{k-1}) (1 + s - k) + (N_k - N_{k-1} - L_k),   k = 1 ... s,   N_0 = 1                              (1)

multiply-adds: along ξ_k the value and the s - k slopes of the inner levels are summed, and the slope along ξ_k, whose
first step needs none. The value alone takes N_s - 1. Tables hold columns in blocks of eight.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.approximation.piecewise.piecewise import Piecewise
from supple.array_types import Integers
from supple.reduced.layout import CoefficientLayout

BLOCK = 8  # columns that a loop evaluates together
_INERTIA = ("M", "mass_slope", "mass_curvature")
_AXIS = 12  # bytes for each axis of the grid, beside its edges


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
    """Columns that `inverse` and `forward` need: those with slopes, and those with values alone.

    others : number of further columns that do not vanish; inputs : of those, entries of the input map
    """

    sloped: tuple[int, ...]
    plain: tuple[int, ...]
    inputs: tuple[int, ...]
    others: int


def horner_steps(indices: Integers, *, slopes: bool) -> int:
    """Return the multiply-adds of one column with the multi-indices (terms, s) of a lower set, equation 1."""
    terms = {tuple(row) for row in indices.tolist()}
    s = indices.shape[1]
    if not slopes:
        return len(terms) - 1
    total = 0
    for k in range(s, 0, -1):
        prefixes = {term[:k] for term in terms}
        lines: dict[tuple[int, ...], int] = {}
        for prefix in prefixes:
            lines[prefix[:-1]] = lines.get(prefix[:-1], 0) + 1
        steps = len(prefixes) - len(lines)
        total += steps * (1 + s - k) + steps - sum(count > 1 for count in lines.values())
    return total


def column_use(layout: CoefficientLayout, fitted: Piecewise) -> ColumnUse:
    """Return which fitted columns the dynamics need; columns that vanish everywhere are not evaluated."""
    n, s, columns = layout.size, layout.theta, layout.columns
    present = np.any(fitted.arrays.coefficients, axis=0)
    slack = {name: range(*span) for name, span in columns.items()}
    sloped: list[int] = []
    plain: list[int] = []
    for name in _INERTIA:
        (sloped if layout.christoffel == "from-mass" else plain).extend(slack.get(name, ()))
    plain += slack.get("christoffel", ())
    if layout.force == "from-potential":
        sloped += slack.get("potential", ())
        sloped += list(slack.get("force", ()))[s:]
    else:
        forces = list(slack.get("force", ()))
        plain += forces[:s]
        (sloped if n > s else plain).extend(forces[s:])
    (sloped if n > s else plain).extend(slack.get("K", ()))
    for name in ("damping", "friction_map"):
        plain += slack.get(name, ())
    inputs = tuple(c for c in slack.get("input_map", ()) if present[c])
    used = {c for c in (*sloped, *plain) if present[c]}
    return ColumnUse(
        tuple(c for c in sloped if present[c]), tuple(c for c in plain if present[c]), inputs,
        int(present.sum()) - len(used) - len(inputs),
    )  # fmt: skip


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
        return place + boxes * len(indices) * BLOCK * -(-count // BLOCK) * number

    return Cost(
        columns + inverse, columns + plain * len(use.inputs) + forward, table(needed), table(needed + use.others)
    )
