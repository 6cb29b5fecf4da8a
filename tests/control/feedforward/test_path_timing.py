"""The fastest ways along paths: closed forms of straight ones, and at every instant a bound that stops them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple.control.feedforward.path_timing import timed_path
from supple.trajectories.motion_plan import profile

CURVED = [[0.0, 0.0], [0.5, 0.8], [1.0, 0.2], [1.5, 0.4]]


@pytest.mark.parametrize(
    "bounds",
    [
        {"velocity": 0.2, "acceleration": 1.0, "jerk": 20.0},
        {"velocity": 9.0, "acceleration": 1.0, "jerk": 20.0},
        {"velocity": 0.2, "acceleration": 1.0},
        {"velocity": 9.0, "acceleration": 1.0},
    ],
)
def test_straight_ways_take_the_time_of_their_profiles(arm, bounds):
    found = timed_path([[0.0, 0.0], [0.15, 0.1]], arm, **bounds)
    assert_allclose(found.duration, profile(0.15, **bounds).duration, rtol=1e-3)
    course = np.abs(found.sample(np.linspace(0.0, found.end, 2001)[:-1])).max(axis=(0, 2))
    assert course[1] <= bounds["velocity"] * (1 + 1e-6)
    assert course[2] <= bounds["acceleration"] * 1.01
    assert course[3] <= bounds.get("jerk", np.inf) * 1.01


def test_forces_are_kept_and_one_of_them_stops_it_at_every_instant(arm):
    limits = {"shoulder": (-600.0, 600.0), "elbow": (-500.0, 500.0)}
    found = timed_path(CURVED, arm, forces=limits)
    times = np.linspace(0.0, found.end, 801)
    forces = supple.inverse(arm, found.trajectory(times)).forces
    used = np.stack([np.abs(forces[name]) / limits[name][1] for name in limits])
    assert used.max() < 1.02
    assert np.mean(used.max(axis=0) > 0.92) > 0.9  # bang-bang, but for its switches and a last slowing down
    slower = timed_path(CURVED, arm, forces=limits, jerk=100.0)
    assert slower.duration > found.duration
    assert np.abs(slower.sample(times)[:, 3]).max() <= 101.0


def test_points_lie_on_the_path_and_stops_of_a_motion_stay(arm):
    found = timed_path(CURVED, arm, velocity=1.0, acceleration=5.0, jerk=50.0)
    theta = found.sample(np.linspace(0.0, found.end, 8001))[:, 0]
    for point in CURVED:
        assert np.linalg.norm(theta - point, axis=1).min() < 1e-3
    there = supple.Motion(coordinates={"shoulder": {"to": 0.5}, "elbow": {"from": 0.2, "to": 0.4}}, duration=3.0)
    again = timed_path(there, arm, velocity=1.0, acceleration=5.0)
    assert_allclose(again.at(again.end)[0], [0.5, 0.4], atol=1e-9)
    assert again.duration < 1.0


def test_more_actuators_than_coordinates_share_the_load(four_bar_redundant):
    """Two actuators of 10 N m are as fast as one of which the other's force is seen through the mechanism, and more."""
    names = list(four_bar_redundant.actuators)
    way = [[1.2], [1.5]]
    both = timed_path(way, four_bar_redundant, forces=dict.fromkeys(names, (-10.0, 10.0)))
    fewer = dict.fromkeys(names, (-10.0, 10.0)) | {names[-1]: (0.0, 0.0)}
    assert both.duration < timed_path(way, four_bar_redundant, forces=fewer).duration


def test_a_reduced_model_takes_as_long_as_its_mechanism(ralf, ralf_model):
    forces = {"lift": (0.0, 2200.0), "elbow": (-2000.0, 1400.0)}
    way = [[1.15, 1.0], [1.1, 0.95], [1.0, 0.9]]
    small, full = (timed_path(way, one, velocity=0.5, forces=forces, jerk=40.0) for one in (ralf_model, ralf))
    assert_allclose(small.duration, full.duration, rtol=1e-2)


def test_what_cannot_be_done_is_refused(arm):
    with pytest.raises(supple.InputError, match=r"accelerations .*give acceleration="):
        timed_path(CURVED, arm, velocity=1.0)
    with pytest.raises(supple.InputError, match=r"forces at rest .*raise force_limits"):
        timed_path(CURVED, arm, forces={"shoulder": (-100.0, 100.0)})
    with pytest.raises(supple.InputError, match='actuator "sholder"; did you mean "shoulder"'):
        timed_path(CURVED, arm, forces={"sholder": (-100.0, 100.0)})
    with pytest.raises(supple.InputError, match=r"shape \(2, 3\)"):
        timed_path(np.zeros((2, 3)), arm, acceleration=1.0)
