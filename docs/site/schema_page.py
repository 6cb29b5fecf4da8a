"""Generate the reference of the mechanism file from its schema."""

from __future__ import annotations

import json
import re
from typing import Any

from places import ROOT
from words import cell, docstring

# Records of the schema that have no section of their own on the page.
HIDDEN = {"Allowed"}


def schema_page() -> str:
    """Return every key of the file and of its records as Markdown."""
    schema = json.loads((ROOT / "src/supple/mechanism.schema.json").read_text("utf-8"))
    records = {name: record for name, record in schema["$defs"].items() if name not in HIDDEN}
    for field in schema["properties"].values():
        field.setdefault("description", _of_record(field, records))
    parts = ["## The file", _table(schema, "section")]
    parts += [f"## {name}\n\n{_record(record)}" for name, record in sorted(records.items())]
    return "\n\n".join(parts) + "\n"


def _of_record(field: dict[str, Any], records: dict[str, Any]) -> str:
    """Return the first sentence of a section's record, for sections without a description."""
    named = re.search(r"#/\$defs/(\w+)", json.dumps(field))
    text = records[named.group(1)].get("description", "") if named and named.group(1) in records else ""
    return re.split(r"(?<=[.:;])\s", " ".join(text.split()))[0].rstrip(":;")


def _record(record: dict[str, Any]) -> str:
    description = docstring(record.get("description", "")) if record.get("description") else ""
    if "properties" not in record:
        return f"{description}\n\nValue: {_type(record)}."
    return f"{description}\n\n{_table(record, 'key')}"


def _table(record: dict[str, Any], heading: str) -> str:
    needed, must = set(record.get("required", ())), " *Required.*"
    rows = [
        f"| `{name}` | {_type(field)} | {cell(field.get('description', ''))}{must if name in needed else ''} |"
        for name, field in record.get("properties", {}).items()
    ]
    return f"| {heading} | value | meaning |\n|---|---|---|\n" + "\n".join(rows)


def _type(field: dict[str, Any]) -> str:
    """Describe the values that a field accepts."""
    if "$ref" in field:
        name = field["$ref"].rsplit("/", 1)[1]
        return f"[{name}](#{name.lower()})" if name not in HIDDEN else name
    if "anyOf" in field or "oneOf" in field:
        several = field.get("anyOf") or field["oneOf"]
        kinds = list(dict.fromkeys(_type(one) for one in several if one.get("type") != "null"))
        if any(kind.startswith("number") for kind in kinds) and "text" in kinds and _is_number(field):
            kinds.remove("text")
        return " or ".join(kinds)
    if "const" in field:
        return f"`{field['const']}`"
    if "enum" in field:
        return ", ".join(f"`{one}`" for one in field["enum"])
    if field.get("type") == "array":
        return _list(field)
    if field.get("type") == "object":
        return _named(field)
    return {"string": "text", "integer": "whole number", "boolean": "`true` or `false`"}.get(
        field.get("type", ""), ""
    ) or _number(field)


def _is_number(field: dict[str, Any]) -> bool:
    return any("expression" in one.get("description", "") for one in field.get("anyOf") or field["oneOf"])


def _number(field: dict[str, Any]) -> str:
    if field.get("type") != "number":
        return "anything"
    if "exclusiveMinimum" in field:
        return f"number > {field['exclusiveMinimum']:g}"
    low, high = field.get("minimum"), field.get("maximum")
    if low is not None and high is not None:
        return f"number from {low:g} to {high:g}"
    return f"number ≥ {low:g}" if low is not None else "number"


def _list(field: dict[str, Any]) -> str:
    if "prefixItems" in field:
        kinds = list(dict.fromkeys(_type(one) for one in field["prefixItems"]))
        return (
            f"{len(field['prefixItems'])} of: {' and '.join(kinds)}"
            if len(kinds) == 1
            else f"[{', '.join(_type(one) for one in field['prefixItems'])}]"
        )
    low, high = field.get("minItems"), field.get("maxItems")
    count = f"{low} " if low == high and low else f"{low} to {high} " if low and high else ""
    items = _type(field.get("items", {}))
    return f"list of {count}{'numbers' if items == 'number' else items}".replace("2 to 3 numbers", "2 or 3 numbers")


def _named(field: dict[str, Any]) -> str:
    inside = next(iter(field.get("patternProperties", {}).values()), None) or field.get("additionalProperties")
    if isinstance(inside, dict):
        return re.sub(r"^", "name: ", _type(inside))
    return "name: value"
