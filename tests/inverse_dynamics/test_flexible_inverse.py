"""Forces that lead an elastic mechanism along a motion: pushed by them it follows; slowly, they hold it."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple.diagnostics import InputError

ARM = supple.loads("""\
supple: 1
name: arm
plane: xz
gravity: [0, -9.81]
points: {O: [0, 0], P: [1, 0], Q: [1.5, 0]}
materials: {steel: {youngs_modulus: 210e9, density: 7800, poisson: 0.3}}
sections: {bar: {rectangle: [20 mm, 10 mm]}}
bodies:
  link: {beam: [O, P], section: bar, material: steel, elements: 3}
  fork: {rod: [P, Q], mass: 0.5}
joints:
  O: {revolute: [ground, link]}
  P: {weld: [link, fork]}
actuators: {O: {joint: O}}
damping: {rayleigh: [0, 2e-3]}
motions:
  turn: {coordinates: {O: {from: 0.2, to: 0.5}}, duration: 0.2}
  creep: {coordinates: {O: {from: 0.2, to: 0.21}}, duration: 2}
""")


def test_pushed_by_the_forces_it_follows_the_motion():
    found = supple.inverse(ARM, "turn", step=1e-3)
    assert found.rigid == ()
    begin = supple.equilibrium(ARM, [0.2], held=["O"])
    pushed = supple.simulate(ARM, found.time, {"O": found.forces["O"]}, begin, tolerance=1e-7)
    # Forces are linear between instants: an error of h² of their curvature, twice integrated.
    assert_allclose(pushed.coordinates["O"], found.trajectory.theta[:, 0], atol=1e-4)
    stiff = supple.inverse(ARM, "turn", step=1e-3, rigid=True)
    assert np.abs(found.forces["O"] - stiff.forces["O"]).max() > 0.05 * stiff.peak["O"]  # it vibrates
    assert_allclose(found.reactions["O"].force[0], [0.0, 0.0, 9.81 * (1.56 + 0.5)], atol=1e-5)


def test_slowly_they_hold_its_weight():
    found = supple.inverse(ARM, "creep", step=0.1)
    for k in (0, 10, 20):
        held = supple.deflection(ARM, [float(found.trajectory.theta[k, 0])], large=True)
        assert_allclose(found.forces["O"][k], held.holding_forces["O"], rtol=2e-3)


def test_what_it_cannot_answer():
    with pytest.raises(InputError, match=r"minimize: .* rigid=True"):
        supple.inverse(ARM, "turn", minimize="multipliers")
    states = supple.Trajectory(("O",), np.zeros(1), np.full((1, 1), 0.2), np.zeros((1, 1)), np.zeros((1, 1)))
    with pytest.raises(InputError, match="single states"):
        supple.inverse(ARM, states)
