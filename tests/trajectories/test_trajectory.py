"""Trajectories: from motions of the file, tables, functions; and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple

ARM = """\
supple: 1
name: arm
plane: xz
gravity: [0, -9.81]
points: {O: [0, 0], E: [1, 0], T: [2, 0]}
bodies:
  upper: {rod: [O, E], mass: 2}
  fore: {rod: [E, T], mass: 1}
joints:
  shoulder: {revolute: [ground, upper], at: O}
  elbow: {revolute: [upper, fore], at: E}
actuators: {shoulder: {joint: shoulder}, elbow: {joint: elbow}}
rest: {shoulder: 0.4, elbow: 0.9}
motions:
  both:
    coordinates:
      shoulder: {to: 1.4, velocity: 2, acceleration: 4, jerk: 60}
      elbow: {from: 1, to: 0.7, velocity: 1, acceleration: 2}
  slow:
    coordinates: {shoulder: {to: 1.4, velocity: 2}}
    duration: 3
  sine:
    coordinates: {elbow: {amplitude: 10 deg, frequency: 2 Hz}, shoulder: {rate: 6 rpm}}
    duration: 1
"""


@pytest.fixture(scope="module")
def arm():
    return supple.loads(ARM)


def refused(arm, motion, **options) -> str:
    with pytest.raises(supple.InputError) as caught:
        supple.trajectory(arm, motion, **options)
    return str(caught.value)


def test_coordinates_arrive_together(arm):
    found = supple.trajectory(arm, "both")
    assert found.coordinates == ("shoulder", "elbow")
    assert_allclose(found.theta[0], [0.4, 1.0], rtol=1e-12)
    assert_allclose(found.theta[-1], [1.4, 0.7], rtol=1e-12)
    assert_allclose(found.rates[[0, -1]], 0.0, atol=1e-12)
    moving = np.abs(found.rates[1:-1]) > 0.0
    assert moving.all()  # neither waits for the other
    assert (np.abs(found.rates).max(axis=0) <= [2, 1]).all()
    assert (np.abs(found.accelerations).max(axis=0) <= np.array([4, 2]) * (1 + 1e-12)).all()
    assert len(found.time) == 1001


def test_a_longer_duration_stretches(arm):
    found = supple.trajectory(arm, "slow")
    assert found.time[-1] == 3.0
    assert_allclose(found.theta[-1], [1.4, 0.9], rtol=1e-12)  # the elbow is not mentioned
    assert_allclose(np.abs(found.rates[:, 0]).max(), 1.875 / 3, rtol=1e-6)


def test_sines_and_constant_rates(arm):
    t = np.linspace(0.0, 1.0, 7)
    found = supple.trajectory(arm, "sine", times=t)
    amplitude, w = np.radians(10), 4 * np.pi
    assert_allclose(found.theta[:, 1], 0.9 + amplitude * np.sin(w * t), atol=1e-14)
    assert_allclose(found.rates[:, 1], amplitude * w * np.cos(w * t), atol=1e-13)
    assert_allclose(found.accelerations[:, 1], -amplitude * w**2 * np.sin(w * t), atol=1e-12)
    assert_allclose(found.theta[:, 0], 0.4 + 0.2 * np.pi * t, rtol=1e-14)


def test_a_motion_that_ends_at_rest_may_be_asked_for_later_times(arm):
    found = supple.trajectory(arm, "slow", times=[0.0, 3.0, 10.0])
    assert_allclose(found.theta[1], found.theta[2])
    assert not found.rates[2].any()
    assert "from 0 s to 1 s; give times within it" in refused(arm, "sine", times=[0.0, 2.0])
    assert "times from -1 s" in refused(arm, "slow", times=[-1.0, 2.0])


def test_the_last_instant_is_the_end(arm):
    found = supple.trajectory(arm, "slow", step=0.7)
    assert_allclose(found.time, [0.0, 0.7, 1.4, 2.1, 2.8, 3.0])
    assert len(supple.trajectory(arm, "slow", step=1e-3).time) == 3001


def table(tmp_path, arm, count, function=np.sin):
    t = np.linspace(0.0, 2.0, count)
    file = tmp_path / "swing.csv"
    file.write_text("time,elbow\n" + "".join(f"{float(a)!r},{float(function(a))!r}\n" for a in t))
    return file


def test_a_table_is_interpolated_smoothly(arm, tmp_path):
    found = supple.trajectory(arm, str(table(tmp_path, arm, 41)), step=1e-3)
    t = found.time
    # between knots 0.05 apart a spline of degree five errs by about h⁶ in value, h⁴ in the second derivative
    assert_allclose(found.theta[:, 1], np.sin(t), atol=1e-8)
    assert_allclose(found.rates[:, 1], np.cos(t), atol=1e-6)
    assert_allclose(found.accelerations[:, 1], -np.sin(t), atol=1e-4)
    assert_allclose(found.theta[:, 0], 0.4, rtol=1e-12)


def test_accelerations_of_a_table_are_twice_differentiable(arm, tmp_path):
    """Across a knot the fourth derivative is continuous, so second differences of the acceleration do not jump."""
    file = table(tmp_path, arm, 9, lambda t: abs(t - 1.0))  # rough values, four intervals a second
    h, knot = 1e-4, 1.25
    near = knot + h * np.arange(-20, 21)
    curve = supple.trajectory(arm, file, times=near).accelerations[:, 1]
    second = np.diff(curve, 2) / h**2
    assert np.abs(np.diff(second)).max() < 1e-2 * np.abs(second).max()


def test_a_function_of_time(arm):
    found = supple.trajectory(arm, lambda t: ([t, 2 * t], [1, 2], [0, 0]), times=[0.0, 0.5])
    assert found.theta.tolist() == [[0.0, 0.0], [0.5, 1.0]]
    assert "give times" in refused(arm, lambda t: ([t, t], [1, 1], [0, 0]))
    assert "of 2 coordinates" in refused(arm, lambda t: ([t], [1], [0]), times=[0.0])
    assert "not finite" in refused(arm, lambda t: ([t, np.nan], [1, 1], [0, 0]), times=[0.0])


def test_a_trajectory_may_be_sampled_anew(arm):
    coarse = supple.trajectory(arm, "sine", step=0.01)
    assert supple.trajectory(arm, coarse) is coarse
    fine = supple.trajectory(arm, coarse, times=np.linspace(0.1, 0.9, 33))
    exact = supple.trajectory(arm, "sine", times=fine.time)
    assert_allclose(fine.theta, exact.theta, atol=1e-9)
    assert_allclose(fine.accelerations, exact.accelerations, atol=1e-4)


def test_a_motion_too_short_names_the_coordinate_and_its_bounds(arm):
    text = ARM.replace("velocity: 1, acceleration: 2}", "velocity: 1, acceleration: 2}\n    duration: 0.5")
    said = refused(supple.loads(text, name="arm.yaml"), "both")
    line = text.splitlines().index("    duration: 0.5") + 1
    assert said.startswith(f'arm.yaml:{line}: motion "both": coordinate "shoulder" needs at least 1.06889 s for 1 rad')
    assert "(velocity 2, acceleration 4, jerk 60)" in said
    assert "0.5 s; give a longer duration" in said


@pytest.mark.parametrize(
    ("motion", "message"),
    [
        ({"coordinates": {"wrist": {"rate": 1}}, "duration": 1}, 'unknown coordinate "wrist"; known: "shou'),
        ({"coordinates": {"elbow": {"to": 0.9, "velocity": 1}}}, "ends where it begins"),
        ({"tool": {"place": "hand", "path": [[0, 1], [1, 1]]}, "duration": 1}, 'body "hand"; known: "O"'),
        ({"tool": {"place": "T", "path": [[0, 1, 0], [1, 1, 0]]}, "duration": 1}, "have 3 components, not 2"),
        ({"tool": {"place": "T", "path": [[0, 1], [0, 1]]}, "duration": 1}, "points 1 and 2 of the path are equal"),
        ({"tool": {"place": "T", "path": [[0, 1], [1, 1]], "velocity": 1}, "duration": 1}, "needs at least 1.875 s"),
    ],
)  # fmt: skip
def test_wrong_motions_say_what_to_do(arm, motion, message):
    said = refused(arm, supple.Motion(**motion))
    assert said.startswith("motion: ")
    assert message in said
    assert "; " in said


def test_unknown_names_are_refused(arm, tmp_path):
    assert 'unknown motion "bth"; did you mean "both"?' in refused(arm, "bth")
    file = tmp_path / "motion.csv"
    file.write_text("time,wrist\n" + "".join(f"{i},{i}\n" for i in range(6)))
    assert refused(arm, file).startswith(f'{file}:1: unknown coordinate "wrist" of "arm"')
    assert "rising" in refused(arm, "both", times=[0.0, 0.0])
    assert "step must be positive (got 0 s)" in refused(arm, "both", step=0.0)
    assert "limit of 1e+07; give a longer step than 1e-09 s" in refused(arm, "slow", step=1e-9)


def test_a_mechanism_without_coordinates_has_no_motions(four_bar):
    bare = four_bar.replace(coordinates=None, rest={}, configurations={}, motions={})
    assert "list as many coordinates" in refused(bare, "turn")
