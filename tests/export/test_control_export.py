"""Reduced models in python-control and sympy, and as linear parameter-varying systems."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import control
import numpy as np
import pytest
import sympy
from numpy.testing import assert_allclose
from scipy.io import loadmat

import supple
from supple.export.export import export
from supple.reduced.linear_model_grid import affine_gap, response_gap

EXAMPLES = Path(__file__).parents[2] / "examples"
ARM = """
supple: 1
name: arm
plane: xz
gravity: [0, -9.81]
points: {O: [0, 0], T: [1, 0]}
materials: {steel: {youngs_modulus: 200 GPa, density: 7800}}
sections: {bar: {rectangle: [20 mm, 8 mm]}}
bodies: {link: {beam: [O, T], section: bar, material: steel, elements: 3}}
joints: {O: {revolute: [ground, link], viscous: 2}}
actuators: {motor: {joint: O, limits: [-1.2, 1.2]}}
point_masses: {load: {at: T, mass: 0.4}}
sensors: {tip: {position: T}, shake: {acceleration: T, axis: z}}
damping: {modal: 0.02}
"""


@pytest.fixture(scope="module")
def arm():
    return supple.reduce(supple.loads(ARM), checks=200, internal_modes=2, tolerance=1e-4, progress=False)


@pytest.fixture(scope="module")
def family(arm):
    return arm.linear_family(tolerance=0.01)


def test_a_system_of_python_control_moves_as_the_model(arm):
    times, push = np.linspace(0.0, 0.05, 26), 3.0
    run = arm.simulate(times, {"motor": push}, {"motor": 0.3}, tolerance=1e-10)
    start = [values[0] for kind in (run.coordinates, run.rates) for values in kind.values()]
    found = control.input_output_response(
        arm.to_control(), times, np.full((1, len(times)), push), start,
        solve_ivp_kwargs={"rtol": 1e-9, "atol": 1e-12},
    )  # fmt: skip
    assert found.state_labels[0] == "motor"
    assert_allclose(found.outputs[found.output_labels.index("tip_z")], run.outputs["tip.z"], atol=1e-8)
    shake = run.outputs["shake"]
    assert_allclose(found.outputs[found.output_labels.index("shake")], shake, atol=1e-5 * np.abs(shake).max())


def test_the_exported_system_is_the_same(arm, tmp_path):
    export(arm, tmp_path, to="control", prefix="arm")
    program = "from arm_control import SYSTEM as s; import numpy as np; x = np.array([.3, .01, 0, 1, .2, .1]); " \
              "print(*s.dynamics(0, x, [2.0]), *s.output(0, x, [2.0]), sep='\\n')"  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    ours, x = arm.to_control(), np.array([0.3, 0.01, 0.0, 1.0, 0.2, 0.1])
    expected = np.concatenate([ours.dynamics(0, x, [2.0]), ours.output(0, x, [2.0])])
    assert_allclose(np.array(done.stdout.split(), dtype=float), expected, rtol=1e-11, atol=1e-11)


def test_expressions_of_sympy_are_the_coefficients(arm):
    found = arm.to_sympy([0.4], ("M", "K", "force", "christoffel" if not arm.layout.bent else "mass_slope"))
    (theta,) = found["M"].free_symbols
    assert str(theta) == "motor"
    there = arm.evaluate([0.45])
    for name in ("M", "K", "force"):
        values = np.array(sympy.lambdify(theta, found[name].tolist(), "numpy")(0.45), dtype=float)
        assert_allclose(values, getattr(there, name), rtol=1e-9, atol=1e-9 * np.abs(getattr(there, name)).max())


def test_the_family_is_as_close_as_it_says(arm, family):
    assert family.gap < 0.01
    lower, upper = arm.fitted.arrays.roots_f[0]
    points = np.random.default_rng(11).uniform(lower, upper, (100, 1))
    assert max(response_gap(family.model_at(at), arm.linearize(at)) for at in points) < 0.01


@pytest.mark.parametrize(("name", "points"), [("orthoglide", 5), ("flexible-four-bar", 257), ("four-bar-redundant", 3)])
def test_frozen_responses_of_machines_off_the_grid(machines, name, points):
    """Grids as a tolerance of 1 % chooses them, or coarser, so that they are not looked for here."""
    rom = machines[name]
    theta = rom.layout.coordinates[: rom.layout.theta]
    family = rom.linear_family(grid=dict.fromkeys(theta, points), tolerance=0.01)
    lower, upper = rom.fitted.arrays.roots_f[0]
    off = np.random.default_rng(12).uniform(lower, upper, (100, len(theta)))
    assert max(response_gap(family.model_at(at), rom.linearize(at, drives=False)) for at in off) < 0.01


def test_on_its_points_the_family_is_exact(arm, family):
    at = family.grid["motor"][1]
    exact, found = arm.linearize([at]), family.model_at([at])
    for name in "ABCD":
        assert_allclose(getattr(found, name), getattr(exact, name), rtol=1e-12)
    assert found.at["states"] == pytest.approx(exact.at["states"])


def test_an_affine_family_is_the_hull_of_its_corners_and_tells_its_gap(arm, family):
    affine = family.affine()
    first, last = affine.vertices
    middle = affine.model_at(0.5 * (affine.lower + affine.upper))
    assert_allclose(middle.A, 0.5 * (first.A + last.A), atol=1e-9 * np.abs(middle.A).max())
    assert affine_gap(arm, affine) > family.gap


def rest_names(arm):
    return supple.check(arm).coordinates


def test_a_family_of_two_coordinates_between_its_points():
    arm = supple.load(EXAMPLES / "two-link" / "mechanism.yaml")
    rom = supple.reduce(arm, region=dict.fromkeys(rest_names(arm), (-0.4, 0.4)), tolerance=1e-3, progress=False)
    family = rom.linear_family()
    assert family.gap < 0.01
    assert len(family.shape) == 2
    assert family.to_control()[0, 0].nstates == 4


def test_files_of_the_family_hold_it_in_the_order_of_matlab(arm, family, tmp_path):
    mat, npz, loader = export(arm, tmp_path, to="lpv", prefix="arm", tolerance=0.01)
    data = loadmat(mat)
    assert data["A"].shape == (6, 6, *family.shape)
    assert_allclose(data["A"][:, :, 2], family.A[2], rtol=1e-15)
    assert [str(item[0]) for item in data["states"].ravel()] == list(family.names.states)
    with np.load(npz) as arrays:
        assert_allclose(arrays["x0"][:, 0, 1], family.at["states"][1])
    assert "arm_lpv.mat" in loader.read_text()


def octave(folder, program):
    found = shutil.which("octave-cli")
    if found is None:
        pytest.skip("Octave is not installed: apt-get install octave")
    (folder / "run.m").write_text(program)
    call = [found, "--no-gui", "--norc", "--quiet", "run.m"]
    return subprocess.run(call, cwd=folder, capture_output=True, text=True, check=True).stdout


def test_linear_models_of_two_exports_are_refused(arm, tmp_path):
    """As a process that is killed while it replaces an export leaves them; the script is run in Octave."""
    mat, npz, _ = export(arm, tmp_path, to="lpv", prefix="arm", tolerance=0.5)
    shown = "arm_lpv_load; disp(size(offsets.x))"
    assert octave(tmp_path, shown).split() == [str(size) for size in loadmat(mat)["x0"].shape]
    stamp = loadmat(mat)["export"].item()
    with np.load(npz) as arrays:
        assert arrays["export"].item() == stamp
    finer, *_ = export(arm, tmp_path / "finer", to="lpv", prefix="arm", tolerance=0.01)
    assert loadmat(finer)["export"].item() != stamp
    mat.write_bytes(finer.read_bytes())
    said = octave(tmp_path, f"try; {shown}; catch e; disp(e.message); end")
    assert said == "arm_lpv_load.m and arm_lpv.mat are from two exports: run the export again\n"


def test_a_system_and_a_model_of_two_exports_are_refused(arm, tmp_path):
    model, _ = export(arm, tmp_path, to="control", prefix="arm")
    model.write_text(model.read_text() + "\n")
    done = subprocess.run(
        [sys.executable, "-c", "import arm_control"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "arm.py and arm_control.py are from two exports or were modified: run the export again" in done.stderr


def test_a_family_that_misses_its_tolerance_says_so(arm):
    with pytest.warns(supple.SuppleWarning, match="finer grid"):
        arm.linear_family(grid={"motor": 2}, tolerance=1e-6)


def test_a_grid_over_what_is_no_coordinate_is_refused(arm):
    with pytest.raises(supple.InputError, match="unknown coordinate"):
        arm.linear_family(grid={"moter": 3})
