"""Values put into a text of YAML: every other character stays as it was written.

A scalar that is there is replaced; a mapping that is there is replaced as a whole; what is not there becomes a new key
of its mapping, in its style: `{key: value, ...}` in braces, a line of its own else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ruamel.yaml import YAML
from ruamel.yaml.events import MappingEndEvent, MappingStartEvent, ScalarEvent, SequenceEndEvent, SequenceStartEvent

Path = tuple[str, ...]

_DIGITS = 6


class YamlSpan(NamedTuple):
    """Where a value stands: from, to; of a mapping the column of its keys (None in braces), and where its last value
    ends; kind : scalar, mapping or list."""

    start: int
    stop: int
    kind: str
    last: int = -1
    column: int | None = None
    empty: bool = False


def edited(text: str, changes: Mapping[Path, Any]) -> str:
    """The text with these values; what stands in no mapping of the text raises KeyError with its path."""
    nodes = dict(nodes_of(text))
    changes = dict(_parted(changes, nodes))
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
        else:  # behind the line of its last value, and what stands beside it
            end = text.find("\n", above.last)
            end = len(text) if end < 0 else end
            edits.append((end, end, f"\n{' ' * above.column}{entry}"))
    for start, stop, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[stop:]
    return text


def _parted(changes: Mapping[Path, Any], nodes: Mapping[Path, YamlSpan]) -> Iterator[tuple[Path, Any]]:
    """Of a mapping that has the same keys in the text, its values one by one."""
    for path, value in changes.items():
        keys = {other[len(path)] for other in nodes if len(other) == len(path) + 1 and other[: len(path)] == path}
        if isinstance(value, Mapping) and keys == set(value):
            yield from _parted({(*path, key): item for key, item in value.items()}, nodes)
        else:
            yield path, value


def yaml_value(value: Any) -> str:
    """A number with as many digits as measurements have, and a point, so that YAML takes it for one; lists and mappings
    in brackets and braces."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {yaml_value(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(yaml_value(item) for item in value) + "]"
    if isinstance(value, str):
        return value
    text = f"{value:.{_DIGITS}g}"
    return text if any(mark in text for mark in ".e") else f"{text}.0" if len(text) < 3 else text


def nodes_of(text: str) -> Iterator[tuple[Path, YamlSpan]]:
    """Every value of a text and where it stands."""
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
