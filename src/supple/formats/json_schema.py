"""The JSON Schema of the mechanism file, for editors and for programs that write one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from supple.description.mechanism import SCHEMA_VERSION, Mechanism
from supple.formats.khalil_kleinfinger.robot_tables import Said

SHIPPED = Path(__file__).parents[1] / "mechanism.schema.json"


def mechanism_schema() -> dict[str, Any]:
    """The schema as the models define it: what `load` accepts before it looks at names and geometry."""
    found = _plain(Mechanism.model_json_schema())
    # A mechanism built in Python has a version by default; a file must say it, and may have tables for its bodies.
    tables = _plain(Said.model_json_schema(ref_template="#/$defs/{model}"))
    found["$defs"] = {**found["$defs"], **tables.pop("$defs", {}), "Tables": tables}
    found["properties"] = {**found["properties"], "tables": {"$ref": "#/$defs/Tables"}}
    found["required"] = ["supple"]
    found["anyOf"] = [{"required": ["bodies"]}, {"required": ["tables"]}]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:supple:mechanism:{SCHEMA_VERSION}",
        "version": SCHEMA_VERSION,
        **found,
        "title": "supple mechanism file",
    }


def schema_text() -> str:
    """The schema as the text of a file."""
    return json.dumps(mechanism_schema(), indent=1, ensure_ascii=False) + "\n"


def _plain(value: Any, inside: str = "") -> Any:
    """The same whichever pydantic wrote it, without titles that repeat a name and defaults that mean "left out"."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if not isinstance(value, dict):
        return value
    if inside in ("properties", "$defs"):  # here keys are the user's words, not the schema's
        return {key: _plain(part) for key, part in value.items()}
    found = {key: _plain(part, key) for key, part in value.items() if key not in ("title", "default")}
    if "anyOf" in found:  # alternatives of an alternative stand beside the others
        found["anyOf"] = [
            inner for item in found["anyOf"] for inner in (item["anyOf"] if item.keys() == {"anyOf"} else [item])
        ]
    if "patternProperties" in found:  # a name that fits no pattern is refused, not passed over
        found["additionalProperties"] = False
    return found
