"""Conversion of pydantic's validation errors to one InputError with line, part, value and next step.

pydantic lists every mistake, and for a value with alternatives every mistake against each of them. The user corrects
one at a time, so that the most informative mistake is selected.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from itertools import groupby
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from supple.description.part_of_kind import PartOfKind
from supple.diagnostics import InputError, nearest
from supple.diagnostics.errors import PARTS, excerpt, part_name, quote
from supple.formats.yaml_tree import KeyPath, YamlTree

FieldsAt = Callable[[KeyPath], Sequence[str]]
Found = dict[str, Any]  # an entry of ValidationError.errors()


def as_input_error(error: ValidationError, tree: YamlTree, fields_at: FieldsAt = lambda path: ()) -> InputError:
    """Return the most informative mistake as an error with its line.

    fields_at : function that returns the allowed keys at a path of the file, to suggest one for a misspelt key
    """
    entries: list[Found] = [dict(entry) for entry in error.errors(include_url=False)]
    chosen = _most_telling(entries, tree.data)
    path = find_existing(chosen["loc"], tree.data)
    part, field = _part_and_field(path)
    message, hint = words(chosen, field, fields_at(path[:-1]) if chosen["type"] == "extra_forbidden" else ())
    file, line = tree.place(path)
    return InputError(message, part=tree.name_part(part, path), hint=hint, path=path, file=file, line=line)


def find_existing(location: KeyPath, data: Any) -> KeyPath:
    """Return the items of pydantic's location that are keys or indices in the data, in order."""
    return tuple(location[i] for i in _find_positions(location, 0, data))


def _find_positions(location: KeyPath, start: int, data: Any) -> tuple[int, ...]:
    """Return the positions in a location whose items are in the data.

    pydantic puts the names of alternatives between the keys. Such a name may also be that of a key (the alternative
    `rod` and the key `rod`), so both readings are tried.
    """
    best: tuple[int, ...] = ()
    for i in range(start, len(location)):
        item = location[i]
        if isinstance(data, list):
            found = isinstance(item, int) and 0 <= item < len(data)
        else:
            found = isinstance(data, dict) and item in data
        if found:
            kept = (i, *_find_positions(location, i + 1, data[item]))
            # Of two readings of equal length, the one that reaches the last item is where pydantic found the mistake.
            if (len(kept), kept[-1]) > (len(best), best[-1] if best else -1):
                best = kept
        if len(best) == len(location) - start:  # all items are in the data: no other reading can be longer
            break
    return best


def _most_telling(entries: list[Found], data: Any) -> Found:
    """Return the first mistake, unless another one explains it."""
    first = entries[0]
    place = _alternative(first, data)
    if place is not None:
        return _most_telling_alternative(entries, place, data)
    if first["type"] in ("missing", "value_error", "assertion_error"):
        # A misspelt key is reported as one missing and one unknown key; the unknown one is in the user's file.
        holder = find_existing(first["loc"], data)
        for entry in entries:
            if entry["type"] == "extra_forbidden" and find_existing(entry["loc"], data)[:-1] == holder:
                return entry
    return first


def _most_telling_alternative(entries: list[Found], place: int, data: Any) -> Found:
    """Return the mistake against the most likely alternative, the one with the fewest mistakes."""
    common = entries[0]["loc"][:place]
    groups: dict[str | int, list[Found]] = {}
    for entry in entries:
        if entry["loc"][:place] == common and _alternative(entry, data) == place:
            groups.setdefault(entry["loc"][place], []).append(entry)
    fitting = [group for group in groups.values() if not _is_misfit(group, place)]
    if fitting:
        # Of equals the one whose mistake is deeper: more of the value is correct for it.
        group = min(fitting, key=lambda group: (_mistakes(group), -len(find_existing(group[0]["loc"], data))))
        stripped = [{**entry, "loc": (*common, *entry["loc"][place + 1 :])} for entry in group]
        return _most_telling(stripped, data)
    # No alternative accepts such a value: report what they accept.
    wanted = dict.fromkeys(describe_expected(group[0]) for group in groups.values())
    return {**entries[0], "loc": common, "expected": " or ".join(wanted)}


def _is_misfit(group: list[Found], place: int) -> bool:
    """Return whether an alternative refuses the value as a whole, because of its type."""
    return len(group) == 1 and len(group[0]["loc"]) == place + 1 and is_misfit(group[0])


def _mistakes(group: list[Found]) -> int:
    """Return how far a value is from an alternative; a misspelt key does not count, since it shows the intention."""
    missing = [str(entry["loc"][-1]) for entry in group if entry["type"] == "missing"]
    unknown = [str(entry["loc"][-1]) for entry in group if entry["type"] == "extra_forbidden"]
    misspelt = sum(bool(get_close_matches(name, missing, n=1)) for name in unknown)
    return len(group) - 2 * misspelt


def _alternative(entry: Found, data: Any) -> int | None:
    """Return the first position in an entry's location that is the name of an alternative, not a key."""
    location = entry["loc"]
    kept = _find_positions(location, 0, data)
    # A missing key is not in the file either, and a bad key is marked by one item more.
    names = len(location) - (entry["type"] == "missing" or location[-1:] == ("[key]",))
    return next((i for i in range(names) if i not in kept), None)


def _part_and_field(path: KeyPath) -> tuple[str | None, str]:
    """Return the user's name of a path: ("joints", "A", "axis", 0) is joint "A" and "axis", item 1."""
    part = None
    if len(path) > 1 and path[0] in PARTS and isinstance(path[1], str):
        part, path = part_name(path), path[2:]
    names: list[str] = []
    for is_index, run in groupby(path, lambda item: isinstance(item, int)):
        items = list(run)
        names += [f"item {int(i) + 1}" for i in items] if is_index else [quote(".".join(map(str, items)))]
    return part, ", ".join(names)


# Messages for pydantic's errors: the mistake, and what to write instead.


# By the beginning of pydantic's name for the mistake; a misfit is a value of an entirely different type.
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
    """Return whether a value is of an entirely different type than required."""
    return any(entry["type"].startswith(name) for name in _MISFITS)


def describe_expected(entry: dict[str, Any]) -> str:
    """Return a phrase for the values that pydantic would have accepted."""
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
    """Return the message and the hint for one mistake.

    field   : name of the field inside its part, as in the file; empty for the part itself
    allowed : keys that are allowed where an unknown one was found
    """
    kind, last = entry["type"], entry["loc"][-1] if entry["loc"] else ""
    if last == "[key]":
        return f"the name {quote(entry['input'])} is not allowed", _name_hint(entry)
    subject = field or "it"
    if kind == "missing":
        if isinstance(last, int):
            return f"{subject} has too few items (got {len(entry['input'])})", "add the missing ones"
        return f"{quote(last)} is missing" + (f" in {field}" if field else ""), f"add `{excerpt(last)}: ...`"
    if kind == "extra_forbidden":
        hint = nearest(str(last), allowed) if allowed else "check its spelling or remove it"
        return f"unknown key {subject}" if field else "unknown key", hint
    if kind in ("value_error", "assertion_error"):
        # The messages of supple's own validators are complete, including the hint.
        text = str(entry.get("ctx", {}).get("error") or entry["msg"].partition(", ")[2])
        return (f"{field}: {text}" if field else text), None
    if kind in ("too_short", "too_long"):
        count = entry.get("ctx", {}).get("actual_length", len(entry["input"]))
        return f"{subject} has {count} item{'s' * (count != 1)}", f"give {describe_expected(entry)}"
    return f"{subject} cannot be {_value(entry['input'])}", f"give {describe_expected(entry)}"


def _value(value: Any) -> str:
    """Return a value as it is written in a file, shortened."""
    if value is None:
        return "empty"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):  # -10 has become -10.0 on its way
        return repr(float(value)).removesuffix(".0")
    return quote(value) if isinstance(value, str) else excerpt(value)


def _name_hint(entry: dict[str, Any]) -> str:
    if entry["type"] == "string_pattern_mismatch":
        return "start with a letter (a-z, A-Z) or _, then use letters, digits, _ or -"
    return f"give {describe_expected(entry)}"


# Keys that a pydantic model allows at a path of a file.


def fields_of(model: type[BaseModel]) -> Callable[[KeyPath], list[str]]:
    """Return the function that gives `as_input_error` the allowed keys at a path."""

    def fields_at(path: KeyPath) -> list[str]:
        types: list[Any] = [model]
        for item in path:
            types = [inner for outer in types for inner in _inside(outer, item)]
        return list(dict.fromkeys(name for each in types if _is_model(each) for name in _names(each)))

    return fields_at


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def _names(model: type[BaseModel]) -> dict[str, Any]:
    """Return the keys of a model as they are written in a file, with their types."""
    own = model.keys_of_kinds() if issubclass(model, PartOfKind) else {}
    return {**own, **{field.alias or name: field.annotation for name, field in model.model_fields.items()}}


def _inside(kind: Any, item: str | int) -> Iterator[Any]:
    """Yield the possible types of a key or index in a value of this type, including alternatives."""
    if _is_model(kind):
        yield from _alternatives(_names(kind).get(str(item)))
        return
    origin, arguments = get_origin(kind), get_args(kind)
    if not isinstance(origin, type) or not arguments:
        return
    if issubclass(origin, Mapping):
        yield from _alternatives(arguments[1])
    elif issubclass(origin, Sequence):
        for each in arguments:
            yield from _alternatives(each)


def _alternatives(kind: Any) -> Iterator[Any]:
    origin = get_origin(kind)
    if origin is Annotated:
        yield from _alternatives(get_args(kind)[0])
    elif origin in (Union, UnionType):
        for each in get_args(kind):
            yield from _alternatives(each)
    else:
        yield kind
