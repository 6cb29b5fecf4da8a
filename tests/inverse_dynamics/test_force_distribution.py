"""Forces divided among actuators: the equations hold, the optimum is one, the bounds are kept."""

from __future__ import annotations

import daqp
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import null_space
from scipy.optimize import linprog

from supple.inverse_dynamics.force_distribution import (
    Objective,
    Rates,
    least_excess,
    least_largest,
    least_peak,
    least_peak_within,
    least_rate_excess,
    least_squares,
    least_squares_within,
    multiplier_objective,
    torque_objective,
)
from supple.inverse_dynamics.force_rates import least_squares_within_rates

SIZES = [(1, 2), (1, 5), (2, 3), (3, 7), (6, 8)]  # equations, actuators


def problem(s, a, count=40, seed=3):
    rng = np.random.default_rng([s, a, seed])
    return rng.standard_normal((count, s, a)), 10.0 * rng.standard_normal((count, s)), rng.uniform(0.5, 3.0, a)


def made(B, u):
    return np.einsum("nsa,na->ns", B, u)


@pytest.mark.parametrize(("s", "a"), SIZES)
def test_least_squares_is_stationary(s, a):
    B, Q, w = problem(s, a)
    rng = np.random.default_rng(1)
    L = rng.standard_normal((len(B), a, a))
    H = L @ L.transpose(0, 2, 1) + np.eye(a)
    for objective in (torque_objective(B, w), Objective(H, rng.standard_normal((len(B), a)))):
        u = least_squares(B, Q, objective)
        assert_allclose(made(B, u), Q, atol=1e-10)
        slope = np.einsum("nab,nb->na", objective.H, u) + objective.f
        for n in range(len(B)):  # no way to go within the solutions lowers the objective
            assert_allclose(null_space(B[n]).T @ slope[n], 0.0, atol=1e-8 * np.abs(slope[n]).max())


def test_least_squares_is_the_weighted_pseudo_inverse():
    B, Q, w = problem(3, 7)
    u = least_squares(B, Q, torque_objective(B, w))
    for n in range(len(B)):
        BW = B[n] / w
        assert_allclose(u[n], BW.T @ np.linalg.solve(BW @ B[n].T, Q[n]), rtol=1e-9)


def test_multipliers_and_forces_are_one_pseudo_inverse():
    """Least Σ λ² + Σ u² with Φᵀ λ + T u = R, solved at once and through the forces alone; Φ has redundant rows."""
    rng = np.random.default_rng(5)
    n, m, a = 9, 8, 4
    for _ in range(20):
        phi = rng.standard_normal((m - 1, n))
        phi = np.vstack([phi, phi[0] + phi[1]])
        T, R = rng.standard_normal((n, a)), rng.standard_normal(n)
        whole = np.linalg.pinv(np.hstack([phi.T, T]), rcond=1e-12) @ R
        inverse = np.linalg.pinv(phi.T, rcond=1e-12)
        free = null_space(phi, rcond=1e-10)  # the motions: B and Q are what (Φᵀ, T) and R do along them
        B, Q = (free.T @ T)[None], (free.T @ R)[None]
        objective = multiplier_objective((inverse @ R)[None], (inverse @ T)[None], np.ones(a))
        assert_allclose(least_squares(B, Q, objective)[0], whole[m:], atol=1e-9)


@pytest.mark.parametrize(("s", "a"), SIZES)
def test_bounds_are_kept_and_nothing_within_them_is_better(s, a):
    B, Q, w = problem(s, a)
    objective = torque_objective(B, w)
    free = least_squares(B, Q, objective)
    reach = np.abs(least_peak(B, Q, np.ones(a))).max(axis=1, keepdims=True)
    bound = np.maximum(reach, 0.8 * np.abs(free).max(axis=1, keepdims=True)) * 1.01 * np.ones(a)
    u, possible = least_squares_within(B, Q, objective, -bound, bound)
    assert possible.all()
    assert (np.abs(u) <= bound).all()
    assert_allclose(made(B, u), Q, atol=1e-8)
    inside = np.abs(u) < bound * (1 - 1e-9)
    assert (~inside).any()  # some bounds are felt
    judged = 0
    for n in range(len(B)):  # Karush, Kuhn, Tucker: the slope is made of equations and of bounds that push back
        slope = objective.H[n] @ u[n]
        y = np.linalg.lstsq(B[n][:, inside[n]].T, slope[inside[n]], rcond=None)[0] if inside[n].any() else np.zeros(s)
        left = slope - B[n].T @ y
        if inside[n].sum() >= s:  # enough free forces to tell the multipliers of the equations
            judged += 1
            assert_allclose(left[inside[n]], 0.0, atol=1e-6 * np.abs(slope).max())
            assert (left[~inside[n]] * u[n][~inside[n]] <= 1e-6 * np.abs(slope).max()).all()
    assert judged > len(B) // 2


def test_one_sided_bounds_and_free_actuators():
    B, Q, w = problem(2, 5)
    lower, upper = np.full((40, 5), -np.inf), np.full((40, 5), np.inf)
    lower[:, 0], upper[:, 1] = 0.0, 1.0  # a cable that only pulls, and one limited above
    u, possible = least_squares_within(B, Q, torque_objective(B, w), lower, upper)
    assert possible.all()
    assert (u[:, 0] >= 0.0).all()
    assert (u[:, 1] <= 1.0).all()
    assert_allclose(made(B, u), Q, atol=1e-8)


def peak_by_linprog(B, Q, w):
    s, a = B.shape
    cost = np.append(np.zeros(a), 1.0)
    rows = np.block([[np.diag(w), -np.ones((a, 1))], [-np.diag(w), -np.ones((a, 1))]])
    answer = linprog(cost, rows, np.zeros(2 * a), np.hstack([B, np.zeros((s, 1))]), Q, bounds=[(None, None)] * (a + 1))
    return answer.fun


@pytest.mark.parametrize(("s", "a"), SIZES)
def test_the_least_peak_is_that_of_a_linear_program_of_its_own(s, a):
    B, Q, w = problem(s, a)
    u = least_peak(B, Q, w)
    assert_allclose(made(B, u), Q, atol=1e-8)
    expected = [peak_by_linprog(B[n], Q[n], w) for n in range(len(B))]
    assert_allclose((w * np.abs(u)).max(axis=1), expected, rtol=1e-7)


def test_of_equal_peaks_the_least_forces_are_taken():
    B = np.array([[[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]]])  # the first must be 5; 4 is left for the others to share
    assert_allclose(least_peak(B, np.array([[5.0, 4.0]]), np.ones(3)), [[5.0, 2.0, 2.0]], rtol=1e-8)


def test_an_actuator_that_cannot_help_rests():
    assert_allclose(least_peak(np.array([[[1.0, 0.0, -2.0]]]), np.array([[6.0]]), np.ones(3)), [[2.0, 0.0, -2.0]])


def test_peak_within_bounds():
    B, Q, w = problem(2, 5)
    free = least_peak(B, Q, w)
    bound = np.full((40, 5), np.inf)
    bound[:, 2] = 0.5 * np.abs(free[:, 2])
    u, possible = least_peak_within(B, Q, w, -bound, bound)
    assert possible.all()
    assert (np.abs(u) <= bound * (1 + 1e-12)).all()
    assert_allclose(made(B, u), Q, atol=1e-8)
    assert ((w * np.abs(u)).max(axis=1) >= (w * np.abs(free)).max(axis=1) * (1 - 1e-9)).all()


def test_excess_is_what_is_missing_to_the_least_peak():
    B, Q, _ = problem(3, 7)
    peak = np.abs(least_peak(B, Q, np.ones(7))).max(axis=1)
    bound = np.full((40, 7), float(np.median(peak)))
    excess = least_excess(B, Q, -bound, bound)
    assert_allclose(excess, np.maximum(peak - bound[:, 0], 0.0), atol=1e-7 * peak.max())
    possible = least_squares_within(B, Q, torque_objective(B, np.ones(7)), -bound, bound)[1]
    assert (possible == (peak <= bound[:, 0])).all()
    wide = bound + excess[:, None] * (1 + 1e-9) + 1e-9
    assert least_squares_within(B, Q, torque_objective(B, np.ones(7)), -wide, wide)[1].all()


# ---------------------------------------------------------------------------- rates


def course(s, a, count, seed=1):
    """Equations that change smoothly in time."""
    rng = np.random.default_rng([s, a, seed])
    t = np.linspace(0.0, 1.0, count)
    phase, size = rng.uniform(0.0, 6.0, (s, a)), rng.uniform(0.5, 1.5, (s, a))
    B = size * np.cos(3.0 * t[:, None, None] + phase)
    Q = 10.0 * np.sin(6.0 * t[:, None] + rng.uniform(0.0, 6.0, s))
    return B, Q, np.diff(t)


def dense_program(B, Q, objective, bound, limits, steps):
    """The same program without any structure, by daqp."""
    count, s, a = B.shape
    n = count * a
    H, f = np.zeros((n, n)), objective.f.ravel().copy()
    E, D = np.zeros((count * s, n)), np.zeros(((count - 1) * a, n))
    for k in range(count):
        H[k * a : k * a + a, k * a : k * a + a] = objective.H[k]
        E[k * s : k * s + s, k * a : k * a + a] = B[k]
    for i in range((count - 1) * a):
        D[i, i], D[i, i + a] = -1.0, 1.0
    change = (steps[:, None] * limits).ravel()
    high = np.concatenate([np.full(n, bound), Q.ravel(), change])
    low = np.concatenate([np.full(n, -bound), Q.ravel(), -change])
    sense = np.zeros(len(high), dtype=np.intc)
    sense[n : n + count * s] = 5
    x, _, flag, _ = daqp.solve(H, f, np.vstack([E, D]), high, low, sense, primal_tol=1e-9, iter_limit=10000)
    assert flag == 1
    return x.reshape(count, a)


@pytest.mark.parametrize(("s", "a", "share"), [(1, 3, 0.5), (2, 4, 0.7), (2, 3, 0.9)])
def test_rates_are_kept_and_the_optimum_is_that_of_the_unstructured_program(s, a, share):
    B, Q, steps = course(s, a, 25)
    objective = torque_objective(B, np.ones(a))
    free = least_squares(B, Q, objective)
    fastest = np.abs(np.diff(free, axis=0) / steps[:, None]).max()
    unbounded = np.full((25, a), np.inf)
    least = least_rate_excess(B, Q, -unbounded, unbounded, Rates(np.full(a, 1e-9), steps))[0]
    limits = np.full(a, least + share * (fastest - least))
    bound = 1.3 * np.abs(free).max()
    wide = np.full((25, a), bound)
    u = least_squares_within_rates(B, Q, objective, -wide, wide, Rates(limits, steps))
    assert u is not None
    assert (np.abs(np.diff(u, axis=0)) <= steps[:, None] * limits * (1 + 1e-9)).all()
    assert (np.abs(u) <= bound * (1 + 1e-9)).all()
    assert_allclose(made(B, u), Q, atol=1e-9)
    assert_allclose(u, dense_program(B, Q, objective, bound, limits, steps), atol=1e-5 * np.abs(u).max())


def test_the_least_rate_is_the_border_of_what_is_possible():
    B, Q, steps = course(1, 3, 60)
    unbounded = np.full((60, 3), np.inf)
    objective = torque_objective(B, np.ones(3))
    least, _ = least_rate_excess(B, Q, -unbounded, unbounded, Rates(np.full(3, 1e-9), steps))
    for factor, exists in ((0.99, False), (1.01, True)):
        rates = Rates(np.full(3, factor * least), steps)
        found = least_squares_within_rates(B, Q, objective, -unbounded, unbounded, rates)
        assert (found is not None) == exists


def test_least_peaks_keep_the_rates_too():
    B, Q, steps = course(1, 3, 60)
    unbounded = np.full((60, 3), np.inf)
    free = least_peak(B, Q, np.ones(3))
    limits = np.full(3, 0.4 * np.abs(np.diff(free, axis=0) / steps[:, None]).max())
    u, peak = least_largest(B, Q, np.ones(3), -unbounded, unbounded, Rates(limits, steps))
    assert (np.abs(np.diff(u, axis=0)) <= steps[:, None] * limits * (1 + 1e-7)).all()
    assert_allclose(made(B, u), Q, atol=1e-9)
    assert_allclose(np.abs(u).max(axis=1), peak, atol=1e-6 * peak.max())
    assert (peak >= np.abs(free).max(axis=1) * (1 - 1e-9)).all()
