"""Exported C of a flexible mechanism's model against Python, deformed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple

EXAMPLES = Path(__file__).parents[2] / "examples"
RTOL = 1e-12  # sums of some hundred products in another order

# Three boxes are too few for a model to be used, and enough to be written in C.
pytestmark = pytest.mark.filterwarnings("ignore:the model is unusable")


@pytest.fixture(scope="module", params=["ralf", "four-bar, structured", "four-bar, Lagrange"])
def model(request) -> supple.ReducedModel:
    if request.param == "ralf":
        ralf = supple.load(EXAMPLES / "ralf" / "mechanism.yaml")
        return supple.reduce(
            ralf.replace(sensors={"tip": ralf.sensors["tip"]}), checks=200, internal_modes=2, boxes=(2, 1)
        )
    bars = supple.load(EXAMPLES / "flexible-four-bar" / "mechanism.yaml").replace(gravity=(0.0, 0.0, -9.81))
    options = {"fit": "lagrange", "boxes": 24} if "Lagrange" in request.param else {"boxes": 3, "degree": 6}
    return supple.reduce(
        bars, region={"crank": (-1.0, 0.5)}, constraint_modes=["E.z"], checks=200, internal_modes=3, **options
    )


def states(model, count=60):
    rng = np.random.default_rng(5)
    lower, upper = model.fitted.arrays.roots_f[0]
    n, s = model.layout.size, model.layout.theta
    for theta in rng.uniform(lower, upper, (count, s)):
        delta = rng.uniform(-0.002, 0.002, n - s)  # M, linear in δ, is positive definite this far
        yield theta, delta, *rng.uniform(-1.0, 1.0, (2, n)), rng.uniform(-5.0, 5.0, len(model.layout.inputs))


def close(found, expected):
    assert_allclose(found, expected, rtol=RTOL, atol=RTOL * np.abs(expected).max(initial=1e-300))


def test_inverse_and_forward_dynamics(model, built):
    code, n = built(model), model.layout.size
    for theta, delta, rates, accelerations, inputs in states(model):
        eta = np.concatenate([theta, delta])
        flag, found = code.call("inverse", eta, rates, accelerations, width=n)
        assert flag == 0
        close(found, model.inverse(theta, rates, accelerations, delta=delta))
        flag, found = code.call("forward", eta, rates, inputs, width=n)
        assert flag == 0
        expected = model.forward(theta, rates, inputs, delta=delta)
        # The solution of M x = f errs by the condition of M, which the two factorizations share.
        condition = np.linalg.cond(model.evaluate(theta, delta=delta).M)
        assert_allclose(found, expected, rtol=0, atol=(RTOL + 4e-16 * condition) * np.abs(expected).max())


def test_deformation_changes_the_forces(model):
    """What is compared above depends on δ, through K, ∂p_δ/∂θ and ∂K/∂θ, and by default through M and Γ."""
    theta, delta, *_ = next(states(model))
    s = model.layout.theta
    plain, bent, more = (model.inverse(theta, delta=scale * delta) for scale in (0.0, 1.0, 2.0))
    assert np.abs(bent - plain)[s:].min() > 0.0
    assert np.abs(bent - plain)[:s].max() > 0.0
    assert np.abs(more - 2.0 * bent + plain)[:s].max() > 0.0  # -½ δᵀ ∂K/∂θ δ is quadratic
    there, here = (model.evaluate(theta, delta=scale * delta) for scale in (1.0, 0.0))
    by_default = model.layout.christoffel == "from-mass"
    for name in ("M", "christoffel"):
        assert (np.abs(getattr(there, name) - getattr(here, name)).max() > 0.0) == by_default


def test_coefficients(model, built):
    """Members in the order of the header, by their names there."""
    code, s = built(model), model.layout.theta
    n = model.layout.size
    for theta, delta, *_ in states(model, 20):
        c = model.evaluate(theta, delta=delta)
        gradient = np.zeros((s, n, n))
        gradient[:, s:, s:] = c.stiffness_slope
        known = {*model.layout.columns, *model.layout.constants}
        slopes = [("mass_slope", c.row.part(c.rows, name)) for name in ("mass_gradient", "mass_slope")]
        parts = [("M", c.M), ("christoffel", c.christoffel), *slopes, ("damping", c.damping), ("K", c.K),
                 ("potential", c.potential), ("force", c.force), ("force", c.force_slope.T), ("K", gradient),
                 ("input_map", c.input_map), ("outputs", [item.value for item in c.outputs.values()]),
                 ("output_modes", [item.modes for item in c.outputs.values()])]  # fmt: skip
        parts = [(name, np.ravel(value)) for name, value in parts if name in known]
        flag, found = code.call("coefficients", [*theta, *delta], width=sum(len(value) for _, value in parts))
        assert flag == 0
        at = 0
        for name, value in parts:
            assert_allclose(
                found[at : at + len(value)], value, rtol=RTOL, atol=RTOL * np.abs(value).max(initial=1e-300),
                err_msg=name,
            )  # fmt: skip
            at += len(value)


def test_outputs_follow_the_deformation(model, built):
    code = built(model)
    for theta, delta, *_ in states(model, 20):
        eta = np.concatenate([theta, delta])
        flag, found = code.call("outputs", eta, width=len(model.layout.outputs))
        assert flag == 0
        close(found, model.observe(eta[None], np.zeros((1, len(eta))))[0][0])
