"""A mechanism as the text of a mechanism file, which `load` reads back equal, and which takes it to other processes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from supple.description.mechanism import SCHEMA_VERSION, Mechanism
from supple.diagnostics.arguments import require_arguments
from supple.formats.mechanism_file import loads

_WIDTH = 100  # what fits is written on one line
_PLAIN = re.compile(r"-?[A-Za-z_][A-Za-z0-9_.\-]*")
_WORDS = {"null", "true", "false"}  # in any case; YAML takes them for values


def to_yaml(mechanism: Mechanism) -> str:
    """The mechanism file of a mechanism: what differs from the defaults, one part a line where it fits.

    Expressions have been evaluated when a mechanism is built, so numbers are written as such.
    """
    require_arguments(to_yaml, locals())
    return as_text(mechanism.model_dump(exclude_defaults=True, by_alias=True))


def as_text(data: Mapping[str, Any]) -> str:
    """Sections of a mechanism file as text."""
    lines = [f"supple: {SCHEMA_VERSION}"]
    for section, value in data.items():
        if isinstance(value, Mapping) and value:
            lines.append(f"{section}:")
            for name, part in value.items():
                lines += _block(name, part, 2)
        else:
            lines += _block(section, value, 0)
    return "\n".join(lines) + "\n"


def scalar(value: Any) -> str:
    """A scalar as YAML reads it back."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(float(value)).removesuffix(".0")
    text = str(value)
    if _PLAIN.fullmatch(text) and text.lower() not in _WORDS:
        return text
    return '"' + "".join(_escaped(character) for character in text) + '"'


def _block(key: str, value: Any, indent: int) -> Iterator[str]:
    """`key: value` on one line, or with its parts below it."""
    margin, head = " " * indent, f"{' ' * indent}{scalar(key)}:"
    line = f"{head} {_flow(value)}"
    if len(line) <= _WIDTH or not isinstance(value, Mapping | list | tuple):
        yield line
        return
    yield head
    if isinstance(value, Mapping):
        for name, part in value.items():
            yield from _block(name, part, indent + 2)
    else:
        for item in value:
            yield f"{margin}  - {_flow(item)}"


def _flow(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{scalar(name)}: {_flow(part)}" for name, part in _given(value)) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_flow(item) for item in value) + "]"
    return scalar(value)


def _given(value: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    return ((name, part) for name, part in value.items() if part is not None)


def _escaped(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    code = ord(character)
    if character.isprintable() and code != 0xFEFF:
        return character
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


# A mechanism on its way to another process: as text, which reads back to the same numbers, and is read once there.


class Travelling:
    """The mechanism itself where it was made; packed, its text. Files that it names must be there on arrival."""

    def __init__(self, described: Mechanism | str):
        self._described = described

    @property
    def mechanism(self) -> Mechanism:
        """Where it has arrived, read when it is first asked for."""
        return _read(self._described) if isinstance(self._described, str) else self._described

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        here = self._described
        return Travelling, (here if isinstance(here, str) else to_yaml(here),)


@lru_cache(maxsize=4)
def _read(text: str) -> Mechanism:
    return loads(text)
