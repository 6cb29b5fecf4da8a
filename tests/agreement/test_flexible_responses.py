"""Reduced flexible models against the full elastic model: responses, static deflection, and at rest."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import eigh

import supple

EXAMPLES = Path(__file__).parents[2] / "examples"
LED, TIP = ["lift.acceleration", "elbow.acceleration"], ["tip.x", "tip.z"]


@pytest.fixture(scope="module")
def ralf() -> supple.Mechanism:
    """Its cylinders as forces, and the tip alone: what is asked here is not about drives."""
    ralf = supple.load(EXAMPLES / "ralf" / "mechanism.yaml")
    forces = {name: item.model_copy(update={"drive": None}) for name, item in ralf.actuators.items()}
    return ralf.replace(actuators=forces, sensors={"tip": ralf.sensors["tip"]})


@pytest.fixture(scope="module")
def reduced(ralf) -> supple.ReducedModel:
    return supple.reduce(ralf, checks=200, internal_modes=2, tolerance=1e-4)


def resonances(lines, response, natural):
    """Peaks of every channel at a natural frequency, between lines by a parabola through three of them."""
    found = []
    for channel in np.abs(response.reshape(len(lines), -1)).T:
        inner = np.flatnonzero((channel[1:-1] > channel[:-2]) & (channel[1:-1] >= channel[2:])) + 1
        inner = inner[np.abs(lines[inner, None] / natural - 1.0).min(axis=1) < 0.02]
        a, b, c = (np.log(channel[inner + i]) for i in (-1, 0, 1))
        found.append(lines[inner] + 0.5 * (a - c) / (a - 2.0 * b + c) * (lines[1] - lines[0]))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_from_each_cylinder_to_the_tip(ralf, reduced, seed):
    """Modal damping 1 %, up to 15 Hz: resonances within 0.1 %, every channel within 2 % of its peak."""
    limits = np.array([ralf.actuator(name).limits for name in ("lift", "elbow")])
    theta = np.random.default_rng(seed).uniform(*limits.T)
    lines = np.linspace(0.05, 15.0, 1500)
    ours = reduced.frf(theta, LED, TIP, lines, kind="accelerance")
    full = supple.frf(ralf, theta, LED, TIP, lines, kind="accelerance")
    assert ours.outputs == full.outputs
    off = np.abs(ours.values - full.values).max(axis=0) / np.abs(full.values).max(axis=0)
    assert off.max() < 0.02
    assert off.max() < 5e-4  # what the tolerance of the fit, and the static part of the modes left out, explain
    natural = supple.modes(ralf, theta, count=2).frequencies_hz
    seen = [resonances(lines, item.values, natural) for item in (ours, full)]
    assert sum(len(found) for found in seen[1]) >= 4
    for left, right in zip(*seen, strict=True):
        assert_allclose(left, right, rtol=1e-3)
    c = reduced.evaluate(theta)
    hz = np.sqrt(eigh(c.K[2:, 2:], c.M[2:, 2:], eigvals_only=True)) / (2.0 * np.pi)
    assert_allclose(hz, natural, rtol=2e-4)
    assert_allclose(c.internal_hz, hz, rtol=1e-6)
    assert np.abs(supple.modes(ralf, theta, count=2, preload=False).frequencies_hz / natural - 1.0).max() > 2e-4


def test_kinds_of_response_are_derivatives_of_each_other(reduced):
    lines = np.array([2.0, 7.0])
    rate = 2j * np.pi * lines
    for inlet in ("lift.acceleration", "tip.z"):
        y, v, a = (reduced.frf([1.1, 0.9], inlet, "tip.x", lines, kind=kind)["tip.x", inlet]
                   for kind in ("receptance", "mobility", "accelerance"))  # fmt: skip
        assert_allclose(v, rate * y, rtol=1e-12)
        assert_allclose(a, rate**2 * y, rtol=1e-12)


def test_responses_are_reciprocal_and_follow_the_linear_model(reduced):
    """A force at the tip with free cylinders; the linear model about the undeformed state has the same response."""
    free = reduced.frf([1.1, 0.9], TIP, TIP, [3.0, 12.0], free_actuators=True).values
    assert_allclose(free, free.transpose(0, 2, 1), rtol=1e-6)
    theta = [1.1, 0.9]
    plain = reduced.frf(theta, ["lift", "elbow"], TIP, [3.0, 12.0], free_actuators=True, preload=False).values
    c = reduced.evaluate(theta)
    rows = np.array([[*c.outputs[name].rigid, *c.outputs[name].modes] for name in TIP])
    for line, omega in enumerate(2.0 * np.pi * np.array([3.0, 12.0])):
        expected = rows @ np.linalg.solve(c.K + 1j * omega * c.damping - omega**2 * c.M, c.input_map)
        assert_allclose(plain[line], expected, rtol=1e-9)


@pytest.mark.parametrize(
    ("inlet", "outlet", "lines", "words"),
    [
        ("lift", "tip.x", [1.0], "locked"),
        ("lft.acceleration", "tip.x", [1.0], 'unknown coordinate "lft"'),
        ("tip.z", "tip.y", [1.0], "unknown output"),
        ("nose", "tip.x", [1.0], "unknown input"),
        ("tip.z", "tip.x", [-1.0], "frequencies_hz: -1 Hz .*0 or more"),
        ("lift.acceleration", "tip.x", [0.0], "at 0 Hz .*begin above 0 Hz, or use kind accelerance"),
    ],
)
def test_wrong_questions_are_named(reduced, inlet, outlet, lines, words):
    with pytest.raises(supple.InputError, match=words):
        reduced.frf([1.1, 0.9], inlet, outlet, lines)


def test_static_deflection(ralf, reduced):
    """Under gravity, cylinders locked: as the compliance says that the two modes leave out."""
    left_out = reduced.provenance["truncation"]["compliance"]
    for theta in ([1.15, 1.0], [0.9, 0.8], [1.25, 1.1]):
        rested = reduced.linearize(theta).at["states"]
        delta = [rested["mode1"], rested["mode2"]]
        exact = supple.deflection(ralf, theta)
        size = np.hypot(*(exact.of(name) for name in TIP))
        for name in TIP:
            found = reduced.evaluate(theta).outputs[name].modes @ delta
            assert abs(found - exact.of(name)) < 2.0 * max(left_out.values()) * size


def test_linearization_about_a_deflected_rest_is_symmetric(reduced):
    model = reduced.linearize([1.15, 1.0])
    n = reduced.layout.size
    assert abs(model.at["states"]["mode1"]) > 0.02  # it is deflected
    delta = [model.at["states"][name] for name in reduced.layout.coordinates[2:]]
    M = reduced.evaluate([1.15, 1.0], delta=delta).M
    stiffness = -M @ model.A[n:, :n]
    assert_allclose(stiffness, stiffness.T, atol=1e-10 * np.abs(stiffness).max())
    assert_allclose([*model.at["accelerations"].values()], 0.0, atol=1e-9)


def test_rest_under_the_forces_that_hold_it(reduced):
    """The search finds the deflected rest from nearby, and a run that starts there stays."""
    held = reduced.linearize([1.15, 1.0]).at
    eta = reduced.equilibrium([1.14, 1.01], held["inputs"])
    assert_allclose(eta, [held["states"][name] for name in reduced.layout.coordinates], atol=1e-9)
    run = reduced.simulate(np.linspace(0.0, 1.0, 101), held["inputs"], eta, step=1e-3)
    assert run.complete
    assert run.steps == 1000  # implicit, as elastic coordinates ask for: explicit steps of 1 ms would not do
    for name in reduced.layout.coordinates:
        assert np.ptp(run.coordinates[name]) < 1e-9


def test_no_rest_is_said_so(reduced):
    with pytest.raises((supple.InputError, supple.NumericalError), match=r"equilibrium|outside"):
        reduced.equilibrium([1.1, 0.9])  # without forces the arm falls
