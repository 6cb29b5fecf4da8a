"""Instruments: closed forms of what they do to ramps, sines and noise."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from supple.diagnostics import InputError
from supple.hardware.hardware import Hardware
from supple.hardware.instrument import Instrument
from supple.hardware.instrument_bank import InstrumentBank, reading_errors

T = 1e-3


def readings(*instruments: Instrument, signal, count: int = 400, seed: int = 0) -> np.ndarray:
    """(count, instruments), all of the same signal of time."""
    names = tuple(item.output for item in instruments)
    bank = InstrumentBank(Hardware((), instruments), names, T, count, seed)
    return np.array([bank.read(k, np.full(len(names), signal(k * T))) for k in range(count)])


def test_delays_between_samples_are_exact_on_a_ramp():
    found = readings(
        Instrument("none"), Instrument("whole", delay=3e-3), Instrument("part", delay=2.4e-3), signal=lambda t: 5.0 * t
    )
    t = T * np.arange(len(found))
    late = np.array([0.0, 3e-3, 2.4e-3])
    assert_allclose(found, 5.0 * np.maximum(t[:, None] - late, 0.0), atol=1e-13)  # before the start it stood still


@pytest.mark.parametrize("damping", [None, 0.6])
def test_a_low_pass_is_that_of_its_equation(damping):
    """After the start has died out a sine comes through as the transfer function says; linear pieces between samples
    take (π f T)²/3 off it."""
    f, corner = 5.0, 30.0
    item = Instrument("a", frequency=corner, damping=damping)
    found = readings(item, signal=lambda t: np.sin(2.0 * np.pi * f * t))[200:, 0]
    s = 1j * f / corner
    transfer = 1.0 / (1.0 + s) if damping is None else 1.0 / (1.0 + 2.0 * damping * s + s**2)
    t = T * np.arange(200, 400)
    wanted = (transfer * np.exp(2j * np.pi * f * t)).imag
    assert_allclose(found, wanted, atol=(np.pi * f * T) ** 2)
    assert np.abs(found - np.sin(2.0 * np.pi * f * t)).max() > 0.1


def test_own_samples_range_and_resolution():
    item = Instrument("a", sample_time=4e-3, resolution=0.1, limits=(-0.3, 0.8))
    found = readings(item, signal=lambda t: 2.0 - 100.0 * t, count=40)[:, 0]
    held = 2.0 - 100.0 * T * 4 * (np.arange(40) // 4)
    assert_allclose(found, np.clip(0.1 * np.round(held / 0.1), -0.3, 0.8), atol=1e-12)
    with pytest.raises(InputError, match=r"reads every 0.0025 s.*0.001 s; sample at 0.000833333 s"):
        readings(Instrument("a", sample_time=2.5e-3), signal=lambda t: t, count=2)


def test_noise_is_what_it_is_said_to_be():
    """RMS, autocorrelation exp(-2π f τ), and a walk whose variance grows with time; 3 to 4 standard errors."""
    count = 100_000
    white = reading_errors(Instrument("a", noise=0.2, bias=0.3), T, count, 1)
    assert_allclose(white.mean(), 0.3, atol=4 * 0.2 / np.sqrt(count))
    assert_allclose(white.std(), 0.2, rtol=4 / np.sqrt(2 * count))
    coloured = reading_errors(Instrument("a", noise=0.2, noise_frequency=20.0), T, count, 1)
    lags = np.array([1, 5, 10])
    found = [np.mean(coloured[lag:] * coloured[:-lag]) for lag in lags]
    times = count * T * 2 * np.pi * 20.0 / 2  # independent ones
    assert_allclose(found, 0.04 * np.exp(-2.0 * np.pi * 20.0 * T * lags), atol=0.04 * 4 / np.sqrt(times))
    steps = np.diff(reading_errors(Instrument("a", walk=0.5), T, count, 1))
    assert_allclose(steps.std(), 0.5 * np.sqrt(T), rtol=4 / np.sqrt(2 * count))


def test_the_seed_is_all_that_noise_hangs_on():
    """Not on other outputs, their order, other errors of the same instrument, nor on how long a run is."""
    item, other = Instrument("tip", noise=1.0), Instrument("rod", noise=1.0)
    alone = readings(item, signal=np.sin, count=20, seed=3)[:, 0]
    assert_allclose(readings(other, item, signal=np.sin, count=50, seed=3)[:20, 1], alone, rtol=1e-15)
    assert_allclose(reading_errors(Instrument("tip", noise=1.0, walk=1e-12), T, 20, 3),
                    reading_errors(item, T, 20, 3), atol=1e-9)  # fmt: skip
    assert np.abs(readings(item, signal=np.sin, count=20, seed=4)[:, 0] - alone).min() > 1e-6
    assert np.abs(readings(other, signal=np.sin, count=20, seed=3)[:, 0] - alone).min() > 1e-6
