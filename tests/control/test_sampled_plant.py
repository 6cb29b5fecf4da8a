"""Plants as sampled controllers meet them: delays without approximation, and the steady gain of a Kalman filter."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from supple.control.observers.linear_filter import steady_gain
from supple.control.observers.sampled_plant import delay_of, sampled_plant
from supple.diagnostics import InputError
from supple.results.linear_model import LinearModel

T = 0.02
FINE = 4


@pytest.fixture(scope="module")
def linear() -> LinearModel:
    """Two inputs, two outputs, the second of which feels an input at once; about a state that is not zero."""
    rng = np.random.default_rng(3)
    A = rng.standard_normal((3, 3)) - 2.0 * np.eye(3)
    at = {"states": {"p": 0.3, "q": -1.0, "r": 0.5}, "inputs": {"a": 0.2, "b": -0.1}, "outputs": {"y": 2.0, "z": 3.0}}
    D = np.array([[0.0, 0.0], [0.7, 0.0]])
    return LinearModel(A, rng.standard_normal((3, 2)), rng.standard_normal((2, 3)), D, ("p", "q", "r"), ("a", "b"),
                       ("y", "z"), at)  # fmt: skip


def run(plant, commands):
    """y at every sample, from where the plant is about."""
    X, seen = plant.state, []
    for c in commands:
        seen.append(plant.output + plant.H @ (X - plant.state))
        X = plant.state + plant.F @ (X - plant.state) + plant.G @ (c - plant.command)
    return np.array(seen)


@pytest.mark.parametrize(
    "delays", [{}, {"a": 2 * T}, {"a": 2.25 * T, "b": 0.5 * T}, {"y": T, "z": 1.75 * T}, {"a": 0.75 * T, "z": 0.25 * T}]
)
def test_delays_between_samples_are_those_of_a_finer_sampling(linear, delays):
    rng = np.random.default_rng(0)
    commands = np.array([0.2, -0.1]) + rng.standard_normal((12, 2))
    coarse = run(sampled_plant(linear, T, ("y", "z"), delays), commands)
    fine = run(sampled_plant(linear, T / FINE, ("y", "z"), delays), np.repeat(commands, FINE, axis=0))
    assert_allclose(coarse, fine[::FINE], atol=1e-12)


def test_without_delays_it_is_the_held_model(linear):
    plant, held = sampled_plant(linear, T, ("y",)), linear.discretize(T)
    assert_allclose(plant.F, held.A, atol=1e-14)
    assert_allclose(plant.G, held.B, atol=1e-14)


def test_a_known_input_is_a_command_without_memory(linear):
    plant = sampled_plant(linear, T, ("y", "z"), known=("b",))
    other = sampled_plant(linear, T, ("y", "z"))
    assert_allclose(plant.E[:3, 0], other.G[:3, 1], atol=1e-14)
    assert plant.names == other.names


def test_delays_close_to_whole_samples_are_whole():
    assert delay_of(0.003, 0.001) == (3, 0.0)
    assert delay_of(0.0025, 0.001).whole == 2


def test_gain_of_a_scalar_walk():
    """x⁺ = x + w, y = x + v: P² - Q P - Q R = 0, L = P/(P + R)."""
    Q, R = 0.3, 2.0
    P = 0.5 * (Q + np.sqrt(Q * Q + 4.0 * Q * R))
    found = steady_gain(np.eye(1), np.eye(1), np.array([[Q]]), np.array([[R]]), ("x",))
    assert_allclose(found.L, [[P / (P + R)]], rtol=1e-12)
    assert_allclose(found.errors, [np.sqrt(P * R / (P + R))], rtol=1e-12)


def test_what_nothing_measures_is_named():
    F, H = np.diag([0.9, 1.0]), np.array([[1.0, 0.0]])
    with pytest.raises(InputError, match='"drift"'):
        steady_gain(F, H, np.eye(2), np.eye(1), ("place", "drift"))
