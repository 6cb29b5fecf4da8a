"""YAML as plain data, with the line of every key.

A mechanism file needs only mappings, lists and scalars. All other features of YAML are refused (anchors, tags, several
documents), so that a file can neither build objects nor grow in memory, and a name has one meaning. The events of the
parser are therefore composed here, under limits that hold during reading.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError
from ruamel.yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    StreamEndEvent,
)
from ruamel.yaml.reader import ReaderError

from supple.diagnostics import InputError
from supple.diagnostics.errors import excerpt
from supple.formats.text_file import read_bytes, text_of, too_large

LARGEST = 2**20  # bytes
SHORT = "a mechanism file has only a few pages of text"
DEEPEST = 32  # levels of nested mappings and lists
MOST_NODES = 100_000

KeyPath = tuple[str | int, ...]

# The core schema of YAML 1.2: no octal by a leading zero, no yes and no, no sexagesimal numbers.
_WORDS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), math.inf),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -math.inf),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
}
_INTEGER = re.compile(r"[-+]?[0-9]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_LONGEST_INTEGER = 300  # digits; more would not fit a float


@dataclass(frozen=True)
class YamlTree:
    """Data of a file with the line of every key.

    files : path -> file, for parts from another file (a robot has two)
    names : path -> name in the file, for parts whose name differs there
    taken : parameters that were already evaluated for numbers of it (tables), so that the numbers do not name them
    """

    data: dict[str, Any]
    lines: dict[KeyPath, int]  # of a key, or of an item of a list; from 1
    file: str
    files: dict[KeyPath, str] = field(default_factory=dict)
    names: dict[KeyPath, str] = field(default_factory=dict)
    taken: frozenset[str] = frozenset()

    def line(self, path: KeyPath) -> int:
        """Return the line of the longest part of the path that the file has."""
        return self.place(path)[1]

    def place(self, path: KeyPath) -> tuple[str, int]:
        """Return file and line of the longest part of the path that exists."""
        for length in range(len(path), -1, -1):
            found = self.lines.get(tuple(path[:length]))
            if found is not None:
                return self.files.get(tuple(path[:length]), self.file), found
        return self.file, 1

    def fault(self, path: KeyPath, message: str, part: str, hint: str | None = None) -> InputError:
        """Return an error about the value at a path."""
        file, line = self.place(path)
        return InputError(message, part=part, file=file, line=line, hint=hint)

    def name_part(self, part: str | None, path: KeyPath) -> str | None:
        """Return the name of a part in messages, with its name in the file if that differs."""
        written = self.names.get(tuple(path[:2]))
        return part if part is None or written is None else f'{part} ("{excerpt(written)}" in the file)'


def read_text(path: str | Path) -> str:
    """Return the text of an existing, small UTF-8 file."""
    return text_of(read_bytes(path, LARGEST, SHORT), excerpt(path, 500))


def read_tree(text: str, file: str) -> YamlTree:
    """Return the data in a YAML text; `file` is for messages."""
    if len(text) > LARGEST or len(text.encode("utf-8", "replace")) > LARGEST:
        raise too_large(file, LARGEST, SHORT)
    return _Composer(text, file).tree()


class _Composer:
    """Composer of plain data, in one pass over the parser's events."""

    def __init__(self, text: str, file: str):
        self.file, self.text = file, text
        self.lines: dict[KeyPath, int] = {}
        self.nodes, self.reached = 0, 1
        self.events = self._events()

    def tree(self) -> YamlTree:
        event = next(self.events)
        while not isinstance(event, (DocumentStartEvent, StreamEndEvent)):
            event = next(self.events)
        if isinstance(event, StreamEndEvent):
            raise self._error("the file is empty", event, hint="`supple new` writes one to start from")
        top = next(self.events)
        data = self._node(top, ())
        if data is None:
            raise self._error("the file is empty", top, hint="`supple new` writes one to start from")
        if not isinstance(data, dict):
            raise self._error("the top level of the file must be a mapping", top, hint="write `key: value` lines")
        for event in self.events:
            if isinstance(event, DocumentStartEvent):
                raise self._error("the file has a second YAML document", event, hint="keep one document, without ---")
        return YamlTree(data, self.lines, self.file)

    def _events(self) -> Iterator[Event]:
        events = YAML(typ="safe", pure=True).parse(self.text)
        while True:
            try:
                event = next(events)
            except StopIteration:
                return
            except Exception as error:  # the parser fails on some texts: the escape \UFFFFFFFF overflows
                raise self._syntax_error(error) from error
            self.reached = event.start_mark.line + 1
            yield event

    def _node(self, event: Event, path: KeyPath) -> Any:
        self._admit(event)
        self.lines.setdefault(path, event.start_mark.line + 1)  # a key has already set its own line
        if isinstance(event, ScalarEvent):
            return self._scalar(event)
        if len(path) >= DEEPEST:
            raise self._error(
                f"nested more than {DEEPEST} levels deep", event, hint="check the brackets and the indentation"
            )
        return self._compose_mapping(path) if isinstance(event, MappingStartEvent) else self._list(path)

    def _admit(self, event: Event) -> None:
        """Count a node, and refuse anchors, aliases and tags."""
        self.nodes += 1
        if self.nodes > MOST_NODES:
            raise self._error(f"more than {MOST_NODES} values", event, hint="a mechanism file needs far fewer")
        anchor, tag = getattr(event, "anchor", None), getattr(event, "tag", None)
        if isinstance(event, AliasEvent) or anchor is not None:
            mark = "*" if isinstance(event, AliasEvent) else "&"
            raise self._error(
                f"{mark}{excerpt(anchor)}: anchors and aliases are not allowed",
                event,
                hint="define a shared value under `parameters:`",
            )
        if tag is not None:
            written = excerpt(str(tag).replace("tag:yaml.org,2002:", "!!"))
            raise self._error(f"the tag {written} is not allowed", event, hint="remove it")

    def _compose_mapping(self, path: KeyPath) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while not isinstance(event := next(self.events), MappingEndEvent):
            key = self._key(event)
            if key in found:
                raise self._error(
                    f'"{excerpt(key)}" is defined twice (first in line {self.lines[(*path, key)]})',
                    event,
                    hint="keep one of them",
                )
            self.lines[(*path, key)] = event.start_mark.line + 1
            found[key] = self._node(next(self.events), (*path, key))
        return found

    def _list(self, path: KeyPath) -> list[Any]:
        found: list[Any] = []
        while not isinstance(event := next(self.events), SequenceEndEvent):
            found.append(self._node(event, (*path, len(found))))
        return found

    def _key(self, event: Event) -> str:
        """Return a key, which is a name, even if it looks like a number."""
        self._admit(event)
        if not isinstance(event, ScalarEvent):
            raise self._error("a list or mapping cannot be a key", event, hint="write a name as the key")
        if not event.value:
            raise self._error("a key is empty", event, hint="write a name before the colon")
        return self._unicode(event)

    def _scalar(self, event: ScalarEvent) -> Any:
        text = self._unicode(event)
        if event.style is not None:  # quoted, or a block of text
            return text
        if text in _WORDS:
            return _WORDS[text]
        if _INTEGER.fullmatch(text) and len(text) <= _LONGEST_INTEGER:
            return int(text)
        if _FLOAT.fullmatch(text):
            value = float(text)
            if math.isinf(value):
                raise self._error(f"{excerpt(text)} is too large", event, hint="at most 1.8e308")
            return value
        return text

    def _unicode(self, event: ScalarEvent) -> str:
        try:
            event.value.encode("utf-8")
        except UnicodeEncodeError:  # "\ud800": half of a surrogate pair
            raise self._error(
                "a character is not valid Unicode", event, hint="write the character itself, not its escape"
            ) from None
        return event.value

    def _syntax_error(self, error: Exception) -> InputError:
        line, problem = self.reached, "the parser cannot continue here"
        if isinstance(error, MarkedYAMLError):
            here, begun = error.problem_mark or error.context_mark, error.context_mark
            problem = str(error.problem or error.context or problem)
            if here is not None:
                line = here.line + 1
            if begun is not None and begun.line + 1 < line:  # an open quote or bracket is noticed only at the end
                problem += f" ({error.context}, started in line {begun.line + 1})"
        elif isinstance(error, ReaderError):
            line, problem = self.text.count("\n", 0, error.position) + 1, "a control character is not allowed"
        hint = "indent with spaces, not tabs" if "\\t" in problem else "check the indentation, colons and brackets"
        return InputError(f"this is not valid YAML: {excerpt(problem, 200)}", file=self.file, line=line, hint=hint)

    def _error(self, message: str, event: Event, *, hint: str) -> InputError:
        return InputError(message, file=self.file, line=event.start_mark.line + 1, hint=hint)
