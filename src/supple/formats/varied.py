"""The mechanism of the same file with other values of some of its parameters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from supple.description.mechanism import Mechanism
from supple.description.quantities.expression import resolve_parameters
from supple.diagnostics import InputError, nearest
from supple.diagnostics.quoting import quoted
from supple.formats.mechanism_file import mechanism_of
from supple.formats.source import reader_of, source_of


def varied(mechanism: Mechanism, values: Mapping[str, float]) -> Mechanism:
    """Read once more from its file's data, with these values; parameters that follow from others follow."""
    tree = require_parameters(mechanism, values)
    given = {**_replaced(mechanism, tree.data.get("parameters") or {}), **{k: float(v) for k, v in values.items()}}
    reader = reader_of(mechanism)
    if reader is not None:
        return reader(given)
    return mechanism_of(tree, parameters=given, folder=Path(tree.file).parent)


def changed(first: Mechanism, other: Mechanism) -> dict[str, float]:
    """Parameters of another mechanism of the same file that have other values there; not what follows from them."""
    tree = require_parameters(other, ())
    given = _replaced(other, tree.data.get("parameters") or {})
    moved = {name for name, value in other.parameters.items() if first.parameters[name] != value}
    return {name: float(value) for name, value in given.items() if name in moved}


def require_parameters(mechanism: Mechanism, names: Iterable[str]) -> Any:
    """The data of the mechanism's file, in which these parameters stand; an InputError where they do not."""
    tree = source_of(mechanism)
    if tree is None:
        raise InputError(
            "it was built in Python, and its numbers follow from no parameters",
            part=f'mechanism "{mechanism.name}"', hint="load it from a file, whose parameters: its numbers use",
        )  # fmt: skip
    for name in names:
        if name not in mechanism.parameters:
            raise InputError(
                f"there is no parameter {quoted(name)}", part="parameters", hint=nearest(name, mechanism.parameters)
            )
    return tree


def _replaced(mechanism: Mechanism, written: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters whose value is not the file's: those that were given when it was read."""
    found: dict[str, Any] = {}
    for plain in (True, False):  # what follows from other values is no replacement of its own
        before = resolve_parameters(written, found)
        found |= {
            name: value
            for name, value in mechanism.parameters.items()
            if isinstance(written[name], str) is not plain and before[name] != value
        }
    return found
