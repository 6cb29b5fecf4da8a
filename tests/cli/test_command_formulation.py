"""`--formulation erls` of the commands that take it."""

from __future__ import annotations

import pytest

ARM = """
supple: 1
name: arm
gravity: [0, 0, -9.81]
points: {O: [0, 0, 0], T: [0.5, 0, 0]}
materials: {alu: {youngs_modulus: 70e9, poisson: 0.3, density: 2700}}
sections: {bar: {rectangle: [0.02, 0.01]}}
bodies: {link: {beam: [O, T], section: bar, material: alu, elements: 3}}
point_masses: {tip: {at: link.T, mass: 0.5}}
joints: {O: {revolute: [ground, link], axis: y, motor: {inertia: 1e-5, gear: 50}}}
sensors: {tip: {position: link.T}}
actuators: {O: {joint: O}}
"""


@pytest.fixture
def arm(tmp_path):
    file = tmp_path / "arm.yaml"
    file.write_text(ARM)
    return file


@pytest.mark.parametrize(("command", "key"), [
    (("modes", "--count", 3), "frequencies_hz"),
    (("frf", "--input", "tip.z", "--output", "tip.z", "--damping", "0.01", "--lines", 3), "real"),
])  # fmt: skip
def test_modes_and_responses(supple, arm, command, key):
    name, *options = command
    ours, theirs = (supple(name, arm, *options, *more, "--json").object for more in (("--formulation", "erls"), ()))
    assert ours[key] == pytest.approx(theirs[key], rel=1e-4)


def test_a_run_and_a_linear_model(supple, arm):
    said = supple("simulate", arm, "--until", "20ms", "--step", "1ms", "--formulation", "erls", "--json")
    assert said.status == 0, said.err
    assert said.object["time"][-1] == pytest.approx(0.02)
    assert said.object["outputs"]["tip.z"][-1] < 0.0  # it falls
    linear = supple("linearize", arm, "--internal-modes", 2, "--formulation", "erls", "--json").object
    assert linear["states"] == ["O", "mode1", "mode2", "O.rate", "mode1.rate", "mode2.rate"]


@pytest.mark.parametrize("more", [("--map", "O=0:1:3"), ("--deformed",)])
def test_modes_that_have_one_formulation_refuse_it(supple, arm, more):
    said = supple("modes", arm, "--formulation", "erls", *more)
    assert said.status == 2
    assert "--formulation" in said.err


def test_a_name_that_is_none_is_refused(supple, arm):
    said = supple("modes", arm, "--formulation", "erl")
    assert said.status == 2
    assert "erls" in said.err
