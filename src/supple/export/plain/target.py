"""Export target "json": a reduced model as JSON with its schema, and the plain data that other targets embed.

Evaluation takes five steps (docs/export-plain.md): the leaf of θ, Chebyshev products, columns f̂(θ) with ∂f̂/∂θ, the
row of coefficients row = template + P f̂ + Q ∂f̂/∂θ, and for a flexible model the row at δ.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from supple.approximation.piecewise.piecewise import Piecewise
from supple.equations.forces import FRICTION_SPEED
from supple.equations.observation import plain_observation
from supple.export.c.generated_model import CModel, Exportable
from supple.export.target import ExportTarget, fixed_values_text
from supple.reduced.family import Family
from supple.reduced.row_map import model_row, row_map
from supple.results.units import UNKNOWN

FORMAT, VERSION = "supple reduced model", 1


def plain_model(rom: Exportable) -> dict[str, Any]:
    """Return the model as data for JSON: arrays are nested lists, unknown numbers are None."""
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
        **_tabulate_fit(rom.fitted, layout.fitted),
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


def _tabulate_fit(fitted: Piecewise, columns: int) -> dict[str, Any]:
    """Return boxes, terms and their coefficients."""
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
    """Return the entry "family" with the complete family, or with the values for which the model was written."""
    family: Family | None = getattr(rom, "family", None)
    found: dict[str, Any] = {"says": fixed_values_text(rom)} if fixed_values_text(rom) else {}
    if family is None:
        return found
    parameters = [
        {"name": item.name, "unit": item.unit, "lower": item.lower, "upper": item.upper, "value": value}
        for item, value in zip(family.parameters, family.values, strict=True)
    ]
    return found | {"family": {"parameters": parameters, **_tabulate_fit(family.fitted, rom.layout.fitted)}}


# Files of the target.


def json_files(rom: Exportable, prefix: str) -> dict[str, str]:
    """Return the model as JSON, and the schema of all such files."""
    return {
        f"{prefix}.json": json.dumps(plain_model(rom), ensure_ascii=False, allow_nan=False) + "\n",
        "supple-model.schema.json": json.dumps(SCHEMA, indent=1) + "\n",
    }


JSON = ExportTarget("json", "names, boxes and polynomials as JSON, with a schema", json_files, families=True)


# JSON schema of a plain model.


def _object(optional: dict[str, Any] | None = None, /, **properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties | (optional or {}),
        "required": list(properties),
        "additionalProperties": False,
    }


def _list(of: dict[str, Any], description: str = "") -> dict[str, Any]:
    return {"type": "array", "items": of} | ({"description": description} if description else {})


NUMBER, INTEGER, TEXT = {"type": "number"}, {"type": "integer"}, {"type": "string"}
_ROWS = _list(_list(NUMBER))
_TEXTS = {"type": "object", "additionalProperties": TEXT}
_PAIRS = {"from": _list(INTEGER), "to": _list(INTEGER)}
_BOXES = _object(
    roots=_object(bounds=_list(_ROWS), child=_list(INTEGER)),
    nodes=_object(axis=_list(INTEGER), cut=_list(NUMBER), children=_list(_list(INTEGER))),
    leaves=_object(first=_list(INTEGER), terms=_list(INTEGER), center=_ROWS, scale=_ROWS),
)
_FAMILY = _object(
    parameters=_list(_object(name=TEXT, unit=TEXT, lower=NUMBER, upper=NUMBER, value=NUMBER)),
    boxes=_BOXES,
    degrees=_list(_list(INTEGER), "degrees of each term: along each of theta, then along each parameter"),
    polynomials=_ROWS,
)
_OPTIONAL = {
    "family": _FAMILY | {"description": "fit over theta and parameters; all else is the model at their values"},
    "says": TEXT | {"description": "parameter values for which the model was written"},
}

SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "A reduced model of supple as plain data",
} | _object(
    _OPTIONAL,
    format={"const": FORMAT},
    version={"const": VERSION},
    name=TEXT,
    coordinates=_list(TEXT, "names of the coordinates; the independent ones theta come first"),
    theta=INTEGER | {"description": "number of independent coordinates theta"},
    inputs=_list(TEXT),
    outputs=_list(TEXT),
    units=_object(coordinates=_TEXTS, inputs=_TEXTS, outputs=_TEXTS),
    limits={"type": "object", "additionalProperties": _list(NUMBER)},
    friction=_object(forces=_list(NUMBER, "dry friction of joints"), speed=NUMBER),
    error={"type": "object", "additionalProperties": NUMBER, "description": "fit error of each coefficient"},
    bent={"type": "boolean", "description": "true if the mass matrix depends on the deformation"},
    curved={"type": "boolean", "description": "true if it does so to second order"},
    boxes=_BOXES,
    degrees=_list(_list(INTEGER), "degrees of each term along each of theta"),
    polynomials=_ROWS,
    row=_object(
        shapes={"type": "object", "additionalProperties": _list(INTEGER)},
        template=_list({"type": ["number", "null"]}),
        values=_object(**_PAIRS),
        slopes=_object(**(_PAIRS | {"from": _list(_list(INTEGER))}), factor=_ROWS),
        copies=_object(**_PAIRS),
    ),
    measures=_object(values=_list(NUMBER), modes=_list(NUMBER), fitted=_list({"type": "boolean"})),
    observation=_object(
        measures=_list(TEXT),
        efforts=_list(TEXT),
        outputs={"type": "object", "additionalProperties": _list({"type": "array"})},
    ),
)
