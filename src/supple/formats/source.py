"""Which file a mechanism was read from, so that an error found later still names its line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary

from supple.description.mechanism import Mechanism
from supple.diagnostics import SuppleError

if TYPE_CHECKING:  # kept apart from the YAML reader: a mechanism built in Python needs none
    from supple.formats.yaml_tree import YamlTree

Error = TypeVar("Error", bound=SuppleError)

_sources: WeakKeyDictionary[Mechanism, YamlTree] = WeakKeyDictionary()


def remember(mechanism: Mechanism, tree: YamlTree) -> None:
    """Note where a mechanism comes from, as long as it lives."""
    _sources[mechanism] = tree


def source_of(mechanism: Mechanism) -> YamlTree | None:
    """The file a mechanism was read from, with its lines; None for one built in Python."""
    return _sources.get(mechanism)


_readers: WeakKeyDictionary[Mechanism, Callable[[Mapping[str, Any]], Mechanism]] = WeakKeyDictionary()


def read_by(mechanism: Mechanism, reader: Callable[[Mapping[str, Any]], Mechanism]) -> Mechanism:
    """The mechanism, whose file needs a reader of its own (tables, a URDF with a side-car) to be read once more with
    other values of its parameters."""
    _readers[mechanism] = reader
    return mechanism


def reader_of(mechanism: Mechanism) -> Callable[[Mapping[str, Any]], Mechanism] | None:
    """What reads its file with other values of parameters; None where the data of the file are enough."""
    return _readers.get(mechanism)


def located(error: Error, mechanism: Mechanism) -> Error:
    """The error with file and line, if it is about a part of a mechanism that came from a file."""
    tree = source_of(mechanism)
    if tree is None or error.file is not None or not error.path:
        return error
    file, line = tree.place(error.path)
    part = tree.called(error.part, error.path)
    return type(error)(error.message, part=part, hint=error.hint, path=error.path, file=file, line=line)
