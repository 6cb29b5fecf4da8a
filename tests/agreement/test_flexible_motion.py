"""Motions of reduced flexible models: energy is kept, second-order steps."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple

EXAMPLES = Path(__file__).parents[2] / "examples"
HOME, DEFORMED = np.array([1.1, 0.95]), np.array([0.02, 0.01])


@pytest.fixture(scope="module")
def floating() -> supple.ReducedModel:
    """Ralf without gravity and damping: what happens to its energy is the model's doing."""
    ralf = supple.load(EXAMPLES / "ralf" / "mechanism.yaml").replace(damping=None, gravity=None)
    return supple.reduce(ralf, checks=200, internal_modes=2, tolerance=1e-5)


@pytest.fixture(scope="module")
def beside() -> supple.ReducedModel:
    """The same with M(θ) beside a Γ(θ) of its own, as the papers have it."""
    ralf = supple.load(EXAMPLES / "ralf" / "mechanism.yaml").replace(damping=None, gravity=None)
    around = {name: (value - 0.1, value + 0.1) for name, value in zip(("lift", "elbow"), HOME, strict=True)}
    return supple.reduce(ralf, region=around, checks=200, internal_modes=2, fit="quadratic", tolerance=1e-3)


def drift(model, scale, rates):
    start = np.concatenate([HOME, scale * DEFORMED])
    run = model.simulate(np.linspace(0.0, 0.5, 501), None, start, rates=[*rates, 0.0, 0.0], tolerance=1e-11,
                         method="explicit", drives=False)  # fmt: skip
    assert run.complete
    total = run.energy["total"]
    return np.abs(total - total[0]).max(), run.energy["kinetic"].max()


@pytest.mark.slow
def test_rigid_motion_keeps_its_energy(floating):
    """Without deformation, but for what the motion itself excites, which is of second order in its rates."""
    off, kinetic = drift(floating, 0.0, [0.05, -0.03])
    assert off < 1e-7 * kinetic


def test_energy_of_a_vibration_on_a_motion_is_kept(floating):
    """M(θ, δ) and Γ are of one kinetic energy: what is left is the error of the steps."""
    off, kinetic = drift(floating, 1.0, [0.05, -0.03])
    assert off < 1e-7 * kinetic


@pytest.mark.slow
def test_the_papers_form_lets_it_drift_with_the_square_of_the_deformation(beside):
    """M is taken at δ = 0 and Γ knows ∂M/∂δ: Ė = -½ ∂M_ij/∂δ_a δ̇_a η̇_i η̇_j, and its mean is of second order."""
    found = [drift(beside, scale, [0.05, -0.03])[0] for scale in (1 / 4, 1 / 8)]
    assert_allclose(np.log2(np.divide(found[:-1], found[1:])), 2.0, atol=0.1)


def test_the_rate_of_energy_is_zero_or_the_term_that_is_left_out(floating, beside):
    rng = np.random.default_rng(4)
    for _ in range(20):
        home = HOME + rng.uniform(-0.05, 0.05, 2)  # away from the faces of boxes, where quadratics jump
        eta, v = np.concatenate([home, rng.normal(0.0, 0.01, 2)]), rng.normal(0.0, [0.1, 0.1, 1.0, 1.0])
        for model in (floating, beside):
            c = model.evaluate(eta[:2], delta=eta[2:])
            a = model.forward(eta[:2], v, delta=eta[2:])
            step = 1e-7  # accelerations change within microseconds
            there, back = eta + step * v + 0.5 * step**2 * a, eta - step * v + 0.5 * step**2 * a
            energies = [
                sum(model.energy(x[:2], w, delta=x[2:])) for x, w in ((there, v + step * a), (back, v - step * a))
            ]
            rate = (energies[0] - energies[1]) / (2.0 * step)
            left_out = 0.0 if c.bent else -0.5 * np.einsum("ija,a,i,j->", c.dM[:, :, 2:], v[2:], v, v)
            largest = np.einsum("ija,a,i,j->", np.abs(c.dM), *np.abs([v, v, v]))  # of what cancels in it
            # Of the papers' form M and Γ are fitted to 1e-2, each by itself.
            assert_allclose(rate, left_out, atol=(1e-5 if c.bent else 2e-2) * largest)


def test_implicit_steps_are_of_second_order(floating):
    """Free cylinders leave modes of 37 and 53 Hz: from thirty steps a period on, half the step has a quarter of the
    error."""
    start = np.concatenate([HOME, DEFORMED])
    times = np.linspace(0.0, 0.2, 21)

    def ended(step):
        run = floating.simulate(times, None, start, rates=[0.05, -0.03, 0.0, 0.0], step=step, drives=False)
        return np.stack([run.coordinates[name] for name in floating.layout.coordinates])

    runs = [ended(step) for step in (5e-4, 2.5e-4, 1.25e-4, 6.25e-5)]
    apart = [np.abs(b - a).max() for a, b in pairwise(runs)]
    order = np.log2(np.divide(apart[:-1], apart[1:]))
    assert_allclose(order, 2.0, atol=0.1)
    exact = floating.simulate(
        times, None, start, rates=[0.05, -0.03, 0.0, 0.0], tolerance=1e-11, method="explicit", drives=False
    )
    for i, name in enumerate(floating.layout.coordinates):
        assert np.abs(exact.coordinates[name] - runs[-1][i]).max() < apart[-1]


@pytest.mark.slow
def test_a_force_at_a_loaded_displacement_is_an_input():
    """A constant force at E deforms the four-bar by its compliance, with the crank held by its torque."""
    text = (EXAMPLES / "flexible-four-bar" / "mechanism.yaml").read_text("utf-8")
    bars = supple.loads(text.replace("rest: {crank: 0}", "damping: {modal: 0.5}\nrest: {crank: 0}"))
    model = supple.reduce(bars, region={"crank": (-0.3, 0.3)}, constraint_modes=["E.z"], checks=200, internal_modes=2,
                          tolerance=1e-4)  # fmt: skip
    c = model.evaluate([0.0])
    assert model.layout.inputs == ("crank", "E.z")
    assert_allclose(c.input_map[:, 1], [c.outputs["E.z"].rigid[0], 1.0, 0.0, 0.0], atol=1e-6)
    push = 2.0
    hold = -c.outputs["E.z"].rigid[0] * push
    run = model.simulate(np.linspace(0.0, 0.4, 41), {"E.z": push, "crank": hold}, [0.0], step=1e-3)
    assert run.complete
    assert_allclose(run.coordinates["E.z"][-1], push / c.K[1, 1], rtol=2e-2)
    assert_allclose(push / c.K[1, 1], push * supple.compliance(bars, [0.0], "E.z").values[0, 0], rtol=1e-5)


@pytest.mark.slow
def test_an_undamped_vibration_drives_the_motion_as_in_the_full_model():
    """A torque at the crank makes it vibrate, and the vibration changes the inertia that the torque moves. The mean
    acceleration is that of the full model, of large rotations; with M at δ = 0 it is 1 % off. (The vibration itself
    takes more modes.)"""
    bars = supple.load(EXAMPLES / "flexible-four-bar" / "mechanism.yaml").replace(damping=None)
    options = {"region": {"crank": (-0.1, 0.35)}, "constraint_modes": ["E.z"], "internal_modes": 4, "tolerance": 1e-3}
    model, papers = (supple.reduce(bars, fit=fit, **options) for fit in ("auto", "lagrange"))
    times, torque = np.linspace(0.0, 0.8, 401), {"crank": 0.1}

    def mean_acceleration(run):
        return 2.0 * np.sum(run.coordinates["crank"] * times**2) / np.sum(times**4)

    full = supple.simulate(bars, times, torque, {"crank": 0.0}, step=1e-3, spectral_radius=1.0)
    assert full.rigid == ()
    expected = mean_acceleration(full)
    runs = [item.simulate(times, torque, [0.0], step=2e-4, spectral_radius=1.0) for item in (model, papers)]
    assert_allclose(mean_acceleration(runs[0]), expected, rtol=1e-4)
    assert abs(mean_acceleration(runs[1]) / expected - 1.0) > 5e-3
    assert runs[0].energy_defect < 1e-4
