"""The JSON Schema of the mechanism file, for editors and for programs that write one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from supple.description.mechanism import SCHEMA_VERSION, Mechanism

SHIPPED = Path(__file__).with_name("mechanism.schema.json")


def schema() -> dict[str, Any]:
    """The schema as the models define it: what `load` accepts before it looks at names and geometry."""
    found = _plain(Mechanism.model_json_schema())
    # A mechanism built in Python has a version by default; a file must say it.
    found["required"] = ["supple", *found.get("required", [])]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:supple:mechanism:{SCHEMA_VERSION}",
        "version": SCHEMA_VERSION,
        **found,
        "title": "supple mechanism file",
    }


def schema_text() -> str:
    """The schema as the text of a file."""
    return json.dumps(schema(), indent=1, ensure_ascii=False) + "\n"


def _plain(value: Any, inside: str = "") -> Any:
    """Without what tells a reader nothing: titles that repeat a name, defaults that mean "left out"."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if not isinstance(value, dict):
        return value
    names = inside in ("properties", "$defs")  # here keys are the user's words, not the schema's
    found = {
        key: _plain(part, key if not names else "")
        for key, part in value.items()
        if names or not (key == "title" or (key == "default" and part in (None, {}, [])))
    }
    if not names and "patternProperties" in found:  # a name that fits no pattern is refused, not passed over
        found["additionalProperties"] = False
    return found
