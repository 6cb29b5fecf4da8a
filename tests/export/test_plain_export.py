"""The model as JSON and as one NumPy file: the same equations, with nothing of supple on the other side."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys

import jsonschema
import numpy as np
import pytest
from numpy.testing import assert_allclose

from supple.export.export import export
from supple.export.numpy_file.evaluator import Model

RTOL = 1e-12  # sums of some hundred products in another order


def close(found, expected):
    assert_allclose(found, expected, rtol=RTOL, atol=RTOL * np.abs(expected).max(initial=1e-300))


def imported(file, name="exported"):
    """The module in a file, as a user's program would import it."""
    spec = importlib.util.spec_from_file_location(name, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def random_states(rom, count=25):
    rng = np.random.default_rng(3)
    lower, upper = rom.fitted.arrays.roots_f[0]
    n, s, u = rom.layout.size, rom.layout.theta, len(rom.layout.inputs)
    theta = np.vstack([rng.uniform(lower, upper, (count, s)), [lower], [upper]])
    eta = np.hstack([theta, rng.uniform(-0.1, 0.1, (len(theta), n - s))])
    return eta, rng.uniform(-2, 2, (len(eta), n)), rng.uniform(-2, 2, (len(eta), n)), rng.uniform(-5, 5, (len(eta), u))


def test_one_file_has_the_equations_of_the_model(rom, reference, tmp_path):
    (file,) = export(rom, tmp_path, to="numpy", prefix="made")
    model, s = imported(file).MODEL, rom.layout.theta
    eta, v, a, u = random_states(rom)
    all_at_once = model.coefficients(eta[:, :s], eta[:, s:])
    forward, inverse = model.forward(eta[:, :s], v, u, eta[:, s:]), model.inverse(eta[:, :s], v, a, eta[:, s:])
    for i in range(len(eta)):
        c, resisted = reference.resistance(rom, eta[i], v[i])
        for name in ("M", "K", "damping", "force", "input_map", "outputs", "rigid", "friction_map"):
            close(all_at_once[name][i], c[name])
        close(inverse[i], c["M"] @ a[i] + resisted)
        close(forward[i], np.linalg.solve(c["M"], c["input_map"] @ u[i] - resisted))
        close(model.forward(eta[i, :s], v[i], u[i], eta[i, s:]), forward[i])


def test_outputs_with_accelerations_and_forces_inside(observed, tmp_path):
    (file,) = export(observed, tmp_path, to="numpy")
    model = imported(file).MODEL
    run = observed.simulate(np.linspace(0.0, 0.1, 5), {"crank": 1.5}, "rest", rates={"crank": 1.0})
    theta, v, a, u = (np.asarray(kind["crank"])[:, None] for kind in
                      (run.coordinates, run.rates, run.accelerations, run.inputs))  # fmt: skip
    expected = np.stack([run.outputs[name] for name in model.output_names], axis=1)
    close(model.outputs(theta, v, a, u), expected)
    close(model.outputs(theta, v, inputs=u), expected)  # accelerations from the inputs


def test_steps_follow_the_simulation(observed, tmp_path):
    (file,) = export(observed, tmp_path, to="numpy")
    model, h = imported(file).MODEL, 1e-3
    run = observed.simulate(np.arange(51) * h, {"crank": 1.5}, "rest", rates={"crank": 1.0}, tolerance=1e-12)
    x = np.array([run.coordinates["crank"][0], run.rates["crank"][0]])
    for _ in range(50):
        x = model.step(x, [1.5], h)
    assert_allclose(x, [run.coordinates["crank"][-1], run.rates["crank"][-1]], rtol=1e-10)  # h⁴ of a slow motion


def test_energy_is_that_of_the_model(observed, tmp_path):
    (file,) = export(observed, tmp_path, to="numpy")
    theta = np.mean(observed.fitted.arrays.roots_f[0], axis=0)
    close(imported(file).MODEL.energy(theta, [1.3]), observed.energy(theta, [1.3]))


def test_json_keeps_to_its_schema_and_is_a_model(rom, tmp_path):
    file, schema = export(rom, tmp_path, to="json")
    data = json.loads(file.read_text("utf-8"))
    jsonschema.validate(data, json.loads(schema.read_text("utf-8")))
    theta = np.mean(rom.fitted.arrays.roots_f[0], axis=0)
    close(Model(data).columns(theta[None], 0 * theta[None], 0 * theta[None])[0][0, 0], rom.fitted.evaluate(theta))


def test_the_file_needs_numpy_alone(observed, tmp_path):
    (file,) = export(observed, tmp_path, to="numpy")
    program = f"import sys, runpy; runpy.run_path({str(file)!r}, run_name='__main__'); " \
              "sys.exit(any(name.partition('.')[0] == 'supple' for name in sys.modules))"  # fmt: skip
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "observed with crank" in done.stdout


def test_outside_the_region_it_says_so(observed, tmp_path):
    (file,) = export(observed, tmp_path, to="numpy")
    with pytest.raises(ValueError, match="outside the region"):
        imported(file).MODEL.forward([9.0])
