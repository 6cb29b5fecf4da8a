"""Chebyshev series of analytic functions: to their tolerance everywhere, box by box where the function jumps."""

import numpy as np
import pytest

from supple.approximation.chebyshev_series import fit_chebyshev_series
from supple.approximation.refinement.box import Box
from supple.approximation.refinement.box_tree import Forest, cut_box

TOLERANCE = 1e-9


def waves(x):
    """Weights of links over joint angles, and a deflection: some of them over a stiffness that changes."""
    angles = np.cumsum(x, axis=1)
    torque = np.cos(angles) @ np.linspace(1.0, 0.3, x.shape[1])
    return np.stack([torque, np.sin(angles[:, -1]), torque / (2.0 + np.cos(x[:, -1]))], axis=1)


@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_the_series_is_the_function_to_its_tolerance(dimension):
    box = Box((-0.6,) * dimension, (0.9,) * dimension)
    found = fit_chebyshev_series([box], waves, TOLERANCE, largest=100_000)
    x = np.random.default_rng(dimension).uniform(-0.6, 0.9, (2000, dimension))
    assert found.error <= TOLERANCE
    assert np.abs(found.piecewise.evaluate(x) - waves(x)).max() < 3.0 * TOLERANCE  # checked at 24 points of each box
    assert found.piecewise.arrays.indices.sum(axis=1).max() < 40


def test_jumps_between_boxes_are_kept():
    def jumping(x):
        return waves(x) + np.where(x[:, :1] >= 0.15, 0.01, 0.0)

    node = cut_box(Box((-0.6, -0.6), (0.9, 0.9)), (1, 0))
    for leaf in node.leaves():
        leaf.coefficients = np.zeros((1, 1))
    tree = Forest([node], np.zeros((1, 2), dtype=np.int64)).piecewise()
    found = fit_chebyshev_series(tree, jumping, TOLERANCE, largest=100_000)
    x = np.random.default_rng(0).uniform(-0.6, 0.9, (2000, 2))
    assert len(found.piecewise.leaves) == 2
    assert np.abs(found.piecewise.evaluate(x) - jumping(x)).max() < 3.0 * TOLERANCE


def test_a_function_that_is_too_rough_tells_its_error():
    found = fit_chebyshev_series([Box((-1.0,), (1.0,))], lambda x: np.abs(x - 0.1234), TOLERANCE, largest=500)
    x = np.linspace(-1.0, 1.0, 501)[:, None]
    worst = np.abs(found.piecewise.evaluate(x) - np.abs(x - 0.1234)).max()
    assert found.error > TOLERANCE
    assert worst < 1e-2
