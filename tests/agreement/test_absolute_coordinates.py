"""The local model against a formulation of its own: absolute coordinates in world axes, dense, least squares.

`WorldAxes` reads the same parts, closes the loops by its own Newton iteration from the drawing, and reduces as
the paper does [Brüls 2004, eqs. 11-28], with ∂q_θ/∂θ by differences.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from random_mechanisms import case
from redrawn import in_space
from world_axes import WorldAxes

import supple
from supple.kinematics.rest import rest
from supple.parameterization.local_model import local


def largest(array):
    return float(np.abs(array).max())


@pytest.mark.slow
def test_mass_and_force_are_those_of_absolute_coordinates(any_case):
    oracle = WorldAxes(any_case.parts)
    thetas = any_case.thetas(3, seed=21)
    models = local(any_case.mechanism, thetas)
    for n, theta in enumerate(thetas):
        poses = oracle.poses_at(theta)
        # both close to 1e-12 or so; a condition of a hundred makes 1e-10 of it
        assert_allclose(models.M[n], oracle.inertia(poses), atol=1e-9 * largest(models.M[n]))
        assert_allclose(models.force[n], oracle.force(poses), atol=1e-9 * largest(models.force[n]))


def test_christoffel_symbols_are_the_gyroscopic_tensor_of_absolute_coordinates(any_case):
    oracle = WorldAxes(any_case.parts)
    theta = any_case.thetas(1, seed=22)[0]
    model = local(any_case.mechanism, theta)
    h = oracle.gyroscopic(oracle.poses_at(theta))
    # ∂q_θ by differences is good to about 1e-9
    assert_allclose(model.christoffel, h, atol=1e-7 * max(largest(h), largest(model.M)))


def test_mobility_and_redundancy_are_a_plain_count_of_singular_values(any_case):
    oracle = WorldAxes(any_case.parts)
    poses = oracle.close(oracle.drawn)
    found = rest(any_case.mechanism).mobility
    assert found.mobility == found.instantaneous == oracle.mobility(poses)
    assert not found.singular
    parts, planar = any_case.parts, "plane" in any_case.parts
    freedoms = {
        "revolute": 1, "prismatic": 1, "cylindrical": 2, "universal": 2, "spherical": 3, "planar": 3,
        "translation": 2 if planar else 3, "weld": 0, "free": 3 if planar else 6,
    }  # fmt: skip
    each = 3 if planar else 6
    rows = sum(each - freedoms[kind] for kind, _, _ in oracle.joints.values())
    assert found.redundant == rows - (each * len(parts["bodies"]) - found.mobility)


@pytest.mark.parametrize("name", ["four-bar 1", "five-bar 1", "parallelogram chain 2", "3-RRR platform"])
def test_redundant_constraints_change_nothing_in_either_formulation(name):
    planar = case(name)
    parts = in_space(planar.parts)
    oracle = WorldAxes(parts)
    shift = np.array([parts["joints"][ref]["rest"] for ref in parts["coordinates"]])  # ours are zero as drawn
    theta = planar.thetas(1, seed=23)[0]
    model = local(supple.Mechanism(**parts), theta)
    poses = oracle.poses_at(theta - shift)
    assert_allclose(model.M, oracle.inertia(poses), atol=1e-9 * largest(model.M))
    h = oracle.gyroscopic(poses)
    assert_allclose(model.christoffel, h, atol=1e-7 * max(largest(h), largest(model.M)))
