"""Linear map from the fitted function and its gradient to a row of coefficients (`supple.equations.row`).

    row = template + P f̂(θ) + Q ∂f̂/∂θ

The template holds the constants. P copies fitted columns to their places (a symmetric matrix has two for each column
off its diagonal); Q forms the coefficients that follow from gradients:

    Γ_ijk = ½(∂_k M_ij + ∂_j M_ik - ∂_i M_jk)  for θ alone,   p_i = -∂_i V,   ∂_i p_δ,   ∂_i ρ_o

and for a model whose M depends on δ, instead of Γ, ∂_k M and ∂_k of ∂M/∂δ and ∂²M/∂δ².
"""

from __future__ import annotations

from math import prod
from typing import NamedTuple

import numpy as np

from supple.array_types import Array, Integers
from supple.equations.equations_of_motion import WEIGHTS
from supple.equations.row import RowLayout, row_layout
from supple.reduced.layout import CoefficientLayout, curvature_places, slope_pairs


class RowMap(NamedTuple):
    """Entries of P and Q, and other data for kernels.

    template  : (width,) constants
    offsets   : beginning of each coefficient
    P         : row[values_to] = f̂[values_from]
    Q         : row[slopes_to] = Σ_3 slopes_factor * ∂f̂[column]/∂θ_j, slopes_from = j * t + column, both (entries, 3):
                Γ needs three slopes, and no loop is as fast as a fixed number of them
    copies    : then row[copies_to] = row[copies_from]: the other halves of symmetric matrices
    ranges    : (r, 2) columns whose gradients are needed
    """

    template: Array
    offsets: Integers
    values_from: Integers
    values_to: Integers
    slopes_from: Integers
    slopes_to: Integers
    slopes_factor: Array
    copies_from: Integers
    copies_to: Integers
    ranges: Integers


def model_row(layout: CoefficientLayout) -> RowLayout:
    """Return the layout of a row of a model."""
    sizes = (layout.size, layout.theta, len(layout.inputs), len(layout.measures), len(layout.dry_forces))
    return row_layout(*sizes, bent=layout.bent, curved=layout.curved, efforts=len(layout.efforts))


def _places(layout: CoefficientLayout, row: RowLayout) -> dict[str, list[tuple[int, ...]]]:
    """Return the one or two places in the row of each packed column of each coefficient."""
    n = layout.size
    start = {name: row.start(name) for name in row.shapes}
    triangle = [(i, j) for i in range(n) for j in range(i, n)]

    def symmetric(base: int) -> list[tuple[int, ...]]:
        return [(base + i * n + j,) if i == j else (base + i * n + j, base + j * n + i) for i, j in triangle]

    found = {name: symmetric(start[name]) for name in ("M", "K", "damping")}
    found["mass_slope"] = _slope_places(layout, start["mass_slope"])
    found["mass_curvature"] = _curvature_places(layout, start["mass_curvature"])
    found["christoffel"] = [places for i in range(n) for places in symmetric(start["christoffel"] + i * n * n)]
    for name, at in (
        ("potential", "potential"),
        ("force", "force"),
        ("input_map", "input_map"),
        ("outputs", "outputs"),
        ("output_modes", "modes"),
        ("friction_map", "friction_map"),
        ("efforts", "efforts"),
    ):
        found[name] = [(start[at] + i,) for i in range(prod(row.shapes[at]))]
    return found


def _slope_places(layout: CoefficientLayout, base: int) -> list[tuple[int, ...]]:
    """Return the places of the packed columns of ∂M/∂δ in (s or n, n, d) from `base` on."""
    n, sloped = layout.size, layout.slope_rows
    d = n - layout.theta

    def place(i: int, j: int, a: int) -> int:
        return base + (i * n + j) * d + a

    return [
        (place(i, j, a), place(j, i, a)) if i < j < sloped else (place(i, j, a),)
        for i, j in slope_pairs(n, sloped)
        for a in range(d)
    ]


def _curvature_places(layout: CoefficientLayout, base: int) -> list[tuple[int, ...]]:
    """Return the places of the packed columns of ∂²M_θθ/∂δ² in (s, s, d, d) from `base` on."""
    n, s = layout.size, layout.theta
    d = n - s
    return [
        tuple({base + ((p * s + q) * d + c) * d + e: 0 for p, q in ((i, j), (j, i)) for c, e in ((a, b), (b, a))})
        for i, j, a, b in curvature_places(n, s)
    ]


def row_map(layout: CoefficientLayout, row: RowLayout) -> RowMap:
    """Return P and Q of a layout."""
    t = layout.fitted
    places = _places(layout, row)
    start = {name: row.start(name) for name in row.shapes}
    structured = _find_structured(layout, start)
    template = np.zeros(row.width)
    if "potential" not in layout.columns and "potential" not in layout.constants:
        template[start["potential"]] = np.nan
    for name, constant in layout.constants.items():
        for where, value in zip(places[name], np.ravel(constant), strict=True):
            template[list(where)] = value
    template[sorted(structured)] = 0.0
    values: list[tuple[int, int]] = []
    for name, (first, _) in layout.columns.items():
        for column, where in enumerate(places[name], first):
            values += [(column, to) for to in where if to not in structured]
    slopes, copies = _slopes(layout, start)
    columns = sorted({source % t for _, entries in slopes for source, _ in entries}) if t else []
    edges = [c for c in columns if c - 1 not in columns]
    ends = [c + 1 for c in columns if c + 1 not in columns]
    # Entries with fewer than three slopes repeat the first one, times zero.
    padded = [[*entries, *[(entries[0][0], 0.0)] * (3 - len(entries))] for _, entries in slopes]

    def integers(items: list[int]) -> Integers:
        return np.array(items, dtype=np.int64)

    return RowMap(
        template,
        row.offsets,
        integers([a for a, _ in values]),
        integers([b for _, b in values]),
        integers([source for entries in padded for source, _ in entries]).reshape(-1, 3),
        integers([to for to, _ in slopes]),
        np.array([factor for entries in padded for _, factor in entries]).reshape(-1, 3),
        integers([a for a, _ in copies]),
        integers([b for _, b in copies]),
        np.array(list(zip(edges, ends, strict=True)), dtype=np.int64).reshape(-1, 2),
    )


def _find_structured(layout: CoefficientLayout, start: dict[str, int]) -> set[int]:
    """Return the places of the coefficients that follow from gradients, whatever was fitted there."""
    n, s = layout.size, layout.theta
    found: set[int] = set()
    if layout.christoffel == "from-mass" and not layout.bent:
        theta = range(s)
        found |= {start["christoffel"] + (i * n + j) * n + k for i in theta for j in theta for k in theta}
    if layout.force == "from-potential":
        found |= {start["force"] + i for i in range(s)}
    return found


def _slopes(
    layout: CoefficientLayout, start: dict[str, int]
) -> tuple[list[tuple[int, list[tuple[int, float]]]], list[tuple[int, int]]]:
    """Return places with their slopes (direction * t + column, factor), at most three, and copies of places."""
    n, s, t = layout.size, layout.theta, layout.fitted
    d, columns = n - s, layout.columns
    slopes: list[tuple[int, list[tuple[int, float]]]] = []
    copies: list[tuple[int, int]] = []
    if layout.bent:
        _add_inertia_slopes(layout, start, slopes, copies)
    elif layout.christoffel == "from-mass" and "M" in columns:
        upper = {pair: c for c, pair in enumerate(((i, j) for i in range(n) for j in range(i, n)), columns["M"][0])}

        def slope(i: int, j: int, along: int) -> int:
            return along * t + upper[min(i, j), max(i, j)]

        for i in range(s):
            for j in range(s):
                for k in range(j, s):
                    to = start["christoffel"] + (i * n + j) * n + k
                    slopes.append(
                        (to, list(zip((slope(i, j, k), slope(i, k, j), slope(j, k, i)), WEIGHTS, strict=True)))
                    )
                    if k > j:
                        copies.append((to, start["christoffel"] + (i * n + k) * n + j))
    if layout.force == "from-potential" and "potential" in columns:
        slopes += [(start["force"] + i, [(i * t + columns["potential"][0], -1.0)]) for i in range(s)]
    if "force" in columns:
        first = columns["force"][0] + s
        slopes += [(start["force_slope"] + i * d + k, [(i * t + first + k, 1.0)]) for i in range(s) for k in range(d)]
    if "K" in columns:
        pairs = [(i, j) for i in range(n) for j in range(i, n)]
        for column, (i, j) in enumerate(pairs, columns["K"][0]):
            for k in range(s if i >= s else 0):
                to, other = (start["stiffness_slope"] + (k * d + a - s) * d + b - s for a, b in ((i, j), (j, i)))
                slopes.append((to, [(k * t + column, 1.0)]))
                if i != j:
                    copies.append((to, other))
    if "outputs" in columns:
        first = columns["outputs"][0]
        outputs = range(len(layout.measures))
        slopes += [(start["rigid"] + o * s + i, [(i * t + first + o, 1.0)]) for o in outputs for i in range(s)]
    return slopes, copies


def _add_inertia_slopes(
    layout: CoefficientLayout,
    start: dict[str, int],
    slopes: list[tuple[int, list[tuple[int, float]]]],
    copies: list[tuple[int, int]],
) -> None:
    """Add ∂_k M, and ∂_k of ∂M/∂δ and ∂²M/∂δ², to the slopes and copies."""
    n, s, t, columns = layout.size, layout.theta, layout.fitted, layout.columns
    triangle = [(i, j) for i in range(n) for j in range(i, n)]
    for k in range(s):
        base = start["mass_gradient"] + k * n * n
        whole: dict[str, list[tuple[int, ...]]] = {
            "M": [(base + i * n + j, base + j * n + i) for i, j in triangle],
            "mass_slope": _slope_places(layout, start["mass_slope_gradient"] + k * layout.slope_rows * n * (n - s)),
            "mass_curvature": _curvature_places(layout, start["mass_curvature_gradient"] + k * (s * (n - s)) ** 2),
        }
        for name, places in whole.items():
            first, stop = columns.get(name, (0, 0))
            for column, where in zip(range(first, stop), places, strict=False):
                slopes.append((where[0], [(k * t + column, 1.0)]))
                copies += [(where[0], other) for other in where[1:] if other != where[0]]
