"""The two-link arm of Lin and Yae: their printed matrices, and the exact linearization by SymPy, also in motion."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import sympy
from numpy.testing import assert_allclose

from supple.formulations.recursive import forward_variation, rigid_tree, state_space

MASS, LENGTH, CENTER, INERTIA, GRAVITY = 10.0, 2.0, 1.0, 20.0, 9.80665


def two_link_arm(damping=(0.0, 0.0)):
    """Hanging along -y at zero, turning about z."""
    return rigid_tree(
        [-1, 0], ["revolute", "revolute"], mass=[MASS] * 2, center=[[0, -CENTER, 0]] * 2,
        inertia=[np.diag([1.0, 1.0, INERTIA])] * 2, position=[[0, 0, 0], [0, -LENGTH, 0]], gravity=(0, -GRAVITY, 0),
        damping=damping,
    )  # fmt: skip


@cache
def equations(damping):
    """Accelerations from Lagrange's equations and their derivatives by (q, q̇, u), as expressions of SymPy."""
    q1, q2, v1, v2, u1, u2 = symbols = sympy.symbols("q1 q2 v1 v2 u1 u2")
    m, L, c, J, g = (sympy.Rational(str(value)) for value in (MASS, LENGTH, CENTER, INERTIA, GRAVITY))
    q, v = sympy.Matrix([q1, q2]), sympy.Matrix([v1, v2])
    first = sympy.Matrix([c * sympy.sin(q1), -c * sympy.cos(q1)])
    second = sympy.Matrix([L * sympy.sin(q1), -L * sympy.cos(q1)]) + sympy.Matrix(
        [c * sympy.sin(q1 + q2), -c * sympy.cos(q1 + q2)]
    )
    speeds = [place.jacobian(q) * v for place in (first, second)]
    kinetic = sum(m * speed.dot(speed) / 2 for speed in speeds) + J * v1**2 / 2 + J * (v1 + v2) ** 2 / 2
    potential = m * g * (first[1] + second[1])
    M = sympy.hessian(kinetic, v)
    momentum = sympy.Matrix([kinetic]).jacobian(v).T
    lost = sympy.diag(*(sympy.Rational(str(value)) for value in damping)) * v
    rest = momentum.jacobian(q) * v - sympy.Matrix([kinetic - potential]).jacobian(q).T + lost
    accelerations = M.inv() * (sympy.Matrix([u1, u2]) - rest)
    return symbols, accelerations, accelerations.jacobian(sympy.Matrix(symbols))


def exact(values, damping):
    """Both evaluated with 30 digits."""
    symbols, accelerations, jacobian = equations(damping)
    at = {symbol: sympy.Float(repr(float(value)), 30) for symbol, value in zip(symbols, values, strict=True)}
    found = (np.array(item.subs(at).evalf(30), dtype=float) for item in (jacobian, accelerations))
    return next(found), next(found).ravel()


def test_the_printed_matrices():
    """In the order (θ2, θ1): all printed digits. The paper's torques have the opposite sign."""
    A, B, _ = state_space(two_link_arm(), [0, 0], [0, 0], [0, 0])
    swap = [1, 0]
    by_angle, inverse_mass = A[2:, :2][np.ix_(swap, swap)], B[2:][np.ix_(swap, swap)]
    # The paper prints -5.191, which is -5.1918 cut off.
    assert_allclose(by_angle, [[-5.1918, 3.4612], [1.1537, -4.0380]], atol=5.1e-5)
    assert_allclose(inverse_mass, [[0.0824, -0.0294], [-0.0294, 0.0176]], atol=5.1e-5)
    assert_allclose(A[:2], [[0, 0, 1, 0], [0, 0, 0, 1]], atol=0)
    assert_allclose(A[2:, 2:], 0.0, atol=1e-15)


@pytest.mark.slow
def test_in_motion_against_sympy():
    rng, damping = np.random.default_rng(0), (0.3, 0.7)
    for values in (rng.normal(size=(6, 6)) * [2, 2, 3, 3, 50, 50]).tolist():
        jacobian, accelerations = exact(values, damping)
        q, v, u = (np.array(values[i : i + 2]) for i in (0, 2, 4))
        found = forward_variation(two_link_arm(damping), q, v, u)
        ours = np.hstack([found.by_q, found.by_rate, found.by_input])
        assert_allclose(ours, jacobian, rtol=0, atol=1e-12 * np.abs(jacobian).max())
        assert_allclose(found.accelerations, accelerations, rtol=0, atol=1e-12 * np.abs(accelerations).max())
