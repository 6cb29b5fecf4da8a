"""The model in Octave, as a function and as compiled code: the same equations as in Python."""

from __future__ import annotations

import shutil
import subprocess

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.io import loadmat, savemat

from supple.export.export import export
from supple.export.numpy_file.evaluator import Model
from supple.export.plain.target import plain_model

RTOL = 1e-12  # sums of some hundred products in another order
PROGRAM = """
given = load('given.mat'); n = size(given.v, 1); s = given.s;
for i = 1:size(given.eta, 2)
  theta = given.eta(1:s, i); delta = given.eta(s+1:end, i); v = given.v(:, i); a = given.a(:, i); u = given.u(:, i);
  M(:, :, i) = getfield(made('coefficients', theta, delta), 'M');
  forward(:, i) = made('forward', theta, v, u, delta);
  inverse(:, i) = made('inverse', theta, v, a, delta);
  outputs(:, i) = made('outputs', theta, v, a, u, delta);
  derivative(:, i) = made('derivative', [given.eta(:, i); v], u);
end
save('-v7', 'found.mat', 'M', 'forward', 'inverse', 'outputs', 'derivative');
"""


def octave(folder, program, name="octave-cli"):
    found = shutil.which(name)
    if found is None:
        pytest.skip("Octave is not installed: apt-get install octave")
    (folder / "run.m").write_text(program)
    done = subprocess.run(
        [found, "--no-gui", "--norc", "--quiet", "run.m"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr  # it ends with a harmless line on standard error
    return done.stdout


def close(found, expected):
    assert_allclose(found, expected, rtol=RTOL, atol=RTOL * np.abs(expected).max(initial=1e-300))


def given_states(rom, folder, count=12):
    rng = np.random.default_rng(4)
    lower, upper = rom.fitted.arrays.roots_f[0]
    n, s, inputs = rom.layout.size, rom.layout.theta, len(rom.layout.inputs)
    eta = np.hstack([rng.uniform(lower, upper, (count, s)), rng.uniform(-0.1, 0.1, (count, n - s))])
    states = {"eta": eta, "v": rng.uniform(-2, 2, (count, n)), "a": rng.uniform(-2, 2, (count, n)),
              "u": rng.uniform(-5, 5, (count, inputs))}  # fmt: skip
    savemat(folder / "given.mat", {name: values.T for name, values in states.items()} | {"s": float(s)})
    return states


@pytest.fixture(params=["four-bar mixed degrees", "elastic", "elastic structured", "observed"])
def shown(request, models):
    return request.getfixturevalue("observed") if request.param == "observed" else models[request.param]


def test_octave_has_the_equations_of_the_model(shown, tmp_path):
    export(shown, tmp_path, to="matlab", prefix="made")
    states = given_states(shown, tmp_path)
    octave(tmp_path, PROGRAM)
    found, model, s = loadmat(tmp_path / "found.mat"), Model(plain_model(shown)), shown.layout.theta
    eta, v, a, u = states.values()
    theta, delta, n = eta[:, :s], eta[:, s:], eta.shape[1]
    close(np.moveaxis(found["M"].reshape(n, n, -1), -1, 0), model.coefficients(theta, delta)["M"])
    close(found["forward"].T, model.forward(theta, v, u, delta))
    close(found["inverse"].T, model.inverse(theta, v, a, delta))
    close(found["outputs"].T, model.outputs(theta, v, a, u, delta))
    close(found["derivative"].T, model.derivative(np.hstack([eta, v]), u))


def test_the_mex_function_says_what_is_wrong(observed, tmp_path):
    if shutil.which("mkoctfile") is None:
        pytest.skip("mkoctfile is not installed: apt-get install octave-dev")
    export(observed, tmp_path, to="matlab", prefix="made")
    built = subprocess.run(
        ["mkoctfile", "--mex", "made_mex.c", "made.c"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert built.returncode == 0, built.stderr
    calls = [
        "made_mex('derivative', [9; 0], 1)",
        "made_mex('derivative', 1, 1)",
        "made_mex('derivate', 1)",
        "made_mex()",
    ]
    said = octave(tmp_path, "".join(f"try; {call}; catch e; disp(e.message); end\n" for call in calls))
    for part in (
        "outside the region",
        "argument 2 must be a real array of 2 numbers",
        "'derivate'",
        "must be 'derivative'",
    ):
        assert part in said


def test_outside_the_region_octave_says_so(observed, tmp_path):
    export(observed, tmp_path, to="matlab", prefix="made")
    said = octave(tmp_path, "try; made('forward', 9); catch e; disp(e.message); end; made('names').outputs")
    assert "outside the region" in said
    assert "C.x" in said


def test_files_of_two_exports_are_refused(models, tmp_path):
    """As a process that is killed while it replaces an export leaves them."""
    old = export(models["elastic"], tmp_path, to="matlab", prefix="made")
    octave(tmp_path, "made('names');")
    new = export(models["four-bar mixed degrees"], tmp_path / "new", to="matlab", prefix="made")
    assert (old[1].name, new[1].name) == ("made_data.mat", "made_data.mat")
    old[1].write_bytes(new[1].read_bytes())
    asked = "try; made('names'); catch e; disp(e.message); end\n"
    said = octave(tmp_path, 2 * asked)  # a second call is refused as well
    assert said.count("made.m and made_data.mat are from two exports: run the export again") == 2
    old[0].write_bytes(new[0].read_bytes())
    octave(tmp_path, "made('names');")
    unstamped = {name: values for name, values in loadmat(new[1]).items() if name[0] != "_" and name != "export"}
    savemat(old[1], unstamped)
    assert "two exports" in octave(tmp_path, asked)
