"""Surrogates that the tests of run-time forms share."""

from __future__ import annotations

import numpy as np
import pytest

import supple


@pytest.fixture(scope="session")
def orthoglide() -> supple.ReducedModel:
    """A rigid machine of three coordinates over a part of its region, accurately."""
    region = dict.fromkeys("xyz", (-0.16, 0.0))
    return supple.reduce(supple.load("orthoglide"), region=region, tolerance=3e-4, progress=False)


ARM = """\
supple: 1
name: bending-arm
plane: xz
gravity: [0, -9.81]
parameters: {load: 2 kg}
points: {A: [0, 0], B: [0.8, 0.3], T: [1.5, 0.1]}
materials: {aluminium: {youngs_modulus: 70 GPa, density: 2700}}
sections: {bar: {box: [40 mm, 30 mm, 2 mm]}}
bodies:
  upper: {beam: [A, B], section: bar, material: aluminium, elements: 4}
  lower: {rod: [B, T], mass: 1.5}
joints:
  A: {revolute: [ground, upper], viscous: 0.2}
  B: {revolute: [upper, lower]}
point_masses: {tip: {at: lower.T, mass: load}}
actuators: {A: {joint: A}, B: {joint: B}}
sensors: {tip: {position: lower.T}}
damping: {modal: 0.01}
"""


@pytest.fixture(scope="session")
def bending_arm() -> supple.ReducedModel:
    """A flexible machine of two coordinates and a mode."""
    mechanism = supple.loads(ARM)
    start = supple.assemble(mechanism)
    at = dict(zip(("A", "B"), np.ravel(start.theta), strict=True))
    region = {"A": (at["A"] - 0.5, at["A"] + 0.5), "B": (at["B"] - 0.8, at["B"] + 0.8)}
    return supple.reduce(mechanism, region=region, internal_modes=1, tolerance=1e-3, checks=300, progress=False)


@pytest.fixture(scope="session")
def loaded_arm() -> supple.ReducedModel:
    """A rigid family over the load at the tip of an arm."""
    text = ARM.replace("beam: [A, B], section: bar, material: aluminium, elements: 4", "rod: [A, B], mass: 1")
    mechanism = supple.loads(text.replace("damping: {modal: 0.01}\n", ""))
    at = dict(zip(("A", "B"), np.ravel(supple.assemble(mechanism).theta), strict=True))
    region = {"A": (at["A"] - 0.5, at["A"] + 0.5), "B": (at["B"] - 0.8, at["B"] + 0.8)}
    return supple.reduce(
        mechanism, region=region, vary={"load": (1.0, 4.0)}, tolerance=1e-4, checks=300, progress=False
    )
