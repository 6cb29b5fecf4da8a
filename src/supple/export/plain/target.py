"""A reduced model as JSON, with its schema."""

from __future__ import annotations

import json
from typing import Any

from supple.export.c.generated_model import Exportable
from supple.export.plain.plain_model import FORMAT, VERSION, plain_model
from supple.export.target import ExportTarget


def json_files(rom: Exportable, prefix: str) -> dict[str, str]:
    """The model, and the schema of all such files."""
    return {
        f"{prefix}.json": json.dumps(plain_model(rom), ensure_ascii=False, allow_nan=False) + "\n",
        "supple-model.schema.json": json.dumps(SCHEMA, indent=1) + "\n",
    }


JSON = ExportTarget(
    "json", "plain data: names, boxes and polynomials as JSON, with a schema", json_files, families=True
)


# The JSON Schema of a plain model, for whoever reads or checks one.


def _object(optional: dict[str, Any] | None = None, /, **properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties | (optional or {}),
        "required": list(properties),
        "additionalProperties": False,
    }


def _list(of: dict[str, Any], says: str = "") -> dict[str, Any]:
    return {"type": "array", "items": of} | ({"description": says} if says else {})


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
    degrees=_list(_list(INTEGER), "of each term, along each of theta, then along each parameter"),
    polynomials=_ROWS,
)
_OPTIONAL = {
    "family": _FAMILY | {"description": "over theta and parameters; the rest is the model at their values"},
    "says": TEXT | {"description": "for which values of parameters it was written"},
}

SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "A reduced model of supple as plain data",
} | _object(
    _OPTIONAL,
    format={"const": FORMAT},
    version={"const": VERSION},
    name=TEXT,
    coordinates=_list(TEXT, "names of the coordinates, those that move the mechanism as a whole first"),
    theta=INTEGER | {"description": "how many of the coordinates these are"},
    inputs=_list(TEXT),
    outputs=_list(TEXT),
    units=_object(coordinates=_TEXTS, inputs=_TEXTS, outputs=_TEXTS),
    limits={"type": "object", "additionalProperties": _list(NUMBER)},
    friction=_object(forces=_list(NUMBER, "of joints with dry friction"), speed=NUMBER),
    error={"type": "object", "additionalProperties": NUMBER, "description": "stated error of each family"},
    bent={"type": "boolean", "description": "the mass matrix changes with the deformation"},
    curved={"type": "boolean", "description": "and to second order"},
    boxes=_BOXES,
    degrees=_list(_list(INTEGER), "of each term, along each of theta"),
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
