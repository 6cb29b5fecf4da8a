"""The model in CasADi: values and both derivatives, compiled and by choice among boxes; a small problem solved."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple.export.casadi_files.functions import conditional_columns, functions
from supple.export.export import export
from supple.export.numpy_file.evaluator import Model
from supple.export.plain.target import plain_model

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


def slopes(function, at, h=1e-5):
    """Columns of differences of fourth order: their error is h⁴ of the fifth derivative, and rounding over h."""
    steps = h * np.eye(len(at))
    return np.stack([
        (8.0 * (function(at + e) - function(at - e)) - function(at + 2 * e) + function(at - 2 * e)) / (12.0 * h)
        for e in steps
    ], axis=-1)  # fmt: skip


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("kind", ["dynamics", "inverse"])
def test_first_and_second_derivatives_against_differences(loaded, name, kind):
    """Also where dry friction is steep, at rates of three times its slip rate."""
    rom, found = loaded(name)
    parts = [ca.MX.sym(f"z{i}", found[kind].size1_in(i)) for i in range(found[kind].n_in())]
    cuts = np.cumsum([part.size1() for part in parts])[:-1]
    z, y = ca.vertcat(*parts), found[kind](*parts)
    total = ca.dot(np.arange(1.0, y.size1() + 1.0), y)

    def of(expression):
        function = ca.Function("of", parts, [expression])
        return lambda at: np.array(function(*np.split(at, cuts))).reshape(expression.shape).squeeze()

    value, gradient, jacobian, hessian = map(of, (y, ca.gradient(total, z), ca.jacobian(y, z), ca.hessian(total, z)[0]))
    for eta, v, a, u in list(states(rom))[:2]:
        at = np.concatenate([eta, v * 0.1 + 3e-3, u if kind == "dynamics" else a])
        J, H = jacobian(at), hessian(at)
        assert_allclose(J, slopes(value, at), rtol=0, atol=1e-7 * np.abs(J).max())
        assert_allclose(H, slopes(gradient, at), rtol=0, atol=1e-7 * np.abs(H).max())
        assert_allclose(H, H.T, rtol=0, atol=1e-12 * np.abs(H).max())


def test_no_derivative_is_asked_of_what_is_always_zero(loaded):
    """CasADi knows that the rates of η are η̇, and that inputs enter linearly."""
    rom, found = loaded("elastic structured")
    n, u = rom.layout.size, len(rom.layout.inputs)
    first = found["dynamics"].jacobian()
    second = first.jacobian()
    assert [first.nnz_out(i) for i in range(2)] == [n + 2 * n * n, n * u]
    assert [second.nnz_out(i) for i in range(6)] == [4 * n**3, n * n * u, 0, n * n * u, 0, 0]


def test_without_a_compiler_boxes_are_chosen_with_the_same_values(loaded):
    rom, found = loaded("elastic")
    data = plain_model(rom)
    other = functions(data, conditional_columns(data))
    for eta, v, _, u in states(rom):
        close(other["forward"](eta, v, u), np.array(found["forward"](eta, v, u)).ravel())


def test_without_a_compiler_it_is_said(models, tmp_path, monkeypatch, capsys):
    files = export(models["four-bar mixed degrees"], tmp_path, to="casadi", prefix="alone")
    monkeypatch.setenv("PATH", "")
    made = imported(files[0]).FUNCTIONS
    assert "alone: no C compiler" in capsys.readouterr().out
    assert set(made) == {"coefficients", "forward", "inverse", "dynamics", "outputs"}
    assert not list(tmp_path.glob("*.so"))


def test_a_compiler_that_fails_is_told(models, tmp_path, monkeypatch):
    files = export(models["four-bar mixed degrees"], tmp_path, to="casadi", prefix="broken")
    (tmp_path / "cc").write_text("#!/bin/sh\necho this is no C >&2\nexit 1\n")
    (tmp_path / "cc").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RuntimeError, match="cannot compile broken: this is no C"):
        imported(files[0])
    assert not list(tmp_path.glob("*.part"))


def test_files_of_two_exports_are_refused(models, tmp_path):
    """As a process that is killed while it replaces an export leaves them."""
    new = export(models["four-bar mixed degrees"], tmp_path / "new", to="casadi", prefix="model")
    old = export(models["elastic"], tmp_path, to="casadi", prefix="model")
    for made, there in zip(new[:-1], old, strict=False):
        there.write_bytes(made.read_bytes())
        with pytest.raises(RuntimeError, match="two exports or were modified: run the export again"):
            imported(old[0])


def test_outside_the_region_the_nearest_box_goes_on(loaded):
    rom, found = loaded("elastic")
    _, upper = rom.fitted.arrays.roots_f[0]
    n = rom.layout.size
    edge = np.concatenate([upper, np.zeros(n - len(upper))])
    inside, beyond = (np.array(found["forward"](edge * (1 + e), np.zeros(n), np.zeros(2))) for e in (0.0, 1e-9))
    assert_allclose(beyond, inside, rtol=1e-6)


def test_an_optimum_is_found_across_boxes(cc, tmp_path):
    """The least torque that swings an arm in a second, over six boxes of quadratics and over one of a high degree."""
    arm = supple.loads(
        """
        supple: 1
        name: arm
        plane: xz
        gravity: [0, -9.81]
        points: {O: [0, 0], T: [0, -1]}
        bodies: {link: {rod: [O, T], mass: 2}}
        joints: {O: {revolute: [ground, link], rest: 0}}
        actuators: {motor: {joint: O, limits: [-0.9, 0.9]}}
        """
    )
    h, found = 0.05, []
    for prefix, options in (("one", {"tolerance": 1e-6}), ("many", {"fit": "quadratic", "boxes": 6})):
        rom = supple.reduce(arm, progress=False, **options)
        f = imported(export(rom, tmp_path, to="casadi", prefix=prefix)[0]).FUNCTIONS["dynamics"]
        problem = ca.Opti()
        x, u = problem.variable(2, 21), problem.variable(1, 21)
        rate = f.map(21)(x, u)
        problem.subject_to(x[:, 1:] == x[:, :-1] + h / 2 * (rate[:, 1:] + rate[:, :-1]))
        problem.subject_to(ca.vertcat(x[:, 0], x[:, -1]) == [-0.8, 0.0, 0.8, 0.0])
        problem.minimize(ca.sumsqr(u))
        problem.solver("ipopt", {"print_time": False}, {"print_level": 0, "sb": "yes"})
        solved = problem.solve()
        assert solved.stats()["iter_count"] < 50
        found.append((len(rom.fitted.arrays.leaves_i), np.array(solved.value(u))))
    (one, exact), (many, pieced) = found
    assert (one, many) == (1, 6)
    assert_allclose(pieced, exact, atol=0.02 * np.abs(exact).max())  # what quadratics lose of the torque


def test_the_walk_of_the_page_runs(cc, tmp_path, monkeypatch):
    """From a model to a closed loop, as docs/export-casadi.md has it."""
    page = Path(__file__).parents[2] / "docs" / "export-casadi.md"
    walk = page.read_text(encoding="utf-8").split("## From model to a closed loop")[1]
    lines = "\n".join(re.findall(r"```python\n(.*?)```", walk, re.DOTALL))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    names: dict[str, Any] = {"__name__": "walk"}
    exec(compile(lines, str(page), "exec"), names)  # noqa: S102 - our own page
    run = names["run"]
    assert run.complete
    assert_allclose(run.coordinates["motor"][-1], 0.6, atol=0.02)
    assert_allclose(run.rates["motor"][-1], 0.0, atol=0.02)
    assert np.abs(run.inputs["motor"]).max() <= 8.0 + 1e-6
    assert_allclose(run.inputs["motor"][-1], 9.81 * np.sin(0.6), atol=0.1)  # N m, holds it: half the length, 2 kg
