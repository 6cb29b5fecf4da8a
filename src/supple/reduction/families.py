"""Families of coefficients: what is judged together, by one norm.

A family is a coefficient of the equations; of a flexible mechanism it is divided into blocks by kinds of coordinates,
θ, γ (constraint modes) and ι (internal modes), which differ in unit and size.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from supple.equations.effort_row import effort_places
from supple.reduced.layout import CoefficientLayout, curvature_places

FAMILIES = (
    "M", "K", "christoffel", "mass_curvature", "force", "damping", "input_map", "outputs", "output_modes",
    "friction_map", "efforts",
)  # fmt: skip
FREQUENCIES = "frequencies"
_EFFORTS = ("rest", "δ", "u", "accelerations", "rates", "turning", "friction")  # parts of a row, in their order


def block_places(layout: CoefficientLayout, name: str) -> dict[str, NDArray[np.int64]]:
    """Entries of each block of a coefficient, by kinds of coordinates: M_θγ, Γ_θιι, ..."""
    n, s = layout.size, layout.theta
    kinds = ["θ"] * s + ["γ"] * (n - s - layout.internal) + ["ι"] * layout.internal
    blocks: dict[str, list[int]] = {}
    rank = {"θ": 0, "γ": 1, "ι": 2}
    if name in ("M", "K", "damping"):
        for i in range(n):
            for j in range(i, n):
                blocks.setdefault(f"{name}_{kinds[i]}{kinds[j]}", []).extend({i * n + j, j * n + i})
    elif name == "christoffel":
        for i in range(n):
            for j in range(n):
                for k in range(n):
                    pair = "".join(sorted(kinds[j] + kinds[k], key=rank.__getitem__))
                    blocks.setdefault(f"Γ_{kinds[i]}{pair}", []).append((i * n + j) * n + k)
    elif name == "mass_curvature":
        for place, (_, _, a, b) in enumerate(curvature_places(n, s)):
            blocks.setdefault(f"∂²M_θθ{kinds[s + a]}{kinds[s + b]}", []).append(place)
    elif name == "force":
        for i in range(n):
            blocks.setdefault(f"p_{kinds[i]}", []).append(i)
    elif name == "output_modes":
        for o in range(len(layout.measures)):
            for i in range(s, n):
                blocks.setdefault(f"outputs_{kinds[i]}", []).append(o * (n - s) + i - s)
    elif name == "efforts":
        places = effort_places(n, s, len(layout.inputs), len(layout.dry_forces))
        edges = [0, *places[:7]]
        for e in range(len(layout.efforts)):
            for part, first, stop in zip(_EFFORTS, edges[:-1], edges[1:], strict=True):
                blocks.setdefault(f"efforts_{part}", []).extend(
                    range(e * places.width + first, e * places.width + stop)
                )
        blocks = {block: items for block, items in blocks.items() if items}
    else:
        return {name: np.arange(layout.widths[name], dtype=np.int64)}
    return {block: np.array(places, dtype=np.int64) for block, places in blocks.items()}
