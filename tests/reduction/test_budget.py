"""Reductions end: within a budget that is stated before, and early where the tolerance is out of reach."""

from __future__ import annotations

import re

import numpy as np
import pytest

import supple
from supple.approximation.refinement.problem import Outlook
from supple.diagnostics import NumericalError
from supple.kinematics.rest import rest
from supple.reduction.reduce import expected_cost

RRR = """
supple: 1
name: three-rrr
plane: xy
gravity: [0, 0]
bodies:
  platform: {mass: 1.4, center: [0, 0], inertia: 4e-3}
copies:
  legs:
    count: 3
    points: {A: [0.5, 0], B: [0.35, 0.28], P: [0.12, -0.08]}
    bodies:
      crank: {rod: [A, B], mass: 0.5}
      link: {rod: [B, P], mass: 0.35}
    joints:
      A: {revolute: [ground, crank], motor: {inertia: 3e-5, gear: 40}}
      B: {revolute: [crank, link]}
      P: {revolute: [link, platform]}
    actuators: {motor: {joint: A}}
sensors: {tool: {position: platform}, turn: {angle: [ground, platform]}}
"""
BLADE = """
supple: 1
name: blade
gravity: [0, 0, 0]
points: {O: [0, 0, 0], A: [0.3, 0, 0], B: [1.8, 0, 0]}
materials: {al: {youngs_modulus: 70 GPa, poisson: 0.33, density: 2700}}
sections: {s: {rectangle: [40 mm, 10 mm]}}
bodies:
  hub: {rod: [O, A], mass: 1}
  blade: {beam: [A, B], section: s, material: al, elements: 16, up: z}
point_masses: {tip: {at: blade.B, mass: 0.3}}
joints:
  O: {revolute: [ground, hub], axis: z}
  A: {weld: [hub, blade]}
actuators: {spin: {joint: O, limits: [-1, 1]}}
"""


@pytest.fixture(scope="module")
def rrr():
    return supple.loads(RRR)


def around(mechanism, reach):
    position = rest(mechanism)
    return {
        name: (at - reach, at + reach) for name, at in zip(position.numbering.coordinates, position.theta, strict=True)
    }


@pytest.mark.slow
@pytest.mark.parametrize("reach", [0.55, 0.9])
def test_a_region_with_singular_positions_is_refused_before_it_is_sampled(rrr, reach, monkeypatch):
    monkeypatch.setattr("supple.reduction.sampling.sampled_rows", lambda *_: pytest.fail("sampled"))
    with pytest.raises(
        NumericalError, match=r"cannot be assembled, or locks, in .* % of the region, first at"
    ) as caught:
        supple.reduce(rrr, region=around(rrr, reach), tolerance=2e-3)
    assert "more than the budget of 20000" in str(caught.value)
    monkeypatch.undo()
    pairs = re.findall(r"(\w+)=([\d.]+)rad:([\d.]+)rad", str(caught.value))
    region = {name: (float(low), float(high)) for name, low, high in pairs}
    assert list(region) == list(rest(rrr).numbering.coordinates)
    points = np.random.default_rng(0).uniform(*np.array(list(region.values())).T, (2000, 3))
    assert supple.assemble(rrr, points, failures="mark").assembled.all()
    assert supple.reduce(rrr, region=region, tolerance=0.3, checks=200).met  # what is advised can be done


def test_a_dry_run_states_the_budget_and_what_stands_in_the_way(rrr):
    found = expected_cost(rrr, region=around(rrr, 0.9), tolerance=2e-3, budget=5000)
    assert found.budget == 5000
    assert found.longest > 0.0
    assert found.most is None
    assert "more than the budget of 5000" in found.doubt


@pytest.mark.slow
def test_refinement_that_gains_nothing_ends_early_and_says_where(rrr):
    with pytest.warns(supple.SuppleWarning) as caught:
        model = supple.reduce(rrr, region=around(rrr, 0.5), tolerance=2e-3, budget=1_000_000, checks=300)
    texts = [str(item.message) for item in caught]
    assert any("no longer reduces the error near (" in text for text in texts)
    assert model.provenance["samples"] + model.provenance["held_out"] < 10_000
    assert not model.met


@pytest.mark.slow
def test_rounding_in_coefficients_is_not_refined():
    """Γ of a spinning blade vanishes but for rounding, which sixteen elements may leave."""
    model = supple.reduce(supple.loads(BLADE), internal_modes=2, stiffening=True, checks=30)
    assert model.met
    assert model.provenance["boxes"] == 1
    assert model.provenance["samples"] < 100
    for name, item in model.provenance["error"].items():
        if name.startswith("Γ"):  # where rounding is seen at all
            assert item["floor"] > item["median_norm"]


def test_the_outlook_extrapolates_the_fall_of_the_error():
    falling, flat, steady = Outlook(), Outlook(), Outlook()
    for evaluations in (500, 700, 1000, 1500, 2000, 3000):
        falling.add(evaluations, 1e6 * evaluations**-3.0)
        flat.add(evaluations, 100.0)
        steady.add(evaluations, 1e2 * evaluations**-1.0)
    assert falling.predict_evaluations(1e-6) == pytest.approx(1e4, rel=1.0)  # it looks at the larger of two rounds
    assert not falling.hopeless(1e-6, 20_000)
    assert flat.predict_evaluations(1e-3) == np.inf
    assert flat.hopeless(1e-3, 20_000)
    assert steady.predict_evaluations(1e-4) == pytest.approx(1e6, rel=1.5)
    assert steady.hopeless(1e-4, 20_000)
    assert not steady.hopeless(1e-2, 20_000)


def test_a_budget_is_kept(four_bar):
    with pytest.warns(supple.SuppleWarning, match="the budget is 60"):
        model = supple.reduce(four_bar, tolerance=1e-6, budget=60, checks=100)
    assert model.provenance["samples"] + model.provenance["held_out"] <= 60 + 15  # what shows rounding in samples
    assert model.provenance["options"]["budget"] == 60
