"""`supple assemble`, and what `--at` means."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple as api


def test_frames_are_where_the_configuration_puts_them(supple, four_bar):
    said = supple("assemble", four_bar, "--at", "crank=40deg", "--json")
    found = said.object
    angle = math.radians(40)
    assert said.err == ""
    assert_allclose(found["coordinates"]["crank"], angle, rtol=1e-12)
    assert_allclose(found["frames"]["B"]["position"], [0.5 * np.cos(angle), 0, 0.5 * np.sin(angle)], atol=1e-12)
    # In the plane xz angles turn from x to z, that is about -y.
    turned = [[np.cos(angle), 0, -np.sin(angle)], [0, 1, 0], [np.sin(angle), 0, np.cos(angle)]]
    assert_allclose(found["frames"]["crank"]["rotation"], turned, atol=1e-12)
    gap = np.subtract(found["frames"]["E"]["position"], found["frames"]["D"]["position"])
    assert_allclose(np.linalg.norm(gap), 0.6936, rtol=1e-9)
    assert set(found["joint_coordinates"]) == {"A", "B", "E", "D"}
    assert 0 < found["singularity"] < 1


def test_without_at_it_is_the_rest_configuration(supple, four_bar):
    found = supple("assemble", four_bar, "--json").object
    expected = api.check(api.load(four_bar))
    assert_allclose(found["singularity"], expected.singularity, rtol=1e-9)
    assert abs(found["coordinates"]["crank"]) < 0.01


@pytest.mark.parametrize(
    ("at", "value"),
    [
        ("home", 0.3),
        ("home,crank=0.2", 0.2),
        ("crank=0.2,home", 0.3),
        (" crank = -0.25 ", -0.25),
        ("crank=pi/8", math.pi / 8),
        ("crank=atan2(1, 2)", math.atan2(1, 2)),
    ],
)
def test_at_takes_names_values_units_and_arithmetic(supple, four_bar, at, value):
    found = supple("assemble", four_bar, "--at", at, "--json").object
    assert_allclose(found["coordinates"]["crank"], value, rtol=1e-12)


@pytest.mark.parametrize(
    ("at", "message"),
    [
        ("hom", '--at: unknown configuration "hom"; did you mean "home"?'),
        ("crank", '--at: coordinate "crank" has no value; write crank=VALUE'),
        ("crnk=1", '--at: unknown coordinate "crnk" of "four-bar"; did you mean "crank"?'),
        ("crank=", "--at crank: the expression is empty"),
        ("crank=1/0", "--at crank: division by zero"),
        ("crank=inf", '--at crank: unknown name "inf"'),
        ("crank=__import__('os')", "--at crank: "),
        ("", '--at: unknown configuration ""'),
        ("crank=1.85", "meets a dead point at crank=1.79999 (singularity"),
    ],
)
def test_a_wrong_configuration_is_refused(supple, four_bar, at, message):
    said = supple("assemble", four_bar, "--at", at)
    assert said.status == 1
    assert message in said.err
    assert said.err.count("\n") == 1
    assert said.out == ""


def test_limits_warn_and_do_not_stop(supple, four_bar):
    said = supple("assemble", four_bar, "--at", "crank=1.79", "--json")
    assert said.status == 0
    assert said.object["coordinates"]["crank"] == 1.79
    assert said.err == 'warning: actuator "crank" is at 1.79 rad, outside its limits [-1.75, 1.75]\n'


def test_without_coordinates_there_is_only_the_rest(supple, four_bar):
    four_bar.write_text(four_bar.read_text().partition("actuators:")[0])
    found = supple("assemble", four_bar, "--json").object
    assert found["coordinates"] == {}
    assert 0 < found["singularity"] < 1
    said = supple("assemble", four_bar, "--at", "crank=1")
    assert said.status == 1
    assert "--at needs coordinates" in said.err


def test_it_is_readable(supple, four_bar):
    said = supple("assemble", four_bar, "--at", "home")
    assert "0.3 rad (17.19°)" in said.out
    assert "17.1887° about (0, -1, 0)" in said.out
