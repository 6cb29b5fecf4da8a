"""Exact derivatives of everything that depends on modes, against differences, however internal modes are followed."""

import numpy as np
import pytest
from flexible_cases import CASES
from nodal_motion import slopes
from numpy.testing import assert_allclose

CLOSE = 1e-6
"""Of the largest entry of an array or its slope. Differences of sixth order err by 1e-9 or less;
the exact ones by the residual of the modes, 1e-12, over their relative distance."""


def compared(model, around, theta, step):
    """Every array with its exact and its differenced derivative, and its size: name, exact, differences, size."""
    s = len(theta)

    def one(name, exact, pick):
        size = max(np.abs(exact).max(initial=0.0), np.abs(pick(model)).max(initial=0.0))
        return name, exact, slopes(lambda t: pick(around(t)), theta, step), size

    yield one("M", model.dM[..., :s], lambda m: m.M)
    yield one("K", model.dK, lambda m: m.K)
    yield one("p", model.dforce[:, :s], lambda m: m.force)
    yield one("B", model.dinput_map, lambda m: m.input_map)
    yield one("J", model.dfriction_map, lambda m: m.friction_map)
    names = list(model.outputs)
    rows = np.concatenate([model.outputs[name].modes_slope for name in names])
    yield one("outputs", rows, lambda m: np.concatenate([m.outputs[name].modes for name in names], axis=-1))


def agree(found):
    for name, exact, differences, size in found:
        assert_allclose(exact, differences, rtol=0, atol=CLOSE * size, err_msg=name)


def signed_like(case, tracking):
    """Sorted modes have signs of their own; sums over squares do not matter, so signs are taken from θ."""
    here = case.local(tracking=tracking)
    s = len(case.theta)

    def around(theta):
        found = case.local(theta, tracking=tracking)
        signs = np.sign(np.einsum("az,naz->na", here.modes, found.modes))
        signs[:, :s] = 1.0
        return Signed(found, signs, s)

    return here, around


class Signed:
    """A model whose modes are multiplied by signs."""

    def __init__(self, model, signs, s):
        self.M = model.M * signs[:, :, None] * signs[:, None]
        self.K = model.K * signs[:, :, None] * signs[:, None]
        self.force = model.force * signs
        self.input_map = model.input_map * signs[:, :, None]
        self.friction_map = model.friction_map * signs[:, None]
        self.outputs = {
            name: output._replace(modes=output.modes * signs[:, s:]) for name, output in model.outputs.items()
        }


@pytest.mark.parametrize("tracking", ["none", "modes"])
def test_slopes_of_modes_that_follow_their_own_frequency(flexible_case, tracking):
    here, around = signed_like(flexible_case, tracking)
    agree(compared(here, around, flexible_case.at, flexible_case.step))


def test_slopes_of_the_followed_subspace(flexible_case):
    agree(compared(flexible_case.local(), flexible_case.local, flexible_case.at, flexible_case.step))


def test_slopes_of_the_subspace_away_from_its_germ(flexible_case):
    """There the modes have turned away from the reference, and turn on."""
    germ = tuple(flexible_case.at + 0.12 * np.array([1.0, -0.5])[: len(flexible_case.theta)])

    def around(theta):
        return flexible_case.local(theta, germ=germ)

    here = around(flexible_case.at)
    assert here.overlap < 0.99999
    agree(compared(here, around, flexible_case.at, flexible_case.step))


def test_slopes_at_a_crossing_inside_the_set():
    """The modes at 47-56 Hz (out of the plane) and 48 Hz of the four-bar cross; sorted, they would swap."""
    case = CASES["four-bar in space"]
    germ = (-1.3,)

    def gap(theta):
        return np.diff(case.local(np.atleast_2d(theta).T, tracking="none").internal_hz[:, 1:3], axis=1)[:, 0]

    low, high = -1.2, -0.3
    for _ in range(12):  # a ruler, finer and finer: the gap is the absolute value of a smooth function
        ruler = np.linspace(low, high, 21)
        best = int(np.argmin(gap(ruler)))
        low, high = ruler[max(best - 1, 0)], ruler[min(best + 1, 20)]
    crossing = np.array([0.5 * (low + high)])
    assert gap(crossing)[0] < 1e-7

    def around(theta):
        return case.local(theta, germ=germ)

    agree(compared(around(crossing), around, crossing, case.step))
