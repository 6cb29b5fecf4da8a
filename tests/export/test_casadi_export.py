"""The model in CasADi: values and both derivatives, compiled and by choice among boxes; a small problem solved."""

from __future__ import annotations

import importlib.util

import casadi as ca
import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple.export.casadi_files.functions import conditional_columns, functions
from supple.export.export import export
from supple.export.numpy_file.evaluator import Model
from supple.export.plain.plain_model import plain_model

RTOL = 1e-12  # sums of some hundred products in another order
CASES = ["four-bar mixed degrees", "elastic", "elastic structured", "orthoglide structured"]


def imported(file):
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def close(found, expected, rtol=RTOL):
    assert_allclose(np.asarray(found).reshape(np.shape(expected)), expected, rtol=rtol,
                    atol=rtol * np.abs(expected).max(initial=1e-300))  # fmt: skip


@pytest.fixture(scope="module")
def loaded(models, cc, tmp_path_factory):
    """Functions of a model from its exported files, compiled once."""
    known = {}

    def load(name):
        if name not in known:
            files = export(models[name], tmp_path_factory.mktemp("casadi"), to="casadi", prefix="made")
            known[name] = models[name], imported(files[0]).FUNCTIONS
        return known[name]

    return load


def states(rom, count=6):
    rng = np.random.default_rng(9)
    lower, upper = rom.fitted.arrays.roots_f[0]
    n, s, inputs = rom.layout.size, rom.layout.theta, len(rom.layout.inputs)
    eta = np.hstack([rng.uniform(lower, upper, (count, s)), rng.uniform(-0.1, 0.1, (count, n - s))])
    return zip(eta, rng.uniform(-2, 2, (count, n)), rng.uniform(-2, 2, (count, n)), rng.uniform(-5, 5, (count, inputs)),
               strict=True)  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_values_are_those_of_the_model(loaded, name):
    rom, found = loaded(name)
    model, s = Model(plain_model(rom)), rom.layout.theta
    for eta, v, a, u in states(rom):
        theta, delta = eta[:s], eta[s:]
        close(found["forward"](eta, v, u), model.forward(theta, v, u, delta))
        close(found["inverse"](eta, v, a), model.inverse(theta, v, a, delta))
        x = np.concatenate([eta, v])
        close(found["dynamics"](x, u), model.derivative(x, u))
        close(found["outputs"](x, u), model.outputs(theta, v, None, u, delta))
        close(found["coefficients"](eta)[0], model.coefficients(theta, delta)["M"])


@pytest.mark.parametrize("name", CASES)
def test_first_and_second_derivatives_against_differences(loaded, name):
    rom, found = loaded(name)
    n, inputs = rom.layout.size, len(rom.layout.inputs)
    x, u, w = ca.MX.sym("x", 2 * n), ca.MX.sym("u", inputs), np.arange(1.0, 2 * n + 1.0)
    moved = found["dynamics"](x, u)
    jacobian = ca.Function("jacobian", [x, u], [ca.jacobian(moved, x)])
    hessian = ca.Function("hessian", [x, u], [ca.hessian(ca.dot(w, moved), x)[0]])
    for eta, v, _, push in list(states(rom))[:2]:
        at, h = np.concatenate([eta, v * 0.1 + 3e-3]), 1e-6
        J, H = np.array(jacobian(at, push)), np.array(hessian(at, push))
        for i in range(2 * n):
            step = h * np.eye(2 * n)[i]
            ahead, back = (np.array(found["dynamics"](at + sign * step, push)).ravel() for sign in (1, -1))
            # differences: h² of the third derivative, and rounding over h; dry friction is steep
            assert_allclose(J[:, i], (ahead - back) / (2 * h), rtol=2e-5, atol=2e-5 * np.abs(J).max())
            ahead, back = (w @ np.array(jacobian(at + sign * step, push)) for sign in (1, -1))
            assert_allclose(H[:, i], (ahead - back) / (2 * h), rtol=2e-5, atol=2e-5 * np.abs(H).max())


def test_without_a_compiler_boxes_are_chosen_with_the_same_values(loaded):
    rom, found = loaded("elastic")
    data = plain_model(rom)
    other = functions(data, conditional_columns(data))
    for eta, v, _, u in states(rom):
        close(other["forward"](eta, v, u), np.array(found["forward"](eta, v, u)).ravel())


def test_outside_the_region_the_nearest_box_goes_on(loaded):
    rom, found = loaded("elastic")
    _, upper = rom.fitted.arrays.roots_f[0]
    n = rom.layout.size
    edge = np.concatenate([upper, np.zeros(n - len(upper))])
    inside, beyond = (np.array(found["forward"](edge * (1 + e), np.zeros(n), np.zeros(2))) for e in (0.0, 1e-9))
    assert_allclose(beyond, inside, rtol=1e-6)


def test_a_swing_of_least_effort_is_found(cc, tmp_path):
    """An arm is brought from hanging to 0.6 rad within a second; its own model, run with that torque, agrees."""
    arm = supple.loads(
        """
        supple: 1
        name: arm
        plane: xz
        gravity: [0, -9.81]
        points: {O: [0, 0], T: [0, -1]}
        bodies: {link: {rod: [O, T], mass: 2}}
        joints: {O: {revolute: [ground, link], rest: 0}}
        actuators: {motor: {joint: O, limits: [-1, 1]}}
        """
    )
    rom = supple.reduce(arm, tolerance=1e-6, progress=False)
    found = imported(export(rom, tmp_path, to="casadi", prefix="arm")[0]).FUNCTIONS["dynamics"]
    problem, steps = ca.Opti(), 40
    h = 1.0 / steps
    x, u = problem.variable(2, steps + 1), problem.variable(1, steps)
    for k in range(steps):  # Runge and Kutta's steps with the torque held
        a = found(x[:, k], u[:, k])
        b = found(x[:, k] + h / 2 * a, u[:, k])
        c = found(x[:, k] + h / 2 * b, u[:, k])
        d = found(x[:, k] + h * c, u[:, k])
        problem.subject_to(x[:, k + 1] == x[:, k] + h / 6 * (a + 2 * b + 2 * c + d))
    problem.subject_to(x[:, 0] == [0.0, 0.0])
    problem.subject_to(x[:, -1] == [0.6, 0.0])
    problem.minimize(ca.sumsqr(u))
    problem.solver("ipopt", {"print_time": False}, {"print_level": 0, "sb": "yes"})
    solved = problem.solve()
    assert solved.stats()["success"]
    torque = np.atleast_1d(solved.value(u))
    state = np.zeros(2)
    for value in torque:
        run = rom.simulate(
            np.array([0.0, h]), {"motor": value}, {"motor": state[0]}, rates={"motor": state[1]}, tolerance=1e-9
        )
        state = np.array([run.coordinates["motor"][-1], run.rates["motor"][-1]])
    assert_allclose(state, [0.6, 0.0], atol=1e-5)  # h⁴ of the steps
