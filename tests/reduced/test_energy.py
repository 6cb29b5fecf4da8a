"""The reduced model keeps its energy: M(θ, δ) and Γ(θ, δ) belong to one kinetic energy, p and K to one potential."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import supple
from supple.files.seal import seal
from supple.reduced.file import load_model
from supple.time_functions.function_of_time import Trajectory

EXAMPLES = Path(__file__).parents[2] / "examples"
TORQUE = 0.1
MODES = {"constraint_modes": ["E.z"], "internal_modes": 3}


@pytest.fixture(scope="module")
def bars():
    return supple.load(EXAMPLES / "flexible-four-bar" / "mechanism.yaml").replace(damping=None)


@pytest.fixture(scope="module")
def model(bars):
    return supple.reduce(bars, region={"crank": (-0.3, 0.6)}, tolerance=1e-3, checks=200, **MODES)


@pytest.fixture(scope="module")
def heavy(bars):
    """The same under gravity: it sags."""
    return supple.reduce(
        bars.replace(gravity=(0.0, 0.0, -9.81)), region={"crank": (-0.3, 0.6)}, tolerance=1e-3, checks=200, **MODES
    )


@pytest.fixture(scope="module")
def damped():
    bars = supple.load(EXAMPLES / "flexible-four-bar" / "mechanism.yaml")
    bars = bars.replace(damping={"modal": 0.02}, gravity=(0.0, 0.0, -0.2))
    return supple.reduce(bars, region={"crank": (-0.3, 0.6)}, tolerance=1e-3, checks=200, **MODES)


def deformed(count):
    """θ, δ and η̇ of the four-bar, deformed by millimetres."""
    rng = np.random.default_rng(2)
    for _ in range(count):
        yield rng.uniform(-0.25, 0.55, 1), rng.normal(0.0, [2e-3, 3e-4, 3e-4, 3e-4]), rng.normal(0.0, 1.0, 5)


@pytest.mark.slow
def test_energy_is_kept_over_a_second_without_damping(model):
    """Whatever the fit is off by: kinetic and potential energy grow by the work of the torque, but for the steps."""
    run = model.simulate(np.linspace(0.0, 1.0, 1001), {"crank": TORQUE}, [0.0], tolerance=1e-10, method="explicit")
    assert run.complete
    work = TORQUE * (run.coordinates["crank"] - run.coordinates["crank"][0])
    total = run.energy["total"]
    assert np.abs(total - total[0] - work).max() < 1e-6 * np.abs(work).max()
    assert_allclose(run.energy["actuators"], work, atol=1e-7 * np.abs(work).max())
    assert run.energy_defect < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("method", ["explicit", "implicit"])
def test_the_account_of_a_damped_run_balances(damped, method):
    """What the torque puts in is kinetic and potential energy, and what damping takes."""
    run = damped.simulate(np.linspace(0.0, 0.3, 301), {"crank": TORQUE}, [0.0], tolerance=1e-8, method=method)
    assert run.complete
    energy = run.energy
    assert energy["lost"][-1] > 1e-3 * energy["actuators"][-1] > 0.0
    assert (np.diff(energy["lost"]) >= 0.0).all()
    assert_allclose(energy["balance"], energy["total"] - energy["total"][0] - energy["actuators"] + energy["lost"],
                    atol=1e-15)  # fmt: skip
    assert np.abs(energy["balance"]).max() < (1e-6 if method == "explicit" else 1e-3) * energy["actuators"][-1]
    assert run.balanced


def test_the_account_of_a_led_run_balances(damped):
    """What leads the crank puts in what moves, is stored, and is lost."""
    t = np.linspace(0.0, 0.2, 101)
    wave = 2.0 * np.pi / 0.2
    angle = [0.1 * (1.0 - np.cos(wave * t)), 0.1 * wave * np.sin(wave * t), 0.1 * wave**2 * np.cos(wave * t)]
    run = damped.simulate(motion=Trajectory(("crank",), t, *(part[:, None] for part in angle)))
    energy = run.energy
    assert energy["lost"][-1] > 0.0
    assert np.abs(energy["balance"]).max() < 1e-6 * np.abs(energy["prescribed"]).max()


def test_without_one_energy_there_is_no_account(bars, flexible_direct):
    run = flexible_direct.simulate(np.linspace(0.0, 0.1, 5), None, [0.1, -0.2], step=1e-3)
    assert run.energy_defect is None
    assert run.balanced is None


def test_christoffel_symbols_are_the_gradient_of_the_mass_deformed(model):
    for theta, delta, _ in deformed(10):
        c = model.evaluate(theta, delta=delta)
        G = c.christoffel
        assert_allclose(G + G.transpose(1, 0, 2), c.dM, atol=1e-14 * np.abs(c.dM).max())
        step = 1e-6
        for k, e in enumerate(step * np.eye(5)):
            ahead, behind = (model.evaluate(theta + sign * e[:1], delta=delta + sign * e[1:]).M for sign in (1.0, -1.0))
            slope = (ahead - behind) / (2.0 * step)
            assert_allclose(c.dM[:, :, k], slope, atol=1e-7 * max(np.abs(slope).max(), np.abs(c.M).max()))


def test_the_mass_slope_is_that_of_the_mechanism(bars, model):
    for theta, delta, _ in deformed(5):
        exact = supple.local(bars, theta, **MODES, tracking="subspace")
        assert_allclose(np.abs(model.evaluate(theta).M), np.abs(exact.M), atol=2e-3 * np.abs(exact.M).max())
        found = model.evaluate(theta, delta=delta).M - model.evaluate(theta).M
        expected = exact.mass(delta) - exact.M
        assert_allclose(found, expected, atol=2e-3 * np.abs(expected).max())


def test_forces_are_those_of_the_coefficients_there(model):
    for theta, delta, rates in deformed(10):
        c = model.evaluate(theta, delta=delta)
        a = np.arange(5.0)
        tau = c.required_forces(rates, a, delta)
        assert_allclose(model.inverse(theta, rates, a, delta=delta), tau, atol=1e-12 * np.abs(tau).max())
        kinetic = model.energy(theta, rates, delta=delta)[0]
        assert_allclose(kinetic, 0.5 * rates @ c.M @ rates, rtol=1e-12)


@pytest.mark.slow
def test_stiffness_about_a_sag_is_symmetric(heavy):
    """-M A₂₁ with the M that `evaluate` gives at the sag, which is not that at δ = 0."""
    found = heavy.linearize([0.2])
    delta = np.array([found.at["states"][name] for name in heavy.layout.coordinates[1:]])
    assert np.abs(delta).max() > 1e-6
    here = heavy.evaluate([0.2], delta=delta).M
    stiffness = -here @ found.A[5:, :5]
    assert_allclose(stiffness, stiffness.T, atol=1e-10 * np.abs(stiffness).max())
    assert np.abs(here - heavy.evaluate([0.2]).M).max() > 1e-6 * np.abs(here).max()


def test_a_batch_is_its_single_states_bit_for_bit(model):
    states = list(deformed(7))
    theta, delta = (np.array([state[part] for state in states]) for part in (0, 1))
    batch = model.evaluate(theta, delta=delta)
    evaluator = model.kernel()
    row = evaluator.new_row()
    for n, point in enumerate(np.hstack([theta, delta])):
        one = model.evaluate(theta[n], delta=delta[n])
        assert evaluator(point, row) == 0
        assert_array_equal(batch.rows[n], one.rows)
        assert_array_equal(row[: evaluator.width], one.rows)
    by_name = model.evaluate(
        {"crank": theta[0, 0]}, delta=dict(zip(model.layout.coordinates[1:], delta[0], strict=True))
    )
    assert_array_equal(by_name.M, batch.M[0])
    assert_array_equal(model.evaluate(theta, delta=np.zeros(4)).M, model.evaluate(theta).M)


@pytest.mark.slow
def test_the_papers_fits_keep_the_papers_form(bars):
    """M(θ) beside a Γ of its own that knows ∂M/∂δ; energy drifts, and δ changes no coefficient."""
    papers = supple.reduce(bars, region={"crank": (0.0, 0.2)}, fit="quadratic", boxes=2, **MODES)
    assert not papers.layout.bent
    assert papers.layout.christoffel == "fitted"
    _, delta, _ = next(deformed(1))
    c = papers.evaluate([0.1], delta=delta)
    assert not c.bent
    assert_array_equal(c.M, papers.evaluate([0.1]).M)
    assert np.abs(c.christoffel[:, :, 1:]).max() > 0.0


def test_files_of_before_are_read_with_the_form_they_were_made_with(flexible_direct, tmp_path):
    """Up to version 2 a flexible model had Γ_θθθ of its mass, and the rest of Γ fitted."""
    path = flexible_direct.save(tmp_path / "before.rom")
    with h5py.File(path, "r+") as file:
        assert file.attrs["schema"] == 3
        file.attrs["schema"] = 2
    seal(path)
    again = load_model(path)
    assert not again.layout.bent
    theta, delta, v = [0.1, -0.2], [0.3, 0.01], np.arange(4.0)
    assert_array_equal(again.forward(theta, v, delta=delta), flexible_direct.forward(theta, v, delta=delta))
    assert_array_equal(again.evaluate(theta, delta=delta).M, flexible_direct.evaluate(theta).M)


def test_a_loop_with_a_controller_keeps_the_account(damped):
    """Works add up over the instants."""

    class Push:
        def step(self, t, measurement):
            return [TORQUE * np.cos(40.0 * t), 0.0]

    loop = supple.control.closed_loop(damped, Push(), until=0.1, sample_time=0.005, start=[0.1])
    energy = loop.energy
    assert energy["lost"][-1] > 0.0
    assert np.abs(energy["balance"]).max() < 1e-3 * np.abs(energy["actuators"]).max()
