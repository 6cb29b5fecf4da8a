"""Families in the other exports: values of parameters that are set there give the model at these values."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from test_family_export import CASES, invented_family, states

from supple.cli.main import run
from supple.control import computed_torque
from supple.diagnostics import InputError, SuppleNote
from supple.export.export import export
from supple.export.target import ExportTarget, fixed_values_text

U = np.array([0.3, -0.2])
MU = 14.3


@pytest.fixture(scope="module")
def rom(reference):
    return invented_family(reference, **CASES["mixed"])


@pytest.fixture(scope="module")
def expected(rom):
    """States, accelerations and outputs at MU."""
    one, n, s = rom.at(p0=MU), rom.layout.size, rom.layout.theta
    x = states(one, 12)
    return x, one.forward(x[:, :s], x[:, n:], U, delta=x[:, s:n]), one.observe(x[:, :n], x[:, n:])[0]


def imported(file):
    spec = importlib.util.spec_from_file_location(file.stem, file)
    made = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = made
    try:
        spec.loader.exec_module(made)
    finally:
        del sys.modules[file.stem]
    return made


def test_numpy_and_control_take_parameters(rom, expected, tmp_path, monkeypatch):
    control = pytest.importorskip("control")
    files = {file.name: file for file in export(rom, tmp_path, to="control", prefix="arm")}
    monkeypatch.syspath_prepend(str(tmp_path))
    made = imported(files["arm_control.py"])
    plain = imported(files["arm.py"])
    x, a, y = expected
    n, s = rom.layout.size, rom.layout.theta
    at = plain.at(p0=MU)
    assert np.abs(at.forward(x[:, :s], x[:, n:], U, x[:, s:n]) - a).max() < 1e-12 * np.abs(a).max()
    own = rom.forward(x[0, :s], x[0, n:], U, delta=x[0, s:n])
    assert plain.MODEL.forward(x[0, :s], x[0, n:], U, x[0, s:n]) == pytest.approx(own, rel=1e-12)
    with pytest.raises(ValueError, match="p0 = 17 lies outside"):
        plain.at(p0=17)
    assert isinstance(made.SYSTEM, control.NonlinearIOSystem)
    found = made.SYSTEM.dynamics(0.0, x[0], U, params={"p0": MU})[n:]
    assert np.abs(found - a[0]).max() < 1e-12 * np.abs(a).max()
    assert np.abs(made.SYSTEM.output(0.0, x[0], U, params={"p0": MU}) - y[0]).max() < 1e-12 * np.abs(y).max()
    assert made.SYSTEM.dynamics(0.0, x[0], U)[n:] == pytest.approx(own, rel=1e-12)


@pytest.mark.parametrize("compiled", [True, False])
def test_casadi_takes_parameters_and_derives_by_them(rom, expected, tmp_path, compiled, monkeypatch):
    ca = pytest.importorskip("casadi")
    files = export(rom, tmp_path, to="casadi")
    if not compiled:
        monkeypatch.setattr(shutil, "which", lambda name: None)
    found = imported(files[0]).FUNCTIONS
    x, a, y = expected
    n = rom.layout.size
    for k in range(4):
        assert np.abs(found["dynamics"](x[k], U, MU).full().ravel()[n:] - a[k]).max() < 1e-12 * np.abs(a).max()
        assert np.abs(found["outputs"](x[k], U, MU).full().ravel() - y[k]).max() < 1e-12 * np.abs(y).max()
        h = 1e-3
        ahead, behind = (found["forward"](x[k, :n], x[k, n:], U, MU + d) for d in (h, -h))
        mu = ca.MX.sym("mu")
        slope = ca.jacobian(found["forward"](x[k, :n], x[k, n:], U, mu), mu)
        exact = ca.Function("slope", [mu], [slope])(MU).full().ravel()
        assert exact == pytest.approx((ahead - behind).full().ravel() / (2 * h), rel=1e-6, abs=1e-8)


def test_json_holds_the_whole_family_and_its_schema_says_so(rom, tmp_path):
    jsonschema = pytest.importorskip("jsonschema")
    file, schema = export(rom, tmp_path, to="json")
    data = json.loads(file.read_text())
    jsonschema.validate(data, json.loads(schema.read_text()))
    (told,) = data["family"]["parameters"]
    assert told == {"name": "p0", "unit": "kg", "lower": 8.0, "upper": 16.0, "value": 11.0}
    assert np.array_equal(data["family"]["polynomials"], rom.family.fitted.arrays.coefficients)
    assert np.array_equal(data["polynomials"], rom.fitted.arrays.coefficients)
    one, _ = export(rom, tmp_path / "one", to="json", set={"p0": MU})
    data = json.loads(one.read_text())
    jsonschema.validate(data, json.loads(schema.read_text()))
    assert "family" not in data
    assert data["says"] == "written for p0 = 14.3 kg; not settable at run time"


def test_octave_sets_parameters(rom, expected, tmp_path):
    if shutil.which("octave-cli") is None:
        pytest.skip("Octave is not installed: apt-get install octave")
    export(rom, tmp_path, to="matlab", prefix="made")
    x, a, y = expected
    n, s = rom.layout.size, rom.layout.theta
    given = "; ".join(" ".join(repr(float(value)) for value in row) for row in x[:3])
    lines = [f"x = [{given}]; u = [{U[0]}; {U[1]}]; made('set', {MU}); p = made('parameters'); disp(p.upper);"]
    lines += ["for k = 1:3", f"z = x(k, :).'; printf('%.17g ', made('derivative', z, u)({n + 1}:end));"]
    lines += [f"printf('%.17g ', made('outputs', z(1:{s}), z({n + 1}:end), [], u, z({s + 1}:{n}))); end"]
    lines += ["try, made('set', 17), catch problem, disp(problem.message), end"]
    (tmp_path / "run.m").write_text("\n".join(lines))
    done = subprocess.run(["octave-cli", "--norc", "run.m"], cwd=tmp_path, capture_output=True, text=True, check=True)
    first, numbers = done.stdout.split("\n", 1)
    assert float(first) == 16.0
    assert "within their ranges" in numbers
    found = np.array(numbers.split("expected")[0].split(), dtype=float).reshape(3, -1)
    assert np.abs(found[:, :n] - a[:3]).max() < 1e-12 * np.abs(a).max()
    assert np.abs(found[:, n:] - y[:3]).max() < 1e-12 * np.abs(y).max()


def test_one_model_of_a_family_is_smaller_and_says_so(rom, tmp_path):
    whole = {file.name: file.read_text() for file in export(rom, tmp_path / "whole")}
    one = {file.name: file.read_text() for file in export(rom, tmp_path / "one", set={"p0": MU})}
    assert "Written for p0 = 14.3 kg; not settable at run time." in one["code.h"]
    assert "set_parameters" not in one["code.h"] + one["code.c"]
    assert 2 * len(one["code.c"]) < len(whole["code.c"])


def test_parameters_are_scheduled_in_linear_models(reference, tmp_path):
    case = {"seed": 4, "s": 1, "elastic": 0, "levels": (0, 0), "degrees": (2,), "coupling": 0.0}
    rom = invented_family(reference, **case)
    _, file, _ = export(rom, tmp_path, to="lpv", tolerance=0.5)
    found = np.load(file)
    assert found["scheduling"].tolist() == ["q0", "p0"]
    for i, k in ((0, 0), (1, 2), (2, 1)):
        linear = rom.at(p0=found["grid_2"][k]).linearize([found["grid_1"][i]], drives=False)
        assert found["A"][:, :, i, k] == pytest.approx(linear.A, rel=1e-12)
        assert found["B"][:, :, i, k] == pytest.approx(linear.B, rel=1e-12)
    *_, script = export(rom, tmp_path / "one", to="lpv", tolerance=0.5, set={"p0": 9.0})
    assert "% Written for p0 = 9 kg; not settable at run time." in script.read_text()
    with pytest.raises(InputError, match='unknown parameter "p1" of the model'):
        rom.linear_family(parameters=["p1"])


def test_a_target_without_parameters_is_given_one_model(rom, tmp_path, monkeypatch):
    plain = ExportTarget("mine", "of a plugin", lambda model, prefix: {"x.txt": fixed_values_text(model)})
    monkeypatch.setattr("supple.export.export.TARGETS", {"mine": plain})
    with pytest.warns(SuppleNote, match="written for p0 = 11 kg; not settable at run time"):
        (file,) = export(rom, tmp_path, to="mine")
    assert file.read_text() == "written for p0 = 11 kg; not settable at run time"


def test_one_model_of_a_family_is_the_code_of_its_slice(rom, tmp_path):
    one = {file.name: file.read_text() for file in export(rom, tmp_path / "one", set={"p0": MU})}
    alone = replace(rom.at(p0=MU), family=None)
    for file in export(alone, tmp_path / "alone"):
        one_text = one[file.name].replace(" * Written for p0 = 14.3 kg; not settable at run time.\n", "")
        assert unstamped(file.read_text()) == unstamped(one_text)


def unstamped(text):
    """C without the digest of an export, which covers the line on the parameter as well."""
    return re.sub(r"0x[0-9a-f]{8}\b", "", text)


def test_parameters_that_are_not_there_are_refused(rom, tmp_path, reference):
    with pytest.raises(InputError, match='unknown parameter "p1"; known: "p0"'):
        export(rom, tmp_path, set={"p1": 1.0})
    with pytest.raises(InputError, match="17 kg lies outside"):
        export(rom, tmp_path, set={"p0": 17.0})
    with pytest.raises(InputError, match=r'no parameter "p0" to set; .*reduced with .*vary'):
        export(reference.invented(1, 1, 0, (0,), (2,), structured=True), tmp_path, set={"p0": 1.0})


def exit_status(*arguments):
    with pytest.raises(SystemExit) as end:
        run(arguments)
    return end.value.code


def test_the_command_line_writes_one_model_where_values_are_set(rom, tmp_path, capsys):
    rom.save(tmp_path / "arm.rom")
    command = ["export", str(tmp_path / "arm.rom"), "-o", str(tmp_path), "--json"]
    assert exit_status(*command, "--set", "p0=14300 g") == 0
    assert "Written for p0 = 14.3 kg; not settable at run time." in (tmp_path / "code.h").read_text()
    assert exit_status(*command) == 0
    assert "code_set_parameters" in (tmp_path / "code.h").read_text()
    capsys.readouterr()
    assert exit_status(*command, "--set", "q=1") == 1
    assert r"unknown parameter \"q\"; known: \"p0\"" in capsys.readouterr().out
    assert exit_status(*command, "--set", "p0=12mm") == 1
    assert "a mass (kg) is expected" in capsys.readouterr().out


def test_computed_torque_is_that_of_the_models_own_values(reference, tmp_path):
    case = {"seed": 5, "s": 2, "elastic": 0, "levels": (0, 0, 0), "degrees": (2,), "coupling": 0.2}
    rom, zero = invented_family(reference, **case).at(p0=9.0), np.zeros(2)
    controller = computed_torque(rom, lambda t: (zero, zero, zero), 20.0)
    with pytest.warns(SuppleNote, match="written for p0 = 9 kg; not settable at run time"):
        files = {file.name: file for file in export(controller, tmp_path)}
    assert "Written for p0 = 9 kg; not settable at run time." in files["code.h"].read_text()
    assert "code_torque.c" in files
