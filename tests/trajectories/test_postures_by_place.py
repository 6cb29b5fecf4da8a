"""Postures by where a place is: θ that was, distances in closed form, units and words."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

import supple

ARM = """\
supple: 1
name: arm
plane: xz
points: {A: [0, 0], B: [0.8, 0.6], C: [0.8, 1.3]}
bodies:
  upper: {rod: [A, B], mass: 1}
  fore: {rod: [B, C], mass: 1}
joints:
  A: {revolute: [ground, upper]}
  B: {revolute: [upper, fore]}
actuators: {a: {joint: A}, b: {joint: B}}
sensors: {tip: {position: fore.C}}
configurations: {near: {tip: [50cm, 0.8]}, level: {tip.x: 0.7 m}, seen: {a: 0.1, tip.x: 0.7 m}}
"""
INNER, OUTER = 0.3, 1.7  # m: reach of the arm, links of 1 m and 0.7 m


@pytest.fixture
def arm():
    return supple.loads(ARM)


def within_limits(mechanism, count):
    limits = np.array([actuator.limits for actuator in mechanism.actuators.values()])
    share = np.random.default_rng(15).random((count, len(limits)))
    return supple.assemble(mechanism, limits[:, 0] + share * np.ptp(limits, axis=1))


@pytest.mark.parametrize(("name", "place"), [("orthoglide", "tool"), ("ralf", "tip")])
def test_positions_give_the_coordinates_that_led_there(example, name, place):
    mechanism = example(name)
    there = within_limits(mechanism, 1000)
    seen = mechanism.sensors[place].place
    x = (there.frame(seen).position @ mechanism.plane_axes())[:, : 2 if mechanism.planar else 3]
    back = supple.assemble(mechanism, {place: x})
    assert_allclose(back.frame(seen).position, there.frame(seen).position, atol=1e-10)
    assert_allclose(back.theta, there.theta, atol=1e-10)


def test_an_elastic_delta_stands_at_a_thousand_tool_positions(example):
    surgiscope, random = example("surgiscope"), np.random.default_rng(16)
    turn, radius = random.uniform(0.0, 2.0 * np.pi, 1000), 0.35 * np.sqrt(random.random(1000))
    x = np.column_stack([radius * np.cos(turn), radius * np.sin(turn), random.uniform(-1.4, -0.85, 1000)])
    assert_allclose(supple.assemble(surgiscope, {"tool": x}).frame("platform").position, x, atol=1e-10)


def test_poses_give_the_coordinates_that_led_there(example):
    stewart = example("stewart")
    there = within_limits(stewart, 1000)
    pose = there.frame("platform")
    vectors = Rotation.from_matrix(pose.rotation).as_rotvec()
    back = supple.assemble(stewart, {"platform": np.hstack([pose.position, vectors])})
    assert_allclose(back.theta, there.theta, atol=1e-10)
    assert_allclose(back.frame("platform").rotation, pose.rotation, atol=1e-10)


def test_what_is_not_mentioned_stays_as_at_rest(example):
    stewart = example("stewart")
    found = supple.assemble(stewart, {"platform.x": [0.0, 0.05], "platform.z": 1.45}).frame("platform")
    assert_allclose(found.position, [[0.0, 0.0, 1.45], [0.05, 0.0, 1.45]], atol=1e-12)
    assert_allclose(found.rotation, [np.eye(3)] * 2, atol=1e-12)


def test_two_links_in_closed_form(arm):
    """cos b = (r² - l₁² - l₂²)/(2 l₁ l₂), on the side of the elbow that is drawn, wherever the tip is."""
    rng = np.random.default_rng(3)
    r, angle = rng.uniform(INNER + 0.02, OUTER - 0.02, 50), rng.uniform(-3.0, 3.0, 50)
    found = supple.assemble(arm, {"tip": np.column_stack([r * np.cos(angle), r * np.sin(angle)])})
    drawn = np.arctan2(0.6, 0.8)
    at_rest = np.pi / 2 - drawn
    elbow = found.theta[:, 1] - found.rest.theta[1] + at_rest
    assert_allclose(np.cos(elbow), (r**2 - 1.49) / 1.4, atol=1e-10)
    assert (np.sin(elbow) > 0.0).all()


@pytest.mark.parametrize("radius", [0.1, 2.0, 5.0])
def test_the_distance_to_the_reach_in_closed_form(arm, radius):
    with pytest.raises(supple.InputError, match='"tip" cannot reach') as caught:
        supple.assemble(arm, {"tip.x": 0.6 * radius, "tip.z": 0.8 * radius})
    away = max(INNER - radius, radius - OUTER)
    assert f"{away:.6g} m away" in str(caught.value)


def test_the_distance_in_space(example):
    """The legs of the orthoglide end at y² + z² = leg²."""
    with pytest.raises(supple.InputError, match=f"{np.sqrt(2) * 0.9 - 0.7:.6g} m away"):
        supple.assemble(example("orthoglide"), {"tool": [0.3, 0.9, 0.9]})


def test_a_batch_marks_what_it_does_not_reach(arm):
    found = supple.assemble(arm, {"tip.x": [0.7, 9.0], "tip.z": 0.9}, failures="mark")
    assert found.assembled.tolist() == [True, False]


def test_units_and_names_from_the_file(arm):
    for at in ("near", {"tip": [0.5, 0.8]}, {"tip.x": "500 mm", "tip.z": "80cm"}, {"fore.C": ["0.5 m", 0.8]}):
        assert_allclose(supple.assemble(arm, at).frame("fore.C").position, [0.5, 0.0, 0.8], atol=1e-12)
    assert_allclose(supple.assemble(arm, "level").frame("fore.C").position, [0.7, 0.0, 1.3], atol=1e-12)
    seen = supple.assemble(arm, "seen")
    assert_allclose([seen.theta[0], seen.frame("fore.C").position[0]], [0.1, 0.7], atol=1e-12)
    assert_allclose(supple.local(arm, "near").theta, supple.assemble(arm, "near").theta)


@pytest.mark.parametrize(
    ("at", "message"),
    [
        ({"tip": [1.0]}, '"tip" has 1 numbers.*give 2 .* or 3'),
        ({"tip": 1.0}, '"tip" is a point, .*single number; .*tip.x'),
        ({"top.x": 1.0}, '"top.x"; did you mean "tip.x"'),
        ({"tip.x": "3 deg"}, "a length"),
        ({"tip": [1.0, 1.0], "a": 0.1}, "tip.x, tip.z, a .*3 values .*mobility of 2; give 1 fewer"),
        ({"tip.x": 1.0, "upper.z": 0.1}, "several points, tip and upper"),
        ({"tip.x": np.nan}, "not finite"),
        ({"tip.x": [0.5, 0.6], "tip.z": [1.0, 1.1, 1.2]}, "x 2, z 3.*N values each"),
    ],
)
def test_what_is_wrong_is_told(arm, at, message):
    with pytest.raises(supple.InputError, match=message):
        supple.assemble(arm, at)


def test_a_wrong_configuration_is_told_with_its_line():
    with pytest.raises(supple.InputError, match=r':13: configuration "near": unknown coordinate .*"tap.x"'):
        supple.assemble(supple.loads(ARM.replace("tip: [50cm, 0.8]", "tap.x: 0.5")))
