"""A mechanism with other numbers, and its file with them: every other character stays as it was written."""

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
from supple.formats.edited_yaml import edited, nodes_of, yaml_value
from supple.formats.mechanism_file import mechanism_of
from supple.formats.mechanism_text import to_yaml
from supple.formats.source import source_of
from supple.formats.yaml_tree import read_text
from supple.identification.updating.written_numbers import Numbers, at_path
from supple.results.file import save_text

Changes = Mapping[tuple[str, ...], Any]

NOTHING: Changes = {}
_WRITTEN = (".yaml", ".yml", "")  # files whose numbers are changed where they stand


def updated_mechanism(numbers: Numbers, values: Array, beside: Changes = NOTHING) -> Mechanism:
    """The mechanism with these values of the chosen numbers, and with what else is to stand in its file, by path."""
    return changed_mechanism(numbers.mechanism, {**numbers_in_file(numbers, values), **beside}, numbers.parameters)


def numbers_in_file(numbers: Numbers, values: Array) -> dict[tuple[str, ...], Any]:
    """Where each number is written, and what it becomes."""
    return {
        item.path: float(value * item.ratio)
        for group, value in zip(numbers.members, values.tolist(), strict=True)
        for item in group
    }


def changed_mechanism(mechanism: Mechanism, changes: Changes, parameters: Mapping[str, Any] | None = None) -> Mechanism:
    """A mechanism with other entries of its file; parameters : as it was loaded with, where that differs from it."""
    tree = source_of(mechanism)
    data = copy.deepcopy(mechanism.model_dump(exclude_defaults=True, by_alias=True) if tree is None else tree.data)
    if data.get("parameters"):
        data["parameters"] = dict(parameters if parameters is not None else mechanism.parameters)
    for path, value in changes.items():
        _put(data, path, value)
    if tree is None:
        return Mechanism.model_validate(data)
    return mechanism_of(replace(tree, data=data), folder=Path(tree.file).parent)


def _put(data: Any, path: tuple[str, ...], value: Any) -> None:
    data, last = at_path(data, path[:-1]), path[-1]
    if isinstance(data, list):
        data[int(last)] = value
    else:
        data[last] = value


def save_updated(path: str | Path, numbers: Numbers, values: Array, beside: Changes = NOTHING) -> Path:
    """Write the text of `updated_text`; files that it names are named from the folder it is written into."""
    return save_text(path, updated_text(numbers, values, beside, place=Path(path).parent))


def updated_text(numbers: Numbers, values: Array, beside: Changes = NOTHING, *, place: Path | None = None) -> str:
    """The text of the mechanism's file with the numbers found; of one that was not read from YAML (a URDF), a new one.

    beside : what else is to stand in it, by path: damping, stiffness tables
    place  : the folder that it will stand in; that of the mechanism's file if left out
    """
    tree = source_of(numbers.mechanism)
    if tree is None or not Path(tree.file).is_file() or Path(tree.file).suffix.lower() not in _WRITTEN:
        return to_yaml(updated_mechanism(numbers, values, beside))
    text = read_text(tree.file)
    changes = {**numbers_in_file(numbers, values), **beside}
    names = {item.path: item.name for group in numbers.members for item in group}
    nodes = dict(nodes_of(text))
    for name, value in numbers.parameters.items():  # set when it was loaded, and not as in the file
        path = ("parameters", name)
        if path in nodes and path not in changes and not isinstance(value, str):
            start, stop = nodes[path][:2]
            if _other(text[start:stop], value):
                changes[path] = repr(float(value))
    if place is not None:
        changes |= moved_references(text, Path(tree.file).parent, place)
    changes = _as_wholes(changes, {path: node.kind for path, node in nodes.items()}, tree.data)
    try:
        return edited(text, changes)
    except KeyError as error:
        (path,) = error.args
        name = names.get(path, ".".join(path))
        raise InputError(
            "it stands in a table, whose cells are not rewritten", part=f'number "{name}"', file=tree.file,
            hint=f"write a name in that cell and give it a value under parameters: ({name.replace('.', '_')}: "
            f"{yaml_value(changes[path])})",
        ) from None  # fmt: skip


def _as_wholes(changes: Changes, kinds: Mapping[tuple[str, ...], str], data: Any) -> dict[tuple[str, ...], Any]:
    """Where the text has one value and the mechanism a table there, the whole table instead of its numbers."""
    found: dict[tuple[str, ...], Any] = {}
    for path, value in changes.items():
        above = next((path[:n] for n in range(1, len(path)) if kinds.get(path[:n]) == "scalar"), None)
        if above is None:
            found[path] = value
            continue
        if above not in found:
            found[above] = copy.deepcopy(at_path(data, above))
        _put(found[above], path[len(above) :], value)
    return found


def _other(text: str, value: float) -> bool:
    """Whether a text is not this number."""
    try:
        return float(text) != value
    except ValueError:
        return True  # an expression that does not give it any more


# A mechanism file written into another folder: what it names beside itself is named from there.


def moved_references(text: str, origin: Path, place: Path) -> dict[tuple[str, ...], str]:
    """Values of a YAML text that name files (tables, matrices, a robot), as a file in folder `place` names them.

    origin : the folder that the text's names start from. A name is that of a file if there is one of that name.
    """
    if origin.resolve() == place.resolve():
        return {}
    found = {}
    for path, node in nodes_of(text):
        name = text[node.start : node.stop].strip("\"'") if node.kind == "scalar" else ""
        if Path(name).suffix and not Path(name).is_absolute() and "\n" not in name and (origin / name).is_file():
            found[path] = json.dumps(_from(place, origin / name), ensure_ascii=False)
    return found


def _from(place: Path, file: Path) -> str:
    try:
        return Path(os.path.relpath(file.resolve(), place.resolve())).as_posix()
    except ValueError:  # on another drive
        return file.resolve().as_posix()
