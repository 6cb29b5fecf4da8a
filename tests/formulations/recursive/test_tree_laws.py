"""Theorems on random trees: derivatives along the manifold, energy, symmetry, one state and many."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from trees import KINDS, moved, random_state, random_tree

from supple.formulations.recursive import (
    BatchLinearizer,
    StateLinearizer,
    forward_dynamics,
    forward_variation,
    inverse_dynamics,
    inverse_variation,
    mass_matrix,
    state_space,
)

STEP = 1e-5
CHAINS = {
    "each kind": KINDS,
    "arm": ("revolute",) * 5,
    "floating": ("free", "revolute", "spherical", "universal"),
    "sliding": ("translation", "spherical", "prismatic", "planar"),
    "welded": ("weld", "cylindrical", "weld", "revolute"),
    "two roots": ("prismatic", "free", "revolute"),
    "screws": ("screw", "spherical", "screw", "revolute", "screw"),
}
ACTING = {"nothing": {}, "springs, loads": {"acting": True}, "distances too": {"acting": True, "distances": True}}
CASES = [(name, what) for name in CHAINS for what in ACTING]


@pytest.fixture(params=CASES, ids=[" with ".join(case) for case in CASES])
def case(request):
    name, what = request.param
    tree = random_tree(CHAINS[name], seed=len(name), **ACTING[what])
    return tree, *random_state(tree, seed=3)


def differences(function, tree, q, rates):
    """Central differences by q along the manifold and by rates."""
    by_q, by_rate = [], []
    for step in STEP * np.eye(tree.n):
        by_q.append((function(moved(tree, q, step), rates) - function(moved(tree, q, -step), rates)) / (2 * STEP))
        by_rate.append((function(q, rates + step) - function(q, rates - step)) / (2 * STEP))
    return np.array(by_q).T, np.array(by_rate).T


def test_inverse_variation_is_the_slope_of_inverse_dynamics(case):
    tree, q, rates, u = case
    a = np.cos(np.arange(tree.n))
    by_q, by_rate = differences(lambda x, v: inverse_dynamics(tree, x, v, a, u), tree, q, rates)
    found = inverse_variation(tree, q, rates, a, u)
    size = max(np.abs(by_q).max(), np.abs(by_rate).max())
    assert_allclose(found.by_q, by_q, atol=1e-8 * size)  # the error of central differences: h² and rounding / h
    assert_allclose(found.by_rate, by_rate, atol=1e-8 * size)


def test_forward_variation_is_the_slope_of_forward_dynamics(case):
    tree, q, rates, u = case
    by_q, by_rate = differences(lambda x, v: forward_dynamics(tree, x, v, u), tree, q, rates)
    found = forward_variation(tree, q, rates, u)
    size = max(np.abs(by_q).max(), np.abs(by_rate).max())
    assert_allclose(found.by_q, by_q, atol=2e-8 * size)
    assert_allclose(found.by_rate, by_rate, atol=2e-8 * size)
    step = 1e-2  # it is linear in the forces of the actuators
    by_input = [forward_dynamics(tree, q, rates, u + e) - forward_dynamics(tree, q, rates, u - e)
                for e in step * np.eye(tree.inputs)]  # fmt: skip
    scale = np.abs(found.by_input).max()
    assert_allclose(found.by_input, np.array(by_input).T / (2 * step), atol=1e-9 * scale)


def test_inverse_dynamics_undo_forward_dynamics(case):
    tree, q, rates, u = case
    a = forward_dynamics(tree, q, rates, u)
    scale = np.abs(inverse_variation(tree, q, rates, a, u).M).max() * max(np.abs(a).max(), 1.0)
    assert_allclose(inverse_dynamics(tree, q, rates, a, u), 0.0, atol=1e-12 * scale)  # nothing is missing beside u


def test_mass_matrix_is_symmetric_and_positive(case):
    tree, q, _, _ = case
    M = mass_matrix(tree, q)
    assert_allclose(M, M.T, rtol=0, atol=0)
    assert np.linalg.eigvalsh(M).min() > 0.0
    a = np.sin(np.arange(tree.n) + 1.0)
    rest = np.zeros(tree.n)
    moving = inverse_dynamics(tree, q, rest, a) - inverse_dynamics(tree, q, rest, rest)
    assert_allclose(moving, M @ a, atol=1e-12 * np.abs(M).max() * tree.n)


def test_power_of_the_forces_is_the_rate_of_the_kinetic_energy():
    """Without springs and loads, and the weight taken away: d/dt ½ q̇ᵀ M q̇ = q̇·(τ - weight)."""
    for name, kinds in CHAINS.items():
        tree = random_tree(kinds, seed=len(name))
        q, rates, _ = random_state(tree, seed=5)
        a = np.cos(np.arange(tree.n))
        weight = inverse_dynamics(tree, q, np.zeros(tree.n), np.zeros(tree.n))
        power = rates @ (inverse_dynamics(tree, q, rates, a) - weight)

        def energy(t, tree=tree, q=q, rates=rates, a=a):
            v = rates + a * t
            return 0.5 * v @ mass_matrix(tree, moved(tree, q, rates * t + 0.5 * a * t * t)) @ v

        rate = (energy(STEP) - energy(-STEP)) / (2 * STEP)
        assert abs(rate - power) < 1e-7 * max(abs(power), energy(0.0))


def test_many_states_give_what_each_gives_alone(case):
    tree, *_ = case
    states = [random_state(tree, seed) for seed in range(37)]  # more than go side by side, and no multiple
    q, rates, u = (np.array(items) for items in zip(*states, strict=True))
    together = state_space(tree, q, rates, u)
    for i, state in enumerate(states):
        alone = state_space(tree, *state)
        for many, one in zip(together, alone, strict=True):
            assert_allclose(many[i], one, rtol=1e-9, atol=1e-11 * np.abs(one).max())


@pytest.mark.parametrize("special", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_linearizers_give_the_state_space(special):
    tree = random_tree(("revolute", "prismatic", "spherical"), seed=1, acting=True)
    q, rates, u = (np.array(items) for items in zip(*[random_state(tree, s) for s in range(5)], strict=True))
    expected = state_space(tree, q, rates, u)
    batch, one = BatchLinearizer(tree, 5, special=special), StateLinearizer(tree, special=special)
    for _ in range(2):  # nothing is left over from the call before
        A, B = batch(q, rates, u)
        for given, wanted in zip((A, B, batch.accelerations), expected, strict=True):
            assert_allclose(given, wanted, atol=1e-11 * np.abs(wanted).max())
        A, B = one(q[3], rates[3], u[3])
        assert_allclose(A, expected.A[3], atol=1e-11 * np.abs(expected.A).max())
        assert_allclose(B, expected.B[3], atol=1e-11 * np.abs(expected.B).max())


def test_the_linear_model_predicts_the_error_of_a_motion():
    """δ of x = (q, q̇) after a short time, tangent coordinates counted from the moving reference."""
    tree = random_tree(("free", "revolute", "spherical"), seed=2)
    q, rates, u = random_state(tree, seed=4)
    A = state_space(tree, q, rates, u).A
    n, h = tree.n, 1e-4
    # One second-order step of the motion with q̈ frozen moves the frames of the reference by R exp(h q̇): a constant δq
    # there turns by -ad(q̇). The upper left block of A holds exactly that.
    at = int(tree.at_v[2])
    w = rates[at : at + 3]
    expected = -np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
    assert_allclose(A[at : at + 3, at : at + 3], expected, atol=1e-15)
    delta = 1e-3 * np.cos(np.arange(n))
    there, here = moved(tree, moved(tree, q, delta), h * rates), moved(tree, q, h * rates)
    predicted = moved(tree, here, delta + h * A[:n, :n] @ delta)
    naive = moved(tree, here, delta)
    assert np.abs(there - predicted).max() < 0.01 * np.abs(there - naive).max()
