"""Commands of drives on the command line: their units, what is said of them, and leaving them out."""

import re

import pytest

ARM = """
supple: 1
name: arm
plane: xy
points: {O: [0, 0], T: [0.5, 0]}
bodies: {link: {rod: [O, T], mass: 2}}
joints: {hinge: {revolute: [ground, link], at: O}}
actuators: {hinge: {joint: hinge, drive: {velocity: {frequency: 20 Hz, damping: 0.7, delay: 2 ms}}}}
sensors: {tip: {position: link.T}}
scenarios: {turn: {inputs: {hinge: 0.5 rad/s}, until: 0.1 s}}
"""


@pytest.fixture
def arm(tmp_path):
    path = tmp_path / "arm.yaml"
    path.write_text(ARM, encoding="utf-8")
    return path


def test_linear_models_tell_the_order_of_their_delays(supple, arm):
    found = supple("linearize", arm, "--pade", "2", "--json").object
    assert found["states"] == ["hinge", "hinge.rate", "hinge.drive3", "hinge.delay1", "hinge.delay2"]
    assert (found["delays"], found["pade"]) == ({"hinge": 0.002}, 2)
    assert re.search(r"delays \(hinge 0.002 s\) .* Padé .* order 3\b", supple("linearize", arm).out)
    assert supple("linearize", arm, "--no-drives", "--json").object["states"] == ["hinge", "hinge.rate"]


def test_a_response_is_to_the_command(supple, arm):
    ask = ("frf", arm, "--input", "hinge", "--output", "tip.y", "--to", "10", "--lines", "3", "--json")
    found = supple(*ask).object
    assert found["unit"] == "m/(rad/s)"
    assert found["imag"][0] == pytest.approx(-0.5 / 6.283, rel=0.01)  # at 1 Hz: half a metre of ∫ω dt
    assert supple(*ask, "--no-drives", "--free-actuators").object["unit"] == "m/(N m)"


def test_inputs_are_commands_with_their_unit(supple, arm):
    told = supple("simulate", arm, "--until", "0.1s", "--inputs", "hinge=0.5rad/s", "--json").object
    assert told["rates"]["hinge"][-1] == pytest.approx(0.5, abs=1e-3)
    assert told["coordinates"] == supple("simulate", arm, "--scenario", "turn", "--json").object["coordinates"]
    wrong = supple("simulate", arm, "--until", "0.1s", "--inputs", "hinge=2N*m")
    assert wrong.status == 1
    assert "torque" in wrong.err
    assert "rad/s" in wrong.err
    pushed = supple("simulate", arm, "--until", "0.1s", "--inputs", "hinge=2N*m", "--no-drives", "--json").object
    assert pushed["rates"]["hinge"][-1] == pytest.approx(2.0 * 0.1 / (2.0 * 0.25 / 3.0), rel=1e-3)
