"""What a scenario asks of a reduced model beside inputs: damping, a deflection that is let go."""

import numpy as np
import pytest
from flexible_arm import five_bar, model
from numpy.testing import assert_allclose

import supple
from supple.description.scenario import Scenario
from supple.reduced.damped import add_damping, first_frequency
from supple.reduced.time.scenario_run import loaded_deflection

THETA = np.array([2.05, 1.12])


def test_damping_in_proportion_is_added_exactly():
    """D_δδ + α M_δδ + β K_δδ at any θ, and nothing else changes."""
    before, after = model().evaluate(THETA), add_damping(model(), 0.3, 2e-4).evaluate(THETA)
    s = model().layout.theta
    expected = before.damping.copy()
    expected[s:, s:] += 0.3 * before.M[s:, s:] + 2e-4 * before.K[s:, s:]
    assert_allclose(after.damping, expected, atol=1e-12 * np.abs(expected).max())
    for name in ("M", "K", "christoffel", "force", "input_map"):
        assert_allclose(getattr(after, name), getattr(before, name), rtol=1e-13)


def test_a_ratio_is_that_of_the_first_mode():
    f = first_frequency(model(), THETA)
    assert f == pytest.approx(supple.modes(five_bar(), THETA, count=1).frequencies_hz[0], rel=5e-3)
    s = model().layout.theta
    here = add_damping(model(), 0.0, 0.01 / (np.pi * f)).evaluate(THETA)
    before = model().evaluate(THETA)
    squares, shapes = np.linalg.eig(np.linalg.solve(here.M[s:, s:], here.K[s:, s:]))
    first = shapes[:, np.argmin(squares)]
    added = first @ (here.damping - before.damping)[s:, s:] @ first
    omega = np.sqrt(squares.min())
    assert added / (2.0 * omega * (first @ here.M[s:, s:] @ first)) == pytest.approx(0.01, rel=1e-9)


def test_a_deflection_is_at_rest_under_its_load():
    load = {"tool.z": -20.0}
    eta = loaded_deflection(model(), dict(zip(model().layout.coordinates, THETA, strict=False)), load)
    s = model().layout.theta
    needed = model().inverse(eta[:s], delta=eta[s:])[s:]
    outputs = list(model().layout.outputs)
    here = model().evaluate(THETA)
    row = here.row.part(here.rows, "modes").reshape(len(outputs), -1)[outputs.index("tool.z")]
    assert_allclose(needed, -20.0 * row, atol=1e-9 * np.abs(row).max())


def test_a_scenario_in_a_file_moves_a_model(tmp_path):
    asked = Scenario(start={"A": 2.05, "E": 1.12}, deflection={"tool.z": -20.0}, damping={"ratio": 0.05}, until=0.05)
    run = supple.simulate(model(), asked)
    file = tmp_path / "pluck.yaml"
    file.write_text("{start: {A: 2.05, E: 1.12}, deflection: {tool.z: -20 N}, damping: {ratio: 0.05}, until: 50 ms}")
    assert_allclose(supple.simulate(model(), file).outputs["tool.z"], run.outputs["tool.z"], rtol=1e-12)
    undamped = supple.simulate(model(), asked.model_copy(update={"damping": None}))
    assert run.energy["total"][-1] < undamped.energy["total"][-1]
