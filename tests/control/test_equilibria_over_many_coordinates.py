"""Above four coordinates an equilibrium is fitted to scattered samples, and the law says how well."""

import numpy as np
import pytest

from supple.approximation.refinement.box import Box
from supple.control.laws.law_equilibrium import Equilibria, fitted_equilibrium
from supple.diagnostics import SuppleNote


def equilibria(points):
    slow = np.cos(0.3 * points.sum(axis=1))[:, None]
    return Equilibria(slow, np.zeros((len(points), 1)), 2.0 * slow)


@pytest.mark.slow
def test_the_error_of_an_equilibrium_over_five_coordinates_is_noted_and_holds():
    box = Box((-0.2,) * 5, (0.2,) * 5)
    with pytest.warns(SuppleNote, match=r"over 5 coordinates .*error of \d.* from its goal"):
        row = fitted_equilibrium(equilibria, [box], "five")
    assert 0.0 < row.error <= 1e-5
    points = np.random.default_rng(0).uniform(-0.2, 0.2, (50, 5))
    found = np.array([row.at(point) for point in points])
    assert np.abs(found - equilibria(points).rows()).max() <= 2.0 * row.error
