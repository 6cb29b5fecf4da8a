"""`supple modes`."""

from __future__ import annotations

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple as api

BEAMS = (
    ("rod: [A, B], length: crank, line_mass: 0.54", "beam: [A, B], length: crank, section: bar, material: steel"),
    ("rod: [B, E], length: coupler, line_mass: 0.54", "beam: [B, E], length: coupler, section: bar, material: steel"),
    ("rod: [D, E], length: follower, line_mass: 0.54", "beam: [D, E], length: follower, section: bar, material: steel"),
)
PARTS = """\
materials: {steel: {youngs_modulus: 210 GPa, density: 7800}}
sections: {bar: {rectangle: [20 mm, 10 mm]}}
"""


@pytest.fixture
def flexible(four_bar):
    """The planar four-bar with beams for rods."""
    text = four_bar.read_text()
    for rod, beam in BEAMS:
        assert rod in text
        text = text.replace(rod, beam)
    four_bar.write_text(text.replace("points:\n", PARTS + "points:\n"))
    api.modes(api.load(four_bar))  # compiled, so that no command below says so
    return four_bar


def test_it_gives_frequencies_and_words(supple, flexible):
    said = supple("modes", flexible, "--at", "home", "--count", 3, "--json")
    found, expected = said.object, api.modes(api.load(flexible), "home", count=3)
    assert said.err == ""
    assert_allclose(found["frequencies_hz"], expected.frequencies_hz, rtol=1e-12)
    assert found["descriptions"] == expected.descriptions
    assert found["at"] == {"crank": 0.3}
    assert_allclose(np.sum(list(found["energy"]["kinetic"].values()), axis=0), 1.0, rtol=1e-9)
    assert found["energy"]["kinetic"].keys() == {"crank", "coupler", "follower"}


def test_six_modes_unless_told_otherwise(supple, flexible):
    assert len(supple("modes", flexible, "--json").object["frequencies_hz"]) == 6


def test_free_actuators_with_and_without_what_gravity_adds(supple, flexible):
    mechanism = api.load(flexible)
    for option, preload in (((), True), (("--no-preload",), False)):
        found = supple("modes", flexible, "--free-actuators", *option, "--json").object["frequencies_hz"]
        expected = api.modes(mechanism, free_actuators=True, preload=preload).frequencies_hz
        assert_allclose(found, expected, rtol=1e-9, atol=1e-3)  # the first is zero but for rounding without gravity
    assert abs(found[0]) < 1e-3


def test_locked_with_and_without_what_gravity_adds(supple, flexible):
    mechanism = api.load(flexible)
    for option, preload in (((), True), (("--preload",), True), (("--no-preload",), False)):
        found = supple("modes", flexible, *option, "--json").object["frequencies_hz"]
        assert_allclose(found, api.modes(mechanism, preload=preload).frequencies_hz, rtol=1e-9)
    loaded, plain = (api.modes(mechanism, preload=preload).frequencies_hz for preload in (True, False))
    assert np.abs(loaded / plain - 1.0).max() > 1e-5


def test_it_is_readable(supple, flexible):
    said = supple("modes", flexible, "--at", "crank=0", "--count", 2)
    first, *modes = said.out.splitlines()
    assert first == "four-bar at crank=0, actuators locked"
    assert len(modes) == 2
    hertz = api.modes(api.load(flexible), [0.0], count=2).frequencies_hz
    assert f"{hertz[0]:.5g} Hz" in modes[0]
    assert "of the motion; crank" in modes[0]


def test_slopes_along_a_parameter(supple, flexible):
    expected = api.modes(api.load(flexible), "home", count=2, along="coupler")
    asked = ("modes", flexible, "--at", "home", "--count", 2, "--along", "coupler")
    found = supple(*asked, "--json").object
    assert_allclose(found["eigenvalue_slopes"]["coupler"], expected.eigenvalue_slopes["coupler"], rtol=1e-9)
    assert_allclose(found["frequency_slopes_hz"]["coupler"], expected.frequency_slopes["coupler"], rtol=1e-9)
    said = supple(*asked).out
    assert f"{expected.frequency_slopes['coupler'][0]:.4g} Hz per coupler" in said
    matrices = supple("linearize", flexible, "--rigid", "--along", "coupler,crank", "--json").object
    assert matrices["slopes"].keys() == matrices["eigenvalue_slopes"].keys() == {"coupler", "crank"}
    slopes = supple("local", flexible, "--rigid", "--along", "coupler", "--json").object["slopes"]["coupler"]
    assert_allclose(slopes["M"], api.local(api.load(flexible), rigid=True, along="coupler").slopes["coupler"]["M"])
    refused = supple("modes", flexible, "--along", "couplr")
    assert refused.status == 1
    assert 'unknown parameter "couplr"; did you mean "coupler"?' in refused.err


STRUCTURE = """\
supple: 1
name: mast
plane: xz
materials: {steel: {youngs_modulus: 210 GPa, density: 7800}}
sections: {bar: {rectangle: [20 mm, 10 mm]}}
points: {A: [0, 0], B: [0, 1]}
bodies:
  mast: {beam: [A, B], section: bar, material: steel}
joints:
  foot: {weld: [ground, mast], at: A}
"""


def test_of_what_has_no_actuators_none_are_locked(supple, folder):
    (folder / "mast.yaml").write_text(STRUCTURE)
    said = supple("modes", folder / "mast.yaml", "--count", 1)
    assert said.out.splitlines()[0] == "mast at rest"


def test_shapes_are_drawn(supple, flexible, folder):
    assert supple("modes", flexible, "--count", 2, "-o", "shapes.png").status == 0
    assert (folder / "shapes.png").read_bytes().startswith(b"\x89PNG")


def test_a_map_over_a_coordinate(supple, flexible, folder):
    said = supple("modes", flexible, "--map", "crank=-1.6:1.6:5", "--count", 2, "-o", "map.png", "--json")
    found = said.object
    assert said.err == ""
    assert_allclose(found["coordinates"]["crank"], np.linspace(-1.6, 1.6, 5))
    expected = api.modes(api.load(flexible), np.linspace(-1.6, 1.6, 5)[:, None], count=2).frequencies_hz
    assert_allclose(found["frequencies_hz"], expected, rtol=1e-12)
    assert found["assembled"] == [True] * 5
    assert (folder / "map.png").read_bytes().startswith(b"\x89PNG")


def test_a_map_marks_what_cannot_be_assembled(supple, flexible, folder):
    said = supple("modes", flexible, "--map", "crank=-120deg:120deg:3", "--count", 2, "-o", "map.csv", "--json")
    assert said.status == 0
    assert re.fullmatch("warning: 2 of 3 configurations cannot be assembled.* left empty\n", said.err)
    assert said.object["assembled"] == [False, True, False]
    assert said.object["frequencies_hz"][0] == [None, None]
    assert None not in said.object["frequencies_hz"][1]
    assert len((folder / "map.csv").read_text().splitlines()) == 4


def test_a_map_is_readable(supple, flexible):
    said = supple("modes", flexible, "--map", "crank=0:2:2", "--count", 2)
    assert "lowest [Hz]" in said.out
    assert re.search(r"^2 +- +-$", said.out, re.MULTILINE)  # nothing at 2 rad


def test_a_map_of_two_coordinates(supple, folder):
    said = supple("modes", "ralf", "--map", "lift=0.85:1.3:3,elbow=760mm:1.18:4", "--count", 2, "--json")
    assert np.shape(said.object["frequencies_hz"]) == (3, 4, 2)
    assert list(said.object["coordinates"]) == ["lift", "elbow"]
    assert np.shape(said.object["bands_hz"]) == (2, 2)


# ------------------------------------------------------------------------------------------------- refused


def test_a_rigid_mechanism_is_refused_with_its_line(supple, four_bar):
    said = supple("modes", four_bar)
    assert said.status == 1
    assert said.err.startswith(f"error: {four_bar}:")
    assert "replace a rod by a beam" in said.err


def test_a_rigid_mechanism_has_modes_once_its_actuators_are_free(supple, four_bar):
    said = supple("modes", four_bar, "--free-actuators", "--json")
    assert len(said.object["frequencies_hz"]) == 1
    assert re.fullmatch(r"warning: 6 modes .* only 1 .*--count 1 .*\n", said.err)


def test_more_modes_than_exist(supple, flexible):
    said = supple("modes", flexible, "--count", 500, "--json")
    assert said.status == 0
    assert len(said.object["frequencies_hz"]) == 36  # 15 nodes of three; 4 hinges of two rows, and the crank
    assert re.fullmatch(r"warning: 500 modes .* only 36 .*--count 36 .*\n", said.err)


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (("--count", "0"), 1, "at least 1 (got 0)"),
        (("--count", "-3"), 1, "at least 1 (got -3)"),
        (("--count", "two"), 2, "--count"),
        (("--at", "crank=1.9"), 1, "meets a dead point at crank=1.79999"),
        (("--at", "hom"), 1, 'did you mean "home"?'),
        (("--map", "crank=1.9:2.1:3"), 1, "meets a dead point"),
        (("--map", "crnk=0:1:3"), 1, 'did you mean "crank"?'),
        (("--map", "crank"), 2, "is not NAME=FROM:TO:N"),
        (("--map", "crank=1"), 2, "'crank=1' varies no coordinate; write NAME=FROM:TO:N"),
        (("--map", "crank=0:1:2:3"), 2, "is not NAME=FROM:TO:N"),
        (("--map", "crank=0:1:0"), 2, "an integer from 1 (got '0')"),
        (("--map", "crank=0:1:1e3"), 2, "an integer from 1 (got '1e3')"),
        (("--map", "crank=0:1:99999999999"), 1, "the limit of 1000000"),
        (("--map", "crank=0:1,crank=0:1"), 2, "twice"),
        (("--map", "crank=0:x"), 1, "--map crank"),
        (("--map", ""), 2, "is not NAME=FROM:TO:N"),
        (("-o", "no/such/folder/x.png"), 1, "cannot be written"),
        (("-o", "shapes.xyz"), 1, "shapes.xyz: neither a picture nor a table"),
    ],
)
def test_what_is_wrong_is_said(supple, flexible, folder, arguments, status, message):
    said = supple("modes", flexible, *arguments)
    assert said.status == status
    assert message in " ".join(said.err.replace("│", " ").split())
    assert "Traceback" not in said.err
    assert said.out == ""
