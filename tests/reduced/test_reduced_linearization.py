"""Linear models of reduced ones, against differences and against what symmetry demands."""

import control
import numpy as np
import pytest
from numpy.testing import assert_allclose

from supple import InputError

AT = {"four_bar": [0.1], "orthoglide": [-0.1, 0.02, -0.2], "orthoglide_direct": [-0.11, 0.021, -0.22]}


def differences(model, theta, delta, rates, inputs, speed=1e-3, h=1e-6):
    """∂η̈/∂(η, η̇, u) by central differences."""
    n, s = model.layout.size, model.layout.theta
    point = np.concatenate([theta, delta, rates, inputs])
    columns = []
    for i in range(len(point)):
        pair = []
        for sign in (1.0, -1.0):
            x = point.copy()
            x[i] += sign * h
            pair.append(model.forward(x[:s], x[n : 2 * n], x[2 * n :], delta=x[s:n], friction_speed=speed))
        columns.append((pair[0] - pair[1]) / (2.0 * h))
    return np.stack(columns, axis=1)


@pytest.mark.parametrize("name", [*AT, "flexible", "stiffened", "flexible_direct"])
@pytest.mark.parametrize("moving", [False, True])
def test_it_is_the_derivative_of_the_accelerations(name, moving, request):
    model = request.getfixturevalue(name)
    rng = np.random.default_rng(4)
    n, s = model.layout.size, model.layout.theta
    theta = np.array(AT.get(name, [0.2, -0.3]))
    delta = 0.01 * rng.normal(size=n - s)
    rates = rng.normal(size=n) if moving else np.zeros(n)
    inputs = rng.normal(size=len(model.layout.inputs))
    found = model.linearize(theta, rates=rates, inputs=inputs, delta=delta, friction_speed=1.0)
    expected = differences(model, theta, delta, rates, inputs, speed=1.0)
    assert_allclose(np.hstack([found.A, found.B])[n:], expected, atol=1e-6 * np.abs(expected).max())
    assert_allclose(found.A[:n], np.hstack([np.zeros((n, n)), np.eye(n)]))
    h = 1e-6
    for k in range(n):
        pair = []
        for sign in (1.0, -1.0):
            eta = np.concatenate([theta, delta])
            eta[k] += sign * h
            pair.append(model.observe(eta[None], np.zeros((1, n)))[0][0])
        assert_allclose(found.C[:, k], (pair[0] - pair[1]) / (2 * h), atol=1e-7)


@pytest.mark.parametrize("name", ["four_bar", "orthoglide"])
def test_the_stiffness_of_a_potential_is_symmetric(name, request):
    """At rest, with B constant, -M ∂η̈/∂θ is the second derivative of the potential."""
    model = request.getfixturevalue(name)
    found = model.linearize(AT[name])
    n = model.layout.size
    stiffness = -model.evaluate(AT[name]).M @ found.A[n:, :n]
    assert_allclose(stiffness, stiffness.T, atol=1e-10 * np.abs(stiffness).max())
    assert_allclose(found.A[n:, n:], 0.0, atol=0.0)


def test_inputs_left_out_hold_the_state(orthoglide, flexible):
    found = orthoglide.linearize(AT["orthoglide"])
    assert_allclose(list(found.at["accelerations"].values()), 0.0, atol=1e-9)
    assert_allclose(list(found.at["inputs"].values()), orthoglide.inverse(AT["orthoglide"]), atol=1e-9)
    moving = orthoglide.linearize(AT["orthoglide"], rates=[0.1, 0.2, 0.3], accelerations=[1.0, -1.0, 2.0])
    assert_allclose(list(moving.at["accelerations"].values()), [1.0, -1.0, 2.0], atol=1e-9)
    sagged = flexible.linearize([0.2, -0.3])
    assert_allclose(list(sagged.at["accelerations"].values()), 0.0, atol=1e-9)
    assert abs(sagged.at["states"]["tip.z"]) > 1e-4


def test_names_and_conversions(orthoglide):
    found = orthoglide.linearize({"x": -0.1, "y": 0.02, "z": -0.2})
    assert found.states == ("x", "y", "z", "x.rate", "y.rate", "z.rate")
    assert (found.inputs, found.outputs) == (("x", "y", "z"), ("tool.x", "tool.y", "tool.z"))
    scipy_system = found.to_scipy()
    assert_allclose(scipy_system.A, found.A)
    system = found.to_control()
    assert isinstance(system, control.StateSpace)
    assert system.state_labels == ["x", "y", "z", "x_rate", "y_rate", "z_rate"]  # it allows no dots in names
    assert (system.input_labels, system.output_labels) == (["x", "y", "z"], ["tool_x", "tool_y", "tool_z"])
    hertz = np.array([0.5, 2.0])
    response = found.response(hertz, "tool.y", "z")
    assert_allclose(response, [system(2j * np.pi * f)[1, 2] for f in hertz], rtol=1e-9)
    assert_allclose(np.sort_complex(system.poles()), np.sort_complex(found.eigenvalues), atol=1e-9)
    with pytest.raises(InputError, match=r'unknown output "tool\.q"; did you mean "tool\.z"'):
        found.response([1.0], "tool.q", "x")
