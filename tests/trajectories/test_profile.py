"""Ways from rest to rest: within their bounds, smooth as promised, and as fast as can be."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import supple
from supple.description.motion import Motion
from supple.trajectories.motion_plan import profile

EXAMPLES = Path(__file__).parents[2] / "examples"

DISTANCES = st.floats(1e-4, 50.0).flatmap(lambda x: st.sampled_from([x, -x]))
BOUND = st.one_of(st.none(), st.floats(1e-2, 1e3))
ROUNDING = 1e-9


def sampled(way, count=4001):
    time = np.linspace(0.0, way.duration, count)
    return time, *way.derivatives(time, closed=True)[..., 0]


@pytest.mark.slow
@settings(max_examples=200, deadline=None, derandomize=True)
@given(DISTANCES, BOUND, BOUND, BOUND, st.floats(1.0, 5.0))
def test_bounds_are_kept_and_ends_are_met(distance, velocity, acceleration, jerk, slower):
    way = profile(distance, velocity=velocity, acceleration=acceleration, jerk=jerk)
    way = way.stretch(slower * way.duration)
    time, value, rate, second = sampled(way)
    assert value[0] == 0.0
    assert value[-1] == distance
    assert rate[0] == 0.0
    assert abs(rate[-1]) <= 1e-14 * (np.abs(rate).max() + way.duration * np.abs(second).max())
    assert (np.diff(value) * np.sign(distance) >= -ROUNDING * abs(distance)).all()  # never back
    if velocity is not None:
        assert np.abs(rate).max() <= velocity * (1 + ROUNDING)
    if acceleration is not None:
        assert np.abs(second).max() <= acceleration * (1 + ROUNDING)
    if jerk is not None:
        late = 1e-12 * jerk * way.duration  # rounding of the time shifts the acceleration along its slope
        assert np.abs(np.diff(second)).max() <= jerk * time[1] + late
        assert_allclose([second[0], second[-1]], 0.0, atol=late)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(DISTANCES, BOUND, BOUND, BOUND)
def test_rates_and_accelerations_are_derivatives(distance, velocity, acceleration, jerk):
    """Over any span the value changes by the integral of the rate; where the acceleration jumps, that is one sample."""
    way = profile(distance, velocity=velocity, acceleration=acceleration, jerk=jerk)
    time, value, rate, second = sampled(way)
    h = time[1]
    third = way.sample(time, closed=True)[:, 3]
    between = np.abs(third).max() * h  # the acceleration may be this much larger between samples
    fastest, steepest = np.abs(rate).max(), np.abs(second).max() + between
    assert_allclose(
        np.diff(value), 0.5 * h * (rate[1:] + rate[:-1]), atol=0.5 * steepest * h**2 + 1e-12 * abs(distance)
    )
    assert np.abs(np.diff(rate)).max() <= steepest * h + 1e-9 * fastest  # continuous


@settings(max_examples=100, deadline=None, derandomize=True)
@given(DISTANCES, st.floats(1e-2, 1e3), st.floats(1e-2, 1e3), st.floats(1e-2, 1e3))
def test_a_bound_stops_it_from_being_faster(distance, velocity, acceleration, jerk):
    """In 0.999 of the time the same way would break a bound."""
    way = profile(distance, velocity=velocity, acceleration=acceleration, jerk=jerk)
    _, _, rate, second = sampled(way, 20_001)
    reached = (
        np.abs(rate).max() / velocity, np.abs(second).max() / acceleration,
        np.abs(way.sample(0.5 * (way.breaks[1:] + way.breaks[:-1]))[:, 3]).max() / jerk,
    )  # fmt: skip
    assert_allclose(max(reached), 1.0, rtol=1e-6)
    assert_allclose(reached[2], 1.0, rtol=1e-6)  # the jerk is always used in full: otherwise time is wasted


@pytest.mark.parametrize(
    ("bounds", "duration"),
    [
        ({"acceleration": 4.0}, 2 * np.sqrt(9.0 / 4.0)),  # half the way faster, half slower
        ({"velocity": 2.0, "acceleration": 4.0}, 9.0 / 2.0 + 2.0 / 4.0),
        ({"velocity": 100.0, "acceleration": 4.0}, 2 * np.sqrt(9.0 / 4.0)),  # never that fast
        ({"jerk": 6.0}, 4 * (9.0 / 12.0) ** (1 / 3)),
        ({"velocity": 2.0, "acceleration": 4.0, "jerk": 50.0}, 9.0 / 2.0 + 2.0 / 4.0 + 4.0 / 50.0),
        ({"velocity": 2.0, "jerk": 50.0}, 9.0 / 2.0 + 2 * np.sqrt(2.0 / 50.0)),  # the acceleration peaks below √(v j)
        ({"velocity": 2.0}, 1.875 * 9.0 / 2.0),
    ],
    ids=lambda item: "-".join(item) if isinstance(item, dict) else "",
)
def test_durations_known_in_closed_form(bounds, duration):
    assert_allclose(profile(9.0, **bounds).duration, duration, rtol=1e-12)
    assert_allclose(profile(-9.0, **bounds).duration, duration, rtol=1e-12)


def test_it_stands_before_and_after():
    way = profile(2.0, velocity=1.0, acceleration=1.0, jerk=10.0)
    value, rate, second = way.derivatives([-1.0, way.duration + 1.0], closed=True)[..., 0]
    assert value.tolist() == [0.0, 2.0]
    assert not rate.any()
    assert not second.any()


def test_no_distance_takes_no_time():
    arm = supple.load(EXAMPLES / "ralf" / "mechanism.yaml")
    here = supple.trajectory(arm, Motion(coordinates={"lift": {"rate": 0.0}}, duration=1.0)).theta[0]
    bounds = {"velocity": 1.0, "acceleration": 2.0}
    stays, moves = {"to": here[1]} | bounds, {"to": here[0] + 0.1} | bounds
    both = supple.trajectory(arm, Motion(coordinates={"lift": moves, "elbow": stays}))
    assert_allclose(both.time[-1], profile(0.1, **bounds).duration, rtol=1e-12)
    assert_allclose(both.theta[:, 1], here[1], rtol=0)
    assert both.theta[-1, 0] == here[0] + 0.1  # exactly: a region may end there
    assert not both.rates[[0, -1]].any()
    with pytest.raises(supple.InputError, match="ends where it begins"):
        supple.trajectory(arm, Motion(coordinates={"elbow": stays}))
