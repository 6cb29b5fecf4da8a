"""The arms of Lin and Yae through the verb: printed figures, SymPy in motion, and the paper's two checks."""

from __future__ import annotations

import numpy as np
import pytest
import sympy
from full_accelerations import local_accelerations
from numpy.testing import assert_allclose

import supple


def test_the_printed_matrices_of_the_two_link_arm(example):
    """In the order (θ2, θ1), all printed digits; the paper's torques have the other sign, and its -5.191 is cut off."""
    found = supple.linearize(example("two-link"))
    assert found.states == ("shoulder", "elbow", "shoulder.rate", "elbow.rate")
    assert found.inputs == ("shoulder", "elbow")
    turned = np.ix_([1, 0], [1, 0])
    assert_allclose(found.A[2:, :2][turned], [[-5.1918, 3.4612], [1.1537, -4.0380]], atol=5.1e-5)
    assert_allclose(found.B[2:][turned], [[0.0824, -0.0294], [-0.0294, 0.0176]], atol=5.1e-5)
    assert found.at["inputs"] == pytest.approx({"shoulder": 0.0, "elbow": 0.0}, abs=1e-12)


def exact_two_link(values):
    """∂θ̈/∂(θ, θ̇, u) of the arm's Lagrange equations by SymPy, with 30 digits; and θ̈."""
    symbols = q1, q2, v1, v2, u1, u2 = sympy.symbols("q1 q2 v1 v2 u1 u2")
    q, v = sympy.Matrix([q1, q2]), sympy.Matrix([v1, v2])
    m, L, c, J, g = 10, 2, 1, 20, sympy.Rational("9.80665")
    upper = sympy.Matrix([c * sympy.sin(q1), -c * sympy.cos(q1)])
    lower = sympy.Matrix([L * sympy.sin(q1) + c * sympy.sin(q1 + q2), -L * sympy.cos(q1) - c * sympy.cos(q1 + q2)])
    kinetic = J * v1**2 / 2 + J * (v1 + v2) ** 2 / 2
    for place in (upper, lower):
        speed = place.jacobian(q) * v
        kinetic += m * speed.dot(speed) / 2
    lagrangian = sympy.Matrix([kinetic - m * g * (upper[1] + lower[1])])
    momentum = lagrangian.jacobian(v).T
    force = sympy.Matrix([u1, u2]) + lagrangian.jacobian(q).T - momentum.jacobian(q) * v
    accelerations = momentum.jacobian(v).LUsolve(force)
    at = {symbol: sympy.Float(repr(float(value)), 30) for symbol, value in zip(symbols, values, strict=True)}
    jacobian = accelerations.jacobian(sympy.Matrix(symbols)).subs(at).evalf(30)
    return np.array(jacobian, dtype=float), np.array(accelerations.subs(at).evalf(30), dtype=float).ravel()


@pytest.mark.slow
@pytest.mark.parametrize("route", ["recursive", "independent coordinates"])
def test_the_two_link_arm_in_motion_against_sympy(example, route, monkeypatch):
    if route != "recursive":
        monkeypatch.setattr("supple.linearization.linearization_batch.tree_order", lambda mechanism: None)
    arm, rng = example("two-link"), np.random.default_rng(0)
    for values in rng.normal(size=(4, 6)) * [1.5, 1.5, 3, 3, 50, 50]:
        jacobian, accelerations = exact_two_link(values)
        found = supple.linearize(arm, values[:2], rates=values[2:4], inputs=values[4:])
        ours = np.hstack([found.A[2:], found.B[2:]])
        assert_allclose(ours, jacobian, rtol=0, atol=1e-12 * np.abs(jacobian).max())
        assert [*found.at["accelerations"].values()] == pytest.approx(accelerations, rel=1e-11, abs=1e-11)
        held = supple.linearize(arm, values[:2], rates=values[2:4], accelerations=accelerations)
        assert_allclose(held.A, found.A, atol=1e-11 * np.abs(found.A).max())
        assert [*held.at["inputs"].values()] == pytest.approx(values[4:], rel=1e-9, abs=1e-9)
        M, P2, P1, P3 = found.second_order
        assert_allclose(np.linalg.solve(M, np.hstack([P2, P1, P3])), ours, atol=1e-12 * np.abs(ours).max())


@pytest.mark.parametrize("at", ["raised", "aside"])
def test_the_papers_checks_on_the_seven_joint_arm(example, at):
    """A perturbation of 1e-6 (printed: a relative error of 2.739e-6), and numerical perturbation (below 1e-6)."""
    arm = example("seven-joint")
    theta = supple.assemble(arm, at).theta
    rng = np.random.default_rng(7)
    rates, wanted = rng.standard_normal(7), rng.standard_normal(7)
    found = supple.linearize(arm, at, rates=rates, accelerations=wanted)
    u = np.array([*found.at["inputs"].values()])
    assert [*found.at["accelerations"].values()] == pytest.approx(wanted, abs=1e-9)
    inverse = supple.inverse(arm, supple.Trajectory(found.inputs, np.zeros(1), theta[None], rates[None], wanted[None]))
    assert {name: force[0] for name, force in inverse.forces.items()} == pytest.approx(found.at["inputs"], abs=1e-9)

    def accelerations(x, forces):
        return local_accelerations(arm, theta + x[:7], rates + x[7:], u + forces)

    start = accelerations(np.zeros(14), np.zeros(7))
    small = 1e-6 * np.ones(21)
    change = accelerations(small[:14], small[14:]) - start
    predicted = found.A[7:] @ small[:14] + found.B[7:] @ small[14:]
    assert np.linalg.norm(predicted - change) < 1e-5 * np.linalg.norm(change)
    step = 1e-4
    by_state = [(accelerations(e, 0.0) - accelerations(-e, 0.0)) / (2 * step) for e in step * np.eye(14)]
    assert_allclose(found.A[7:], np.array(by_state).T, atol=1e-6 * np.abs(found.A[7:]).max())
