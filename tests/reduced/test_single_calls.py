"""A state alone, in place, and among any number of others: the same bits, and the same words when it is wrong."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from supple import InputError
from supple.approximation.piecewise.piecewise_kernel import BLOCK

MODELS = ["four_bar", "orthoglide", "orthoglide_direct", "flexible", "stiffened", "flexible_direct"]
PARTS = ("M", "K", "christoffel", "damping", "potential", "force", "force_slope", "input_map", "friction_map")


@pytest.fixture(params=MODELS)
def model(request):
    return request.getfixturevalue(request.param)


def states(model, count=BLOCK + 1):
    """θ, δ, rates, inputs, accelerations."""
    layout, rng = model.layout, np.random.default_rng(4)
    lower, upper = model.fitted.arrays.roots_f[0]
    sizes = (layout.size - layout.theta, layout.size, len(layout.inputs), layout.size)
    return rng.uniform(lower, upper, (count, layout.theta)), *(rng.normal(size=(count, size)) for size in sizes)


@pytest.mark.parametrize("count", [1, 2, BLOCK - 1, BLOCK, BLOCK + 1])
def test_one_state_does_not_depend_on_its_companions(model, count):
    theta, delta, rates, u, a = (part[:count] for part in states(model))
    many = model.evaluate(theta)
    forward, inverse = model.forward(theta, rates, u, delta=delta), model.inverse(theta, rates, a, delta=delta)
    in_place = model.kernel()
    row = in_place.new_row()
    for n in {0, count // 2, count - 2, count - 1} - {-1}:
        one = model.evaluate(theta[n])
        assert in_place(theta[n].copy(), row) == 0
        placed = in_place.split(theta[n], row)
        for name in PARTS:
            assert_array_equal(getattr(one, name), getattr(many, name)[n])
            assert_array_equal(getattr(placed, name), getattr(many, name)[n])
        for name, output in one.outputs.items():
            for part, parts in zip(output, many.outputs[name], strict=True):
                assert_array_equal(part, parts[n])
        assert_array_equal(one.theta, theta[n])
        assert_array_equal(model.forward(theta[n], rates[n], u[n], delta=delta[n]), forward[n])
        assert_array_equal(model.inverse(theta[n], rates[n], a[n], delta=delta[n]), inverse[n])


def test_every_form_of_the_same_state(model):
    theta, delta, rates, u, _ = (part[0] for part in states(model))
    expected = model.forward(theta, rates, u, delta=delta)
    assert expected.shape == (model.layout.size,)
    fixed = theta.copy()
    fixed.setflags(write=False)
    spread = np.repeat(theta, 2)[::2]
    names = dict(zip(model.layout.coordinates, theta.tolist(), strict=False))
    for given in (fixed, spread, theta.tolist(), tuple(theta.tolist()), names):
        assert_array_equal(model.forward(given, rates, u, delta=delta), expected)
        assert_array_equal(model.evaluate(given).M, model.evaluate(theta).M)
    at_rest = model.inverse(theta)
    assert_array_equal(at_rest, model.inverse(theta, np.zeros(model.layout.size), 0.0 * rates, delta=0.0 * delta))
    assert_array_equal(model.forward(theta[None], rates, u, delta=delta), expected[None])


def test_results_are_their_own(orthoglide):
    theta, _, rates, *_ = (part[:2] for part in states(orthoglide))
    first, coefficients = orthoglide.inverse(theta[0], rates[0]), orthoglide.evaluate(theta[0])
    kept, mass = first.copy(), coefficients.M.copy()
    orthoglide.inverse(theta[1], rates[1])
    orthoglide.evaluate(theta[1])
    assert_array_equal(first, kept)
    assert_array_equal(coefficients.M, mass)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([-0.1, 0.02, -0.2], [0.0, np.nan, 0.0]), "rates.*not finite"),
        (([-0.1, 0.02, -0.2], [0.0, 0.0]), r"rates.*shape \(2,\)"),
        (([-0.1, 0.02, -0.2], None, [np.inf, 0.0, 0.0]), "not finite"),
        (([-0.1, 0.02, -0.2], None, ["a", "b", "c"]), "not numbers"),
        (([-0.1, 0.02, -0.2], 1.0), r"rates.*shape \(\)"),
        (([-0.1, 0.02, -0.2], {"w": 1.0}), 'rates: unknown name "w"; known: "x"'),
    ],
)
def test_what_is_wrong_is_said(orthoglide, arguments, message):
    for call in (orthoglide.forward, orthoglide.inverse):
        with pytest.raises(InputError, match=message):
            call(*arguments)
