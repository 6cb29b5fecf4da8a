"""Rows that only compliance keeps apart are not taken for dependent: the fast way agrees with dense matrices."""

from pathlib import Path

import numpy as np
import pytest

import supple
from supple.formulations.elastic_rest.dense import dense_modes

SURGISCOPE = Path(__file__).parents[3] / "examples" / "surgiscope" / "mechanism.yaml"


@pytest.mark.parametrize("theta", [(-0.192, 0.085, 1.119), (0.927, 0.187, -0.346), (1.068, -0.293, 0.947)])
def test_modes_of_parallelograms_with_elastic_joints(theta):
    robot = supple.load(SURGISCOPE)
    at = supple.assemble(robot, theta)
    found = supple.modes(robot, at, count=8, preload=False)
    squares, _ = dense_modes(found.rest, at, found.held, preload=False)
    np.testing.assert_allclose(found.frequencies_hz, np.sqrt(squares[:8]) / (2.0 * np.pi), rtol=1e-8)


def test_modes_of_parallelograms_under_their_weight():
    """Reactions along rows that compliance alone keeps apart are refined: K_g does not carry the rounding of S."""
    robot = supple.load(SURGISCOPE)
    at = supple.assemble(robot, (0.927, 0.187, -0.346))
    found = supple.modes(robot, at, count=8, preload=True)
    squares, _ = dense_modes(found.rest, at, found.held, preload=True)
    np.testing.assert_allclose(found.frequencies_hz, np.sqrt(squares[:8]) / (2.0 * np.pi), rtol=1e-9)
