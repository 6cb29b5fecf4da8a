"""A coordinate that is held leaves the model; the others move as they do with it locked."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple.diagnostics import SuppleNote
from supple.reduced.file import load_model

RALF = Path(__file__).parents[2] / "examples" / "ralf" / "mechanism.yaml"
AT = -0.05  # m


@pytest.fixture(scope="module")
def model(orthoglide):
    return supple.reduce(orthoglide, region={"y": AT}, tolerance=1e-6, progress=False)


def test_the_model_has_the_other_coordinates_and_says_what_is_held(model, tmp_path):
    assert model.layout.coordinates == ("x", "z")
    assert model.layout.inputs == ("x", "z")  # whoever holds y does no work
    assert model.held_coordinates == {"y": AT}
    assert set(model.layout.limits) == {"x", "z"}
    assert load_model(model.save(tmp_path / "held.rom")).held_coordinates == {"y": AT}


def test_its_coefficients_are_those_of_the_mechanism_with_the_coordinate_locked(orthoglide, model):
    """M_vv, Γ_vvv, p_v, B_v of the whole mechanism, to the stated error."""
    x = np.random.default_rng(3).uniform(-0.2, 0.05, (20, 2))
    theta = np.insert(x, 1, AT, axis=1)
    full, found = supple.local(orthoglide, theta), model.evaluate(x)
    v = np.array([0, 2])
    for name, index in {"M": (v, v), "christoffel": (v, v, v), "force": (v,), "input_map": (v, v)}.items():
        exact = getattr(full, name)[(slice(None), *np.ix_(*index))]
        assert_allclose(getattr(found, name), exact, atol=2e-6 * np.abs(exact).max())
    for name, output in found.outputs.items():
        assert_allclose(output.value, full.outputs[name].value, atol=1e-6)
        assert_allclose(output.rigid, full.outputs[name].rigid[:, v], atol=1e-4)  # slopes lose a degree


def motion(y: float) -> supple.Motion:
    way = {"x": {"from": -0.1, "to": -0.15}, "y": {"from": AT, "to": y}, "z": {"from": -0.1, "to": -0.1}}
    return supple.Motion.model_validate({"coordinates": way, "duration": 1.0})


def test_it_compares_with_its_mechanism(orthoglide, model):
    found = supple.compare(orthoglide, model, points=50)
    assert max(found.error.values()) < 1.1e-6
    with pytest.raises(supple.InputError, match=r'"y" .* -0\.05'):
        supple.compare(orthoglide, model, scenario=motion(y=0.0))
    along = supple.compare(orthoglide, model, scenario=motion(y=AT))
    assert max(along.error.values()) < 1.1e-6
    assert along.force_error < 1e-5


@pytest.mark.slow
def test_flexible_mechanisms_hold_coordinates_too():
    ralf = supple.load(RALF)
    with pytest.warns(SuppleNote, match="drive of .* left out"):
        model = supple.reduce(ralf, region={"lift": 1.1, "elbow": (0.9, 1.0)}, internal_modes=2, tolerance=1e-3)
    assert model.layout.coordinates == ("elbow", "mode1", "mode2")
    theta = np.array([[1.1, 0.93], [1.1, 0.98]])
    full = supple.local(ralf, theta, internal_modes=2, tracking="subspace")
    found = model.evaluate(theta[:, 1:])
    for name in ("M", "K"):
        exact = getattr(full, name)[:, 1:, 1:]
        assert_allclose(getattr(found, name), exact, atol=2e-3 * np.abs(exact).max())
    assert_allclose(found.outputs["tip.x"].modes, full.outputs["tip.x"].modes, atol=2e-3)
    assert supple.compare(ralf, model, points=20).error["K_ιι"] < 2e-3
