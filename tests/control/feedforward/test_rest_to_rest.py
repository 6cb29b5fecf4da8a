"""Motions from rest to rest end at rest, in the time and between the ends that were given."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple.approximation.piecewise.piecewise import Piecewise
from supple.control.feedforward.rest_to_rest import rest_to_rest
from supple.description.motion import Motion


@pytest.fixture(scope="module")
def planned(ralf_model, reach):
    return rest_to_rest(ralf_model, reach)


def test_nothing_is_left_behind_in_the_same_time(planned, reach, left_behind):
    assert left_behind(planned.reference) < 1e-5 * left_behind(reach)
    assert_allclose(planned.duration, reach.duration)
    for t in (0.0, reach.end):
        assert_allclose(planned.reference.at(t)[:3], reach.at(t)[:3], atol=1e-12)


def test_the_change_is_small_and_the_deformation_that_of_the_model(planned, reach, ralf_model):
    times = np.linspace(0.0, reach.end, 500)
    change = planned.reference.sample(times) - reach.sample(times)
    assert np.abs(change[:, 1]).max() < 0.05 * np.abs(reach.sample(times)[:, 1]).max()
    run = ralf_model.follow(planned.reference.trajectory(np.linspace(0.0, reach.end, 1001)))
    expected = planned.deformation.sample(run.time)[:, 0]
    for k, name in enumerate(planned.deformation.coordinates):
        assert_allclose(run.coordinates[name], expected[:, k], atol=1e-6 * np.abs(expected).max())


def stiffer(model, factor):
    """The model with K times a factor: every column of the fit is a sum over the same terms."""
    arrays = model.fitted.arrays
    first, stop = model.layout.columns["K"]
    coefficients = arrays.coefficients.copy()
    coefficients[:, first:stop] *= factor
    return replace(model, fitted=Piecewise(arrays._replace(coefficients=coefficients)))


@pytest.mark.slow
def test_a_robust_one_forgives_wrong_frequencies(reach, ralf_model, left_behind):
    wrong = stiffer(ralf_model, 1.02**2)  # frequencies 2 % too high
    plain, robust = rest_to_rest(wrong, reach), rest_to_rest(wrong, reach, robust=True)
    assert left_behind(robust.reference) < 0.4 * left_behind(plain.reference)


def test_too_short_a_motion_is_refused_or_met(ralf_model):
    ends = {"lift": {"from": 1.15, "to": 1.1}, "elbow": {"from": 1.0, "to": 0.98}}
    with pytest.raises(supple.SuppleError):
        rest_to_rest(ralf_model, lambda t: ([1.15, 1.0], [0.0, 0.0], [0.0, 0.0]))
    short = rest_to_rest(ralf_model, Motion(coordinates=ends, duration=0.15))
    assert_allclose(short.duration, 0.15)
