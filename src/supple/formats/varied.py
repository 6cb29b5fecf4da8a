"""The mechanism of the same description with other values of some of its parameters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel

from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError, nearest
from supple.diagnostics.quoting import quoted
from supple.formats.mechanism_file import Parameters, mechanism_of
from supple.formats.source import reader_of, source_of
from supple.formats.yaml_tree import YamlTree


def varied(mechanism: Mechanism, values: Parameters) -> Mechanism:
    """Built once more as it was written, with these values; parameters that follow from others follow.

    A robot's tables or a URDF beside the file are read again: numbers in them may use parameters too.
    """
    require_parameters(mechanism, values)
    reader = reader_of(mechanism)
    return from_written(mechanism, values) if reader is None else reader(values)


def from_written(mechanism: Mechanism, values: Parameters) -> Mechanism:
    """Built once more from the expressions of its own description alone."""
    written, tree = written_data(mechanism), source_of(mechanism)
    if tree is None:
        return mechanism_of(YamlTree(written, {}, "the mechanism"), parameters=values)
    whole = YamlTree(written, tree.lines, tree.file, tree.files, tree.names, tree.taken)
    return mechanism_of(whole, parameters=values, folder=Path(tree.file).parent)


def written_data(mechanism: Mechanism) -> dict[str, Any]:
    """What a mechanism was built from, before its parameters were put in: plain data with expressions."""
    found = mechanism.known("written")
    return _plain(mechanism.model_dump(exclude_defaults=True, by_alias=True) if found is None else found)


def changed_parameters(first: Mechanism, other: Mechanism) -> dict[str, float]:
    """Parameters of another mechanism of the same description that have other values there; not what follows from
    them."""
    before, after = (written_data(item).get("parameters") or {} for item in (first, other))
    given = [name for name, value in after.items() if value != before.get(name)]
    return {name: float(other.parameters[name]) for name in given if first.parameters[name] != other.parameters[name]}


def depends(mechanism: Mechanism, other: Mechanism) -> bool:
    """Whether they differ in more than their parameters."""
    fields = [name for name in type(mechanism).model_fields if name != "parameters"]
    return any(getattr(mechanism, name) != getattr(other, name) for name in fields)


def require_parameters(mechanism: Mechanism, names: Iterable[str], part: str = "parameters") -> None:
    """These are parameters of the mechanism; an InputError where they are not."""
    for name in names:
        if name not in mechanism.parameters:
            hint = nearest(name, mechanism.parameters) if mechanism.parameters else "write numbers as expressions in it"
            raise InputError(f"there is no parameter {quoted(name)}", part=part, hint=hint)


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return _plain(value.model_dump(exclude_defaults=True, by_alias=True))
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value
