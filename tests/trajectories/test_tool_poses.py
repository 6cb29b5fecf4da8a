"""Tables of a place's pose: the coordinates that bring it there are those it was made from."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

import supple
from supple.diagnostics import InputError

ARM = supple.loads("""\
supple: 1
name: arm
plane: xz
points: {O: [0, 0], A: [0.5, 0.1], B: [0.9, -0.2], T: [1.2, 0.1]}
bodies:
  upper: {rod: [O, A], mass: 1}
  lower: {rod: [A, B], mass: 1}
  hand: {rod: [B, T], mass: 0.3}
joints: {O: {revolute: [ground, upper]}, A: {revolute: [upper, lower]}, B: {revolute: [lower, hand]}}
actuators: {one: {joint: O}, two: {joint: A}, three: {joint: B}}
sensors: {tip: {position: hand.T}}
""")
TIME = np.linspace(0.0, 1.0, 41)


def course(mechanism, seed, size):
    """A smooth motion of all coordinates: θ (N, s) at TIME, beginning away from rest."""
    rng = np.random.default_rng(seed)
    theta = supple.assemble(mechanism).theta
    a, b = size * rng.uniform(-1.0, 1.0, (2, len(theta)))
    ramp = TIME[:, None] ** 2 * (3.0 - 2.0 * TIME[:, None])
    return theta + 0.5 * a + ramp * b, ramp


def columns(mechanism, place, theta, axes):
    pose = supple.assemble(mechanism, theta).frame(place)
    found = {"x": pose.position[:, 0], "y": pose.position[:, 1], "z": pose.position[:, 2]}
    found["angle"] = np.unwrap(np.arctan2(pose.rotation[:, 2, 0], pose.rotation[:, 0, 0]))  # from x to z
    found |= dict(zip(("rx", "ry", "rz"), Rotation.from_matrix(pose.rotation).as_rotvec().T, strict=True))
    return {"time": TIME} | {f"{place}.{axis}": found[axis] for axis in axes}


def test_a_planar_pose_with_its_angle():
    theta, _ = course(ARM, 1, 0.4)
    table = columns(ARM, "hand.T", theta, ("x", "z", "angle"))
    found = supple.trajectory(ARM, table, times=TIME)
    assert_allclose(found.theta, theta, atol=1e-9)  # closure and Newton's method leave 1e-10
    # Rates and accelerations are those of the pose's splines, which know the cubic of θ to h⁴ or so.
    expected = supple.trajectory(
        ARM, {"time": TIME, **dict(zip(("one", "two", "three"), theta.T, strict=True))}, times=TIME
    )
    assert_allclose(found.rates, expected.rates, atol=1e-4 * np.abs(expected.rates).max())
    assert_allclose(found.accelerations, expected.accelerations, atol=5e-3 * np.abs(expected.accelerations).max())
    named = {key.replace("hand.T", "tip"): values for key, values in table.items()}  # by the sensor there
    assert_allclose(supple.trajectory(ARM, named, times=TIME).theta, found.theta, atol=1e-12)


def test_a_pose_in_space(example):
    """Six components of a platform on six legs, orientation as the vector of its rotation."""
    stewart = example("stewart")
    place = "platform"
    theta, _ = course(stewart, 2, 0.02)
    found = supple.trajectory(stewart, columns(stewart, place, theta, ("x", "y", "z", "rx", "ry", "rz")), times=TIME)
    assert_allclose(found.theta, theta, atol=1e-9)
    moving = supple.motion(supple.assemble(stewart, found.theta), found.rates, found.accelerations).frame(place)
    between = slice(5, -5)  # differences of the poses themselves, of second order in 1/40 s
    pose = supple.assemble(stewart, found.theta).frame(place)
    speed = np.gradient(pose.position, TIME, axis=0)
    assert_allclose(moving.velocity[between], speed[between], atol=5e-3 * np.abs(speed).max())
    turned = Rotation.from_matrix(pose.rotation[2:] @ np.swapaxes(pose.rotation[:-2], 1, 2)).as_rotvec() / 0.05
    assert_allclose(moving.angular_velocity[1:-1][between], turned[between], atol=5e-3 * np.abs(turned).max())


def test_a_place_from_csv_on_the_command_line_and_in_inverse(example, tmp_path):
    ralf = example("ralf")
    theta = np.linspace([1.15, 1.0], [1.05, 0.9], len(TIME)) + 0.01 * np.sin(3.0 * TIME)[:, None]
    table = columns(ralf, "T", theta, ("x", "z"))
    file = tmp_path / "tip.csv"
    rows = np.stack(list(table.values()), axis=1)
    file.write_text("time,T.x,T.z\n" + "".join(",".join(repr(x) for x in row) + "\n" for row in rows.tolist()))
    led = supple.inverse(ralf, file, times=TIME, rigid=True)
    direct = supple.inverse(ralf, {"time": TIME, "lift": theta[:, 0], "elbow": theta[:, 1]}, times=TIME, rigid=True)
    for name, force in direct.forces.items():
        assert_allclose(led.forces[name], force, rtol=1e-3)  # accelerations through splines of other curves


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("hand.T.x", "hand.T.z"), "2 components .* mobility 3; give 3 of x, z, angle"),
        (("hand.T.x", "hand.T.z", "lower.B.x"), "hand.T and lower.B; prescribe one place"),
        (("hand.T.x", "hand.T.z", "one"), 'unknown coordinate .*"hand.T.x"'),
        (("tipp.x", "tipp.z", "tipp.angle"), "tipp"),
        (("tip.x", "tip.y", "tip.angle"), 'unknown coordinate or place direction "tip.y"'),
    ],
)
def test_what_cannot_be_led_is_said(names, message):
    with pytest.raises(InputError, match=message):
        supple.trajectory(ARM, {"time": TIME} | dict.fromkeys(names, 0.1 * TIME))


def test_a_pose_out_of_reach_is_told_with_its_time():
    theta, _ = course(ARM, 3, 0.1)
    table = columns(ARM, "hand.T", theta, ("x", "z", "angle"))
    table["hand.T.x"] = table["hand.T.x"] + 3.0 * TIME**2
    with pytest.raises(InputError, match=r'"hand\.T" .* before 0\.\d+ s, at \[.*within reach'):
        supple.trajectory(ARM, table)
