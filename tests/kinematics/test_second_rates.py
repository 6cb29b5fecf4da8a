"""Second rates of every measure along a motion, and their changes from place to place, by differences."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from supple.kinematics.closure_kernel import move_body
from supple.kinematics.primitives import (
    ALONG,
    ANGLE,
    DISTANCE,
    DOT,
    FACTOR,
    PA,
    PB,
    ROW_WIDTH,
    Course,
    U,
    V,
    W,
    second_rate,
    value,
)

KINDS = {"along": ALONG, "dot": DOT, "distance": DISTANCE, "angle": ANGLE}


@pytest.fixture(params=KINDS)
def measure(request):
    """A measure between two bodies, with twists, their rates, two motions, and what these change of the twists."""
    rng = np.random.default_rng(list(KINDS).index(request.param))
    rows_f = np.zeros((1, ROW_WIDTH))
    rows_f[0, FACTOR] = rng.uniform(0.5, 2.0)
    u, v = np.linalg.qr(rng.standard_normal((3, 2)))[0].T
    for at, vector in ((U, u), (V, v), (W, rng.standard_normal(3)), (PA, rng.normal(size=3)), (PB, rng.normal(size=3))):
        rows_f[0, at : at + 3] = vector
    X = np.zeros((3, 12))
    X[:, 3:] = np.eye(3).ravel()
    for b in range(2):
        move_body(X, b, *rng.normal(size=6))
    rows_i = np.array([[KINDS[request.param], 0, 1]])
    return rows_i, rows_f, X, *rng.standard_normal((2, 2, 6)), *rng.standard_normal((2, 2, 2, 6))


def turned(X, local):
    """(..., bodies, 6) in body axes to world axes; the ground stands still."""
    found = np.zeros((*local.shape[:-2], 3, 6))
    for b in range(2):
        R = X[b, 3:].reshape(3, 3)
        found[..., b, :3], found[..., b, 3:] = local[..., b, :3] @ R.T, local[..., b, 3:] @ R.T
    return found


def evaluated(rows_i, rows_f, X, twist, push, along, bent):
    """φ'' and its changes (2,)."""
    out = np.empty(2)
    worlds = [np.ascontiguousarray(np.moveaxis(turned(X, item), 0, 1)) for item in (along, bent)]
    found = second_rate(rows_i, rows_f, 0, X, Course(turned(X, twist), turned(X, push), *worlds), out)
    return found, out


def at_time(X, twist, push, t):
    """Where the bodies are after t, but for what is odd in t from the third power on."""
    there = X.copy()
    for b in range(2):
        v, w, dv, dw = twist[b, :3], twist[b, 3:], push[b, :3], push[b, 3:]
        step = t * v + 0.5 * t * t * (dv + np.cross(w, v))
        move_body(there, b, *step, *(t * w + 0.5 * t * t * dw))
    return there


def test_second_rates_are_second_differences(measure):
    rows_i, rows_f, X, twist, push, along, bent = measure

    def second(h):
        ahead, behind = (value(rows_i, rows_f, 0, at_time(X, twist, push, t)) for t in (h, -h))
        return (ahead - 2.0 * value(rows_i, rows_f, 0, X) + behind) / h**2

    expected = (4.0 * second(1e-3) - second(2e-3)) / 3.0  # the error in h² taken out
    found, _ = evaluated(rows_i, rows_f, X, twist, push, along, bent)
    assert found == pytest.approx(expected, rel=1e-7, abs=1e-7)  # rounding over h²


def test_changes_are_differences_along_the_motions(measure):
    rows_i, rows_f, X, twist, push, along, bent = measure
    _, found = evaluated(rows_i, rows_f, X, twist, push, along, bent)
    h = 1e-5
    for m in range(2):
        both = []
        for sign in (h, -h):
            there = X.copy()
            for b in range(2):
                move_body(there, b, *(sign * along[m, b]))
            both.append(evaluated(rows_i, rows_f, there, twist + sign * bent[m], push, along, bent)[0])
        assert_allclose(found[m], (both[0] - both[1]) / (2 * h), rtol=1e-8, atol=1e-8)  # h², and rounding over h
