"""Frequencies from a run: the fit finds the poles of what is a sum of damped oscillations."""

import numpy as np
from numpy.testing import assert_allclose

from supple.comparison.time_comparison import counterparts, resonances

TIME = np.arange(0.0, 1.0, 1e-3)


def ringing(f, ratio, phase=0.0):
    omega = 2.0 * np.pi * f
    return np.exp(-ratio * omega * TIME) * np.cos(omega * np.sqrt(1.0 - ratio**2) * TIME + phase)


def test_damped_oscillations_beside_a_slow_motion():
    first = ringing(12.0, 0.01) + 0.2 * ringing(53.0, 0.05, 1.0) + 30.0 * TIME**2
    second = 0.5 * ringing(12.0, 0.01, 0.4) - 0.1 * ringing(53.0, 0.05) + np.cos(TIME)
    assert_allclose(resonances(TIME, np.stack([first, second], axis=1)), [12.0, 53.0], rtol=1e-4)


def test_what_moves_without_vibrating_has_none():
    assert len(resonances(TIME, (TIME**2)[:, None])) == 0
    assert len(resonances(TIME, np.zeros((len(TIME), 2)))) == 0
    assert len(resonances(TIME[:5], ringing(50.0, 0.0)[:5, None])) == 0


def test_counterparts_are_close_ones():
    found = counterparts(np.array([10.0, 50.0, 90.0]), np.array([10.1, 51.0, 120.0]))
    assert_allclose(found, [10.1, 51.0, np.nan])
