"""Springs and cylinders between places that come to coincide."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple.parameterization.local_model import local

STIFFNESS = 10.0


def pendulum(**more):
    """A bar of a metre along x, its tip drawn on a hook in the ground."""
    return supple.Mechanism(
        plane="xy",
        points={"O": [0, 0], "P": [1, 0]},
        bodies={"bar": {"rod": ["O", "P"], "mass": 1.0}},
        joints={"O": {"revolute": ["ground", "bar"]}},
        frames={"hook": {"on": "ground", "at": [1, 0]}, "tip": {"on": "bar", "at": "P"}},
        actuators={"motor": {"joint": "O"}},
        **more,
    )


def relaxed_at_no_length():
    return pendulum(springs={"s": {"between": ["hook", "tip"], "stiffness": STIFFNESS, "length": 0}})


@pytest.mark.parametrize("theta", [0.5, 1e-2, 1e-4, 1e-6])
def test_a_spring_without_length_pulls_like_its_square(theta):
    """V = ½ k |d|² = k (1 - cos θ), smooth also where its ends meet."""
    model = local(relaxed_at_no_length(), [theta])
    # |d| is a small difference of places of a metre: 1e-16 / θ of it is rounding
    assert_allclose(model.potential, 2.0 * STIFFNESS * np.sin(0.5 * theta) ** 2, rtol=1e-9 + 1e-15 / theta)
    assert_allclose(model.force, [-STIFFNESS * np.sin(theta)], rtol=1e-9 + 1e-15 / theta)
    assert_allclose(model.dforce, [[-STIFFNESS * np.cos(theta)]], rtol=1e-9 + 1e-14 / theta)


def test_a_spring_without_length_is_at_rest_where_its_ends_meet():
    model = local(relaxed_at_no_length(), [0.0])
    assert_allclose(model.force, [0.0], atol=1e-12)
    assert_allclose(model.dforce, [[-STIFFNESS]], rtol=1e-12)


@pytest.mark.parametrize(
    "part",
    [
        {"dampers": {"d": {"between": ["hook", "tip"], "damping": 1.0}}},
        {"sensors": {"d": {"between": ["hook", "tip"]}}},
    ],
    ids=["damper", "sensor"],
)
def test_a_distance_of_zero_is_refused_or_finite_but_never_nan(part):
    try:
        model = local(pendulum(**part), [0.0])
    except supple.diagnostics.InputError:
        return
    assert np.isfinite(model.damping).all()
    assert all(np.isfinite(output.rigid).all() for output in model.outputs.values())
