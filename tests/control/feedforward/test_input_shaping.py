"""Shapers cancel what they are made for, by closed forms and along motions of Ralf."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple.control.feedforward.input_shaping import SHAPERS, Shaper, shape_motion, shaper, superpose


@pytest.mark.parametrize("ratio", [0.0, 0.05, 0.2])
def test_zv_and_its_powers_leave_nothing_and_grow_as_their_order(ratio):
    for kind, order in (("zv", 1), ("zvd", 2), ("zvdd", 3)):
        made = shaper(kind, 2.0, ratio)
        assert_allclose(made.amplitudes.sum(), 1.0)
        assert made.residual(2.0, ratio) < 1e-14
        near, far = made.residual(2.0 * 1.001, ratio), made.residual(2.0 * 1.002, ratio)
        assert_allclose(np.log2(far / near), order, atol=0.02)


def test_ei_without_damping_is_the_published_one_and_leaves_what_it_may():
    V = 0.07
    assert_allclose(shaper("ei", 3.0, tolerance=V).amplitudes, [(1 + V) / 4, (1 - V) / 2, (1 + V) / 4])
    for ratio in (0.0, 0.1):
        made = shaper("ei", 3.0, ratio, tolerance=V)
        assert_allclose(made.residual(3.0, ratio), V)
        beside = made.residual(np.linspace(2.4, 3.0, 4001), ratio)
        assert beside.min() < (
            1e-4 if ratio == 0.0 else 0.25 * V
        )  # its zero is that of a mode that decays as fast as ω


def test_the_formula_of_what_is_left_is_the_response_of_an_oscillator():
    hertz, ratio = 2.3, 0.04
    made = shaper("zvd", [2.0, 5.0], [0.02, 0.01])
    w = 2 * np.pi * hertz
    state = sum(  # impulses as jumps of the rate
        A * np.array(_after(w, ratio, made.delay - t)) for A, t in zip(made.amplitudes, made.delays, strict=True)
    )
    wd = w * np.sqrt(1 - ratio**2)
    size = np.hypot(state[0], (state[1] + ratio * w * state[0]) / wd)
    assert_allclose(size * wd, made.residual(hertz, ratio), rtol=1e-10)


def _after(w, ratio, t):
    wd = w * np.sqrt(1 - ratio**2)
    e = np.exp(-ratio * w * t)
    return e * np.sin(wd * t) / wd, e * (np.cos(wd * t) - ratio * w / wd * np.sin(wd * t))


@pytest.mark.slow
def test_shaped_polynomials_are_the_sum_of_delayed_ones(reach):
    by = Shaper(np.array([0.5, 0.3, 0.2]), np.array([0.0, 0.06, 0.17]))
    times = np.linspace(-0.1, 1.4, 301)
    direct = sum(A * reach.sample(times - t) for A, t in zip(by.amplitudes, by.delays, strict=True))
    assert_allclose(superpose(reach, by).sample(times)[:, :3], direct[:, :3], atol=1e-11)


def test_scheduled_delays_are_the_fixed_ones_where_nothing_changes(reach, ralf_model):
    one = shape_motion(reach, ralf_model, modes=1)
    times = np.linspace(0.0, one.end, 101)
    fixed = shape_motion(reach, ralf_model, modes=1, scheduled=False)
    # Ralf's first frequency changes by 0.2 % on this way
    assert_allclose(one.sample(times)[:, 0], fixed.sample(times)[:, 0], atol=1e-4)
    assert_allclose(one.at(2.0)[0], reach.at(2.0)[0], atol=1e-12)


def test_zvd_leaves_at_most_a_twentieth_with_frequencies_a_tenth_wrong(reach, ralf_model, left_behind):
    unshaped = left_behind(reach)
    assert left_behind(shape_motion(reach, ralf_model, kind="zv")) < 0.02 * unshaped
    for factor in (0.9, 1.1):
        assert left_behind(shape_motion(reach, ralf_model, kind="zvd", frequency_factor=factor)) < 0.05 * unshaped


def test_what_cannot_be_shaped_is_refused(reach, ralf_model):
    with pytest.raises(supple.InputError, match=r"modes .*give a flexible reduced model"):
        shape_motion(reach)
    with pytest.raises(supple.InputError, match="3 modes"):
        shape_motion(reach, ralf_model, modes=3)
    with pytest.raises(supple.InputError, match='shaper "zvv"; did you mean "zv" or "zvd"'):
        shaper("zvv", 2.0)
    assert list(SHAPERS) == ["zv", "zvd", "zvdd", "ei"]
