"""Trees with couplings by elimination of coordinates, against the closed chain; what is none is left to that."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple.formulations.recursive.recursive_tree import CoupledTree
from supple.linearization.tree_linearization import tree_order

ARM = """
supple: 1
name: geared arm
gravity: [0.2, 0, -9.81]
points: {A: [0, 0, 0], B: [0.4, 0, 0.1], C: [0.7, 0.1, 0.1], H: [0, 0, 0.5], T: [0.8, 0.05, 0.05]}
bodies:
  upper: {mass: 2, center: [0.2, 0, 0.05], inertia: [0.01, 0.03, 0.03]}
  sleeve: {mass: 0.8, center: [0.5, 0.02, 0.1], inertia: [2e-3, 4e-3, 4e-3]}
  nut: {mass: 0.5, center: [0.7, 0.1, 0.12], inertia: [1e-3, 1e-3, 1e-3]}
  flap: {mass: 0.3, center: [0.75, 0.1, 0.05], inertia: [4e-4, 5e-4, 6e-4]}
joints:
  A: {revolute: [ground, upper], axis: y, rest: 0.2, viscous: 0.3, motor: {inertia: 1e-4, gear: 30}}
  B: {cylindrical: [upper, sleeve], axis: x, rest: {slide: 0.1, angle: -0.3}}
  C: {screw: [sleeve, nut], axis: z, pitch: 50 mm}
  F: {revolute: [flap, nut], at: C, axis: [1, 1, 0], viscous: 0.01}
couplings:
  rack: {coordinates: {B.slide: 1, A: -30 mm}, value: 0.08}
  gear: {coordinates: {C: 2, B.angle: 3, A: -1}}
  again: {coordinates: {C: 4, B.angle: 6, A: -2}}
springs:
  coil: {joint: F, stiffness: 4, rest: 0.1}
  rope: {between: [ground.H, nut.C], stiffness: 50, length: 0.3}
dampers: {brake: {joint: C, damping: 0.05}}
actuators:
  motor: {joint: A}
  roll: {joint: B.angle}
  cylinder: {between: [ground.H, flap.T]}
coordinates: [A, B.angle, F]
"""


def test_it_is_the_closed_chain(monkeypatch):
    """With redundant couplings, values, several coordinates a joint, springs, and an actuator along a distance."""
    machine = supple.loads(ARM)
    found = tree_order(machine)
    assert isinstance(found, CoupledTree)
    theta, v, a = np.random.default_rng(2).uniform(-0.7, 0.7, (3, 4, 3))
    u = np.random.default_rng(3).uniform(-3.0, 3.0, (4, 3))
    there = supple.assemble(machine, theta).joint_coordinates
    q = theta @ found.G.T + found.c
    assert_allclose(q, np.column_stack([there[name] for name in ("A", "B.slide", "B.angle", "C", "F")]), atol=1e-11)
    runs = []
    for route in ("tree", "closed chain"):
        if route == "closed chain":
            monkeypatch.setattr("supple.linearization.linearization_batch.tree_order", lambda mechanism: None)
        runs.append(supple.linearize_batch(machine, theta, v, inputs=u))
        runs.append(supple.linearize_batch(machine, theta, v, accelerations=a))
    for ours, theirs in zip(runs[:2], runs[2:], strict=True):
        for name in ("A", "B", "accelerations", "inputs"):
            wanted = getattr(theirs, name)
            assert_allclose(getattr(ours, name), wanted, rtol=0.0, atol=1e-10 * np.abs(wanted).max(), err_msg=name)
    assert_allclose(runs[1].accelerations, a, rtol=0.0, atol=1e-10)


@pytest.mark.parametrize(
    ("written", "other"),
    [
        ("couplings:\n", "sensors: {tip: {position: nut}}\ncouplings:\n  held: {coordinates: {tip.z: 1, A: 0.1}}\n"),
        ("flap: {mass: 0.3, center: [0.75, 0.1, 0.05], inertia: [4e-4, 5e-4, 6e-4]}", "flap: {mass: 0}"),
        ("{coordinates: {C: 2, B.angle: 3, A: -1}}", "{coordinates: {C: 2, B.angle: 3, A: -1}, stiffness: 1e4}"),
    ],
)  # fmt: skip
def test_what_is_no_tree_by_elimination_goes_the_other_way(written, other):
    """A sensor's measure is tied, a motion has no mass, a coupling gives way."""
    assert written in ARM
    text = ARM.replace(written, other, 1)
    if "tip.z" in other:
        text = text.replace("coordinates: [A, B.angle, F]", "coordinates: [A, F]")
    assert tree_order(supple.loads(text)) is None
