"""Mechanisms that the tests of the reduction share."""

from __future__ import annotations

from pathlib import Path

import pytest

import supple

EXAMPLES = Path(__file__).parents[2] / "examples"


def _example(name: str) -> supple.Mechanism:
    return supple.load(EXAMPLES / name / "mechanism.yaml")


@pytest.fixture(scope="session")
def four_bar() -> supple.Mechanism:
    return _example("four-bar")


@pytest.fixture(scope="session")
def orthoglide() -> supple.Mechanism:
    return _example("orthoglide")


@pytest.fixture(scope="session")
def stewart() -> supple.Mechanism:
    return _example("stewart")


CARRYING = """\
supple: 1
name: four-bar-that-carries-everything
plane: xz
gravity: [0, -9.81]
points: {A: [0, 0], B: [0.5, 0], E: [0.54, 0.52], D: [1, 0]}
bodies:
  crank: {rod: [A, B], line_mass: 0.54}
  coupler: {rod: [B, E], line_mass: 0.54}
  follower: {rod: [D, E], line_mass: 0.54}
joints:
  A: {revolute: [ground, crank], viscous: 0.1, dry: 0.2}
  B: {revolute: [crank, coupler], dry: 0.05}
  E: {revolute: [coupler, follower], viscous: 0.3}
  D: {revolute: [ground, follower], motor: {inertia: 1e-3, gear: 10}}
springs:
  pull: {between: [B, D], stiffness: 20, length: 0.3}
actuators:
  crank: {joint: A, limits: [-1.2, 1.2]}
  second: {joint: D}
sensors:
  E: {position: E}
  angle: {joint: D}
coordinates: [crank]
"""


@pytest.fixture(scope="session")
def carrying() -> supple.Mechanism:
    """One coordinate, and everything that can hang on it: no coefficient is constant."""
    return supple.loads(CARRYING)


@pytest.fixture(scope="session")
def pushed() -> supple.Mechanism:
    """The same with a force that turns with its body, and so has no potential."""
    return supple.loads(CARRYING + "forces:\n  jet: {at: E, force: [3, 1], follower: true}\n")
