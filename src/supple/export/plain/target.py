"""A reduced model as JSON, with its schema."""

from __future__ import annotations

import json

from supple.export.c.model import Exportable
from supple.export.plain.plain_model import plain_model
from supple.export.plain.schema import SCHEMA
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
