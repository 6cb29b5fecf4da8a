"""The reductions of the paper, its counts and errors; and the same errors from fewer samples.

Sources: Brüls 2004 (docs/notation.md). Errors are measured as ‖f - f̂‖ over the larger of ‖f‖ and its median.
"""

from __future__ import annotations

import numpy as np
import pytest

import supple
from supple.comparison.comparison import families
from supple.reduction.exact_coefficients import scatter_in_boxes


def point_errors(mechanism, model, theta):
    """The error of each family at each θ."""
    exact, found = families(supple.local(mechanism, theta)), families(model.evaluate(theta))
    typical = families(supple.local(mechanism, scatter_in_boxes(model, 2000, seed=11)))
    return {
        name: np.linalg.norm(found[name] - family, axis=1)
        / np.maximum(np.linalg.norm(family, axis=1), np.median(np.linalg.norm(typical[name], axis=1)))
        for name, family in exact.items()
        if np.any(family)
    }


def errors(mechanism, model, theta):
    """The largest of them."""
    return {name: float(error.max()) for name, error in point_errors(mechanism, model, theta).items()}


def evaluations(model) -> int:
    return model.provenance["samples"] + model.provenance["held_out"]


@pytest.mark.filterwarnings("ignore:the model is unusable")  # Γ on equal boxes, near the dead points
def test_four_bar_on_sixteen_boxes(four_bar):
    model = supple.reduce(four_bar, region={"crank": (-1.75, 1.75)}, fit="quadratic", boxes=16)
    assert (model.provenance["samples"], model.provenance["boxes"]) == (33, 16)
    found = errors(four_bar, model, np.linspace(-1.2, 1.2, 2001)[:, None])
    assert found["M"] < 0.01  # "below 1 % where smooth"
    assert found["force"] < 0.01
    assert found["christoffel"] < 0.04  # 3.0 % computed independently
    assert model.provenance["operations"] == 18
    assert model.error["christoffel"] > 0.1  # and it says itself how bad it is near the dead points


@pytest.mark.slow
def test_four_bar_adaptively(four_bar):
    model = supple.reduce(four_bar, tolerance=1e-2)
    found = errors(four_bar, model, scatter_in_boxes(model, 5000, seed=7))
    assert max(found.values()) < 0.011  # the median of the region is itself known to the tolerance only
    assert model.provenance["boxes"] < 16


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:the model is unusable")  # Γ on equal boxes, near the dead points
def test_four_bar_with_fewer_boxes_than_a_grid(four_bar):
    """Quadratics to 1e-3: boxes are small near the dead points alone; equal ones are small everywhere."""
    model = supple.reduce(four_bar, fit="quadratic", tolerance=1e-3)
    assert max(model.error.values()) <= 1e-3
    count = 16
    while max(supple.reduce(four_bar, fit="quadratic", boxes=count).error.values()) > 1e-3:
        count *= 2
    print(f"four-bar to 0.1 %: {model.provenance['boxes']} quadratic boxes, {count} equal ones")
    assert 4 * model.provenance["boxes"] < count
    assert supple.reduce(four_bar, tolerance=1e-3).provenance["boxes"] < model.provenance["boxes"] / 5


@pytest.mark.slow
def test_orthoglide_on_five_hundred_boxes(orthoglide):
    model = supple.reduce(orthoglide, fit="quadratic", boxes=(8, 8, 8))
    assert (model.provenance["samples"], model.provenance["boxes"]) == (2969, 512)
    found = errors(orthoglide, model, scatter_in_boxes(model, 2000, seed=7))
    assert max(found.values()) <= 0.005
    assert found["M"] < 0.001  # 0.042 % computed independently, along the diagonal
    assert model.provenance["operations"] == 504
    diagonal = np.linspace(-0.26, 0.06, 500)[:, None].repeat(3, axis=1)
    assert max(errors(orthoglide, model, diagonal).values()) <= 0.005


@pytest.mark.slow
@pytest.mark.parametrize(("tolerance", "most"), [(5e-3, 200), (1e-4, 1000)])
def test_orthoglide_from_fewer_samples(orthoglide, tolerance, most):
    model = supple.reduce(orthoglide, tolerance=tolerance)
    assert evaluations(model) <= most
    found = errors(orthoglide, model, scatter_in_boxes(model, 2000, seed=7))
    assert max(found.values()) <= 1.1 * tolerance


@pytest.mark.slow
@pytest.mark.parametrize(("name", "tolerance"), [("four_bar", 1e-3), ("orthoglide", 5e-3), ("stewart", 1e-2)])
def test_the_stated_error_is_true(name, tolerance, request):
    mechanism = request.getfixturevalue(name)
    model = supple.reduce(mechanism, tolerance=tolerance)
    assert max(model.error.values()) <= tolerance
    for family, error in point_errors(mechanism, model, scatter_in_boxes(model, 10_000, seed=3)).items():
        # a constant is known to rounding, and what is stated of it is rounding too
        stated = max(model.error[family], 1e-12)
        assert (error > 1.1 * stated).mean() <= 1e-3, family


@pytest.mark.slow
def test_stewart_platform_to_one_percent(stewart):
    model = supple.reduce(stewart, tolerance=1e-2)
    assert evaluations(model) < 300  # corners of its region alone: 64
    assert model.provenance["boxes"] <= 4


def test_structured_models_conserve_energy(orthoglide):
    """Γ_ijk + Γ_jik = ∂M_ij/∂θ_k and p = -∂V/∂θ hold exactly, not to the tolerance."""
    model = supple.reduce(orthoglide, tolerance=1e-2)
    theta, step = np.array([-0.1, 0.02, -0.2]), 1e-5
    at = model.evaluate(theta)
    for k in range(3):
        ahead, behind = (model.evaluate(theta + sign * step * np.eye(3)[k]) for sign in (1, -1))
        slope = (ahead.M - behind.M) / (2 * step)
        np.testing.assert_allclose((at.christoffel + at.christoffel.swapaxes(0, 1))[:, :, k], slope, atol=1e-7)
        np.testing.assert_allclose(at.force[k], -(ahead.potential - behind.potential) / (2 * step), rtol=1e-7)


def test_dead_points_are_cut_out_of_the_region(four_bar):
    four_bar = four_bar.replace(actuators={"crank": {"joint": "A"}})  # its limits keep away from them
    model = supple.reduce(four_bar, region={"crank": (-2.2, 2.2)}, tolerance=1e-2)
    assert model.provenance["dropped"] > 0
    leaves = model.fitted.leaves
    assert min(box.lower[0] for box in leaves) > -1.8055  # the dead points, by the cosine rule ±1.8046
    assert max(box.upper[0] for box in leaves) < 1.8055
    found = errors(four_bar, model, np.linspace(-1.7, 1.7, 500)[:, None])
    assert max(found.values()) < 0.011
    with pytest.raises(supple.InputError, match="outside"):
        model.evaluate([2.0])
