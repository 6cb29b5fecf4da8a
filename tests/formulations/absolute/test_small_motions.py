"""Small motions of the full equations about rest and steady motion, and where loads let them rest: against closed forms
and against the equations in independent coordinates."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple.formulations.absolute.instant import instant
from supple.formulations.absolute.settling import settle_bodies
from supple.formulations.absolute.step import State
from supple.formulations.absolute.system import absolute
from supple.formulations.absolute.tangent import tangent_at
from supple.modal_analysis.small_motions import free_motions
from supple.simulation.start import centre_state

ARM, HUB, MASS = 1.0, 0.2, 2.0
HUNG = supple.loads(f"""\
supple: 1
name: spinner
gravity: [0, 0, -9.81]
points: {{O: [0, 0, 0], H: [{HUB}, 0, 0], Q: [{HUB + ARM}, 0, 0]}}
bodies:
  hub: {{rod: [O, H], mass: 1}}
  arm: {{rod: [H, Q], mass: {MASS}}}
joints:
  spin: {{revolute: [ground, hub], at: O, axis: [0, 0, 1]}}
  flap: {{revolute: [hub, arm], at: H, axis: [0, 1, 0]}}
actuators: {{spin: {{joint: spin}}, flap: {{joint: flap}}}}
""")


def state_at(mechanism, at, rates=(0.0, 0.0), driven=()):
    """The problem and a state at rest, or in motion without accelerations of θ that the inputs do not give."""
    here = supple.assemble(mechanism, at)
    problem = absolute(here.rest, driven)
    X, V = centre_state(problem, here, np.array(rates))
    u = np.zeros((1, 2))
    first = instant(problem, X[None], V[None], here.w[None], u, np.zeros((1, len(driven))))
    a = np.ascontiguousarray(first.acceleration[0])
    return problem, State(X, V, a, a.copy(), np.ascontiguousarray(first.multipliers[0]), here.w.copy())


def slowest(mechanism, at, rates=(0.0, 0.0), driven=()):
    problem, state = state_at(mechanism, at, rates, driven)
    aims = state.w[list(driven)]
    return free_motions(tangent_at(problem, state, np.zeros(2), aims), 1).eigenvalues[0]


def test_a_pendulum_at_rest():
    # ω² = m g l/2 / (m l²/3)
    assert_allclose(slowest(HUNG, {"flap": np.pi / 2}, driven=(0,)), 1j * np.sqrt(1.5 * 9.81 / ARM), rtol=1e-10)


@pytest.mark.parametrize("speed", [0.5, 3.0])
def test_an_arm_that_flaps_as_its_hub_turns(speed):
    # ω² = Ω² (1 + 3 e / 2 l), e the radius of the hub: the centrifugal force stiffens, turned about the hub alone
    weightless = HUNG.replace(gravity=None)
    found = slowest(weightless, {"flap": 0.0}, (speed, 0.0), driven=(0,))
    assert_allclose(found, 1j * speed * np.sqrt(1.0 + 1.5 * HUB / ARM), rtol=1e-9, atol=1e-9)
    A = supple.linearize(weightless, {"flap": 0.0}, rates={"spin": speed}).A
    assert_allclose(np.abs(found), np.abs(np.linalg.eigvals(A)).max(), rtol=1e-9)


def test_loads_settle_where_the_potential_is_least():
    sprung = HUNG.replace(springs={"s": supple.Spring(joint="flap", stiffness=30.0)})
    problem, begin = state_at(sprung, {"flap": 0.1}, driven=(0,))
    found = settle_bodies(problem, begin, np.zeros(2), np.zeros(1))
    assert_allclose(found.state.w[:2], supple.equilibrium(sprung).theta, atol=1e-9)
    assert np.abs(found.tangent.force).max() < 1e-11 * MASS * 9.81
    assert np.abs(found.tangent.gap).max() < 1e-14
