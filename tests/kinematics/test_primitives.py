"""Every scalar measure: its gradient and curvature against differences along the manifold, at any poses."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from supple.geometry.rotation import exponential
from supple.kinematics.primitives import (
    ALONG,
    ANGLE,
    DISTANCE,
    DOT,
    FACTOR,
    OFFSET,
    PA,
    PB,
    ROW_WIDTH,
    SCALE,
    U,
    V,
    W,
    curvature,
    gradient,
    value,
)

STEP = 1e-3
PLACES = (-3.0, -2.0, -1.0, 1.0, 2.0, 3.0)
WEIGHTS = np.array([-1.0, 9.0, -45.0, 45.0, -9.0, 1.0]) / (60.0 * STEP)

MEASURES = {"along": ALONG, "dot": DOT, "distance": DISTANCE, "angle": ANGLE}


def rotation(rng):
    Q, _ = np.linalg.qr(rng.standard_normal((3, 3)))
    return Q * np.sign(np.linalg.det(Q))


def random_row(rng, kind):
    """One measure between body 0 and body 1 of three (the third is the ground), with an offset."""
    rows_i = np.array([[kind, 0, 1]])
    rows_f = np.zeros((1, ROW_WIDTH))
    Q = rotation(rng)
    rows_f[0, U : U + 3], rows_f[0, V : V + 3] = Q[:, 0], Q[:, 1]
    rows_f[0, W : W + 3] = rotation(rng)[:, 0]
    rows_f[0, PA : PA + 3], rows_f[0, PB : PB + 3] = rng.standard_normal(3), rng.standard_normal(3)
    rows_f[0, OFFSET], rows_f[0, SCALE], rows_f[0, FACTOR] = rng.standard_normal(), 1.0, rng.uniform(0.5, 2.0)
    return rows_i, rows_f


def random_poses(rng):
    X = np.zeros((3, 12))
    for b in range(2):
        X[b, :3], X[b, 3:] = rng.standard_normal(3), rotation(rng).ravel()
    X[2, 3:] = np.eye(3).ravel()
    return X


def moved(X, twists, time):
    """Bodies moved by twists (bodies, 6) in their own axes for a time."""
    new = X.copy()
    for b, twist in enumerate(twists):
        R = X[b, 3:].reshape(3, 3)
        new[b, :3] = X[b, :3] + R @ twist[:3] * time
        new[b, 3:] = (R @ exponential(time * twist[3:])).ravel()
    return new


def slope(rows_i, rows_f, X, twists):
    g = np.empty(13)
    gradient(rows_i, rows_f, 0, X, g)
    return g[1:7] @ twists[0] + g[7:13] @ twists[1]


def plain_value(rows_i, rows_f, X):
    """The definition of each measure, in words of numpy."""
    f = rows_f[0]
    Ra, Rb = X[0, 3:].reshape(3, 3), X[1, 3:].reshape(3, 3)
    D = X[1, :3] + Rb @ f[PB : PB + 3] - X[0, :3] - Ra @ f[PA : PA + 3]
    u, v, w = Ra @ f[U : U + 3], Ra @ f[V : V + 3], Rb @ f[W : W + 3]
    found = {ALONG: u @ D, DOT: u @ w, DISTANCE: np.linalg.norm(D), ANGLE: np.arctan2(v @ w, u @ w)}
    return f[FACTOR] * found[rows_i[0, 0]] + f[OFFSET]


@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize("seed", range(5))
def test_value_is_its_definition(name, seed):
    rng = np.random.default_rng([seed, MEASURES[name]])
    rows_i, rows_f = random_row(rng, MEASURES[name])
    X = random_poses(rng)
    g = np.empty(13)
    gradient(rows_i, rows_f, 0, X, g)
    assert_allclose([g[0], value(rows_i, rows_f, 0, X)], plain_value(rows_i, rows_f, X), atol=1e-14)  # rounding


@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize("seed", range(5))
def test_gradient_is_the_difference_of_values_along_a_motion(name, seed):
    rng = np.random.default_rng([seed, MEASURES[name], 1])
    rows_i, rows_f = random_row(rng, MEASURES[name])
    X, twists = random_poses(rng), rng.standard_normal((2, 6))
    differences = WEIGHTS @ [plain_value(rows_i, rows_f, moved(X, twists, STEP * k)) for k in PLACES]
    # sixth order: 1e-18 times a seventh derivative of some thousands, and rounding over the step
    assert_allclose(slope(rows_i, rows_f, X, twists), differences, atol=1e-10)


@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize("seed", range(5))
def test_gradient_vanishes_when_both_bodies_move_as_one(name, seed):
    rng = np.random.default_rng([seed, MEASURES[name], 2])
    rows_i, rows_f = random_row(rng, MEASURES[name])
    X = random_poses(rng)
    v, w = rng.standard_normal(3), rng.standard_normal(3)
    twists = []
    for b in range(2):
        R = X[b, 3:].reshape(3, 3)
        twists.append(np.concatenate([R.T @ (v + np.cross(w, X[b, :3])), R.T @ w]))
    assert_allclose(slope(rows_i, rows_f, X, twists), 0.0, atol=1e-14)  # rounding


@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize("seed", range(5))
def test_curvature_is_the_difference_of_gradients_along_another_motion(name, seed):
    """Along motion k, while motion j keeps its components in body axes; for k >= j, which is what is filled."""
    rng = np.random.default_rng([seed, MEASURES[name], 3])
    rows_i, rows_f = random_row(rng, MEASURES[name])
    X, motions = random_poses(rng), rng.standard_normal((3, 2, 6))
    in_world = np.zeros((3, 3, 6))
    for b in range(2):
        R = X[b, 3:].reshape(3, 3)
        for j in range(3):
            in_world[b, j] = np.concatenate([R @ motions[j, b, :3], R @ motions[j, b, 3:]])
    h = np.zeros((3, 3))
    curvature(rows_i, rows_f, 0, X, in_world, 3, np.empty((6, 13)), h)
    for j in range(3):
        for k in range(j, 3):
            near = [slope(rows_i, rows_f, moved(X, motions[k], STEP * place), motions[j]) for place in PLACES]
            assert_allclose(h[j, k], WEIGHTS @ near, atol=1e-9)  # as for the gradient, one derivative higher


@pytest.mark.parametrize("name", MEASURES)
def test_a_measure_against_the_ground_moves_with_one_body_only(name):
    rng = np.random.default_rng([7, MEASURES[name]])
    rows_i, rows_f = random_row(rng, MEASURES[name])
    rows_i[0, 1] = 2  # from the ground
    X = random_poses(rng)
    g = np.empty(13)
    gradient(rows_i, rows_f, 0, X, g)
    twist = rng.standard_normal(6)
    swapped = np.vstack([X[2], X[1], X[2]])
    near = [plain_value(rows_i, rows_f, moved(swapped, [np.zeros(6), twist], STEP * k)) for k in PLACES]
    assert_allclose(g[7:] @ twist, WEIGHTS @ near, atol=1e-10)
