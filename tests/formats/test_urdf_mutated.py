"""A good robot or side-car with something changed is understood or refused; it never fails in any other way."""

from __future__ import annotations

import copy
import json
import random
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

import supple
from supple.formats.yaml_tree import read_text, read_tree

FOLDER = Path(__file__).parents[2] / "examples" / "five-bar-urdf"
VALUES = [
    "", "0", "-1", "0 0 0", "1 2 3 4", "nan", "1e400", "1e300", "base", "tool", "left arm", "fixed", "floating",
    "planar", "prismatic", "x" * 200, "\u2028", "ground", "tip", "left shoulder", "${x}", "inf 0 0",
]  # fmt: skip
KEYS = [
    "constraints",
    "base",
    "mimic",
    "urdf",
    "closed_loop",
    "type",
    "name_mot",
    "joint_name",
    "actuators",
    "gravity",
    "rest",
]
# A changed name may be one that others could have added: that is said, and the rest understood.
pytestmark = pytest.mark.filterwarnings("ignore:.*URDF does not define")
DATA: list[Any] = [
    None, True, 0, -1, 1e300, "x", "", "fixed", "floating", "free", "locked", "ground", "tool", "left arm",
    "left elbow", [], {}, [0, 0, 0], ["left elbow", "right elbow"], [["left elbow", "right elbow"]],
    [["tool", "base"]], ["6d"], ["3d", "6d"], {"C": {"type": "ball", "parent": "tool", "child": "base"}},
    {"xyz": [0, 0, 0]}, {"link": "tool"}, "mechanism.urdf",
]  # fmt: skip


def changed_robot(root: Any, dice: random.Random) -> bytes:
    root = copy.deepcopy(root)
    for _ in range(dice.choice([1, 1, 2, 3])):
        element = dice.choice(list(root.iter()))
        match dice.randrange(5):
            case 0 if element.getparent() is not None:
                element.getparent().remove(element)
            case 1 if element.attrib:
                del element.attrib[dice.choice(list(element.attrib))]
            case 2:
                dice.choice(list(root) or [root]).append(copy.deepcopy(element))
            case 3:
                element.tag = dice.choice(["link", "joint", "axis", "constraint", "origin", "mimic", "parent", "other"])
            case _ if element.attrib:
                element.set(dice.choice(list(element.attrib)), dice.choice(VALUES))
    return etree.tostring(root)


def changed_data(data: dict[str, Any], dice: random.Random) -> dict[str, Any]:
    data = copy.deepcopy(data)
    for _ in range(dice.choice([1, 1, 2])):
        holder: Any = data
        while True:
            keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
            key = dice.choice(keys) if keys else None
            if key is None or not isinstance(holder[key], dict | list) or dice.random() < 0.3:
                break
            holder = holder[key]
        if key is not None and dice.random() < 0.3:
            del holder[key]
        elif key is not None:
            holder[key] = dice.choice(DATA)
        if dice.random() < 0.4:
            data[dice.choice(KEYS)] = dice.choice(DATA)
    return data


def refusal(file: Path) -> supple.InputError | None:
    try:
        mechanism = supple.load(file)
        assert supple.check(mechanism).mobility > 0 or mechanism.elastic
        assert supple.loads(supple.to_yaml(mechanism)) == mechanism
    except supple.InputError as error:
        return error
    return None


def are_answers(refused: list[supple.InputError | None]) -> bool:
    """Some were understood, and every other got a printable line that names the file."""
    said = [error for error in refused if error is not None]
    return 0 < len(said) < len(refused) and all(error.file and str(error).isprintable() for error in said)


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("sidecar", [False, True])
def test_a_changed_robot_is_understood_or_refused(seed, sidecar, tmp_path):
    dice = random.Random(seed)
    text = (FOLDER / "mechanism.urdf").read_bytes()
    root = etree.fromstring(text, etree.XMLParser(remove_comments=True))
    file = tmp_path / "mechanism.urdf"
    if sidecar:
        file.with_suffix(".yaml").write_bytes((FOLDER / "mechanism.yaml").read_bytes())
    found = []
    for _ in range(60):
        file.write_bytes(changed_robot(root, dice))
        found.append(refusal(file))
    assert are_answers(found)


@pytest.mark.slow
@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("seed", range(3))
def test_a_changed_side_car_is_understood_or_refused(seed, tmp_path):
    dice = random.Random(seed)
    data = read_tree(read_text(FOLDER / "mechanism.yaml"), "").data
    (tmp_path / "mechanism.urdf").write_bytes((FOLDER / "mechanism.urdf").read_bytes())
    file = tmp_path / "mechanism.yaml"
    found = []
    for _ in range(60):
        file.write_text(json.dumps(changed_data(data, dice)))  # JSON is YAML
        found.append(refusal(file))
    assert are_answers(found)
