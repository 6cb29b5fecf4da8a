"""JSON Schema of the mechanism file, for editors and for programs that write one."""

from __future__ import annotations

import json
import re
from inspect import cleandoc
from pathlib import Path
from typing import Any

from supple.description.mechanism import SCHEMA_VERSION, Mechanism
from supple.formats.khalil_kleinfinger.robot_tables import RobotTables

SHIPPED = Path(__file__).parents[1] / "mechanism.schema.json"
_SECTIONS = re.compile(r"\n+(?=\w[\w ]*\n-{3,}\n)")  # numpydoc sections of a docstring, which are for Python only


def mechanism_schema() -> dict[str, Any]:
    """Return the schema that the models define: what `load` accepts before checks of names and geometry."""
    found = _plain(Mechanism.model_json_schema())
    # A mechanism built in Python has a default version; a file must give it, and may have tables instead of bodies.
    tables = _plain(RobotTables.model_json_schema(ref_template="#/$defs/{model}"))
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
    """Return the schema as the text of a file."""
    return json.dumps(mechanism_schema(), indent=1, ensure_ascii=False) + "\n"


def _plain(value: Any, inside: str = "") -> Any:
    """Return a schema independent of pydantic's version, without titles that repeat a name and default values."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if not isinstance(value, dict):
        return value
    if inside in ("properties", "$defs"):  # here keys are names of the mechanism file, not of the schema language
        return {key: _plain(part) for key, part in value.items()}
    found = {key: _plain(part, key) for key, part in value.items() if key not in ("title", "default")}
    if isinstance(found.get("description"), str):
        found["description"] = _SECTIONS.split(cleandoc(found["description"]))[0].strip()
    if "anyOf" in found:  # flatten alternatives of an alternative
        found["anyOf"] = [
            inner for item in found["anyOf"] for inner in (item["anyOf"] if item.keys() == {"anyOf"} else [item])
        ]
    if "patternProperties" in found:  # refuse a name that fits no pattern
        found["additionalProperties"] = False
    return found
