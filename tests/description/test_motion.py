"""Motions as they are described: read, written back, known to editors."""

from __future__ import annotations

import jsonschema
import pytest
from pydantic import ValidationError

import supple
from supple.formats.json_schema import mechanism_schema
from supple.formats.yaml_tree import read_tree

TEXT = """\
supple: 1
name: arm
plane: xz
parameters: {up: 80 deg, fast: 2}
points: {O: [0, 0], E: [1, 0], T: [2, 0]}
bodies:
  upper: {rod: [O, E], mass: 2}
  fore: {rod: [E, T], mass: 1}
joints:
  shoulder: {revolute: [ground, upper], at: O}
  elbow: {revolute: [upper, fore], at: E}
actuators: {shoulder: {joint: shoulder}, elbow: {joint: elbow}}
motions:
  lift: {coordinates: {shoulder: {from: 10 deg, to: up, velocity: fast, acceleration: 4*fast, jerk: 99}}}
  turn: {coordinates: {shoulder: {rate: 30 rpm}, elbow: {from: 0.2}}, duration: 500 ms}
  shake: {coordinates: {elbow: {amplitude: 2 deg, frequency: 8 Hz}}, duration: 1}
  draw: {tool: {place: T, path: [[1.2, 0.3], [1.4, fast/4]], velocity: 0.1}, duration: 9}
"""


def test_numbers_take_units_and_parameters():
    motions = supple.loads(TEXT).motions
    lift = motions["lift"].coordinates["shoulder"]
    assert (lift.start, lift.velocity, lift.acceleration, lift.jerk) == (pytest.approx(0.174533, rel=1e-5), 2, 8, 99)
    assert lift.to == pytest.approx(1.396263, rel=1e-6)
    assert motions["turn"].coordinates["shoulder"].rate == pytest.approx(3.141593, rel=1e-6)
    assert motions["turn"].duration == 0.5
    assert motions["draw"].tool.path == ((1.2, 0.3), (1.4, 0.5))


def test_they_are_written_as_they_are_read():
    mechanism = supple.loads(TEXT)
    written = supple.to_yaml(mechanism)
    assert "from: 0.2" in written
    assert supple.loads(written) == mechanism


@pytest.mark.slow
def test_editors_know_them():
    data = read_tree(TEXT, "arm").data
    jsonschema.validate(data, mechanism_schema())
    data["motions"]["turn"]["coordinates"]["elbow"] = {"start": 0.2}  # the name in Python is not one of the file's
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(data, mechanism_schema())


@pytest.mark.parametrize(
    "motion",
    [
        {"duration": 1},
        {"coordinates": {}, "duration": 1},
        {"coordinates": {"a": {}}, "duration": 1},
        {"coordinates": {"a": {"start": 1}}, "duration": 1},
        {"coordinates": {"a": {"to": 1}}},
        {"coordinates": {"a": {"rate": 1}}},
        {"coordinates": {"a": {"rate": 1, "to": 2}}, "duration": 1},
        {"coordinates": {"a": {"amplitude": 1}}, "duration": 1},
        {"coordinates": {"a": {"rate": 1, "jerk": 1}}, "duration": 1},
        {"coordinates": {"a": {"to": 1, "velocity": 0}}},
        {"coordinates": {"a": {"to": 1, "velocity": 1}}, "duration": 0},
        {"tool": {"place": "P", "path": [[0, 0]]}, "duration": 1},
        {"tool": {"place": "P", "path": [[0, 0], [1, 1]]}},
        {"tool": {"place": "P", "path": [[0, 0], [1, 1]]}, "coordinates": {"a": {"rate": 1}}, "duration": 1},
    ],
)
def test_what_makes_no_motion_is_refused(motion):
    with pytest.raises(ValidationError):
        supple.Motion(**motion)


def test_a_motion_is_frozen():
    motion = supple.Motion(coordinates={"a": {"rate": 1}}, duration=1)
    with pytest.raises(ValidationError):
        motion.duration = 2
