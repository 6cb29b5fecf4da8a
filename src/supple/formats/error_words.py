"""Our words for pydantic's: what is wrong with a value, and what to write instead."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from supple.diagnostics import nearest
from supple.diagnostics.quoting import brief, quoted

# By the beginning of pydantic's name for the mistake; a value of quite another type is a misfit.
_MISFITS = {
    "float": "a number",
    "int": "a whole number",
    "decimal": "a number",
    "string_type": "a text",
    "bool": "true or false",
    "list_type": "a list",
    "tuple_type": "a list",
    "set_type": "a list",
    "dict_type": "`key: value` pairs",
    "mapping_type": "`key: value` pairs",
    "model": "`key: value` pairs",
    "dataclass": "`key: value` pairs",
    "none_required": "nothing",
}
_LIMITS = {
    "greater_than": ("gt", "a value above {}"),
    "greater_than_equal": ("ge", "a value of {} or more"),
    "less_than": ("lt", "a value below {}"),
    "less_than_equal": ("le", "a value of {} or less"),
    "too_short": ("min_length", "at least {} items"),
    "too_long": ("max_length", "at most {} items"),
    "string_too_short": ("min_length", "at least {} characters"),
    "string_too_long": ("max_length", "at most {} characters"),
    "literal_error": ("expected", "{}"),
    "enum": ("expected", "{}"),
    "union_tag_invalid": ("expected_tags", "{}"),
    "finite_number": ("", "a finite number"),
}


def is_misfit(entry: dict[str, Any]) -> bool:
    """Whether a value is of quite another type than wanted."""
    return any(entry["type"].startswith(name) for name in _MISFITS)


def expected(entry: dict[str, Any]) -> str:
    """What pydantic would have accepted."""
    if "expected" in entry:  # several alternatives, joined by the caller
        return entry["expected"]
    if entry["type"] in _LIMITS:
        key, phrase = _LIMITS[entry["type"]]
        limit = entry.get("ctx", {}).get(key, "")
        return phrase.format(f"{limit:g}" if isinstance(limit, float) else limit)
    for name, phrase in _MISFITS.items():
        if entry["type"].startswith(name):
            return phrase
    return entry["msg"].removeprefix("Input should be ")


def words(entry: dict[str, Any], field: str, allowed: Sequence[str]) -> tuple[str, str | None]:
    """The message and the hint for one mistake.

    field   : what it is about inside its part, in the user's words; empty for the part itself
    allowed : the keys that may stand where an unknown one was found
    """
    kind, last = entry["type"], entry["loc"][-1] if entry["loc"] else ""
    if last == "[key]":
        return f"the name {quoted(entry['input'])} is not allowed", _name_hint(entry)
    subject = field or "it"
    if kind == "missing":
        if isinstance(last, int):
            return f"{subject} has no item {last + 1}", "give as many items as it needs"
        return f"{quoted(last)} is missing" + (f" in {field}" if field else ""), f"add `{brief(last)}: ...`"
    if kind == "extra_forbidden":
        hint = nearest(str(last), allowed) if allowed else "check its spelling or leave it out"
        return f"{subject} is not known", hint
    if kind in ("value_error", "assertion_error"):
        # Our own validators speak for themselves, hint included.
        text = str(entry.get("ctx", {}).get("error") or entry["msg"].partition(", ")[2])
        return (f"{field}: {text}" if field else text), None
    if kind in ("too_short", "too_long"):
        count = entry.get("ctx", {}).get("actual_length", len(entry["input"]))
        return f"{subject} has {count} item{'s' * (count != 1)}", f"give {expected(entry)}"
    return f"{subject} cannot be {_value(entry['input'])}", f"give {expected(entry)}"


def _value(value: Any) -> str:
    """A value as it stands in a file, shortened."""
    if value is None:
        return "empty"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):  # -10 has become -10.0 on its way
        return repr(float(value)).removesuffix(".0")
    return quoted(value) if isinstance(value, str) else brief(value)


def _name_hint(entry: dict[str, Any]) -> str:
    if entry["type"] == "string_pattern_mismatch":
        return "begin with a letter of a to z or A to Z, go on with such letters, digits, _ or -"
    return f"give {expected(entry)}"
