"""Source files of mechanisms, so that an error found later still names its line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary

from supple.description.mechanism import Mechanism
from supple.diagnostics import SuppleError

if TYPE_CHECKING:  # a mechanism built in Python needs no YAML reader
    from supple.formats.yaml_tree import YamlTree

Error = TypeVar("Error", bound=SuppleError)

_sources: WeakKeyDictionary[Mechanism, YamlTree] = WeakKeyDictionary()


def remember(mechanism: Mechanism, tree: YamlTree) -> None:
    """Register the file of a mechanism, as long as the mechanism exists."""
    _sources[mechanism] = tree


def source_of(mechanism: Mechanism) -> YamlTree | None:
    """Return the file a mechanism was read from, with its lines; None for one built in Python."""
    return _sources.get(mechanism)


_readers: WeakKeyDictionary[Mechanism, Callable[[Mapping[str, Any]], Mechanism]] = WeakKeyDictionary()


def read_by(mechanism: Mechanism, reader: Callable[[Mapping[str, Any]], Mechanism]) -> Mechanism:
    """Register the reader (tables, URDF with a side-car) that reads a mechanism again with other parameter values.

    Return the mechanism.
    """
    _readers[mechanism] = reader
    return mechanism


def reader_of(mechanism: Mechanism) -> Callable[[Mapping[str, Any]], Mechanism] | None:
    """Return the registered reader of a mechanism; None if the data of its file are sufficient."""
    return _readers.get(mechanism)


def locate_error(error: Error, mechanism: Mechanism) -> Error:
    """Return the error with file and line, if it is about a part of a mechanism that came from a file."""
    tree = source_of(mechanism)
    if tree is None or error.file is not None or not error.path:
        return error
    file, line = tree.place(error.path)
    part = tree.name_part(error.part, error.path)
    return type(error)(error.message, part=part, hint=error.hint, path=error.path, file=file, line=line)
