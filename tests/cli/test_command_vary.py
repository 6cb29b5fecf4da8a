"""`supple reduce --vary`, and commands on the model with `--set`."""

import pytest
from numpy.testing import assert_allclose

PENDULUM = """\
supple: 1
name: pendulum
plane: xz
gravity: [0, -9.81]
parameters: {long: 800 mm, load: 2}
points: {O: [0, 0], P: [long, 0]}
bodies: {bar: {rod: [O, P], mass: 1}}
point_masses: {load: {at: bar.P, mass: load}}
joints: {O: {revolute: [ground, bar]}}
actuators: {hinge: {joint: O, limits: [-1, 1]}}
sensors: {tip: {position: P}}
scenarios: {fall: {start: {hinge: 0}, until: 100 ms, step: 10 ms}}
"""


@pytest.mark.slow
def test_a_model_with_a_parameter_left_open(supple, tmp_path):
    file, rom = tmp_path / "p.yaml", tmp_path / "p.rom"
    file.write_text(PENDULUM)
    said = supple("reduce", file, "--vary", "load=1kg:3kg", "--boxes", 1, "--no-store", "-o", rom, "--json")
    assert said.status == 0, said.err
    assert said.object["parameters"] == {"load": {"value": 2.0, "range": [1.0, 3.0], "nominal": 2.0, "unit": "kg"}}
    assert "load=2 kg (of 1 to 3 kg)" in supple("evaluate", rom).out
    found = supple("evaluate", rom, "--set", "load=1500 g", "--json").object
    assert_allclose(found["M"], [[0.64 * (1.5 + 1.0 / 3.0)]], rtol=1e-9)
    compared = supple("compare", file, rom, "--set", "load=1.7", "--points", 50, "--json").object
    assert max(compared["coefficients"].values()) < 1e-2
    heavy, light = (
        supple("simulate", rom, "--scenario", "fall", "--set", f"load={m}", "--json").object for m in (3, 1)
    )
    assert heavy["outputs"]["tip.z"][-1] > light["outputs"]["tip.z"][-1]  # the rod alone falls faster
    linear = supple("linearize", rom, "--at", "hinge=0.3", "--set", "load=1", "--json").object
    assert_allclose(linear["B"][-1][0], 1.0 / (0.64 * (1.0 + 1.0 / 3.0)), rtol=1e-6)
    for setting, words in (
        ("load=5", "outside the range"),
        ("long=1", 'unknown parameter "long"'),
        ("load=1m", "a mass"),
    ):
        said = supple("evaluate", rom, "--set", setting)
        assert said.status == 1
        assert words in said.err


@pytest.mark.parametrize(
    ("text", "status", "words"),
    [("load", 2, "NAME=LOWER:UPPER"), ("load=1:2,load=1:3", 2, "twice"), ("lod=1:2", 1, "did you mean"),
     ("load=-1kg:2kg", 1, "cannot be -1"), ("long=1kg:2kg", 1, "a length")],
)  # fmt: skip
def test_what_cannot_be_varied(supple, tmp_path, text, status, words):
    file = tmp_path / "p.yaml"
    file.write_text(PENDULUM)
    said = supple("reduce", file, "--vary", text, "-o", tmp_path / "p.rom")
    assert said.status == status
    assert words in said.err
    assert not (tmp_path / "p.rom").exists()
