"""Reading and writing mechanism files."""

from __future__ import annotations

from pathlib import Path

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

import supple
from supple.formats.json_schema import SHIPPED, mechanism_schema
from supple.formats.mechanism_text import scalar
from supple.formats.source import locate_error, source_of
from supple.formats.yaml_tree import read_text, read_tree

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*/mechanism.yaml"))
STARTERS = sorted((Path(supple.__file__).parent / "cli" / "starters").glob("*.yaml"))

PENDULUM = """\
supple: 1
name: pendulum
plane: xz
parameters: {length: 2*half, half: 0.5}
points: {O: [0, 0], P: [length, 0]}
bodies:
  bar: {rod: [O, P], mass: 1}
joints:
  O: {revolute: [ground, bar]}
actuators:
  motor: {joint: O}
"""


def test_a_text_and_a_file_give_the_same(tmp_path):
    file = tmp_path / "pendulum.yaml"
    file.write_text(PENDULUM)
    assert supple.load(file) == supple.load(str(file)) == supple.loads(PENDULUM)


def test_numbers_are_worked_out_with_the_parameters():
    found = supple.loads(PENDULUM)
    assert found.points["P"] == (1.0, 0.0)
    assert found.parameters == {"length": 1.0, "half": 0.5}


@pytest.mark.parametrize("value", [0.75, "0.75", "3/4", "750 mm"])
def test_a_parameter_can_be_replaced(value):
    assert supple.loads(PENDULUM, parameters={"half": value}).points["P"] == (1.5, 0.0)


def test_a_parameter_that_is_not_in_the_file_cannot_be_replaced():
    with pytest.raises(supple.InputError, match='unknown parameter "halb"; did you mean "half"'):
        supple.loads(PENDULUM, parameters={"halb": 1})


@pytest.mark.parametrize("value", ["1/0", "lenght", "length", float("nan"), True, None])
def test_a_replaced_parameter_is_checked_and_not_looked_for_in_the_file(value):
    with pytest.raises(supple.InputError) as caught:
        supple.loads(PENDULUM, parameters={"half": value})
    if value != "length":  # then both are in the circle, and one of them stands in the file
        assert (caught.value.file, caught.value.part) == (None, 'parameter "half"')


def test_a_mechanism_remembers_its_file():
    found = supple.loads(PENDULUM, name="pendulum.yaml")
    tree = source_of(found)
    assert tree is not None
    assert tree.line(("bodies", "bar")) == 7
    error = locate_error(supple.InputError("too long", path=("bodies", "bar", "rod")), found)
    assert str(error) == "pendulum.yaml:7: too long"


def test_an_error_without_a_place_keeps_having_none():
    error = supple.InputError("too fast")
    assert locate_error(error, supple.loads(PENDULUM)) is error
    built = supple.loads(PENDULUM).replace(name="another")
    assert source_of(built) is None
    placed = supple.InputError("too long", path=("bodies", "bar"))
    assert locate_error(placed, built) is placed


def test_an_error_of_assembling_has_its_line():
    text = PENDULUM + "coordinates: [motor, O]\n"
    with pytest.raises(supple.InputError) as caught:
        supple.assemble(supple.loads(text, name="pendulum.yaml"))
    assert (caught.value.file, caught.value.line) == ("pendulum.yaml", 12)


# ------------------------------------------------------------------------------------------------ writing


@pytest.mark.parametrize("file", EXAMPLES + STARTERS, ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_what_is_written_is_read_back_equal(file):
    mechanism = supple.load(file)
    assert supple.loads(supple.to_yaml(mechanism)) == mechanism


def test_every_kind_of_part_is_written():
    mechanism = supple.Mechanism(
        name="all of it",
        description='two\nlines, "quoted" \\ and é',
        gravity=(0, 0, -9.81),
        parameters={"a": 1e-300, "b": 1 / 3},
        points={"O": (0, 0, 0), "P": (1, 0, 1e-7), "Q": (1, 1, 1)},
        bodies={
            "arm": supple.Body(rod=("O", "P"), length=1.5, line_mass=2, center=0.4),
            "block": supple.Body(
                solid=tuple(supple.Solid(box=(1, 2, 3), density=7800, center=(i, 0, 0)) for i in range(4))
            ),
            "disc": supple.Body(
                mass=1, center="Q", inertia=supple.Inertia(xx=1, yy=1, zz=1, xy=0.1),
                at="Q", rotation=supple.Rotation(about="-z", angle=0.5),
            ),
        },
        frames={"tip": supple.Frame(on="arm", local=(1, 0, 0))},
        joints={
            "O": supple.Joint(revolute=("ground", "arm"), axis=(0, 0, 1), motor=supple.Motor(inertia=1e-5, gear=100)),
            "P": supple.Joint(cylindrical=("arm", "block"), axis="y", rest={"slide": 0.1}, limits={"angle": (-1, 1)}),
            "Q": supple.Joint(universal=("block", "disc"), axes=("x", "-y"), viscous={"first": 0.1}),
        },
        point_masses={"load": supple.PointMass(at="tip", mass=3)},
        springs={"s": supple.Spring(between=("arm.P", "ground.Q"), stiffness=100, length=0.2)},
        dampers={"d": supple.Damper(joint="P.slide", damping=2)},
        forces={"f": supple.Force(at="tip", force=(1, 0, 0), follower=True)},
        actuators={"m": supple.Actuator(joint="O", limits=(-2, 2))},
        sensors={"t": supple.Sensor(position="tip", axis="x")},
        coordinates=("m", "P.slide", "P.angle", "Q.first", "Q.second"),
        configurations={"home": {"m": 0.5, "P.slide": -0.1}},
    )  # fmt: skip
    text = supple.to_yaml(mechanism)
    assert supple.loads(text) == mechanism
    assert max(map(len, text.splitlines())) <= 100
    _valid(text)


@given(st.one_of(st.text(), st.floats(allow_nan=False, allow_infinity=False), st.booleans(), st.none()))
def test_a_scalar_is_read_back(value):
    assert read_tree(f"key: {scalar(value)}\n", "text").data == {"key": value}
    assert read_tree(f"key: [{scalar(value)}, 1]\n", "text").data == {"key": [value, 1]}


@given(st.text(min_size=1))
def test_a_key_is_read_back(name):
    assert read_tree(f"{{{scalar(name)}: 1}}\n", "text").data == {name: 1}


# ------------------------------------------------------------------------------------------------ schema


def _valid(text: str) -> None:
    jsonschema.validate(read_tree(text, "text").data, mechanism_schema())


def test_the_shipped_schema_is_the_one_of_the_models():
    """If this fails: `supple schema > src/supple/mechanism.schema.json`."""
    import json

    assert json.loads(SHIPPED.read_text("utf-8")) == mechanism_schema()


def test_the_schema_is_one():
    found = mechanism_schema()
    jsonschema.Draft202012Validator.check_schema(found)
    assert (found["$id"], found["title"], found["version"]) == ("urn:supple:mechanism:1", "supple mechanism file", 1)


# Beside a robot stands no mechanism file, but what completes one.
WHOLE = [file for file in EXAMPLES + STARTERS if not file.with_suffix(".urdf").exists()]


@pytest.mark.parametrize("file", WHOLE, ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_what_we_ship_fits_the_schema(file):
    _valid(read_text(file))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("supple: 1\n", ""),
        ("supple: 1", "supple: 2"),
        ("mass: 1", "mass: -1"),
        ("mass: 1", "mas: 1"),
        ("plane: xz", "plane: xx"),
        ("[ground, bar]", "[ground]"),
        ("motor: ", "2nd: "),
        ("length: 2*half", "length: [1]"),
    ],
)
def test_the_schema_refuses_what_the_reader_refuses(old, new):
    text = PENDULUM.replace(old, new, 1)
    with pytest.raises(supple.InputError):
        supple.loads(text)
    with pytest.raises(jsonschema.ValidationError):
        _valid(text)
