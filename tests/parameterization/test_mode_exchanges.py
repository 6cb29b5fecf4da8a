"""Exchanges of a kept mode with one outside the set, on the flexible four-bar near where crank and coupler align."""

from functools import cache

import numpy as np
import pytest
from flexible_cases import EXAMPLES
from numpy.testing import assert_allclose

import supple
from supple.approximation.refinement.box import Box
from supple.parameterization.mode_choice import ModeChoice
from supple.reduction.exchanges import exchanges


@cache
def four_bar():
    return supple.load(EXAMPLES / "flexible-four-bar" / "mechanism.yaml")


def found(internal, lower=-1.75, upper=1.75):
    boxes = [Box(np.array([lower]), np.array([upper]))]
    return exchanges(four_bar(), ModeChoice(("E.z",), internal, "subspace"), boxes)


def test_three_internal_modes_exchange_twice_with_the_fourth():
    items = sorted(found(3), key=lambda item: item.theta)
    assert_allclose([item.theta[0] for item in items], [0.665, 0.739], atol=0.002)
    for item in items:
        assert item.cure == 4
        assert item.hz is not None
        assert abs(item.hz[0] - item.hz[1]) < 2.0
        assert_allclose(item.hz, 48.0, atol=2.0)
        assert item.overlap < 0.9
        assert "keep 4 internal modes" in item.describe(("crank",))


@pytest.mark.parametrize("internal", [4, 0])
def test_four_internal_modes_do_not(internal):
    assert found(internal) == []


def test_three_do_not_away_from_there():
    assert found(3, -1.75, 0.6) == []
