"""State feedback over a region and on an observer: what it answers on the motion, and where its poles are."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple.control.controller import Measurement
from supple.control.controllers.gain_scheduling import gain_scheduled
from supple.control.controllers.linear_quadratic_gaussian import lqr, sampled_regulator, state_feedback
from supple.control.controllers.needed_forces import motion_series
from supple.control.feedforward.reference import reference
from supple.control.laws.linear_law import linear_law
from supple.control.observers.kalman_filter import kalman_filter
from supple.control.observers.sampled_plant import discretize

T = 2e-3


@pytest.fixture(scope="module")
def model():
    """The two-link arm with encoders, a torque servo with a delay at the shoulder, and none at the elbow."""
    link = {"mass": 10.0, "inertia": 20.0}
    arm = supple.Mechanism(
        name="arm", plane="xz", gravity=[0, -9.81], points={"S": [0, 0], "E": [0, -2], "T": [0, -4]},
        bodies={"upper": {**link, "center": [0, -1]}, "lower": {**link, "center": [0, -3]}},
        joints={"shoulder": {"revolute": ["ground", "upper"], "at": "S", "viscous": 2.0},
                "elbow": {"revolute": ["upper", "lower"], "at": "E"}},
        actuators={"shoulder": {"joint": "shoulder", "drive": {"force": {"frequency": 30.0, "delay": 3e-3}}},
                   "elbow": {"joint": "elbow"}},
        sensors={"encoder1": {"joint": "shoulder", "noise": 1e-5}, "encoder2": {"joint": "elbow", "noise": 1e-5}},
    )  # fmt: skip
    return supple.reduce(arm, region={"shoulder": (-0.6, 0.6), "elbow": (-0.6, 0.6)}, tolerance=1e-6, store=False)


def swing(t):
    """θ_d = (½ sin t, ¼ sin 2t) with its rates."""
    return (
        0.5 * np.array([np.sin(t), 0.5 * np.sin(2 * t)]),
        0.5 * np.array([np.cos(t), np.cos(2 * t)]),
        0.5 * np.array([-np.sin(t), -2 * np.sin(2 * t)]),
    )


@pytest.fixture(scope="module")
def controller(model):
    def design(linear):
        return lqr(linear, 1.0, 1e-3)

    return gain_scheduled(model, reference(swing, model), design, sample_time=T, tolerance=1e-3)


@pytest.mark.parametrize("step", [None, T])
def test_a_plant_told_the_series_follows_a_cubic_exactly(step):
    """θ_d = t³ ends with its third rate, and so does the series: x = Σ S_k θ_d^(k) solves ẋ = A x + B u."""
    rng = np.random.default_rng(2)
    A, B, E = rng.standard_normal((6, 6)), rng.standard_normal((6, 2)), rng.standard_normal((2, 6))
    if step is not None:
        A, B = discretize(A, B, step)
    series = motion_series(A, B, E, step)
    cubics = np.array([1.0, -0.5])

    def along(parts, t):
        return sum(part @ (cubics * rate) for part, rate in zip(parts, (t**3, 3 * t**2, 6 * t, 6.0), strict=True))

    for t in (0.0, 0.3, 1.0):
        x, u = along(series.states, t), along(series.inputs, t)
        if step is None:
            slopes = along(series.states, t + 1e-4) - along(series.states, t - 1e-4)
            assert_allclose(A @ x + B @ u, slopes / 2e-4, rtol=1e-6, atol=1e-6)
        else:
            assert_allclose(A @ x + B @ u, along(series.states, t + step), rtol=1e-9, atol=1e-9)
        assert_allclose(E @ x, cubics * t**3, rtol=1e-9, atol=1e-9)


@pytest.mark.slow
def test_on_the_motion_a_scheduled_feedback_answers_with_inverse_dynamics(model, controller):
    """At x = x_d the gains have nothing to say; u is then M θ̈_d + Γ + D θ̇_d - p, whatever the design."""
    for t in (0.0, 0.4, 1.1):
        theta, rates, accelerations = swing(t)
        answer = controller.step(t, Measurement(("shoulder", "elbow"), theta, rates))
        needed = model.actuator_forces(theta, rates, accelerations)
        assert_allclose(answer, needed, atol=5e-3 * np.abs(needed).max())  # the fit of the law


def test_off_the_motion_it_feeds_back_the_gain_of_the_place(model, controller):
    theta = np.array([0.3, -0.4])
    matrices, exact = controller.law.at(theta), lqr(model.linearize(theta, drives=False), 1.0, 1e-3).K
    assert_allclose(-matrices.D[:, :4], exact, atol=5e-3 * np.abs(exact).max())


def test_on_an_observer_poles_are_those_of_the_regulator_and_of_the_filter(model):
    """Separation: the loop of plant and law has the eigenvalues of F - G K and of (1 - L H) F, and no others."""
    observer = kalman_filter(model, sample_time=T, accelerations=1.0)
    home, Q, R = np.zeros(2), {"shoulder": 1e4, "elbow": 1e4}, 1.0
    controller = state_feedback(observer, swing, Q=Q, R=R, at=home)
    here = observer.at(home)
    F, G, H, L = here.plant.F, here.plant.G, here.plant.H, here.gain.L
    law = linear_law(controller.law)
    weights = np.zeros_like(F)
    weights[:2, :2] = 1e4 * T * np.eye(2)
    K = sampled_regulator(F, G, weights, T * np.eye(2))
    loop = np.block([[F + G @ law.D @ H, G @ law.C], [law.B @ H, law.A]])
    found = np.sort(np.abs(np.linalg.eigvals(loop)))[::-1]
    parts = [np.linalg.eigvals(F - G @ K), np.linalg.eigvals(F - L @ H @ F)]
    expected = np.sort(np.abs(np.concatenate(parts)))[::-1]
    assert_allclose(found[: len(expected)], expected, atol=1e-4)  # those of delays are zeros in Jordan blocks
    assert np.abs(found[len(expected) :]).max(initial=0.0) < 1e-4  # commands of the sample before, nilpotent


def test_the_observer_s_law_follows_a_motion_of_the_plant_it_believes_in(model):
    """A linear plant with its delay, along a slow sine: the error is that of the fourth rate."""
    observer = kalman_filter(model, sample_time=T, accelerations=1.0)
    wanted = reference(lambda t: tuple(1e-3 * part for part in swing(t)), model)
    controller = state_feedback(observer, wanted, Q={"shoulder": 1e7, "elbow": 1e7}, R=1e-3, at=np.zeros(2))
    plant = observer.at(np.zeros(2)).plant
    X = plant.state.copy()
    errors = []
    for k in range(1500):
        t = k * T
        y = plant.output + plant.H @ (X - plant.state)
        told = Measurement((), np.zeros(0), np.zeros(0), dict(zip(plant.outputs, y, strict=True)))
        errors.append(np.abs(X[:2] - wanted.at(t)[0]).max())
        X = plant.state + plant.F @ (X - plant.state) + plant.G @ (controller.step(t, told) - plant.command)
    assert max(errors[1000:]) < 1e-4 * 1e-3
