"""A path as region: one coordinate, its arclength; coefficients by the chain rule."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple.reduction.path import path_from, path_layout, path_of, path_rows
from supple.reduction.sampling import Sampling

BEND = np.array([[-0.2, -0.1, 0.0], [-0.1, 0.02, -0.1], [0.0, -0.05, -0.2], [0.03, 0.03, -0.22]])


def path_in(model):
    return path_from(model.provenance["options"]["path"])


@pytest.fixture(scope="module")
def bend(orthoglide):
    return supple.reduce(orthoglide, region=BEND, tolerance=1e-5)


@pytest.mark.slow
def test_coefficients_follow_by_the_chain_rule(orthoglide, bend):
    path = path_in(bend)
    sigma = np.linspace(0.001, path.length - 0.001, 200)
    theta, t, n = path.at(sigma)
    full, found = supple.local(orthoglide, theta), bend.evaluate(sigma[:, None])
    gamma = np.einsum("nijk,nj,nk->ni", full.christoffel, t, t) + np.einsum("nij,nj->ni", full.M, n)
    exact = {
        "M": np.einsum("ni,nij,nj->n", t, full.M, t),
        "christoffel": np.einsum("ni,ni->n", t, gamma),
        "force": np.einsum("ni,ni->n", t, full.force),
    }
    for name, values in exact.items():
        # 1e-5 is what was asked for; the median over this grid differs a little from that over the path
        assert_allclose(getattr(found, name).ravel(), values, atol=1.1e-5 * np.median(np.abs(values)), rtol=1.1e-5)
    assert_allclose(found.input_map[:, 0], t, atol=1.1e-5)  # every slider has its own motor: B = I
    for i, name in enumerate(orthoglide.actuators):
        assert_allclose(found.outputs[name].value, theta[:, i], atol=1e-5)
    assert_allclose(found.outputs["tool.x"].value, full.outputs["tool.x"].value, atol=1e-5)


def test_rows_along_a_path_keep_the_laws(carrying):
    """Γ_σσσ = ½ dM_σσ/dσ, and every gradient is that of its coefficient."""
    path = path_of(carrying, np.array([[-1.0], [-0.2], [0.1], [0.9]]))
    sampling = Sampling(carrying)
    sigma, step = np.linspace(0.1, path.length - 0.1, 9), 1e-5

    def at(x):
        curve = path.at(x)
        return path_layout(sampling.layout).split(path_rows(sampling.rows(curve.theta)[0], sampling.layout, curve))

    here, ahead, behind = at(sigma), at(sigma + step), at(sigma - step)
    assert_allclose(2.0 * here["christoffel"], here["dM"], rtol=1e-12)
    sloped = {"M": "dM", "force": "dforce_theta", "outputs": "rigid", "rigid": "bend"}
    sloped |= {name: f"d{name}" for name in ("damping", "input_map", "friction_map")}
    for name, derivative in sloped.items():
        slope = (ahead[name] - behind[name]) / (2.0 * step)
        assert_allclose(here[derivative][..., 0], slope, atol=1e-6 * np.abs(slope).max(), err_msg=name)
    potential = (ahead["potential"] - behind["potential"]) / (2.0 * step)
    assert_allclose(here["force"], -potential, atol=1e-6 * np.abs(potential).max())


def test_arclength_is_arclength_and_files_keep_it(bend, tmp_path):
    path = path_in(bend)
    _, t, n = path.at(np.linspace(0.0, path.length, 5000))
    assert_allclose(np.linalg.norm(t, axis=1), 1.0, atol=1e-6)
    assert_allclose(np.einsum("ni,ni->n", t, n), 0.0, atol=1e-3)  # a curve bends across itself
    again = path_in(supple.load(bend.save(tmp_path / "bend.rom")))
    sigma = np.linspace(0.0, path.length, 50)
    assert np.array_equal(again.at(sigma).bend, path.at(sigma).bend)
    assert bend.layout.coordinates == ("arclength",)
    assert bend.layout.limits["arclength"] == (0.0, path.length)


def test_finer_points_of_a_path_give_the_same_path(orthoglide):
    coarse = path_of(orthoglide, BEND)
    theta = coarse.at(np.linspace(0.0, coarse.length, 200)).theta
    fine = path_of(orthoglide, theta)
    assert fine.length == pytest.approx(coarse.length, rel=1e-7)
    sigma = np.linspace(0.0, min(fine.length, coarse.length), 300)
    assert_allclose(fine.at(sigma).theta, coarse.at(sigma).theta, atol=1e-6)


def test_a_free_motion_along_a_path_conserves_energy(bend):
    """With the path as a guide: ½ M_σσ σ̇² + V."""
    length = path_in(bend).length
    run = bend.simulate(np.linspace(0.0, 0.15, 31), None, [0.3 * length], rates=[0.8], tolerance=1e-11)
    assert run.complete
    total = run.energy["total"]
    assert_allclose(total, total[0], atol=1e-5 * np.abs(run.energy["kinetic"]).max())


def test_one_coordinate_is_itself_the_arclength(four_bar):
    """σ = θ - θ₀ on a way up: the same model, the crank being the only coordinate of a closed loop."""
    model = supple.reduce(four_bar, region=np.array([[-1.0], [1.0]]), tolerance=1e-4)
    whole = supple.local(four_bar, np.linspace(-1.0, 1.0, 50)[:, None])
    found = model.evaluate(np.linspace(0.0, 2.0 - 1e-9, 50)[:, None])
    assert_allclose(found.M, whole.M, rtol=1e-4)
    assert_allclose(found.force, whole.force, atol=1e-4 * np.abs(whole.force).max())


def test_a_motion_that_stops_and_turns_is_cut_there(four_bar):
    """Up, and back again: direction and B change at the turn; standing still has no length."""
    there_and_back = four_bar.replace(
        motions={"shake": {"coordinates": {"crank": {"from": 0.0, "amplitude": 0.5, "frequency": 1}}, "duration": 1}}
    )
    path = path_of(there_and_back, "shake")
    assert [box.upper[0] for box in path.boxes] == pytest.approx([0.5, 1.5, 2.0], abs=1e-6)
    model = supple.reduce(there_and_back, region="shake", tolerance=1e-3)
    assert model.evaluate([0.25]).input_map[0, 0] == pytest.approx(1.0)
    assert model.evaluate([1.0]).input_map[0, 0] == pytest.approx(-1.0)
    assert_allclose(model.evaluate([0.4]).M, model.evaluate([0.6]).M, rtol=1e-3)


def test_standing_still_on_the_way_is_passed_over(four_bar):
    time = np.linspace(0.0, 3.0, 301)
    way = np.clip(time, 0.0, 1.0) + np.clip(time - 2.0, 0.0, 1.0)  # go, stand for a second, go on
    smooth = way - np.sin(2.0 * np.pi * way) / (2.0 * np.pi)
    rates = np.gradient(smooth, time)
    course = supple.Trajectory(("crank",), time, 0.5 * smooth[:, None], 0.5 * rates[:, None], np.zeros((301, 1)))
    path = path_of(four_bar, course)
    assert len(path.pieces) == 1
    assert path.length == pytest.approx(1.0, rel=1e-6)
    model = supple.reduce(four_bar, region=course, tolerance=1e-3)
    assert_allclose(model.evaluate([0.5]).M, supple.local(four_bar, [0.5]).M, rtol=1e-3)


def test_samples_of_a_path_are_those_of_the_mechanism(four_bar, tmp_path, monkeypatch):
    """The store keeps them by θ, so that a path resumes like any region."""
    from supple.reduction import sampling as module

    store = tmp_path / "samples"
    monkeypatch.setattr(module, "_SLOW", 0.0)  # checks are kept as well
    model = supple.reduce(four_bar, region=np.array([[-0.5], [0.5]]), store=store)
    monkeypatch.setattr(module, "sampled_rows", lambda *_: pytest.fail("computed again"))
    again = supple.reduce(four_bar, region=np.array([[-0.5], [0.5]]), store=store)
    assert np.array_equal(again.fitted.arrays.coefficients, model.fitted.arrays.coefficients)


@pytest.mark.parametrize(
    ("region", "message"),
    [
        (np.array([[0.0], [2.2]]), r"leaves the workspace: crank=1\.8"),
        (np.array([[0.0], [0.0]]), "configurations 1 and 2 are equal"),
        (np.array([[0.0]]), "at least two configurations"),
        (np.array([[0.0, 1.0], [1.0, 1.0]]), "at least two configurations of crank"),
        (np.array([[0.0], [np.nan]]), "finite"),
        ("wander", 'unknown motion "wander"; .*csv'),
    ],
)
def test_paths_that_lead_nowhere_are_refused(four_bar, region, message):
    with pytest.raises(supple.InputError, match=message):
        supple.reduce(four_bar, region=region)


def test_a_motion_that_stands_still_has_no_path(four_bar):
    still = four_bar.replace(motions={"stay": {"coordinates": {"crank": {"from": 0.2}}, "duration": 1}})
    with pytest.raises(supple.InputError, match=r'"stay".*stands still'):
        supple.reduce(still, region="stay")
