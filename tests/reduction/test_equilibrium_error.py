"""The error at rest that a flexible model states against the full equations: an arm on one elastic gearbox, by hand."""

from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import brentq

import supple
from supple.reduced.layout import equilibrium_error_text

LENGTH, MASS, G = 0.5, 2.0, 9.81


def arm(stiffness, **more):
    return supple.Mechanism(
        name="arm", plane="xz", gravity=[0, -G], points={"O": [0, 0], "P": [LENGTH, 0]},
        bodies={"link": {"rod": ["O", "P"], "mass": 0}}, point_masses={"load": {"at": "P", "mass": MASS}},
        joints={"O": {"revolute": ["ground", "link"], "motor": {"inertia": 1e-4, "gear": 100},
                      "drive": {"stiffness": stiffness, "damping": 1.0}}},
        actuators={"q": {"joint": "O"}}, sensors={"tip": {"position": "P"}}, **more,
    )  # fmt: skip


def by_hand(theta, stiffness):
    """‖Δ̂ - Δ‖/‖Δ‖: the gearbox yields by φ, k φ = -m g L cos(θ + φ); in the model by φ̂, k φ̂ = -m g L cos θ."""
    moment = MASS * G * LENGTH
    phi = brentq(lambda angle: stiffness * angle + moment * np.cos(theta + angle), -1.0, 1.0, xtol=1e-15)
    linear = -moment * np.cos(theta) / stiffness * np.array([-np.sin(theta), np.cos(theta)])
    exact = np.array([np.cos(theta + phi) - np.cos(theta), np.sin(theta + phi) - np.sin(theta)])
    return np.linalg.norm(linear - exact) / np.linalg.norm(exact)


@pytest.mark.parametrize("stiffness", [500.0, 2000.0])
@pytest.mark.parametrize("theta", [-0.6, 0.4])
def test_the_error_of_a_deflection_is_that_of_leaving_out_its_second_order(theta, stiffness):
    region = {"q": (theta - 1e-7, theta + 1e-7)}
    model = supple.reduce(arm(stiffness), region=region, internal_modes=1, store=False, preload=False)
    stated = model.provenance["equilibria"]
    assert stated["points"] == 5
    assert stated["reason"] == ""
    assert stated["deflection"]["tip"] == pytest.approx(by_hand(theta, stiffness), rel=1e-4)
    assert stated["force"] < stated["deflection"]["tip"] ** 2  # p_θ follows δ, so that forces err by one order less
    words = equilibrium_error_text(stated)
    assert f"{stated['deflection']['tip']:.2g} of the static deflection at tip" in words
    assert "5 configurations" in words


def test_a_rigid_model_states_no_error_at_rest():
    model = supple.reduce(arm(500.0), region={"q": (-0.3, 0.3)}, rigid=True, store=False)
    assert "equilibria" not in model.provenance
    assert "geometric stiffness" not in str(model.text())


@pytest.mark.parametrize(("preload", "said"), [(True, "is in K"), (False, r"is not in K (--no-preload)")])
def test_stiffness_of_loads_is_named(preload, said):
    options = {"internal_modes": 1, "checks": 10, "store": False, "preload": preload}
    model = supple.reduce(arm(500.0), region={"q": (-0.3, 0.3)}, **options)
    assert f"geometric stiffness of the loads at rest {said}" in str(model.text())


def test_a_machine_that_nothing_loads_states_no_error_at_rest():
    """Its deflections and holding forces are rounding: an error of those would say that the model is all wrong."""
    bars = supple.load(Path(__file__).parents[2] / "examples/flexible-four-bar/mechanism.yaml")
    model = supple.reduce(bars, region={"crank": (-0.3, -0.2)}, internal_modes=2, boxes=1, checks=10, store=False)
    assert model.provenance["equilibria"] == {"deflection": {}, "force": None, "points": 5, "reason": ""}
    words = str(model.text(", 1 s"))
    assert "checks, 1 box, 1 s" in words
    assert "geometric stiffness" not in words  # of loads that are not there
