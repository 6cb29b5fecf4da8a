"""Mechanism as the text of a mechanism file, which `load` reads back unchanged; also used to transfer mechanisms."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from supple.description.mechanism import SCHEMA_VERSION, Mechanism
from supple.diagnostics.arguments import require_arguments
from supple.formats.mechanism_file import loads

_WIDTH = 100  # characters of a line; longer values are split
_PLAIN = re.compile(r"-?[A-Za-z_][A-Za-z0-9_.\-]*")
_WORDS = {"null", "true", "false"}  # in upper or lower case; YAML reads them as values


def to_yaml(mechanism: Mechanism) -> str:
    """Return the text of a mechanism file for a mechanism.

    Parameters
    ----------
    mechanism : Mechanism
        Mechanism to write.

    Returns
    -------
    str
        YAML text with all values that differ from the defaults, one line per part where it fits. `loads` reads it as an
        equal mechanism.

    See Also
    --------
    loads : Mechanism from a text.

    Notes
    -----
    Expressions are evaluated when a mechanism is built, so they are written as numbers.

    Examples
    --------
    >>> import supple
    >>> mechanism = supple.load("four-bar")
    >>> supple.loads(supple.to_yaml(mechanism)) == mechanism
    True
    """
    require_arguments(to_yaml, locals())
    return as_text(mechanism.model_dump(exclude_defaults=True, by_alias=True))


def as_text(data: Mapping[str, Any]) -> str:
    """Return sections of a mechanism file as text."""
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
    """Return a scalar as YAML text."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(float(value)).removesuffix(".0")
    text = str(value)
    if _PLAIN.fullmatch(text) and text.lower() not in _WORDS:
        return text
    return '"' + "".join(_escape(character) for character in text) + '"'


def _block(key: str, value: Any, indent: int) -> Iterator[str]:
    """Yield `key: value` on one line, or with its parts below it."""
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
    """Return a value on one line."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{scalar(name)}: {_flow(part)}" for name, part in _drop_none(value)) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_flow(item) for item in value) + "]"
    return scalar(value)


def _drop_none(value: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    return ((name, part) for name, part in value.items() if part is not None)


def _escape(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    code = ord(character)
    if character.isprintable() and code != 0xFEFF:
        return character
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


# Transfer of a mechanism to another process as text, which reads back to the same numbers, once per process.


class Travelling:
    """Mechanism that is pickled as text; files that it names must exist where it is unpickled."""

    def __init__(self, described: Mechanism | str):
        self._described = described

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism; after unpickling it is read at first access."""
        return _read(self._described) if isinstance(self._described, str) else self._described

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        here = self._described
        return Travelling, (here if isinstance(here, str) else to_yaml(here),)


@lru_cache(maxsize=4)
def _read(text: str) -> Mechanism:
    return loads(text)
