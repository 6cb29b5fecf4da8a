"""Editing of values in a YAML text, which leaves every other character as it is.

An existing scalar or mapping is replaced as a whole. A missing value becomes a new key of its mapping, in the style of
the mapping: `{key: value, ...}` in braces, otherwise a line of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ruamel.yaml import YAML
from ruamel.yaml.events import MappingEndEvent, MappingStartEvent, ScalarEvent, SequenceEndEvent, SequenceStartEvent

Path = tuple[str, ...]

_DIGITS = 6


class YamlSpan(NamedTuple):
    """Position of a value in a text.

    start, stop : first character, and the end
    kind        : scalar, mapping or list
    last        : end of the last value of a mapping
    column      : column of a mapping's keys; None in braces
    empty       : whether a mapping is empty
    """

    start: int
    stop: int
    kind: str
    last: int = -1
    column: int | None = None
    empty: bool = False


def edit_yaml(text: str, changes: Mapping[Path, Any]) -> str:
    """Return the text with new values; a path that is in no mapping of the text raises KeyError."""
    nodes = dict(nodes_of(text))
    changes = dict(_split_changes(changes, nodes))
    edits: list[tuple[int, int, str]] = []
    for path, value in changes.items():
        if path in nodes:
            edits.append((*nodes[path][:2], yaml_value(value)))
            continue
        above = nodes.get(path[:-1])
        if above is None or above.kind != "mapping":
            raise KeyError(path)
        entry = f"{path[-1]}: {yaml_value(value)}"
        if above.column is None:
            edits.append((above.last, above.last, entry if above.empty else f", {entry}"))
        else:  # after the line of its last value, including a comment there
            end = text.find("\n", above.last)
            end = len(text) if end < 0 else end
            edits.append((end, end, f"\n{' ' * above.column}{entry}"))
    for start, stop, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[stop:]
    return text


def _split_changes(changes: Mapping[Path, Any], nodes: Mapping[Path, YamlSpan]) -> Iterator[tuple[Path, Any]]:
    """Split the changes of a mapping that has the same keys in the text into its values."""
    for path, value in changes.items():
        keys = {other[len(path)] for other in nodes if len(other) == len(path) + 1 and other[: len(path)] == path}
        if isinstance(value, Mapping) and keys == set(value):
            yield from _split_changes({(*path, key): item for key, item in value.items()}, nodes)
        else:
            yield path, value


def yaml_value(value: Any) -> str:
    """Return a value as YAML text: numbers with six digits and a decimal point, lists and mappings in brackets."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {yaml_value(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(yaml_value(item) for item in value) + "]"
    if isinstance(value, str):
        return value
    text = f"{value:.{_DIGITS}g}"
    return text if any(mark in text for mark in ".e") else f"{text}.0" if len(text) < 3 else text


def nodes_of(text: str) -> Iterator[tuple[Path, YamlSpan]]:
    """Yield every value of a text with its position."""
    events = YAML(typ="safe", pure=True).parse(text)
    last = [0]  # where the last scalar ended: a mapping without braces has no end of its own

    def node(event: Any, path: Path) -> Iterator[tuple[Path, YamlSpan]]:
        start = event.start_mark.index
        if isinstance(event, ScalarEvent):
            last[0] = event.end_mark.index
            yield path, YamlSpan(start, last[0], "scalar")
        elif isinstance(event, MappingStartEvent):
            column, empty = None, True
            last[0] = start + 1
            while not isinstance(key := next(events), MappingEndEvent):
                if empty and not event.flow_style:
                    column = key.start_mark.column
                empty = False
                yield from node(next(events), (*path, str(key.value)))
            behind = last[0]
            last[0] = key.end_mark.index if event.flow_style else behind
            yield path, YamlSpan(start, last[0], "mapping", behind, column, empty)
        elif isinstance(event, SequenceStartEvent):
            i = 0
            while not isinstance(item := next(events), SequenceEndEvent):
                yield from node(item, (*path, str(i)))
                i += 1
            last[0] = item.end_mark.index if event.flow_style else last[0]
            yield path, YamlSpan(start, last[0], "list")

    for event in events:
        if isinstance(event, MappingStartEvent):
            yield from node(event, ())
            return
