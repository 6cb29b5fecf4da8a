"""Gains of a state feedback: the loop has what was asked for, or the user is told why it cannot."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import expm, solve_continuous_lyapunov
from scipy.optimize import linear_sum_assignment

import supple
from supple import control
from supple.results.linear_model import LinearModel

OMEGA, XI = np.array([2.0, 3.0]), np.array([0.8, 0.6])


def model(A, B, names=None, at=None):
    x, u = np.shape(B)
    states = names or tuple(f"x{i}" for i in range(x))
    inputs = tuple(f"u{i}" for i in range(u))
    A, B = np.asarray(A, float), np.asarray(B, float)
    return LinearModel(A, B, np.zeros((0, x)), np.zeros((0, u)), states, inputs, (), at or {})


def mechanical(by_angle, by_input, names):
    n = len(names)
    A = np.block([[np.zeros((n, n)), np.eye(n)], [np.asarray(by_angle, float), np.zeros((n, n))]])
    B = np.vstack([np.zeros_like(by_input), by_input])
    return model(A, B, (*names, *(f"{name}.rate" for name in names)))


def apart(found, asked):
    """Largest distance between poles, each with its partner, over the largest."""
    distance = np.abs(np.asarray(found)[:, None] - np.asarray(asked)[None, :])
    return distance[linear_sum_assignment(distance)].max() / np.abs(asked).max()


# ---------------------------------------------------------------------------- decoupled


def test_decoupled_loop_is_n_oscillators(linear):
    gain = control.decoupled_gains(linear, OMEGA, XI)
    expected = np.block([[np.zeros((2, 2)), np.eye(2)], [-np.diag(OMEGA**2), -np.diag(2 * XI * OMEGA)]])
    assert_allclose(gain.closed, expected, atol=1e-12)
    assert apart(np.linalg.eigvals(gain.closed), gain.poles) < 1e-9
    assert_allclose(gain.poles[:2], -XI * OMEGA + 1j * OMEGA * np.sqrt(1 - XI**2))


def test_decoupled_gains_are_those_of_the_equations(linear, arm):
    """δu = -P₃⁻¹ (K_P δq + K_V δq̇) with K_P = M Λ₂ + P₂, K_V = M Λ₁ + P₁."""
    here = supple.local(arm)
    K_P = here.M @ np.diag(OMEGA**2) + here.dforce  # at rest, without inputs, P₂ = ∂p/∂θ; P₁ = 0 and P₃ = 1
    K_V = here.M @ np.diag(2 * XI * OMEGA)
    assert_allclose(control.decoupled_gains(linear, OMEGA, XI).K, np.hstack([K_P, K_V]), atol=1e-11 * K_P.max())


def test_decoupled_in_motion_and_with_damping(arm):
    damped = arm.replace(dampers={"d": {"joint": "elbow", "damping": 7.0}})
    moving = supple.linearize(damped, [0.4, -0.7], rates=[1.0, -2.0])
    gain = control.decoupled_gains(moving, {"elbow": 5.0, "shoulder": 4.0}, 0.7)
    assert np.abs(moving.A[2:, 2:]).max() > 0.1
    assert_allclose(gain.closed[2:], np.hstack([-np.diag([16.0, 25.0]), -1.4 * np.diag([4.0, 5.0])]), atol=1e-12 * 25)


def test_decoupled_with_more_actuators_takes_the_least_forces():
    two = mechanical([[3.0, 1.0], [0.0, -2.0]], [[1.0, 0.0, 0.5], [0.0, 2.0, 0.5]], ("a", "b"))
    gain = control.decoupled_gains(two, 2.0, 1.0)
    assert_allclose(gain.closed[2:], np.hstack([-4 * np.eye(2), -4 * np.eye(2)]), atol=1e-12)
    nothing = np.linalg.svd(two.B[2:])[2][2]  # forces that cancel each other
    assert_allclose(nothing @ gain.K, 0.0, atol=1e-12)


def test_decoupled_refuses_what_it_cannot_do(linear):
    under = mechanical([[1.0, 0.0], [0.0, 1.0]], [[1.0], [0.0]], ("cart", "pole"))
    with pytest.raises(supple.InputError, match=r'1 inputs accelerate only 1 of 2 coordinates .*"pole"'):
        control.decoupled_gains(under, 2.0)
    with pytest.raises(supple.InputError, match='"elbow" has 0'):
        control.decoupled_gains(linear, [1.0, 0.0])
    with pytest.raises(supple.InputError, match='"elbow" has -1'):
        control.decoupled_gains(linear, 1.0, [1.0, -1.0])
    with pytest.raises(supple.InputError, match='"shoulder" has no value'):
        control.decoupled_gains(linear, {"elbow": 1.0})
    with pytest.raises(supple.InputError, match="not coordinates and their rates"):
        control.decoupled_gains(model([[1.0]], [[1.0]]), 1.0)
    with pytest.raises(supple.InputError, match="discrete time"):
        control.decoupled_gains(linear.discretize(1e-2), 1.0)


# ---------------------------------------------------------------------------- pole placement


@pytest.mark.parametrize(
    "poles",
    [
        [-1, -2, -3, -4],
        [-2 + 1j, -2 - 1j, -3, -4],
        [-1.6 + 1.2j, -1.6 - 1.2j, -2.4 + 1.8j, -2.4 - 1.8j],
        [-2, -2, -3, -3],
    ],
)
def test_poles_are_where_they_were_asked_for(linear, poles):
    gain = control.pole_placement(linear, poles)
    assert apart(np.linalg.eigvals(gain.closed), poles) < 1e-9
    assert apart(gain.poles, poles) < 1e-9


def test_poles_of_a_sampled_loop(linear):
    T, poles = 0.05, np.array([-2 + 1j, -2 - 1j, -3, -4])
    gain = control.pole_placement(linear, poles, sample_time=T)
    whole = expm(T * np.block([[linear.A, linear.B], [np.zeros((2, 6))]]))
    assert apart(np.linalg.eigvals(whole[:4, :4] - whole[:4, 4:] @ gain.K), np.exp(poles * T)) < 1e-9
    assert apart(gain.poles, poles) < 1e-7  # the logarithm divides by T


def test_one_input_for_two_coordinates(arm):
    """Upright, with a motor at the elbow alone: the acrobot."""
    acrobot = arm.replace(actuators={"elbow": {"joint": "elbow"}}, coordinates=["shoulder", "elbow"])
    upright = supple.linearize(acrobot, [np.pi, 0.0])
    assert upright.eigenvalues.real.max() > 1.0
    poles = [-2, -2.5, -3, -3.5]
    assert apart(np.linalg.eigvals(control.pole_placement(upright, poles).closed), poles) < 1e-9
    assert (control.lqr(upright, 1.0, 1.0).poles.real < 0).all()


def test_inputs_of_any_unit_and_number(linear):
    """Columns of B that differ by 1e9, and a third that only repeats them."""
    B = np.hstack([linear.B[:, :1] * 1e-6, linear.B[:, 1:] * 1e3, linear.B.sum(axis=1, keepdims=True)])
    poles = [-1, -2, -3, -4]
    gain = control.pole_placement(model(linear.A, B), poles)
    assert apart(np.linalg.eigvals(gain.closed), poles) < 1e-9


def test_placement_reports_its_traps(linear):
    with pytest.raises(supple.InputError, match=r"3 times, .* 2 of the inputs.*at most 2"):
        control.pole_placement(linear, [-2, -2, -2, -3])
    with pytest.raises(supple.InputError, match="complex conjugate"):
        control.pole_placement(linear, [-2 + 1j, -2 + 1j, -3, -4])
    with pytest.raises(supple.InputError, match="4 states; give 4"):
        control.pole_placement(linear, [-2, -3])
    with pytest.raises(supple.InputError, match=r"poles: .*numbers \(got \['a', 'b'"):
        control.pole_placement(linear, ["a", "b", "c", "d"])
    with pytest.raises(supple.InputError, match=r"sample.time"):
        control.pole_placement(linear, [-1, -2, -3, -4], sample_time=0.0)


def test_uncontrollable_modes_are_named():
    apart_ = mechanical([[-4.0, 0.0], [0.0, -9.0]], [[1.0], [0.0]], ("driven", "loose"))
    with pytest.raises(supple.InputError, match=r"2 modes.*3j.* in the states \"loose.*\"loose"):
        control.pole_placement(apart_, [-1, -2, -3, -4])


def test_a_free_body_without_actuator_is_uncontrollable_despite_repeated_eigenvalues():
    free = mechanical(np.zeros((3, 3)), np.eye(3)[:, :2], ("a", "b", "c"))
    with pytest.raises(supple.InputError, match='"c"'):
        control.pole_placement(free, [-1, -2, -3, -4, -5, -6])
    whole = mechanical(np.zeros((3, 3)), np.eye(3), ("a", "b", "c"))
    poles = [-1, -2, -3, -4, -5, -6]
    assert apart(np.linalg.eigvals(control.pole_placement(whole, poles).closed), poles) < 1e-9


def test_poles_that_arithmetic_cannot_place_are_not_passed_over():
    """Chains of integrators with poles close together: eigenvalues of A - B K keep fewer digits the longer it is."""
    with pytest.warns(supple.SuppleWarning, match=r"pole .* error of \d.*badly conditioned"):
        control.pole_placement(chain(4), -10.0 - np.arange(4) * 1e-1)
    with pytest.raises(supple.NumericalError, match=r"was missed by|no gain was found"):
        control.pole_placement(chain(10), -100.0 - np.arange(10) * 1e-2)


def chain(n):
    return model(np.eye(n, k=1), np.eye(n)[:, n - 1 :])


# ---------------------------------------------------------------------------- linear quadratic


def cost(linear, K, Q, R):
    """Mean cost over starts of unit covariance: trace P, (A - BK)ᵀ P + P (A - BK) = -(Q + KᵀRK)."""
    closed = linear.A - linear.B @ K
    return np.trace(solve_continuous_lyapunov(closed.T, -(Q + K.T @ R @ K)))


def test_lqr_is_the_least(linear):
    Q, R = np.diag([1e4, 2e4, 10.0, 0.0]), np.diag([1.0, 3.0])
    gain = control.lqr(linear, {"shoulder": 1e4, "elbow": 2e4, "shoulder.rate": 10.0}, [1.0, 3.0])
    assert_allclose(gain.K, control.lqr(linear, Q, R).K, rtol=1e-12)
    least = cost(linear, gain.K, Q, R)
    rng = np.random.default_rng(0)
    for _ in range(20):
        assert cost(linear, gain.K * (1 + 0.05 * rng.standard_normal(gain.K.shape)), Q, R) > least
    assert apart(np.linalg.eigvals(gain.closed), gain.poles) < 1e-12


@pytest.mark.slow
def test_sampled_lqr_is_the_least_of_sampled_loops(linear):
    """The cost between samples, summed along a run by fine steps, is the least for the sampled gain."""
    T, Q, R = 0.2, 1e3 * np.eye(4), np.eye(2)
    gain = control.lqr(linear, 1e3, 1.0, sample_time=T)
    fine = expm(T / 400 * np.block([[linear.A, linear.B], [np.zeros((2, 6))]]))

    def along(K):
        total, x = 0.0, np.eye(4)
        for _ in range(100):
            u = -K @ x
            for _ in range(400):
                new = fine[:4, :4] @ x + fine[:4, 4:] @ u
                half = 0.5 * (np.einsum("ik,ij,jk", x, Q, x) + np.einsum("ik,ij,jk", new, Q, new))
                total += T / 400 * (half + np.einsum("ik,ij,jk", u, R, u))
                x = new
        return total

    least, rng = along(gain.K), np.random.default_rng(1)
    for _ in range(3):
        assert along(gain.K * (1 + 0.1 * rng.standard_normal(gain.K.shape))) > least
    assert along(control.lqr(linear, 1e3, 1.0).K) > least


def test_sampled_lqr_tends_to_the_continuous_one(linear):
    whole = control.lqr(linear, 1e3, 1.0).K
    differences = [np.abs(control.lqr(linear, 1e3, 1.0, sample_time=T).K - whole).max() for T in (2e-3, 1e-3)]
    assert_allclose(differences[0] / differences[1], 2.0, rtol=0.02)


def test_lqr_reports_its_traps(linear):
    with pytest.raises(supple.InputError, match=r'R: .*not positive.* 0 .*"elbow"'):
        control.lqr(linear, 1.0, {"shoulder": 1.0})
    with pytest.raises(supple.InputError, match=r"Q: .*not positive semidefinite: eigenvalue .*weights from 0"):
        control.lqr(linear, [1.0, 1.0, -1.0, 1.0], 1.0)
    with pytest.raises(supple.InputError, match="not symmetric"):
        control.lqr(linear, np.triu(np.ones((4, 4))), 1.0)
    with pytest.raises(supple.InputError, match="shape"):
        control.lqr(linear, np.ones((3, 3)), 1.0)
    with pytest.raises(supple.InputError, match=r"weights Q do not reach .*weight to one of those states"):
        control.lqr(linear, 0.0, 1.0)
    loose = mechanical([[4.0, 0.0], [0.0, 9.0]], [[1.0], [0.0]], ("driven", "loose"))
    with pytest.raises(supple.InputError, match=r'inputs do not reach .*at 3.* 1/s, in the states "loose'):
        control.lqr(loose, 1.0, 1.0)


def test_lqr_leaves_alone_what_decays_by_itself():
    damped = model(np.diag([1.0, -2.0]), [[1.0], [0.0]])
    gain = control.lqr(damped, 1.0, 1.0)
    assert_allclose(gain.K, [[1 + np.sqrt(2), 0.0]], atol=1e-12)  # P = 1 + √2 by hand


# ---------------------------------------------------------------------------- targets


def test_regulator_holds_its_target(arm):
    bent = supple.linearize(arm, [0.5, 0.3])
    gain = control.decoupled_gains(bent, 4.0)
    there = gain.regulator({"elbow": 0.31})
    assert_allclose(there.state, [0.5, 0.31, 0.0, 0.0])
    needed = -supple.local(arm, [0.5, 0.31]).force
    assert_allclose(there.inputs, needed, rtol=1e-3)  # to first order in 0.01 rad
    assert_allclose(gain.regulator().inputs, -supple.local(arm, [0.5, 0.3]).force, rtol=1e-10)
    with pytest.raises(supple.InputError, match=r'no inputs hold the target: .*"elbow"'):
        gain.regulator({"elbow.rate": 0.1})
    with pytest.raises(supple.InputError, match=r'target: .*"elbows"; did you mean "elbow"'):
        gain.regulator({"elbows": 0.1})
