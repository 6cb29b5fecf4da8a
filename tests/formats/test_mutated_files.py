"""A good file with something changed is understood or refused; it never fails in any other way."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import supple
from supple.formats.yaml_tree import read_text, read_tree

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*/mechanism.yaml"))
FILES = [file for file in EXAMPLES if not file.with_suffix(".urdf").exists()]  # robots have a test of their own
KEYS = [
    "axis", "at", "frames", "rest", "limits", "motor", "mass", "length", "weld", "plane", "center", "solid", "x",
    "beam", "beams", "section", "material", "up", "elements", "attach", "elastic", "superelement", "area", "damping",
]  # fmt: skip
VALUES: list[Any] = [
    None, True, 0, -1, 0.5, 1e300, 1e-300, 10**400, "x", "-z", "ground", "A", "a.b", "A.", ".A", "", "x y", "1/0",
    "sin", [], {}, [0], [0, 0], [0, 0, 0], [1, 2, 3, 4], ["A", "A"], ["ground", "crank"], {"x": 1}, [[1]],
    ["A", "B"], ["B", "D"], "bar", {"B": "A"}, [{"from": "A", "to": "B", "section": "bar", "material": "aluminium"}],
]  # fmt: skip


def places(data: Any) -> Iterator[tuple[Any, Any]]:
    """Every mapping or list in the data, with each of its keys or indices."""
    for key in list(data) if isinstance(data, dict) else range(len(data)) if isinstance(data, list) else ():
        yield data, key
        yield from places(data[key])


def changed(data: Any, dice: random.Random) -> Any:
    data = copy.deepcopy(data)
    for _ in range(dice.choice([1, 1, 2, 3])):
        holder, key = dice.choice(list(places(data)))
        match dice.randrange(4):
            case 0:
                del holder[key]
            case 1:
                other, there = dice.choice(list(places(data)))
                holder[key] = copy.deepcopy(other[there])
            case 2 if isinstance(holder, dict):
                holder[dice.choice(KEYS)] = dice.choice(VALUES)
            case _:
                holder[key] = dice.choice(VALUES)
    return data


@pytest.mark.slow
@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("seed", range(4))
def test_a_changed_file_is_understood_or_refused(seed):
    dice = random.Random(seed)
    trees = [read_tree(read_text(file), str(file)).data for file in FILES]
    refused: list[str] = []
    for _ in range(150):  # one in fifteen is understood
        text = json.dumps(changed(dice.choice(trees), dice))  # JSON is YAML
        try:
            mechanism = supple.loads(text, name="changed")
            assert supple.check(mechanism).mobility > 0 or mechanism.elastic  # a structure may bend alone
            assert supple.loads(supple.to_yaml(mechanism)) == mechanism
        except supple.InputError as error:
            refused.append(str(error))
    assert 0 < len(refused) < 150
    assert [said for said in refused if not said.startswith("changed:")] == []  # each has its place in the file
