"""Gains designed anew along a motion, on line."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple import control
from supple.control.controller import Measurement

OMEGA, XI = 12.0, 0.7


def swing(t):
    """θ, θ̇, θ̈ of a large motion of the two-link arm."""
    return (
        np.array([1.5 * np.sin(t), -1.0 + np.cos(2 * t)]),
        np.array([1.5 * np.cos(t), -2 * np.sin(2 * t)]),
        np.array([-1.5 * np.sin(t), -4 * np.cos(2 * t)]),
    )


def design(linear):
    return control.decoupled_gains(linear, OMEGA, XI)


def acceleration(arm, theta, rates, u):
    here = supple.local(arm, theta)
    return np.linalg.solve(here.M, here.input_map @ u - here.required_forces(rates, np.zeros(2)))


def test_errors_are_oscillators_of_their_own_along_the_motion(arm):
    """By the equations of motion ë = -2ξω ė - ω² e to first order in e, at every instant; not so with old gains."""
    size = 1e-5
    fresh, old = (control.successive_linearization(arm, swing, design, every=every) for every in (1, 10))
    for n, t in enumerate((0.0, 0.9, 2.2)):
        theta, rates, wanted = swing(t)
        e, slope = size * np.array([1.0, -0.5]), size * np.array([3.0, 2.0])
        seen = Measurement(("shoulder", "elbow"), theta + e, rates + slope)
        ideal = -2 * XI * OMEGA * slope - OMEGA**2 * e
        found = [acceleration(arm, theta + e, rates + slope, one.step(t, seen)) - wanted for one in (fresh, old)]
        assert_allclose(found[0], ideal, atol=1e-4 * np.abs(ideal).max())
        assert (np.abs(found[1] - ideal).max() > 1e-2 * np.abs(ideal).max()) == (n > 0)
    assert (fresh.designs, old.designs) == (3, 1)


@pytest.mark.slow
def test_reduced_models_and_refusals(four_bar, arm):
    model = supple.reduce(four_bar, region={"crank": (-0.6, 0.6)}, tolerance=1e-4)

    def wave(t):
        return [0.4 * np.sin(6 * t)], [2.4 * np.cos(6 * t)], [-14.4 * np.sin(6 * t)]

    options = {"until": 0.2, "sample_time": 2e-3, "start": [0.01], "rates": [2.4]}
    small, full = (
        control.closed_loop(four_bar, control.successive_linearization(one, wave, design), **options)
        for one in (model, four_bar)
    )
    assert_allclose(small.coordinates["crank"], full.coordinates["crank"], atol=1e-5)
    with pytest.raises(supple.InputError, match=r"every: .*at least 1.*0"):
        control.successive_linearization(arm, swing, design, every=0)
