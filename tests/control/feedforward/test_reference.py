"""References are the motions they were made of, and their derivatives are those of their values."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple.control.feedforward.reference import reference
from supple.description.motion import Motion
from supple.time_functions.function_of_time import CalledFunction

BOUNDS = {"velocity": 2.0, "acceleration": 8.0, "jerk": 60.0}
SWING = Motion(coordinates={"shoulder": {"to": 1.0} | BOUNDS, "elbow": {"to": -0.4} | BOUNDS})


@pytest.fixture(scope="module")
def swing(arm):
    return reference(SWING, arm)


def test_a_profile_within_bounds_is_its_own_polynomials(arm, swing):
    course = supple.trajectory(arm, SWING)
    found = swing.sample(course.time)
    assert swing.coefficients.shape[1] == 4  # cubics: pieces of constant jerk
    assert_allclose(found[:, 0], course.theta, atol=1e-15)
    assert_allclose(found[:, 1], course.rates, atol=1e-14)
    assert_allclose(found[1:-1, 2], course.accelerations[1:-1], atol=1e-13)
    assert np.abs(found[:, 3]).max() <= BOUNDS["jerk"] * (1 + 1e-12)


def test_one_instant_is_as_in_a_batch_and_derivatives_are_slopes(swing):
    times = np.random.default_rng(1).uniform(-0.2, swing.end + 0.2, 200)
    batch = swing.sample(times)
    assert_allclose(np.array([swing.at(t) for t in times]), batch, rtol=0, atol=1e-13)
    inside = times[np.abs(times[:, None] - swing.breaks).min(axis=1) > 1e-5]
    h = 1e-6
    slopes = (swing.sample(inside + h) - swing.sample(inside - h)) / (2 * h)
    assert_allclose(slopes[:, :3], swing.sample(inside)[:, 1:], atol=1e-7)


def test_it_stands_at_its_ends_and_can_look_ahead(swing):
    assert_allclose(swing.at(-1.0), [swing.coefficients[0, 0], [0, 0], [0, 0], [0, 0]])
    assert_allclose(swing.at(swing.end + 1.0)[0], [1.0, -0.4], atol=1e-15)
    assert_allclose(swing.ahead(0.013).at(0.2), swing.at(0.213), atol=1e-14)


def test_trajectories_and_callables_become_references(arm, swing):
    course = swing.trajectory(np.linspace(0.0, swing.end, 401))
    assert_allclose(reference(course, arm).sample(course.time)[:, :2], swing.sample(course.time)[:, :2], atol=1e-14)

    def wave(t):
        return [np.sin(t), t], [np.cos(t), 1.0], [-np.sin(t), 0.0]

    asked = reference(wave, arm)
    assert isinstance(asked, CalledFunction)
    assert_allclose(asked.at(0.3)[3], [-np.cos(0.3), 0.0], atol=1e-8)
    pieces = reference(wave, arm, until=0.5)
    assert_allclose(pieces.at(0.3004), asked.at(0.3004), atol=1e-4)  # rounding over h³ in the jerk, h = 1 ms


def test_a_table_becomes_the_spline_through_it(arm, tmp_path):
    time = np.linspace(0.0, 1.0, 21)
    rows = "\n".join(f"{t:.17g},{np.sin(t):.17g},{t**2:.17g}" for t in time)
    (tmp_path / "swing.csv").write_text("time,shoulder,elbow\n" + rows)
    found = reference(tmp_path / "swing.csv", arm)
    course = supple.trajectory(arm, tmp_path / "swing.csv", times=np.linspace(0.0, 0.99, 77))
    assert_allclose(found.sample(course.time)[:, 2], course.accelerations, atol=1e-10)


def test_what_does_not_fit_is_refused(arm, swing, four_bar):
    with pytest.raises(supple.InputError, match=r"reference\(motion, mechanism\)"):
        reference(SWING)
    with pytest.raises(supple.InputError, match="motion is of shoulder, elbow"):
        reference(swing, four_bar)
