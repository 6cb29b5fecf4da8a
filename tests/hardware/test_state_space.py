"""Blocks of one signal: what they do to every frequency, and in series."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from supple.diagnostics import InputError
from supple.hardware.state_space import StateSpace, connect_input, connect_output, pade

S = 2j * np.pi * np.array([0.0, 0.5, 3.0, 11.0, 40.0])


def response(system, s):
    x = np.linalg.solve(s * np.eye(len(system.A)) - system.A, system.B.astype(complex))
    return system.C @ x + system.D


@pytest.mark.parametrize("order", [1, 2, 3, 5, 8])
def test_a_delay_is_the_quotient_of_pade(order):
    """Whose coefficients are (2n - j)! n! / ((2n)! j! (n - j)!)."""
    from math import factorial as f

    n, T = order, 0.02
    p = [f(2 * n - j) * f(n) / (f(2 * n) * f(j) * f(n - j)) for j in range(n + 1)]
    for s in S:
        x = s * T
        above, below = (sum(c * (sign * x) ** j for j, c in enumerate(p)) for sign in (-1.0, 1.0))
        found = response(pade(T, n), s)[0, 0]
        assert_allclose(found, above / below, rtol=1e-11)
        assert_allclose(abs(found), 1.0, rtol=1e-12)


def test_the_order_of_a_delay_is_refused_by_what_may_be_given():
    with pytest.raises(InputError, match="give 1 to 8"):
        pade(0.01, 9)


def test_blocks_before_and_behind_multiply_responses():
    random = np.random.default_rng(3)
    plant = StateSpace(*(random.normal(size=shape) for shape in ((4, 4), (4, 3), (2, 4), (2, 3))))
    first, last = pade(0.03, 3), pade(0.01, 2)
    whole = connect_output(connect_input(plant, 1, first), 0, last)
    for s in S:
        wanted = response(plant, s)
        wanted[:, 1] *= response(first, s)[0, 0]
        wanted[0] *= response(last, s)[0, 0]
        assert_allclose(response(whole, s), wanted, rtol=1e-9, atol=1e-12)
