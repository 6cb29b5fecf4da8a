"""Paths as regions of flexible mechanisms: one coordinate along the path, deformation as it is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple.diagnostics import SuppleNote
from supple.kinematics.closure import assemble
from supple.parameterization.local_model import coefficient_rows, local_row, mode_choice
from supple.reduction.model_trajectory import along_path
from supple.reduction.path import path_layout, path_of, path_rows

EXAMPLES = Path(__file__).parents[2] / "examples"
POINTS = np.array([[1.00, 0.90], [1.05, 0.97], [1.12, 1.00], [1.20, 0.98]])  # a curve through lift and elbow


@pytest.fixture(scope="module")
def ralf():
    return supple.load(EXAMPLES / "ralf" / "mechanism.yaml")


@pytest.fixture(scope="module")
def reach(ralf):
    with pytest.warns(SuppleNote, match="drive of .* left out"):
        return supple.reduce(ralf, region="reach", internal_modes=2, tolerance=1e-3)


def test_coefficients_along_a_curve_are_those_of_a_constrained_motion(ralf):
    """M, K, p, D, B over (σ, δ), and every derivative along σ is a difference."""
    path = path_of(ralf, POINTS)
    choice = mode_choice(ralf, ("T.z",), 2, "subspace")
    middle, h = 0.4 * path.length, 1e-5 * path.length
    curve = path.at(middle + h * np.arange(-1.0, 2.0))
    here = assemble(ralf, curve.theta)
    whole = local_row(here, choice)
    full = whole.split(coefficient_rows(here, choice)[0])
    parts = path_layout(whole).split(path_rows(coefficient_rows(here, choice)[0], whole, curve))
    n, s = full["M"].shape[1], 2
    T = np.zeros((n, n - 1))
    T[:s, 0], T[s:, 1:] = curve.slope[1], np.eye(n - s)
    assert_allclose(parts["M"][1], T.T @ full["M"][1] @ T, rtol=1e-12)
    assert_allclose(parts["K"][1][1:, 1:], full["K"][1][s:, s:], rtol=1e-12)
    assert_allclose(parts["force"][1], T.T @ full["force"][1], rtol=1e-12)
    for name, slope in {
        "M": parts["dM"][1, ..., 0], "force": None, "input_map": parts["dinput_map"][1, ..., 0],
        "outputs": parts["rigid"][1, :, 0], "rigid": parts["bend"][1, :, 0], "modes": parts["modes_slope"][1, ..., 0],
    }.items():  # fmt: skip
        difference = (parts[name][2] - parts[name][0]) / (2.0 * h)
        if slope is None:  # p_σ and p_δ
            slope = np.append(parts["dforce_theta"][1], parts["force_slope"][1])
        assert_allclose(slope, difference, atol=1e-6 * max(np.abs(difference).max(), np.abs(parts[name]).max()))
    difference = (parts["K"][2] - parts["K"][0])[1:, 1:] / (2.0 * h)
    assert_allclose(parts["stiffness_slope"][1, 0], difference, atol=1e-6 * np.abs(parts["K"][1]).max())
    G = parts["christoffel"][1]
    assert_allclose(G + G.transpose(1, 0, 2), parts["dM"][1], atol=1e-12 * np.abs(parts["dM"][1]).max())


@pytest.mark.slow
def test_ralf_along_its_reach(ralf, reach):
    """One coordinate and two modes, to a thousandth, from few samples; frequencies are the full model's."""
    assert reach.layout.coordinates == ("arclength", "mode1", "mode2")
    assert max(reach.error.values()) <= 1e-3
    assert reach.provenance["samples"] <= 40
    sigma = np.linspace(0.0, reach.layout.limits["arclength"][1], 7)
    c = reach.evaluate(sigma[:, None])
    theta = np.stack([c.outputs[name].value for name in ("lift", "elbow")], axis=1)
    full = supple.modes(ralf, theta, count=2).frequencies_hz
    squares = np.linalg.eigvals(np.linalg.solve(c.M[:, 1:, 1:], c.K[:, 1:, 1:])).real
    assert_allclose(np.sort(np.sqrt(squares), axis=1) / (2.0 * np.pi), full, rtol=1e-3)
    assert supple.compare(ralf, reach, points=200).error["frequencies"] < 1e-3


@pytest.mark.slow
def test_a_motion_leads_it_as_it_leads_the_whole(ralf, reach):
    """δ over time, and the force along the path, are those of the model in both coordinates of θ."""
    region = {"lift": (0.99, 1.16), "elbow": (0.89, 1.01)}
    whole = supple.reduce(ralf, region=region, internal_modes=2, tolerance=1e-3, germ=_germ(reach))
    course = supple.trajectory(ralf, "reach", times=np.linspace(0.0, 1.0, 51))
    path = path_of(ralf, "reach")
    led = reach.simulate(motion=along_path(path, course))
    with pytest.warns(SuppleNote, match="motion is prescribed"):
        other = whole.simulate(motion=course)
    size = max(np.abs(other.coordinates[name]).max() for name in ("mode1", "mode2"))
    for name in ("mode1", "mode2"):
        assert_allclose(led.coordinates[name], other.coordinates[name], atol=2e-3 * size)
    forces = np.stack([other.driving_forces[name] for name in ("lift", "elbow")], axis=1)
    sigma = led.coordinates["arclength"]
    along = np.einsum("ni,ni->n", forces, path.at(np.clip(sigma, 0.0, path.length)).slope)
    assert_allclose(led.driving_forces["arclength"], along, atol=2e-3 * np.abs(along).max())


@pytest.mark.slow
def test_a_path_model_keeps_its_energy(ralf):
    """Left to itself on a curve, vibrating: kinetic and potential energy stay what they are."""
    free = ralf.replace(damping=None)
    with pytest.warns(SuppleNote, match="drive of .* left out"):
        model = supple.reduce(free, region=POINTS, internal_modes=2, tolerance=1e-3)
    middle = 0.5 * model.layout.limits["arclength"][1]
    run = model.simulate(np.linspace(0.0, 0.1, 101), None, [middle, 0.02, 0.01], tolerance=1e-11, method="explicit")
    assert run.complete
    total = run.energy["total"]
    assert np.abs(total - total[0]).max() < 1e-7 * run.energy["kinetic"].max()


def _germ(model):
    """θ to whose modes those of a model are turned, and by what."""
    germ = model.provenance["options"]["modes"]["germ"]
    return None if germ is None else np.array(germ)
