"""LQG: the separation of regulator and filter on random plants, and an arm of which half the states are measured."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple import control
from supple.control.controllers.linear_quadratic_gaussian import sampled_regulator
from supple.diagnostics import InputError
from supple.results.linear_model import LinearModel, SecondOrder

T = 2e-3


def random_plant(seed: int) -> LinearModel:
    """Coordinates that nothing holds and some that vibrate, all coupled; forces on the former, two outputs."""
    rng = np.random.default_rng(seed)
    s, d = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    n = s + d
    root = rng.standard_normal((n, n))
    M = root @ root.T + 0.5 * np.eye(n)
    K = np.diag([*[0.0] * s, *rng.uniform(1e3, 1e4, d)])
    P2, P1, P3 = -K, -2e-3 * K - np.eye(n), np.eye(n, s)
    A = np.block([[np.zeros((n, n)), np.eye(n)], [np.linalg.solve(M, P2), np.linalg.solve(M, P1)]])
    B = np.vstack([np.zeros((n, s)), np.linalg.solve(M, P3)])
    names = tuple(f"q{i}" for i in range(n))
    states = (*names, *(f"{name}.rate" for name in names))
    inputs, outputs = tuple(f"u{i}" for i in range(s)), ("first", "second")
    about = {key: dict(zip(names_, rng.standard_normal(len(names_)).tolist(), strict=True))
             for key, names_ in (("states", states), ("inputs", inputs), ("outputs", outputs))}  # fmt: skip
    about["states"] |= dict.fromkeys(states[n:], 0.0)  # at rest
    C, D = rng.standard_normal((2, 2 * n)), np.zeros((2, s))
    return LinearModel(A, B, C, D, states, inputs, outputs, about, SecondOrder(M, P2, P1, P3))


@pytest.mark.parametrize("delay", [0.0, 1.4 * T])
@pytest.mark.parametrize("seed", range(5))
def test_poles_are_those_of_the_regulator_and_those_of_the_filter(seed, delay):
    plant = random_plant(seed)
    s = len(plant.inputs)
    measured = (*(f"q{i}" for i in range(s)), "second")
    told = {"sample_time": T, "accelerations": 2.0, "noise": 1e-3, "measured": measured, "computation_delay": delay}
    observer = control.kalman_filter(plant, **told)
    law = control.lqg(plant, 10.0, 0.1, **told).law
    F, G, H, L = observer.plant.F, observer.plant.G, observer.plant.H, observer.gain.L
    cost = np.zeros_like(F)
    cost[: len(plant.states), : len(plant.states)] = 10.0 * T * np.eye(len(plant.states))
    K = sampled_regulator(F, G, cost, 0.1 * T * np.eye(s))
    m, ports = law.at(), law.ports
    # The loop from sample to sample: x of the law, X of the plant, and the command that the law is told of.
    N = len(F)
    step = np.zeros((2 * N + s, 2 * N + s))
    u = np.hstack([m.C, m.D[:, ports.y] @ H, m.D[:, ports.applied_commands]])
    step[:N] = np.hstack([m.A, m.B[:, ports.y] @ H, m.B[:, ports.applied_commands]])
    step[N : 2 * N] = np.hstack([np.zeros((N, N)), F, np.zeros((N, s))]) + G @ u
    step[2 * N :] = u
    found = np.linalg.eigvals(step)
    expected = np.concatenate([np.linalg.eigvals(F - G @ K), np.linalg.eigvals((np.eye(N) - L @ H) @ F)])
    for value in expected[np.abs(expected) > 1e-3]:
        assert np.abs(found - value).min() < 1e-6, value
    assert np.abs(found).max() < 1.0


def test_it_brings_random_plants_to_their_targets():
    for seed in range(3):
        plant = random_plant(seed)
        goal = {"q0": plant.at["states"]["q0"] + 0.3}
        cost = dict.fromkeys(plant.coordinates, 100.0)
        controller = control.lqg(plant, cost, 1e-3, sample_time=T, accelerations=5.0, noise=1e-4, target=goal)
        loop = control.closed_loop(plant, controller, until=8.0, sample_time=T)
        for name in plant.coordinates:
            wanted = goal.get(name, plant.at["states"][name])
            assert_allclose(loop.coordinates[name][-1], wanted, atol=3e-7, err_msg=name)  # 1e-6 of the way


ARM = """
supple: 1
name: arm
plane: xz
gravity: [0, -9.81]
points: {O: [0, 0], P: [0.6, 0], Q: [1.1, 0]}
bodies: {upper: {rod: [O, P], mass: 4}, fore: {rod: [P, Q], mass: 2}}
joints:
  shoulder: {revolute: [ground, upper], at: O, motor: {inertia: 1e-4, gear: 100}, drive: {stiffness: 8000, damping: 8}}
  elbow: {revolute: [upper, fore], at: P, motor: {inertia: 5e-5, gear: 100}, drive: {stiffness: 4000, damping: 4}}
actuators: {shoulder: {joint: shoulder}, elbow: {joint: elbow}}
sensors: {tip: {position: Q}}
configurations: {ready: {shoulder: 0.6, elbow: -0.9}}
"""
WEIGHTS = {"shoulder": 1e4, "elbow": 1e4, "shoulder.rate": 10.0, "elbow.rate": 10.0}


@pytest.fixture(scope="module")
def arm():
    return supple.loads(ARM)


@pytest.fixture(scope="module")
def linear(arm):
    return supple.linearize(arm, "ready", internal_modes=2)


@pytest.mark.filterwarnings("ignore::supple.diagnostics.SuppleNote")
def test_a_regulator_of_states_that_are_not_measured_names_the_remedy(arm, linear):
    gain = control.lqr(linear, WEIGHTS, 1.0)
    sizes = "8 states.* 4 measured"
    with pytest.raises(
        InputError, match=rf'"mode1" is not measured.*{sizes}.*control\.lqg\(linear.*control\.kalman_filter'
    ):
        control.closed_loop(arm, gain.regulator(), until=0.01, sample_time=1e-3, start="ready")


@pytest.mark.slow
def test_an_arm_with_elastic_gears_goes_to_its_target(arm, linear, tmp_path):
    """On the linear model to rounding, on the full equations to what is nonlinear in 3° of motion."""
    way = 0.05
    goal = {"elbow": linear.at["states"]["elbow"] + way}
    controller = control.lqg(
        linear, WEIGHTS, 1.0, sample_time=1e-3, accelerations=5.0, noise=1e-5, target=goal, computation_delay=2e-4
    )
    ideal = control.closed_loop(linear, controller, until=2.0, sample_time=1e-3, computation_delay=2e-4)
    assert_allclose(ideal.coordinates["elbow"][-1], goal["elbow"], atol=1e-6 * way)
    loop = control.closed_loop(arm, controller, until=1.5, sample_time=1e-3, start="ready", computation_delay=2e-4)
    assert abs(loop.coordinates["elbow"][-1] - goal["elbow"]) < 0.02 * way
    assert abs(loop.coordinates["shoulder"][-1] - 0.6) < 0.02 * way
    assert {path.name for path in supple.export(controller, tmp_path)} >= {"lqg_law.c", "lqg_law.h"}


def test_estimates_follow_what_nobody_measures(linear):
    """The modes of the linear model, as it swings to its target, from the two encoders alone."""
    observer = control.kalman_filter(linear, sample_time=1e-3, accelerations=5.0, noise=1e-6)
    assert set(observer.errors) == set(linear.states)
    goal = {"elbow": linear.at["states"]["elbow"] + 0.05}
    controller = control.lqg(linear, WEIGHTS, 1.0, sample_time=1e-3, accelerations=5.0, noise=1e-6, target=goal)
    loop = control.closed_loop(linear, controller, until=0.5, sample_time=1e-3)
    law = control.observer_law(observer)
    found = control.estimates(
        law, loop.time, {name: loop.coordinates[name] for name in law.measurements}, dict(loop.applied.items()),
        before=linear.at["inputs"],
    )  # fmt: skip
    for name in ("mode1", "mode2"):
        moved = np.ptp(loop.coordinates[name])
        # Nothing disturbs the plant and the filter knows it, so that what is left is rounding.
        assert_allclose(found.states[name], loop.coordinates[name], atol=1e-6 * moved)


def test_what_cannot_be_is_refused(linear):
    told = {"sample_time": 1e-3, "accelerations": 5.0}
    with pytest.raises(InputError, match=r'"shoulder" has no noise'):
        control.kalman_filter(linear, **told)
    with pytest.raises(InputError, match=r'unknown output or state "tip\.w"'):
        control.kalman_filter(linear, **told, noise=1e-3, measured=["tip.w"])
    with pytest.raises(InputError, match='unknown coordinate "mode1"'):
        control.lqg(linear, 1.0, 1.0, **told, noise=1e-3, target={"mode1": 0.1})
    with pytest.raises(InputError, match=r"drives.*hardware= out"):
        control.kalman_filter(linear, **told, noise=1e-3, hardware=supple.hardware_of(supple.loads(ARM)))
    with pytest.raises(InputError, match="the linear model is about a motion"):
        control.kalman_filter(
            supple.linearize(supple.loads(ARM), "ready", rates=[1, 0], rigid=True), **told, noise=1e-3
        )
    with pytest.raises(InputError, match="discrete time"):
        control.lqg(linear.discretize(1e-3), 1.0, 1.0, **told, noise=1e-3)
