"""Forces over time by their kind."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from supple.integration.input_course import input_course
from supple.integration.signal import JUMP, joined_inputs, signal_breaks


def at(signal, times, end=2.0, spacing=1e-3):
    return np.interp(times, *signal_breaks(signal, end, spacing))


def test_a_step_comes_and_goes():
    assert_allclose(at({"step": 3.0}, [0.0, 1.0, 2.0]), 3.0)
    later = {"step": 3.0, "at": 0.5, "until": 1.0}
    assert_allclose(at(later, [0.0, 0.5, 0.5 + JUMP, 1.0, 1.0 + JUMP, 2.0]), [0, 0, 3, 3, 0, 0], atol=1e-12)
    assert_allclose(at({"step": 3.0, "at": 0.5, "rise": 0.2}, [0.5, 0.6, 0.7, 2.0]), [0, 1.5, 3, 3])


def test_a_sine_at_its_samples():
    times = 1e-3 * np.arange(2001)
    found = at({"sine": 2.0, "frequency": 5.0, "phase": 0.3}, times)
    assert_allclose(found, 2.0 * np.sin(10.0 * np.pi * times + 0.3), atol=1e-12)


def test_a_chirp_has_the_frequencies_it_says():
    """The phase of a chirp is the integral of a frequency that grows evenly: dφ/dt = 2π (f_0 + (f_1 - f_0) t/T)."""
    times, values = signal_breaks({"chirp": 1.0, "from": 2.0, "to": 20.0}, 4.0, 1e-3)
    rising = np.flatnonzero((values[:-1] < 0.0) & (values[1:] >= 0.0))
    crossings = times[rising] - values[rising] * 1e-3 / (values[rising + 1] - values[rising])
    middle = 0.5 * (crossings[1:] + crossings[:-1])
    assert_allclose(1.0 / np.diff(crossings), 2.0 + 18.0 * middle / 4.0, rtol=2e-3)
    assert times[-1] == pytest.approx(4.0)


def test_what_oscillates_is_sampled_fine_enough_where_no_step_says_how():
    times, _ = signal_breaks({"sine": 1.0, "frequency": 50.0}, 0.1, None)
    assert np.diff(times).max() <= 1.0 / (39.0 * 50.0)


def test_signals_tables_and_numbers_come_together_on_the_same_times():
    given = {"a": 2.0, "b": [0.0, 1.0], "c": {"step": 1.0, "at": 0.5}}
    inputs, times = joined_inputs(given, [0.0, 1.0], 1.0, None)
    assert inputs["a"] == 2.0
    assert_allclose(np.interp([0.25, 0.75], times, inputs["b"]), [0.25, 0.75])
    assert_allclose(np.interp([0.25, 0.75], times, inputs["c"]), [0.0, 1.0])
    assert joined_inputs({"a": 2.0}, None, 1.0, None) == ({"a": 2.0}, None)


def test_knots_that_differ_from_results_by_rounding_are_at_them():
    grid = np.linspace(0.0, 1.0, 11)
    knots = 1e-3 * np.arange(1001)
    breaks, _ = input_course(("a",), {"a": np.sin(knots)}, knots, grid, None)
    assert set(grid) <= set(breaks)
    assert np.diff(breaks).min() > 0.9e-3
