"""Ralf, the long-reach arm of Brüls, Duysinx and Golinval (2007), reconstructed: its modes with both cylinders locked.

The figures were computed with another program from the same planar beams.
"""

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple

HOME_HZ = [5.984, 8.331, 36.47, 60.0]
BANDS_HZ = [[5.432, 6.010], [8.291, 9.840], [36.462, 36.614]]


@pytest.fixture(scope="module")
def ralf() -> supple.Mechanism:
    return supple.load(Path(__file__).parents[2] / "examples" / "ralf" / "mechanism.yaml")


def test_frequencies_at_home(ralf):
    found = supple.modes(ralf, "home", count=4, preload=False).frequencies_hz
    assert_allclose(found, HOME_HZ, rtol=1e-3)
    assert_allclose(found, HOME_HZ, rtol=1.2e-4)  # as printed


def test_links_stand_as_printed_at_home(ralf):
    here = supple.assemble(ralf, "home")
    base, elbow, tip = (here.frame(name).position[[0, 2]] for name in ("link1", "E", "T"))
    assert_allclose(np.arctan2(*(elbow - base)[::-1]), 1.1331, atol=1e-4)
    assert_allclose(np.arctan2(*(tip - elbow)[::-1]), -0.3960, atol=1e-4)


def test_bands_over_the_region(ralf):
    grid = {"lift": np.linspace(0.85, 1.30, 10), "elbow": np.linspace(0.76, 1.18, 10)}
    found = supple.frequency_map(ralf, grid, count=3, preload=False)
    assert found.assembled.all()
    assert found.frequencies_hz.shape == (10, 10, 3)
    assert_allclose(found.bands_hz, BANDS_HZ, rtol=1e-3)
    assert_allclose(found.bands_hz, BANDS_HZ, rtol=0, atol=6e-4)  # as printed


def test_two_modes_lie_below_fifteen_hertz_and_the_next_above_thirty(ralf):
    lift, elbow = (grid.ravel() for grid in np.meshgrid(np.linspace(0.85, 1.30, 10), np.linspace(0.76, 1.18, 10)))
    found = supple.modes(ralf, np.column_stack([lift, elbow]), count=3, preload=False).frequencies_hz
    assert (found[:, 1] < 15.0).all()
    assert (found[:, 2] > 30.0).all()
