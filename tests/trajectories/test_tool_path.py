"""A tool led along a path: where it is, how fast, on which branch."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple

FIVE_BAR = """\
supple: 1
name: five-bar
plane: xz
points: {A: [0, 0], B: [-0.4, 0.6], C: [0.4, 1.2], D: [1.3, 0.6], E: [0.9, 0]}
bodies:
  left: {rod: [A, B], mass: 1}
  upper: {rod: [B, C], mass: 1}
  fore: {rod: [D, C], mass: 1}
  right: {rod: [E, D], mass: 1}
joints:
  A: {revolute: [ground, left]}
  B: {revolute: [left, upper]}
  C: {revolute: [upper, fore]}
  D: {revolute: [fore, right]}
  E: {revolute: [ground, right]}
actuators: {left: {joint: A}, right: {joint: E}}
sensors: {tip: {position: C}}
motions:
  triangle:
    tool: {place: C, path: [[0.3, 1.1], [0.6, 1.15], [0.5, 0.95], [0.3, 1.1]], velocity: 0.5, acceleration: 4, jerk: 80}
"""


def five_bar(**changes):
    return supple.loads(FIVE_BAR).replace(**changes)


def distance_from(path, points):
    """Least distance of each point from a chain of straight pieces."""
    least = np.full(len(points), np.inf)
    for a, b in pairwise(path):
        along = np.clip((points - a) @ (b - a) / ((b - a) @ (b - a)), 0.0, 1.0)
        least = np.minimum(least, np.linalg.norm(points - a - along[:, None] * (b - a), axis=1))
    return least


def position(mechanism, found, names):
    outputs = supple.local(mechanism, found.theta).outputs
    return np.column_stack([outputs[name].value for name in names])


def test_it_follows_its_path_in_the_plane():
    mechanism = five_bar()
    found = supple.trajectory(mechanism, "triangle")
    path = np.array(mechanism.motions["triangle"].tool.path)
    tip = position(mechanism, found, ["tip.x", "tip.z"])
    assert distance_from(path, tip).max() < 1e-9
    assert_allclose(tip[[0, -1]], path[[0, -1]], atol=1e-9)
    for corner in path[1:-1]:  # each is passed, at rest: within a step of it, 0.5 m/s at most
        assert np.linalg.norm(tip - corner, axis=1).min() < 1e-4


def test_it_follows_its_path_in_space(example):
    orthoglide = example("orthoglide")
    path = np.array([[0.0, 0.0, 0.0], [-0.1, 0.02, -0.1], [-0.15, -0.15, -0.05]])
    motion = supple.Motion(tool={"place": "tool", "path": path.tolist(), "velocity": 1.0, "acceleration": 5.0})
    found = supple.trajectory(orthoglide, motion)
    tool = position(orthoglide, found, ["tool.x", "tool.y", "tool.z"])
    assert distance_from(path, tool).max() < 1e-9
    assert_allclose(tool[-1], path[-1], atol=1e-9)


def test_speed_and_acceleration_of_the_tool_keep_their_bounds():
    mechanism = five_bar()
    found = supple.trajectory(mechanism, "triangle")
    moving = supple.motion(supple.assemble(mechanism, found.theta), found.rates, found.accelerations).frame("C")
    speed, second = np.linalg.norm(moving.velocity, axis=1), np.linalg.norm(moving.acceleration, axis=1)
    assert speed.max() <= 0.5 * (1 + 1e-9)
    assert second.max() <= 4.0 * (1 + 1e-9)
    jerk = np.linalg.norm(np.diff(moving.acceleration, axis=0), axis=1) / np.diff(found.time)
    assert jerk.max() <= 80 * (1 + 1e-6)


def test_rates_are_derivatives_of_the_coordinates():
    t = 0.31 + 1e-4 * np.arange(-3.0, 4.0)
    found = supple.trajectory(five_bar(), "triangle", times=t)
    weights = np.array([-1.0, 9.0, -45.0, 0.0, 45.0, -9.0, 1.0]) / 60.0e-4
    assert_allclose(weights @ found.theta, found.rates[3], rtol=1e-8)
    assert_allclose(weights @ found.rates, found.accelerations[3], rtol=1e-7)


def test_the_answer_does_not_depend_on_the_instants():
    whole = supple.trajectory(five_bar(), "triangle", step=0.01)
    single = supple.trajectory(five_bar(), "triangle", times=whole.time[[40]])
    assert_allclose(single.theta, whole.theta[[40]], atol=1e-12)


def test_a_stretched_path_is_the_same_path():
    motion = five_bar().motions["triangle"]
    fast = supple.trajectory(five_bar(), "triangle")
    slow = supple.trajectory(
        five_bar(), supple.Motion(tool=motion.tool, duration=2 * fast.time[-1]), times=2 * fast.time
    )
    assert_allclose(slow.theta, fast.theta, atol=1e-10)
    assert_allclose(2 * slow.rates, fast.rates, atol=1e-8)


def test_without_bounds_the_duration_is_shared_by_length():
    path = [[0.3, 1.1], [0.6, 1.1], [0.6, 1.0]]
    motion = supple.Motion(tool={"place": "C", "path": path}, duration=4.0)
    mechanism = five_bar()
    found = supple.trajectory(mechanism, motion, times=[3.0])
    assert_allclose(position(mechanism, found, ["tip.x", "tip.z"]), [[0.6, 1.1]], atol=1e-9)


def refused(mechanism, motion):
    with pytest.raises(supple.InputError) as caught:
        supple.trajectory(mechanism, motion)
    return str(caught.value)


def test_a_path_out_of_reach_says_where_it_ends():
    motion = supple.Motion(tool={"place": "C", "path": [[0.4, 1.1], [0.4, 4.0]]}, duration=1.0)
    said = refused(five_bar(), motion)
    for part in ('place "C" ', "piece 1", "[0.4, "):
        assert part in said
    assert "within reach" in said


def test_a_start_out_of_reach_is_told():
    motion = supple.Motion(tool={"place": "C", "path": [[5.0, 1.1], [5.0, 2.0]]}, duration=1.0)
    assert "from rest to the start of its path" in refused(five_bar(), motion)


def test_components_must_match_the_mobility(four_bar):
    motion = supple.Motion(tool={"place": "C", "path": [[1.1, 0.7], [1.0, 0.7]]}, duration=1.0)
    said = refused(four_bar, motion)
    for part in ('place "C"', "2 axes", "mobility 1", "coordinates"):
        assert part in said


def test_a_tool_may_be_named_by_its_sensor():
    """The place that a sensor looks at; a sensor of no place is refused."""
    text = """
supple: 1
plane: xz
points: {O: [0, 0], P: [0.5, 0.2], Q: [0.9, 0]}
bodies: {upper: {rod: [O, P], mass: 1}, fore: {rod: [P, Q], mass: 1}}
joints: {O: {revolute: [ground, upper]}, P: {revolute: [upper, fore]}}
actuators: {shoulder: {joint: O}, elbow: {joint: P}}
sensors: {hand: {position: fore.Q}, encoder: {joint: O}}
motions:
  line: {tool: {place: PLACE, path: [[0.8, 0], [0.7, 0.1]]}, duration: 1 s}
"""
    found, same = (
        supple.trajectory(supple.loads(text.replace("PLACE", place)), "line", step=0.1) for place in ("hand", "fore.Q")
    )
    assert_allclose(found.theta, same.theta, rtol=0.0, atol=0.0)
    with pytest.raises(supple.InputError, match=r'motion "line": unknown point.* "encoder"; known: "O"'):
        supple.loads(text.replace("PLACE", "encoder"))
