"""A saved run knows its mechanism, and where its bodies and nodes were."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple.results.simulation import INSTANTS, evenly

FOUR_BAR = """
supple: 1
name: swinging
gravity: [0, 0, -9.81]
materials: {steel: {youngs_modulus: 2.1e11, poisson: 0.3, density: 7800}}
sections: {bar: {rectangle: [20 mm, 2 mm]}}
points: {A: [0, 0, 0], B: [0.5, 0, 0]}
bodies: {arm: {beam: [A, B], section: bar, material: steel, elements: 2, up: z}}
joints: {A: {revolute: [ground, arm], axis: -y}}
actuators: {A: {joint: A}}
sensors: {tip: {position: B}}
"""


@pytest.fixture(scope="module")
def run():
    return supple.simulate(supple.loads(FOUR_BAR), until=0.1, step=1e-3)


def test_a_saved_run_holds_the_poses_of_bodies_and_nodes(run, tmp_path):
    with np.load(run.save(tmp_path / "run.npz"), allow_pickle=False) as read:
        arrays = dict(read)
    assert supple.loads(str(arrays["playback.mechanism"][0])) == run.configuration.mechanism
    assert arrays["playback.bodies"].tolist() == ["arm"]
    assert_allclose(arrays["playback.time"], run.time)
    X, u = arrays["playback.poses"][:, 0], arrays["playback.nodes.arm"]
    R = X[:, 3:].reshape(-1, 3, 3)
    drawn = np.linspace([0.0, 0.0, 0.0], [0.5, 0.0, 0.0], u.shape[1])
    places = X[:, None, :3] + np.einsum("nij,nkj->nki", R, drawn + u[..., :3])
    seen = run.nodes("arm").position
    assert_allclose(places, seen, atol=1e-6)  # kept in single precision
    assert np.abs(u[..., :3]).max() > 1e-3  # it bends as it falls
    assert_allclose(places[:, -1, 2], run.outputs["tip.z"], atol=1e-6)


def test_the_instants_that_are_kept_are_few_and_span_the_run():
    kept = evenly(2001)
    assert len(kept) <= INSTANTS
    assert (kept[0], kept[-1]) == (0, 2000)
    assert np.ptp(np.diff(kept)) <= 1
    assert evenly(3).tolist() == [0, 1, 2]
