"""Grids that are fitted a group of boxes at a time: the same result as all at once, with few samples in memory."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from supple.approximation.confidence import Confirmation
from supple.approximation.evaluated import Samples
from supple.approximation.refinement import uniform
from supple.approximation.refinement import uniform as streamed_grid
from supple.approximation.refinement.box import Box
from supple.diagnostics import NumericalError


class Wave:
    """Two outputs on the plane, which do not exist in a corner; the most points asked for at once."""

    def __init__(self, hole: float = 0.85):
        self.most, self.hole = 0, hole

    def __call__(self, x):
        self.most = max(self.most, len(x))
        values = np.column_stack([np.sin(3.0 * x[:, 0]) * np.exp(x[:, 1]), np.cos(2.0 * x[:, 1])])
        valid = x.min(axis=1) <= self.hole
        values[~valid] = np.nan
        return Samples(values, None, {"wave": values, "second": values[:, 1:]}, valid)


def derived(values, gradients):
    return {"wave": values, "second": values[:, 1:]}


def checked(wave):
    return Confirmation(wave, derived, 40)


REGIONS = {
    "one box": [Box((0.0, 0.0), (1.0, 1.0))],
    "two boxes": [Box((0.0, 0.0), (0.5, 1.0)), Box((0.5, 0.0), (1.0, 0.9))],
}


@pytest.mark.parametrize("name", REGIONS)
@pytest.mark.parametrize("fit", ["quadratic", "lagrange", "chebyshev"])
def test_a_streamed_grid_is_the_grid(name, fit, monkeypatch):
    whole = uniform.uniform(REGIONS[name], (7, 6), Wave(), derived, fit=fit, confirmation=checked(Wave()))
    for module in (uniform, streamed_grid):
        monkeypatch.setattr(module, "TOGETHER", 60)
    wave = Wave()
    streamed = uniform.uniform(REGIONS[name], (7, 6), wave, derived, fit=fit, confirmation=checked(wave))
    assert wave.most <= 60
    for one, other in zip(streamed.piecewise.arrays, whole.piecewise.arrays, strict=True):
        assert_array_equal(one, other)
    for field in ("samples", "checks", "boxes", "depth", "dropped", "jumps"):
        assert getattr(streamed, field) == getattr(whole, field), field
    for family, stated in whole.error.items():
        assert streamed.error[family].worst == stated.worst
        assert streamed.error[family].median_norm == stated.median_norm


@pytest.mark.parametrize(("hole", "words"), [(-1.0, "exists at none of"), (0.0, "none of 42 boxes could be fitted")])
def test_a_streamed_grid_that_cannot_be_fitted_says_so(hole, words, monkeypatch):
    monkeypatch.setattr(uniform, "TOGETHER", 60)
    with pytest.raises(NumericalError, match=words):
        uniform.uniform(REGIONS["one box"], (7, 6), Wave(hole), derived, fit="lagrange")
