"""Runs of elastic mechanisms that cannot go on: what there is, one line on standard error, and the exit status."""

from __future__ import annotations

import pytest

SOFT = """\
supple: 1
name: soft
plane: xz
gravity: [0, -9.81]
materials: {steel: {youngs_modulus: 210 GPa, density: 7800}}
sections: {strip: {rectangle: [20 mm, 2 mm]}}
points: {O: [0, 0], T: [0.8, 0]}
bodies: {link: {beam: [O, T], section: strip, material: steel, elements: 1}}
joints: {O: {revolute: [ground, link]}}
actuators: {motor: {joint: O, limits: [-1.5, 1.5]}}
damping: {rayleigh: [0, 1e-2]}
sensors: {tip: {position: T}}
motions: {whip: {coordinates: {motor: {to: 1.5}}, duration: 50 ms}}
scenarios: {push: {inputs: {motor: 60}, until: 0.2}}
"""


@pytest.fixture
def soft(tmp_path):
    file = tmp_path / "soft.yaml"
    file.write_text(SOFT)
    return file


@pytest.mark.parametrize(
    "arguments",
    [("simulate", "--scenario", "push"), ("inverse", "--motion", "whip", "--step", "1ms")],
    ids=lambda arguments: arguments[0],
)
def test_a_beam_bent_too_far_ends_a_run_with_what_there_is(supple, soft, arguments):
    command, *options = arguments
    said = supple(command, soft, *options, "--json")
    assert said.status == 3
    found = said.object
    assert 0.0 < found["time"][-1] < 0.2
    assert "more than 0.5 rad relative to its chord" in found["reason"]
    (line,) = (line for line in said.err.splitlines() if not line.startswith("supple: compiling"))
    assert line.startswith("error: ")
    assert f"end at {found['time'][-1]:.6g} s" in line
    assert "more elements" in line


def test_a_sensor_that_is_not_there_is_named(supple, soft):
    said = supple("deflection", soft, "--large", "--places", "tap.z")
    assert said.status == 1
    assert '"tap' in said.err


def test_modes_of_the_deformed_and_of_the_turning_mechanism(supple, soft):
    plain = supple("modes", soft, "--count", 1, "--json").object["frequencies_hz"][0]
    sagged = supple("modes", soft, "--count", 1, "--deformed", "--json").object
    turning = supple("modes", soft, "--count", 1, "--rates", "motor=20rad/s", "--json").object
    assert sagged["rigid"] == []
    assert sagged["frequencies_hz"][0] == pytest.approx(plain, rel=0.2)
    assert turning["rates"] == {"motor": 20.0}
    assert turning["frequencies_hz"][0] > 1.05 * plain
    assert "deformed by steady motion" in supple("modes", soft, "--rates", "motor=20rad/s").out


@pytest.mark.parametrize("more", [(), ("--rates", "motor=20rad/s")])
def test_a_map_of_the_deformed_mechanism_has_its_frequencies(supple, soft, more):
    mapped = supple("modes", soft, "--deformed", *more, "--count", 2, "--map", "motor=0:0.5:2", "--json").object
    alone = supple("modes", soft, "--deformed", *more, "--count", 2, "--at", "motor=0.5", "--json").object
    assert mapped["names"][:2] == ["frequency 1", "damping ratio 1"]
    pairs = zip(alone["frequencies_hz"], alone["damping_ratios"], strict=True)
    assert mapped["values"][1] == pytest.approx([value for pair in pairs for value in pair], rel=1e-6, abs=1e-9)
