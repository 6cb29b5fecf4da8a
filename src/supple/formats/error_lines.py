"""What pydantic found wrong in a file, as one error of ours: the line, the part, the value, the next step.

pydantic lists every mistake, and for a value with alternatives every mistake against each of them. A user
mends one at a time, so the most telling one is chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from difflib import get_close_matches
from itertools import groupby
from typing import Any

from pydantic import ValidationError

from supple.diagnostics import InputError
from supple.diagnostics.parts import PARTS, part_name
from supple.diagnostics.quoting import quoted
from supple.formats.error_words import expected, is_misfit, words
from supple.formats.yaml_tree import KeyPath, Tree

FieldsAt = Callable[[KeyPath], Sequence[str]]
Found = dict[str, Any]  # an entry of ValidationError.errors()


def as_input_error(error: ValidationError, tree: Tree, fields_at: FieldsAt = lambda path: ()) -> InputError:
    """The most telling mistake, at its line.

    fields_at : the names allowed inside what stands at a path of the file, to suggest one for a misspelt key
    """
    entries: list[Found] = [dict(entry) for entry in error.errors(include_url=False)]
    chosen = _most_telling(entries, tree.data)
    path = existing(chosen["loc"], tree.data)
    part, field = _part_and_field(path)
    message, hint = words(chosen, field, fields_at(path[:-1]) if chosen["type"] == "extra_forbidden" else ())
    file, line = tree.place(path)
    return InputError(message, part=tree.called(part, path), hint=hint, path=path, file=file, line=line)


def existing(location: KeyPath, data: Any) -> KeyPath:
    """The items of a location of pydantic's that are keys or indices in the data, in their order."""
    return tuple(location[i] for i in _kept(location, 0, data))


def _kept(location: KeyPath, start: int, data: Any) -> tuple[int, ...]:
    """Which items of a location are in the data.

    pydantic puts the names of alternatives between the keys. A name may be that of a key as well (the
    alternative `rod` and the key `rod`), so both readings are tried.
    """
    best: tuple[int, ...] = ()
    for i in range(start, len(location)):
        item = location[i]
        if isinstance(data, list):
            found = isinstance(item, int) and 0 <= item < len(data)
        else:
            found = isinstance(data, dict) and item in data
        if found:
            kept = (i, *_kept(location, i + 1, data[item]))
            # Of two readings as long, the one that reaches the last item is about what pydantic complains of.
            if (len(kept), kept[-1]) > (len(best), best[-1] if best else -1):
                best = kept
        if len(best) == len(location) - start:  # nothing is left out: no other reading can be longer
            break
    return best


def _most_telling(entries: list[Found], data: Any) -> Found:
    """The first mistake, unless another one explains it."""
    first = entries[0]
    place = _alternative(first, data)
    if place is not None:
        return _most_telling_alternative(entries, place, data)
    if first["type"] in ("missing", "value_error", "assertion_error"):
        # A misspelt key is reported as one missing and one unknown: the unknown is what the user sees.
        holder = existing(first["loc"], data)
        for entry in entries:
            if entry["type"] == "extra_forbidden" and existing(entry["loc"], data)[:-1] == holder:
                return entry
    return first


def _most_telling_alternative(entries: list[Found], place: int, data: Any) -> Found:
    """The mistake against the alternative most likely meant: the one with the fewest mistakes."""
    common = entries[0]["loc"][:place]
    groups: dict[str | int, list[Found]] = {}
    for entry in entries:
        if entry["loc"][:place] == common and _alternative(entry, data) == place:
            groups.setdefault(entry["loc"][place], []).append(entry)
    fitting = [group for group in groups.values() if not _is_misfit(group, place)]
    if fitting:
        # Of equals the one whose mistake lies deeper: more of the value is as it wants it.
        group = min(fitting, key=lambda group: (_mistakes(group), -len(existing(group[0]["loc"], data))))
        stripped = [{**entry, "loc": (*common, *entry["loc"][place + 1 :])} for entry in group]
        return _most_telling(stripped, data)
    # None of them takes such a value at all: say what they would take.
    wanted = dict.fromkeys(expected(group[0]) for group in groups.values())
    return {**entries[0], "loc": common, "expected": " or ".join(wanted)}


def _is_misfit(group: list[Found], place: int) -> bool:
    """Whether an alternative refuses the value as a whole, for its type."""
    return len(group) == 1 and len(group[0]["loc"]) == place + 1 and is_misfit(group[0])


def _mistakes(group: list[Found]) -> int:
    """How far a value is from an alternative; a misspelt key does not count, it shows what was meant."""
    missing = [str(entry["loc"][-1]) for entry in group if entry["type"] == "missing"]
    unknown = [str(entry["loc"][-1]) for entry in group if entry["type"] == "extra_forbidden"]
    misspelt = sum(bool(get_close_matches(name, missing, n=1)) for name in unknown)
    return len(group) - 2 * misspelt


def _alternative(entry: Found, data: Any) -> int | None:
    """The first position in an entry's location that names an alternative, not a key."""
    location = entry["loc"]
    kept = _kept(location, 0, data)
    # A missing key is not in the file either, and a bad key is marked by one item more.
    names = len(location) - (entry["type"] == "missing" or location[-1:] == ("[key]",))
    return next((i for i in range(names) if i not in kept), None)


def _part_and_field(path: KeyPath) -> tuple[str | None, str]:
    """How the user would call a path: ("joints", "A", "axis", 0) is joint "A" and "axis", item 1."""
    part = None
    if len(path) > 1 and path[0] in PARTS and isinstance(path[1], str):
        part, path = part_name(path), path[2:]
    names: list[str] = []
    for is_index, run in groupby(path, lambda item: isinstance(item, int)):
        items = list(run)
        names += [f"item {int(i) + 1}" for i in items] if is_index else [quoted(".".join(map(str, items)))]
    return part, ", ".join(names)
