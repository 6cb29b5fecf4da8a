"""Slopes from values at Chebyshev's points, and what has none."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from supple.approximation.analytic_slope import NEAR, WIDE, smooth, stencil, stencil_slope


@pytest.mark.parametrize("reach", [WIDE, NEAR])
def test_analytic_functions_have_their_slopes(reach):
    def f(x):
        return np.array([np.sin(x), 1.0 / x, np.sqrt(x), x**3, 7.0, np.exp(-x)])

    x = 1.7
    around = stencil(x, reach=reach)
    values = [f(at) for at in around.points]
    expected = [np.cos(x), -1.0 / x**2, 0.5 / np.sqrt(x), 3.0 * x**2, 0.0, -np.exp(-x)]
    assert smooth(values)
    found = stencil_slope(around, values)
    assert_allclose(found, expected, rtol=3e-11)
    assert found[4] == 0.0


@pytest.mark.parametrize("reach", [WIDE, NEAR])
def test_kinks_and_jumps_are_seen_and_extrema_are_not(reach):
    around = stencil(0.7, reach=reach)
    for rough in (lambda x: max(x, 0.7), lambda x: abs(x - 0.7) + 1.0, lambda x: 1.0 + 1e-3 * (x > 0.7)):
        assert not smooth([np.array([rough(at)]) for at in around.points])
    assert smooth([np.array([2.0 + (at - 0.7) ** 2]) for at in around.points])
