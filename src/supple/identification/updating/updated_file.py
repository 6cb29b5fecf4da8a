"""A mechanism with other numbers, and its file with them: every other character stays as it was written."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from ruamel.yaml import YAML
from ruamel.yaml.events import MappingEndEvent, MappingStartEvent, ScalarEvent, SequenceEndEvent, SequenceStartEvent

from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError
from supple.formats.mechanism_file import mechanism_of
from supple.formats.mechanism_text import to_yaml
from supple.formats.source import source_of
from supple.formats.yaml_tree import read_text
from supple.identification.updating.written_numbers import Member, Numbers

Array = NDArray[np.float64]
Path_ = tuple[str, ...]

_DIGITS = 6


def updated_mechanism(numbers: Numbers, values: Array) -> Mechanism:
    """The mechanism with these values of the chosen numbers."""
    tree = source_of(numbers.mechanism)
    data = copy.deepcopy(
        numbers.mechanism.model_dump(exclude_defaults=True, by_alias=True) if tree is None else tree.data
    )
    if data.get("parameters"):  # as the mechanism was loaded with, where that differs from the file
        data["parameters"] = dict(numbers.parameters)
    for item, value in _members(numbers, values):
        _put(data, item.path, value)
    if tree is None:
        return Mechanism.model_validate(data)
    return mechanism_of(replace(tree, data=data), folder=Path(tree.file).parent)


def _members(numbers: Numbers, values: Array) -> list[tuple[Member, float]]:
    return [
        (item, float(value * item.ratio))
        for group, value in zip(numbers.members, values.tolist(), strict=True)
        for item in group
    ]


def _put(data: Any, path: Path_, value: float) -> None:
    for key in path[:-1]:
        data = data[int(key)] if isinstance(data, list) else data[key]
    last = path[-1]
    if isinstance(data, list):
        data[int(last)] = value
    else:
        data[last] = value


def updated_text(numbers: Numbers, values: Array, damping: Mapping[str, float]) -> str:
    """The text of the mechanism's file with the numbers found; of one that was not read from a file, a new one.

    damping : `damping.eta` and the like that were found, which go under `damping:`
    """
    tree = source_of(numbers.mechanism)
    if tree is None or not Path(tree.file).is_file():
        return to_yaml(updated_mechanism(numbers, values))
    text = read_text(tree.file)
    spans = dict(_scalars(text))
    changes: list[tuple[int, int, str]] = []
    chosen = {item.path for item, _ in _members(numbers, values)}
    for item, value in _members(numbers, values):
        if item.path not in spans:
            raise InputError(
                "it stands in a table, whose cells are not rewritten", part=f'number "{item.name}"', file=tree.file,
                hint=f"write a name in that cell and give it a value under parameters: ({item.name.replace('.', '_')}: "
                f"{value:.{_DIGITS}g})",
            )  # fmt: skip
        changes.append((*spans[item.path], _written(value)))
    for name, value in numbers.parameters.items():  # set when it was loaded, and not as in the file
        path = ("parameters", name)
        if path in spans and path not in chosen and not isinstance(value, str):
            start, stop = spans[path]
            changes += [(start, stop, repr(float(value)))] if _other(text[start:stop], value) else []
    text = _replaced(text, changes)
    return _with_damping(text, damping) if damping else text


def _other(written: str, value: float) -> bool:
    """Whether a text is not this number."""
    try:
        return float(written) != value
    except ValueError:
        return True  # an expression that does not give it any more


def _written(value: float) -> str:
    """With as many digits as measurements have, and a point, so that YAML takes it for a number."""
    text = f"{value:.{_DIGITS}g}"
    return text if any(mark in text for mark in ".e") else f"{text}.0" if len(text) < 3 else text


def _replaced(text: str, changes: list[tuple[int, int, str]]) -> str:
    for start, stop, new in sorted(changes, reverse=True):
        text = text[:start] + new + text[stop:]
    return text


def _with_damping(text: str, damping: Mapping[str, float]) -> str:
    spans = dict(_scalars(text))
    eta = damping.get("damping.eta")
    if eta is not None:
        line, path = f"damping: {{structural: {_written(eta)}}}", ("damping", "structural")
        if path in spans:
            return _replaced(text, [(*spans[path], _written(eta))])
    else:
        alpha, beta = damping["damping.alpha"], damping["damping.beta"]
        line = f"damping: {{rayleigh: [{_written(alpha)}, {_written(beta)}]}}"
        pair = [("damping", "rayleigh", str(i)) for i in range(2)]
        if pair[0] in spans:
            return _replaced(text, [(*spans[pair[0]], _written(alpha)), (*spans[pair[1]], _written(beta))])
    if any(path[0] == "damping" for path in spans):
        raise InputError("the file has another law of damping", part="damping", hint=f"write {line} there")
    return f"{text.rstrip()}\n{line}\n"


def _scalars(text: str) -> Iterator[tuple[Path_, tuple[int, int]]]:
    """Where each scalar value stands in the text: from, to."""
    events = YAML(typ="safe", pure=True).parse(text)

    def node(event: Any, path: Path_) -> Iterator[tuple[Path_, tuple[int, int]]]:
        if isinstance(event, ScalarEvent):
            yield path, (event.start_mark.index, event.end_mark.index)
        elif isinstance(event, MappingStartEvent):
            while not isinstance(key := next(events), MappingEndEvent):
                yield from node(next(events), (*path, str(key.value)))
        elif isinstance(event, SequenceStartEvent):
            i = 0
            while not isinstance(item := next(events), SequenceEndEvent):
                yield from node(item, (*path, str(i)))
                i += 1

    for event in events:
        if isinstance(event, MappingStartEvent):
            yield from node(event, ())
            return
