"""A reduced model as numbers and names alone: what JSON holds, and what other targets embed.

All that is needed to evaluate it is in five steps (docs/export-plain.md): the leaf of θ, Chebyshev products, columns
f̂(θ) with ∂f̂/∂θ, the row of coefficients row = template + P f̂ + Q ∂f̂/∂θ, and of a flexible model the row at δ.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.approximation.piecewise.piecewise import Piecewise
from supple.equations.dry_friction import FRICTION_SPEED
from supple.equations.observation import plain_observation
from supple.export.c.generated_model import CModel, Exportable
from supple.export.fixed import said_fixed
from supple.reduced.family import Family
from supple.reduced.row_map import model_row, row_map
from supple.results.units import UNKNOWN

FORMAT, VERSION = "supple reduced model", 1


def plain_model(rom: Exportable) -> dict[str, Any]:
    """The model as what JSON can hold; arrays as nested lists, numbers that are not known as None."""
    CModel("plain", rom).require_complete()
    layout = rom.layout
    row = model_row(layout)
    places = row_map(layout, row)
    seen = layout.observation or plain_observation(layout.outputs)
    units = getattr(rom, "units", UNKNOWN)
    return {
        "format": FORMAT,
        "version": VERSION,
        "name": rom.name,
        "coordinates": list(layout.coordinates),
        "theta": layout.theta,
        "inputs": list(layout.inputs),
        "outputs": list(layout.outputs),
        "units": units.data(),
        "limits": {name: list(pair) for name, pair in layout.limits.items()},
        "friction": {"forces": list(layout.dry_forces.values()), "speed": FRICTION_SPEED},
        "error": {name: float(value) for name, value in rom.error.items()},
        "bent": layout.bent,
        "curved": layout.curved,
        **_fitted(rom.fitted, layout.fitted),
        "row": {
            "shapes": {name: list(shape) for name, shape in row.shapes.items()},
            "template": [None if np.isnan(value) else value for value in places.template.tolist()],
            "values": {"from": places.values_from.tolist(), "to": places.values_to.tolist()},
            "slopes": {
                "from": places.slopes_from.tolist(), "to": places.slopes_to.tolist(),
                "factor": places.slopes_factor.tolist(),
            },
            "copies": {"from": places.copies_from.tolist(), "to": places.copies_to.tolist()},
        },
        "measures": {
            name: list(layout.columns[column]) if column in layout.columns else np.ravel(
                layout.constants.get(column, np.zeros(layout.widths[column]))
            ).tolist()
            for name, column in (("values", "outputs"), ("modes", "output_modes"))
        } | {"fitted": [column in layout.columns for column in ("outputs", "output_modes")]},
        "observation": seen.data(),
    } | _family(rom)  # fmt: skip


def _fitted(fitted: Piecewise, columns: int) -> dict[str, Any]:
    """Boxes, terms and their coefficients."""
    arrays = fitted.arrays
    return {
        "boxes": {
            "roots": {"bounds": arrays.roots_f.tolist(), "child": arrays.roots_i.tolist()},
            "nodes": {
                "axis": arrays.nodes_i[:, 0].tolist(), "cut": arrays.nodes_f.tolist(),
                "children": arrays.nodes_i[:, 1:].tolist(),
            },
            "leaves": {
                "first": arrays.leaves_i[:, 0].tolist(), "terms": arrays.leaves_i[:, 1].tolist(),
                "center": arrays.leaves_f[:, 0].tolist(), "scale": arrays.leaves_f[:, 1].tolist(),
            },
        },
        "degrees": arrays.indices.tolist(),
        "polynomials": arrays.coefficients[:, :columns].tolist(),
    }  # fmt: skip


def _family(rom: Exportable) -> dict[str, Any]:
    """The whole family, where there is one, the rest being the model at its values; or what it was written for."""
    family: Family | None = getattr(rom, "family", None)
    found: dict[str, Any] = {"says": said_fixed(rom)} if said_fixed(rom) else {}
    if family is None:
        return found
    parameters = [
        {"name": item.name, "unit": item.unit, "lower": item.lower, "upper": item.upper, "value": value}
        for item, value in zip(family.parameters, family.values, strict=True)
    ]
    return found | {"family": {"parameters": parameters, **_fitted(family.fitted, rom.layout.fitted)}}
