"""Rotations: what their names promise, on random axes and at the edges."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import expm

from supple.geometry.rotation import axes_from_x, axes_from_z, exponential, rotation_about, tilde

ROUNDING = 1e-14  # of matrices with entries of one


def directions():
    rng = np.random.default_rng(0)
    axes = [*np.eye(3), *-np.eye(3), [1, 1, 0], [0, 1, -1], [1, 1, 1], [1e-9, 0, 1], [0, 1e-9, -1]]
    return [np.array(axis, float) for axis in axes] + list(rng.standard_normal((20, 3)))


def assert_right_handed(E):
    assert_allclose(E.T @ E, np.eye(3), atol=ROUNDING)
    assert_allclose(np.linalg.det(E), 1.0, atol=ROUNDING)


def test_skew_is_the_cross_product():
    rng = np.random.default_rng(1)
    for v, w in rng.standard_normal((10, 2, 3)):
        assert_allclose(tilde(v) @ w, np.cross(v, w), atol=ROUNDING)
        assert_allclose(tilde(v), -tilde(v).T, atol=0.0)


@pytest.mark.parametrize("angle", [0.0, 1e-9, 0.3, -2.0, np.pi, 7.0])
def test_a_rotation_about_an_axis_is_the_matrix_exponential(angle):
    for axis in directions():
        n = axis / np.linalg.norm(axis)
        R = rotation_about(axis, angle)
        assert_right_handed(R)
        assert_allclose(R, expm(angle * tilde(n)), atol=1e-13)  # expm squares a few times
        assert_allclose(R @ n, n, atol=ROUNDING)


def test_positive_angles_turn_right_handed():
    assert_allclose(rotation_about([0, 0, 1], 0.5 * np.pi) @ [1, 0, 0], [0, 1, 0], atol=ROUNDING)
    assert_allclose(rotation_about([1, 0, 0], 0.5 * np.pi) @ [0, 1, 0], [0, 0, 1], atol=ROUNDING)


def test_rotations_about_one_axis_add_up():
    rng = np.random.default_rng(2)
    for axis in rng.standard_normal((5, 3)):
        a, b = rng.uniform(-3, 3, 2)
        assert_allclose(rotation_about(axis, a) @ rotation_about(axis, b), rotation_about(axis, a + b), atol=ROUNDING)


@pytest.mark.parametrize("size", [0.0, 1e-300, 1e-12, 1e-6, 1e-3, 1.0, 4.0])
def test_exponential_of_a_vector_is_that_of_its_matrix(size):
    for axis in directions():
        w = size * axis / np.linalg.norm(axis)
        assert_allclose(exponential(w), expm(tilde(w)), atol=1e-13)


def test_small_rotations_keep_their_second_order():
    """R - I - w̃ is ½ w̃², here 5e-11; the sum with I rounds at 1e-16."""
    w = 1e-5 * np.array([0.6, -0.8, 0.0])
    assert_allclose(exponential(w) - np.eye(3) - tilde(w), 0.5 * tilde(w) @ tilde(w), atol=1e-15)


def test_axes_from_x_are_right_handed_with_x_along_the_direction():
    for axis in directions():
        E = axes_from_x(axis)
        assert_right_handed(E)
        assert_allclose(E[:, 0], axis / np.linalg.norm(axis), atol=ROUNDING)
    assert_allclose(axes_from_x([2.0, 0.0, 0.0]), np.eye(3), atol=ROUNDING)


def test_axes_from_x_keep_y_horizontal_where_they_can():
    for axis in ([1, 0, 0], [0, 1, 0], [1, 2, 0.5], [-1, 1, 1]):
        assert_allclose(axes_from_x(axis)[2, 1], 0.0, atol=ROUNDING)


def test_axes_from_z_are_right_handed_with_z_along_the_direction():
    for axis in directions():
        E = axes_from_z(axis)
        assert_right_handed(E)
        assert_allclose(E[:, 2], axis / np.linalg.norm(axis), atol=ROUNDING)
    assert_allclose(axes_from_z([0.0, 0.0, 3.0]), np.eye(3), atol=ROUNDING)
