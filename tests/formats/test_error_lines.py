"""A mistake in a file is told once: where, in which part, what was written and what to write."""

from __future__ import annotations

from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from supple.diagnostics import InputError
from supple.formats.error_lines import as_input_error, fields_of, find_existing
from supple.formats.yaml_tree import read_tree


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Rod(Part):
    rod: tuple[str, str]
    length: float = Field(gt=0)
    color: str | None = None


class Beam(Part):
    beam: tuple[str, str]
    section: str


class Motor(Part):
    inertia: float
    gear: float = 1.0


class Joint(Part):
    axis: str | tuple[float, float]
    motor: Motor | dict[str, Motor] | None = None


class Spring(Part):
    kind: Literal["spring"]
    k: float


class Bushing(Part):
    kind: Literal["bushing"]
    matrix: list[list[float]]


Name = Annotated[str, Field(pattern=r"^[A-Za-z_]+$")]


class File(Part):
    name: str
    plane: Literal["xy", "xz"] = "xy"
    gravity: list[float] = []
    points: dict[Name, list[float]] = {}
    bodies: dict[str, Rod | Beam] = {}
    joints: dict[str, Joint] = {}
    point_masses: dict[str, Motor] = {}
    springs: dict[str, Annotated[Spring | Bushing, Field(discriminator="kind")]] = {}


def told(text: str) -> InputError:
    tree = read_tree("name: x\n" + text, "f.yaml")
    with pytest.raises(ValidationError) as raised:
        File.model_validate(tree.data)
    return as_input_error(raised.value, tree, fields_of(File))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("joint: {}", 'f.yaml:2: unknown key "joint"; did you mean "joints" or "points"?'),
        ("plane: xw", "f.yaml:2: \"plane\" cannot be \"xw\"; give 'xy' or 'xz'"),
        ("gravity: 9.81", 'f.yaml:2: "gravity" cannot be 9.81; give a list'),
        ("gravity:", 'f.yaml:2: "gravity" cannot be empty; give a list'),
        ("gravity:\n  - 0\n  - down", 'f.yaml:4: "gravity", item 2 cannot be "down"; give a number'),
        ("joints:\n  A:\n    axes: x", 'f.yaml:4: joint "A": unknown key "axes"; did you mean "axis"?'),
        ("joints:\n  A: {}", 'f.yaml:3: joint "A": "axis" is missing; add `axis: ...`'),
        ("joints:\n  A: 3", 'f.yaml:3: joint "A": it cannot be 3; give `key: value` pairs'),
        # Alternatives: neither fits, one nearly fits, one is meant.
        ("joints: {A: {axis: 3}}", 'f.yaml:2: joint "A": "axis" cannot be 3; give a text or a list'),
        ("joints: {A: {axis: [1, y]}}", 'f.yaml:2: joint "A": "axis", item 2 cannot be "y"; give a number'),
        (
            "joints: {A: {axis: [1]}}",
            'f.yaml:2: joint "A": "axis" has too few items (got 1); add the missing ones',
        ),
        (
            "joints: {A: {axis: x, motor: {inertai: 1}}}",
            'f.yaml:2: joint "A": unknown key "motor.inertai"; did you mean "inertia"?',
        ),
        (
            "bodies:\n  arm:\n    rod: [A, B]\n    lenght: 1",
            'f.yaml:5: body "arm": unknown key "lenght"; did you mean "length"?',
        ),
        (
            "bodies:\n  arm:\n    beam: [A, B]",
            'f.yaml:3: body "arm": "section" is missing; add `section: ...`',
        ),
        (
            "bodies:\n  arm:\n    rod: [A, B]\n    length: -1",
            'f.yaml:5: body "arm": "length" cannot be -1; give a value above 0',
        ),
        ("bodies: {arm: rod}", 'f.yaml:2: body "arm": it cannot be "rod"; give `key: value` pairs'),
        (
            "point_masses: {p: {inertia: x}}",
            'f.yaml:2: point mass "p": "inertia" cannot be "x"; give a number',
        ),
        ("springs:\n  s: {kind: spring, k: a}", 'f.yaml:3: spring "s": "k" cannot be "a"; give a number'),
        (
            "points:\n  a b: [0]",
            'f.yaml:3: point "a b": the name "a b" is not allowed; '
            "start with a letter (a-z, A-Z) or _, then use letters, digits, _ or -",
        ),
    ],
)
def test_a_mistake_is_one_sentence(text, sentence):
    assert str(told(text)) == sentence


def test_a_tag_that_is_also_a_key_does_not_mislead():
    data = {"springs": {"s": {"spring": 1, "k": "a"}}}
    assert find_existing(("springs", "s", "spring", "k"), data) == ("springs", "s", "k")
    assert find_existing(("springs", "s", "function-after[f(), Spring]", "k", "float"), data) == (
        "springs",
        "s",
        "k",
    )
    assert find_existing(("springs", 3, "tuple[float, ...]"), data) == ("springs",)
    assert find_existing((), data) == ()


def test_a_long_value_is_shortened_and_printable():
    message = told('plane: "\\e[31m' + "x" * 500 + '"').message
    assert "\x1b" not in message
    assert len(message) < 100


def test_the_path_and_the_line_are_those_of_the_file():
    error = told("bodies:\n  arm:\n    rod: [A, B]\n    length: [1]\n")
    assert error.path == ("bodies", "arm", "length")
    assert (error.file, error.line, error.exit_status) == ("f.yaml", 5, 1)


@pytest.mark.parametrize(
    ("path", "names"),
    [
        (("joints", "A"), ["axis", "motor"]),
        (("joints", "A", "motor"), ["inertia", "gear"]),
        (("bodies", "arm"), ["rod", "length", "color", "beam", "section"]),
        (("springs", "s"), ["kind", "k", "matrix"]),
        (("gravity", 0), []),
        (("nothing", "here"), []),
    ],
)
def test_the_fields_at_a_path_are_those_of_all_alternatives(path, names):
    assert fields_of(File)(path) == names


def test_without_the_fields_the_hint_is_general():
    tree = read_tree("name: x\njoint: 1", "f.yaml")
    with pytest.raises(ValidationError) as raised:
        File.model_validate(tree.data)
    assert as_input_error(raised.value, tree).hint == "check its spelling or remove it"
