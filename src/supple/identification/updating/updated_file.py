"""A mechanism with changed values, and its file with them; all other text of the file is preserved."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from supple.array_types import Array
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError
from supple.formats.edited_yaml import edit_yaml, nodes_of, yaml_value
from supple.formats.mechanism_file import mechanism_of
from supple.formats.mechanism_text import to_yaml
from supple.formats.source import source_of
from supple.formats.yaml_tree import read_text
from supple.identification.updating.written_numbers import Numbers, at_path
from supple.results.file import save_text

Changes = Mapping[tuple[str, ...], Any]

NOTHING: Changes = {}
_WRITTEN = (".yaml", ".yml", "")  # files whose values are edited in place


def updated_mechanism(numbers: Numbers, values: Array, beside: Changes = NOTHING) -> Mechanism:
    """Return the mechanism with these parameter values, and with further entries of its file, by path."""
    return changed_mechanism(numbers.mechanism, {**numbers_in_file(numbers, values), **beside}, numbers.parameters)


def numbers_in_file(numbers: Numbers, values: Array) -> dict[tuple[str, ...], Any]:
    """Return the path of each value in the file, and its new value."""
    return {
        item.path: float(value * item.ratio)
        for group, value in zip(numbers.members, values.tolist(), strict=True)
        for item in group
    }


def changed_mechanism(mechanism: Mechanism, changes: Changes, parameters: Mapping[str, Any] | None = None) -> Mechanism:
    """Return a mechanism with changed entries of its file; parameters : those it was loaded with, if different."""
    tree = source_of(mechanism)
    data = copy.deepcopy(mechanism.model_dump(exclude_defaults=True, by_alias=True) if tree is None else tree.data)
    if data.get("parameters"):
        data["parameters"] = dict(parameters if parameters is not None else mechanism.parameters)
    for path, value in changes.items():
        _set_value(data, path, value)
    if tree is None:
        return Mechanism.model_validate(data)
    return mechanism_of(replace(tree, data=data), folder=Path(tree.file).parent)


def _set_value(data: Any, path: tuple[str, ...], value: Any) -> None:
    data, last = at_path(data, path[:-1]), path[-1]
    if isinstance(data, list):
        data[int(last)] = value
    else:
        data[last] = value


def save_updated(path: str | Path, numbers: Numbers, values: Array, beside: Changes = NOTHING) -> Path:
    """Write the text of `updated_text`; references to other files are adapted to the new folder."""
    return save_text(path, updated_text(numbers, values, beside, place=Path(path).parent))


def updated_text(numbers: Numbers, values: Array, beside: Changes = NOTHING, *, place: Path | None = None) -> str:
    """Return the text of the mechanism's file with the new values.

    A mechanism that was not read from YAML (URDF) has a new text.

    beside : further entries by path: damping, stiffness tables
    place  : folder of the new file. Default: that of the mechanism's file
    """
    tree = source_of(numbers.mechanism)
    if tree is None or not Path(tree.file).is_file() or Path(tree.file).suffix.lower() not in _WRITTEN:
        return to_yaml(updated_mechanism(numbers, values, beside))
    text = read_text(tree.file)
    changes = {**numbers_in_file(numbers, values), **beside}
    names = {item.path: item.name for group in numbers.members for item in group}
    nodes = dict(nodes_of(text))
    for name, value in numbers.parameters.items():  # set when it was loaded, to a value other than in the file
        path = ("parameters", name)
        if path in nodes and path not in changes and not isinstance(value, str):
            start, stop = nodes[path][:2]
            if _differs(text[start:stop], value):
                changes[path] = repr(float(value))
    if place is not None:
        changes |= moved_references(text, Path(tree.file).parent, place)
    changes = _as_wholes(changes, {path: node.kind for path, node in nodes.items()}, tree.data)
    try:
        return edit_yaml(text, changes)
    except KeyError as error:
        (path,) = error.args
        name = names.get(path, ".".join(path))
        raise InputError(
            "the value is in a table file, whose cells are not rewritten", part=f'parameter "{name}"', file=tree.file,
            hint=f"write a name in that cell and give it a value under parameters: ({name.replace('.', '_')}: "
            f"{yaml_value(changes[path])})",
        ) from None  # fmt: skip


def _as_wholes(changes: Changes, kinds: Mapping[tuple[str, ...], str], data: Any) -> dict[tuple[str, ...], Any]:
    """Replace changes inside a scalar of the text, which stands for a table in the mechanism, by the whole table."""
    found: dict[tuple[str, ...], Any] = {}
    for path, value in changes.items():
        above = next((path[:n] for n in range(1, len(path)) if kinds.get(path[:n]) == "scalar"), None)
        if above is None:
            found[path] = value
            continue
        if above not in found:
            found[above] = copy.deepcopy(at_path(data, above))
        _set_value(found[above], path[len(above) :], value)
    return found


def _differs(text: str, value: float) -> bool:
    """Return True if a text is not this number."""
    try:
        return float(text) != value
    except ValueError:
        return True  # an expression with another value


# References of a mechanism file to other files, adapted to another folder.


def moved_references(text: str, origin: Path, place: Path) -> dict[tuple[str, ...], str]:
    """Return the values of a YAML text that name files (tables, matrices, a robot), relative to the folder `place`.

    origin : folder that the names in the text are relative to; a value is a file name if such a file exists
    """
    if origin.resolve() == place.resolve():
        return {}
    found = {}
    for path, node in nodes_of(text):
        name = text[node.start : node.stop].strip("\"'") if node.kind == "scalar" else ""
        if Path(name).suffix and not Path(name).is_absolute() and "\n" not in name and (origin / name).is_file():
            found[path] = json.dumps(_relative_name(place, origin / name), ensure_ascii=False)
    return found


def _relative_name(place: Path, file: Path) -> str:
    try:
        return Path(os.path.relpath(file.resolve(), place.resolve())).as_posix()
    except ValueError:  # on another drive
        return file.resolve().as_posix()
