"""Division of generalized forces among redundant actuators in exported C, against an exact quadratic program."""

from __future__ import annotations

import ctypes

import daqp
import numpy as np
import pytest
from numpy.testing import assert_allclose


class Divide:
    def __init__(self, library):
        self.function = getattr(library.library, f"{library.prefix}_divide")

    def __call__(self, theta, forces, weights=None, lower=None, upper=None, count=4):
        out = np.full(count, 12345.0)
        kept = [
            None if item is None else np.ascontiguousarray(item, dtype=float)
            for item in (theta, forces, weights, lower, upper)
        ]
        pointers = [None if item is None else ctypes.c_void_p(item.ctypes.data) for item in (*kept, out)]
        return self.function(*pointers), out


@pytest.fixture
def redundant(machines, built):
    rom = machines["four-bar-redundant"]
    return rom, Divide(built(rom))


def test_without_bounds_it_is_the_weighted_pseudo_inverse(redundant):
    rom, divide = redundant
    rng = np.random.default_rng(1)
    for theta in rng.uniform(-0.45, 0.45, (50, 1)):
        Q, w = rng.uniform(-50, 50, 1), rng.uniform(0.2, 5.0, 4)
        B = rom.evaluate(theta).input_map
        flag, u = divide(theta, Q, w)
        assert flag == 0
        expected = (B.T / w[:, None]) @ np.linalg.solve((B / w) @ B.T, Q)
        assert_allclose(u, expected, rtol=0, atol=1e-12 * np.abs(expected).max())
        assert_allclose(divide(theta, Q)[1], np.linalg.pinv(B) @ Q, rtol=0, atol=1e-12 * np.abs(expected).max())


def test_within_bounds_it_is_the_solution_of_the_program(redundant):
    rom, divide = redundant
    rng, met = np.random.default_rng(2), 0
    for theta in rng.uniform(-0.45, 0.45, (200, 1)):
        Q, w = rng.uniform(-60, 60, 1), rng.uniform(0.2, 5.0, 4)
        lower, upper = rng.uniform(-20.0, -1.0, 4), rng.uniform(1.0, 20.0, 4)
        B = rom.evaluate(theta).input_map
        flag, u = divide(theta, Q, w, lower, upper)
        assert (u >= lower).all()
        assert (u <= upper).all()
        sense = np.array([0] * 4 + [5] * 1, dtype=np.int32)
        x, _, status, _ = daqp.solve(np.diag(w), np.zeros(4), B.copy(), np.concatenate([upper, Q]),
                                     np.concatenate([lower, Q]), sense)  # fmt: skip
        assert (flag == 0) == (status > 0)
        if flag == 0:
            met += 1
            # The exact one has a tolerance of its own, 1e-6.
            assert_allclose(u, x, rtol=0, atol=1e-5)
            assert_allclose(B @ u, Q, rtol=0, atol=1e-9 * np.abs(Q).max())
        else:
            assert flag == 5
            # As much of the force as the bounds allow.
            most = np.sum(np.where(np.sign(Q) * B[0] > 0, upper, lower) * B[0])
            assert_allclose(B @ u, [most], rtol=1e-6)
    assert 20 < met < 200


def test_an_input_with_bounds_of_zero_stays_out(redundant):
    rom, divide = redundant
    flag, u = divide([0.2], [10.0], None, [-99, 0, -99, -99], [99, 0, 99, 99])
    assert flag == 0
    assert u[1] == 0.0
    assert_allclose(rom.evaluate([0.2]).input_map @ u, [10.0], rtol=1e-12)


def test_of_several_coordinates(machines, built):
    rom = machines["orthoglide"]
    divide = Divide(built(rom))
    Q = np.array([3.0, -2.0, 1.0])
    flag, u = divide([-0.1, -0.05, -0.2], Q, count=3)
    assert flag == 0
    assert_allclose(rom.evaluate([-0.1, -0.05, -0.2]).input_map @ u, Q, rtol=1e-12)
    flag, u = divide([-0.1, -0.05, -0.2], Q, None, [-1, -1, -1], [1, 1, 1], count=3)
    assert flag == 5
    assert (np.abs(u) <= 1.0).all()
    assert divide([9.0, 0.0, 0.0], Q, count=3)[0] == 1
    assert divide([np.nan, 0.0, 0.0], Q, count=3)[0] == 1
