"""Inverted paths are followed: by the model they were made with, and by the mechanism with large motions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import erfcx

import supple
from supple.control.feedforward.planned_motion import TwoPoint
from supple.control.feedforward.reference import reference
from supple.control.feedforward.stable_inversion import causal_path, stable_inversion

TIP = "tip"  # the sensor: tip.x and tip.z


@pytest.fixture(scope="module")
def inverted(ralf_model, reach):
    return stable_inversion(ralf_model, reach, TIP)


def test_two_point_problems_by_their_green_function():
    """-ë + λ² e = exp(-t²/2σ²): e = √(π/2) σ/2λ Σ± exp(-t²/2σ²) erfcx((λσ ± t/σ)/√2), and vanishes far away."""
    rate, sigma = 20.0, 0.05
    t = np.linspace(-1.0, 1.0, 2001)
    one = np.ones((len(t), 1, 1))
    grows, decays = np.array([[rate, 1.0]]), np.array([[rate, -1.0]])  # rows that see e^{λt} and e^{-λt} alone
    bump = np.exp(-0.5 * (t / sigma) ** 2)
    found = TwoPoint(t, (-one, 0.0 * one, rate**2 * one), decays, grows).solve(bump[:, None], np.zeros(2), np.zeros(2))
    parts = [erfcx((rate * sigma + sign * t / sigma) / np.sqrt(2.0)) * bump for sign in (-1.0, 1.0)]
    middle = np.abs(t) < 0.3  # farther out erfcx overflows before it is multiplied
    exact = np.sqrt(np.pi / 2.0) * sigma / (2.0 * rate) * sum(part[middle] for part in parts)
    assert_allclose(found[0, middle, 0], exact, atol=1e-8 * exact.max())


@pytest.mark.slow
def test_the_model_follows_the_path_and_comes_to_rest(inverted, left_behind, reach):
    assert inverted.error < 1e-6  # m, of 0.7 m
    assert left_behind(inverted.reference) < 1e-4 * left_behind(reach)
    assert inverted.lead > 0.01
    assert_allclose(inverted.reference.at(0.0)[1:3], 0.0, atol=1e-4)


def test_deformation_of_the_plan_is_that_of_the_model_led_along_it(ralf_model, inverted):
    times = np.linspace(0.0, inverted.duration, 1200)  # fine enough for the quintics that lead it
    run = ralf_model.follow(inverted.reference.trajectory(times))
    planned = inverted.deformation.sample(times)
    for k, name in enumerate(inverted.deformation.coordinates):
        assert_allclose(planned[:, 0, k], run.coordinates[name], atol=1e-4 * np.abs(planned[:, 0, k]).max())
    needed = inverted.forces(times)
    for name in needed:
        assert_allclose(needed[name], run.driving_forces[name], rtol=1e-3, atol=2.0)


@pytest.mark.slow
def test_without_compensation_of_sag_it_goes_from_and_to_the_motion_itself(ralf_model, reach):
    found = stable_inversion(ralf_model, reach, TIP, compensate_sag=False).reference
    assert_allclose(found.at(0.0)[0], reach.at(0.0)[0], atol=1e-6)
    assert_allclose(found.at(9.0)[0], reach.at(9.0)[0], atol=1e-6)


@pytest.mark.slow
def test_a_causal_plan_follows_late_and_nearly_as_well(ralf_model, inverted, reach, left_behind):
    found = stable_inversion(ralf_model, reach, TIP, causal=True)
    late = (2.0 / inverted.exponents[inverted.exponents.real > 0.0]).sum().real
    assert_allclose(found.lead, late, rtol=0.01)
    assert found.error < 1e-4
    assert left_behind(found.reference) < 0.01 * left_behind(reach)


def test_an_all_pass_of_a_ramp_is_the_ramp_but_later(arm):
    """(1 - s/λ)/(1 + s/λ) of t is t - 2/λ + (2/λ) e^{-λt}."""
    ramp = reference(lambda t: ([t, 2.0 * t], [1.0, 2.0], [0.0, 0.0]), arm, until=1.0)
    passed, late = causal_path(ramp, np.array([40.0 + 0j, -40.0 + 0j]))
    t = np.linspace(0.01, 0.99, 50)
    assert_allclose(late, 0.05)
    assert_allclose(passed.sample(t)[:, 0, 0], t - 0.05 + 0.05 * np.exp(-40.0 * t), atol=1e-6)


@pytest.mark.filterwarnings("ignore::supple.diagnostics.SuppleNote")  # of its damping in time
def test_the_mechanism_follows_ten_times_closer_than_with_rigid_feedforward(ralf, inverted, reach):
    def error(led):
        times = np.linspace(0.0, inverted.duration + 0.1, 650)
        course = led.trajectory(times)
        held = ["lift", "elbow"]
        start = supple.equilibrium(ralf, dict(zip(held, course.theta[0].tolist(), strict=True)), held=held)
        run = supple.simulate(ralf, times, motion=course, start=start)
        tip = np.stack([run.outputs["tip.x"], run.outputs["tip.z"]], axis=1)
        return np.linalg.norm(tip - inverted.wanted.sample(times)[:, 0], axis=1).max()

    ours, rigid = error(inverted.reference), error(reach.delay(inverted.lead))
    assert ours < 0.01 * rigid


def test_outputs_that_cannot_be_led_are_refused(ralf_model, reach):
    with pytest.raises(supple.InputError, match=r'unknown position output "tip\.y"; did you mean'):
        stable_inversion(ralf_model, reach, ["tip.x", "tip.y"])
    with pytest.raises(supple.InputError, match=r"1 are given: .*choose 2 positions"):
        stable_inversion(ralf_model, reach, ["tip.x"])
