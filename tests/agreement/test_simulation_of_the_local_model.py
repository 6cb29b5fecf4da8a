"""The full DAE in time against the local model M θ̈ = p + B u - Γ[θ̇, θ̇] - D θ̇, integrated by scipy."""

import numpy as np
import pytest
from moving import RUN, forces_of, run_of, start_of
from numpy.testing import assert_allclose
from random_mechanisms import case
from scipy.integrate import solve_ivp

import supple


def integrated(made, method):
    theta, rates, u = start_of(made)
    s = len(theta)

    def derivative(_, state):
        model = supple.local(made.mechanism, state[:s])
        inertial = np.einsum("ijk,j,k->i", model.christoffel, state[s:], state[s:])
        return np.concatenate([state[s:], np.linalg.solve(model.M, forces_of(model, state[s:], u) - inertial)])

    found = solve_ivp(derivative, (0.0, RUN), np.concatenate([theta, rates]), method=method, rtol=1e-10, atol=1e-12)
    assert found.success
    return found.y[:s, -1], found.y[s:, -1]


def differences(made, theta, rates, step):
    found = run_of(made, step=step)
    here, speeds = (
        np.array([values[-1] for values in signals.values()]) for signals in (found.coordinates, found.rates)
    )
    return np.abs(here - theta).max(), np.abs(speeds - rates).max()


def test_it_moves_as_the_integrated_local_model(any_case):
    theta, rates = integrated(any_case, "DOP853")
    coarse, fine = differences(any_case, theta, rates, 5e-4), differences(any_case, theta, rates, 2.5e-4)
    # extrapolated to no step at all, what remains is of the next order
    for before, after in zip(coarse, fine, strict=True):
        assert after < 1e-5 * max(1.0, np.abs(rates).max())
        assert 3.5 < before / after < 4.5


@pytest.mark.parametrize("name", ["RSUR loop", "coupled loops 1", "four-bar 2"])
def test_scipys_implicit_method_says_the_same(name):
    made = case(name)
    explicit, implicit = integrated(made, "DOP853"), integrated(made, "Radau")
    assert_allclose(np.concatenate(implicit), np.concatenate(explicit), atol=1e-8)
