"""Commands that take elastic parts as rigid: standard error and the field `rigid` say so, --rigid asks for it."""

from __future__ import annotations

import pytest

BEAM = """\
supple: 1
name: bar
plane: xz
gravity: [0, -9.81]
materials: {aluminium: {youngs_modulus: 70 GPa, density: 2700}}
sections: {bar: {rectangle: [20 mm, 10 mm]}}
points: {O: [0, 0], T: [0.8, 0]}
bodies: {link: {beam: [O, T], section: bar, material: aluminium}}
joints: {O: {revolute: [ground, link]}}
actuators: {motor: {joint: O, limits: [-1.5, 1.5]}}
sensors: {tip: {position: T}}
motions: {turn: {coordinates: {motor: {to: 0.3}}, duration: 0.2}}
"""


@pytest.fixture
def bar(tmp_path):
    file = tmp_path / "bar.yaml"
    file.write_text(BEAM)
    return file


@pytest.mark.filterwarnings("default::supple.diagnostics.SuppleWarning")  # on standard error, as for a user
@pytest.mark.parametrize(
    "arguments",
    [
        ("local",),
        ("linearize", "--at", "motor=0.1"),
        ("reduce", "--region", "motor=0:0.2", "--no-store", "-o", "bar.rom"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_command_says_what_it_takes_as_rigid(supple, bar, folder, arguments):
    command, *options = arguments
    said = supple(command, bar, *options, "--json")
    assert said.status == 0, said.err
    assert said.err.count('warning: mechanism "bar": its elastic part "link" is treated as rigid; ') == 1
    assert said.object["rigid"] == ["link"]
    meant = supple(command, bar, *options, "--rigid", "--json")
    assert "rigid" not in meant.err
    assert meant.object["rigid"] == ["link"]


def test_a_simulation_deforms_unless_asked_not_to(supple, bar):
    said = supple("simulate", bar, "--until", "5ms", "--json")
    assert said.object["rigid"] == []
    assert said.err == ""
    assert max(said.object["energy"]["strain"]) > 0.0
    meant = supple("simulate", bar, "--until", "5ms", "--rigid", "--json")
    assert meant.object["rigid"] == ["link"]


def test_forces_of_a_motion_are_those_of_the_elastic_mechanism_unless_asked_not_to(supple, bar):
    soft = supple("inverse", bar, "--motion", "turn", "--step", "2ms", "--json")
    stiff = supple("inverse", bar, "--motion", "turn", "--step", "2ms", "--rigid", "--json")
    assert soft.object["rigid"] == []
    assert soft.object["reason"] == ""
    assert soft.err == stiff.err == ""
    assert stiff.object["rigid"] == ["link"]
    assert soft.object["peak"]["motor"] != pytest.approx(stiff.object["peak"]["motor"], rel=1e-3)


def test_sag_of_any_size(supple, bar):
    small, large = (supple("deflection", bar, *more, "--json").object for more in ((), ("--large",)))
    assert large["large"]
    assert large["displacements"]["tip.z"] == pytest.approx(small["displacements"]["tip.z"], rel=1e-3)
    assert large["displacements"]["tip.x"] < 0.0  # what the linear model does not know
    assert "large displacements" in supple("deflection", bar, "--large").out


def test_a_rigid_mechanism_takes_nothing_as_rigid(supple, four_bar):
    said = supple("simulate", four_bar, "--until", "5ms", "--json")
    assert said.object["rigid"] == []
    assert said.err == ""


def test_modes_and_rigid_exclude_each_other(supple, bar):
    assert supple("local", bar, "--internal-modes", 1, "--json").object["rigid"] == []
    said = supple("local", bar, "--internal-modes", 1, "--rigid")
    assert said.status == 1
    assert "remove one" in said.err
