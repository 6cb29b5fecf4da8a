"""Piecewise polynomials, callables and trajectories are the same functions of time, with the derivatives of each."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from supple.diagnostics import InputError
from supple.time_functions.function_of_time import (
    CalledFunction,
    PiecewisePolynomial,
    Trajectory,
    common_breaks,
    side_by_side,
)

BREAKS = np.array([0.5, 1.0, 2.5])
RNG = np.random.default_rng(4)


@pytest.fixture
def cubic():
    return PiecewisePolynomial(("a", "b"), BREAKS, RNG.normal(size=(2, 4, 2)))


def test_it_is_the_polynomial_of_its_piece(cubic):
    times = np.array([0.5, 0.7, 1.0, 1.3, 2.4999])
    found = cubic.sample(times)
    for t, x in zip(times, found, strict=True):
        p = 0 if t < 1.0 else 1
        c, tau = cubic.coefficients[p], t - BREAKS[p]
        assert_allclose(x[0], c[0] + c[1] * tau + c[2] * tau**2 + c[3] * tau**3, rtol=1e-13)
        assert_allclose(x[1], c[1] + 2 * c[2] * tau + 3 * c[3] * tau**2, rtol=1e-13)
        assert_allclose(x[2], 2 * c[2] + 6 * c[3] * tau, rtol=1e-13)
        assert_allclose(x[3], 6 * c[3], rtol=1e-13)
        assert_allclose(cubic.at(t), x, rtol=1e-13)
        assert_allclose(cubic(t), x[:3], rtol=1e-13)
    assert_allclose(cubic.derivatives(times), found[:, :3].transpose(1, 0, 2), rtol=0)


def test_it_stands_before_and_after(cubic):
    before, end, after = cubic.sample([0.4, 2.5, 3.0])
    assert_allclose(before, [cubic.coefficients[0, 0], [0, 0], [0, 0], [0, 0]])
    assert_allclose(after[0], 1.5 ** np.arange(4) @ cubic.coefficients[1])
    assert not after[1:].any()
    assert_allclose(end, after)


def test_closed_its_end_belongs_to_the_last_piece(cubic):
    end, after = cubic.sample([2.5, 2.5 + 1e-9], closed=True)
    c = cubic.coefficients[1]
    assert_allclose(end[1], c[1] + 3.0 * c[2] + 6.75 * c[3], rtol=1e-13)
    assert_allclose(end[2], 2.0 * c[2] + 9.0 * c[3], rtol=1e-13)
    assert_allclose(end[0], after[0], rtol=1e-13)
    assert not after[1:].any()


def test_scipys_form_is_the_same_function(cubic):
    again = PiecewisePolynomial.of_pieces(cubic.coordinates, cubic.pieces)
    assert_allclose(again.coefficients, cubic.coefficients, rtol=0)
    assert_allclose(again.breaks, BREAKS, rtol=0)


def test_its_final_value_is_met_exactly(cubic):
    ended = replace(cubic, final=np.array([3.0, 4.0]))
    assert ended.sample([2.5], closed=True)[0, 0].tolist() == [3.0, 4.0]
    assert ended.at(9.0)[0].tolist() == [3.0, 4.0]
    assert_allclose(ended.sample([2.5], closed=True)[0, 1:], cubic.sample([2.5], closed=True)[0, 1:], rtol=0)
    assert_allclose(ended.at(2.4), cubic.at(2.4), rtol=0)


def test_stretched_it_goes_the_same_way_more_slowly(cubic):
    slow = cubic.stretch(3.0 * cubic.duration)
    assert slow.duration == 3.0 * cubic.duration
    times = np.linspace(0.5, 2.49, 20)
    expected = cubic.sample(times) / 3.0 ** np.arange(4)[:, None]
    assert_allclose(slow.sample(0.5 + 3.0 * (times - 0.5)), expected, rtol=1e-11, atol=1e-12)


def test_on_other_breaks_it_is_the_same_function_and_stands_outside(cubic):
    breaks = common_breaks([BREAKS, np.array([0.0, 0.8, 1.0 + 1e-15, 2.0, 4.0])])
    assert_allclose(breaks, [0.0, 0.5, 0.8, 1.0, 2.0, 2.5, 4.0])
    finer = PiecewisePolynomial(cubic.coordinates, breaks, cubic.on(breaks))
    times = np.array([0.1, 0.5, 0.6, 0.9, 1.7, 2.3, 2.5, 3.9])
    assert_allclose(finer.sample(times), cubic.sample(times), rtol=1e-11, atol=1e-11)


def test_side_by_side_functions_keep_what_they_are(cubic):
    line = PiecewisePolynomial(("c",), np.array([0.5, 2.5]), np.array([[[1.0], [2.0]]]))
    both = side_by_side([cubic, line])
    assert both.coordinates == ("a", "b", "c")
    times = np.linspace(0.4, 2.6, 23)
    assert_allclose(both.sample(times)[..., :2], cubic.sample(times), rtol=1e-12, atol=1e-12)
    assert_allclose(both.sample(times)[..., 2:], line.sample(times), rtol=1e-12, atol=1e-12)


def test_pieces_that_do_not_fit_are_refused():
    for breaks, shape in (
        ([0.0, 0.0], (1, 2, 1)),
        ([0.0, 1.0], (2, 2, 1)),
        ([0.0, 1.0], (1, 2, 2)),
        ([0.0], (0, 2, 1)),
    ):
        with pytest.raises(InputError, match="pieces with coefficients"):
            PiecewisePolynomial(("a",), np.array(breaks), np.ones(shape))


def test_a_trajectory_is_met_by_quintics_and_a_quintic_is_found_again():
    quintic = PiecewisePolynomial(("a", "b"), np.array([0.0, 1.0]), RNG.normal(size=(1, 6, 2)))
    time = np.array([0.0, 0.3, 0.45, 0.9])
    course = quintic.trajectory(time)
    function = course.function
    assert function.coefficients.shape == (3, 6, 2)
    assert_allclose(function.derivatives(time, closed=True), course.parts, rtol=1e-11, atol=1e-12)
    inner = np.linspace(0.0, 0.89, 50)
    assert_allclose(function.sample(inner), quintic.sample(inner), rtol=1e-8, atol=1e-8)


def test_a_trajectory_of_one_instant_stands():
    course = Trajectory(("a",), np.array([0.2]), np.array([[3.0]]), np.array([[1.0]]), np.array([[1.0]]))
    assert_allclose(course.function.at(0.7)[:, 0], [3.0, 0.0, 0.0, 0.0])


def test_a_callable_gets_its_third_derivative_by_differences_or_gives_it():
    def wave(t):
        return np.stack([np.sin(t), np.cos(t), -np.sin(t)], axis=1)[..., None]

    found = CalledFunction(("a",), wave)
    times = np.linspace(0.0, 1.0, 7)
    assert_allclose(found.sample(times)[:, 3, 0], -np.cos(times), atol=1e-8)
    assert_allclose(found.at(0.3), found.sample([0.3])[0], rtol=0)
    assert_allclose(found.derivatives(times)[..., 0], wave(times)[..., 0].T, rtol=0)
    assert_allclose(found.ahead(0.1).at(0.2), found.at(0.30000000000000004), rtol=0)
    whole = CalledFunction(("a",), lambda t: np.tile(np.arange(4.0)[:, None], (len(t), 1, 1)))
    assert_allclose(whole.at(0.0)[:, 0], [0.0, 1.0, 2.0, 3.0], rtol=0)
