"""Gears, differentials, belts and screws in every formulation, against the equations of their tree without couplings.

With q = G θ of all joints (G by hand, from the teeth), the recursions on the tree of uncoupled joints give M_q, P_q and
forces, and

    M = Gᵀ M_q G,    P = Gᵀ P_q G,    p = Gᵀ p_q

must be what the closed chain with its coupling rows says. Nothing but the joints is common to both ways.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

import supple
from supple.formulations.recursive import inverse_dynamics, mass_matrix
from supple.formulations.recursive.tree_of_mechanism import MechanismTree, tree_of_mechanism
from supple.linearization.tree_linearization import tree_order


@dataclass
class Machine:
    """A mechanism with couplings, all joints by name, and dq/dθ by hand."""

    mechanism: supple.Mechanism
    joints: tuple[str, ...]
    G: np.ndarray

    @cached_property
    def tree(self) -> supple.Mechanism:
        """The same without couplings, every joint a coordinate with an actuator of its own."""
        motors = {name: {"joint": name} for name in self.joints}
        return self.mechanism.replace(couplings={}, actuators=motors, coordinates=self.joints, configurations={})

    @cached_property
    def recursion(self) -> MechanismTree:
        return tree_of_mechanism(self.tree)


def planetary() -> Machine:
    """Sun, ring and three planets on a carrier, all of it at the end of an arm that swings."""
    zs, zp, zr = 24.0, 18.0, 60.0
    mechanism = supple.loads(
        f"""
        supple: 1
        name: planetary gear on an arm
        gravity: [0, 0, -9.81]
        points: {{S: [0.4, 0, 0]}}
        bodies:
          arm: {{mass: 2, center: [0.2, 0, 0], inertia: [0.01, 0.03, 0.03]}}
          sun: {{mass: 0.5, center: S, inertia: [1e-3, 1e-3, 1.5e-3]}}
          carrier: {{mass: 1.2, center: [0.41, 0.005, 0], inertia: [4e-3, 4e-3, 6e-3]}}
          ring: {{mass: 2, center: S, inertia: [9e-3, 9e-3, 1.7e-2]}}
        joints:
          arm: {{revolute: [ground, arm], at: [0, 0, 0], axis: y, viscous: 0.2}}
          sun: {{revolute: [arm, sun], at: S, axis: z, viscous: 0.01}}
          carrier: {{revolute: [arm, carrier], at: S, axis: z}}
          ring: {{revolute: [arm, ring], at: S, axis: z}}
        copies:
          planets:
            about: z
            through: S
            count: 3
            points: {{P: [0.442, 0, 0]}}
            bodies: {{planet: {{mass: 0.3, center: P, inertia: [3e-4, 3e-4, 5e-4]}}}}
            joints: {{P: {{revolute: [carrier, planet], axis: z, viscous: 0.002}}}}
            couplings:
              inner: {{coordinates: {{sun: {zs}, carrier: {-zs}, P: {zp}}}}}
              outer: {{coordinates: {{ring: {zr}, carrier: {-zr}, P: {-zp}}}}}
        actuators: {{arm: {{joint: arm}}, sun: {{joint: sun}}, ring: {{joint: ring}}}}
        """
    )
    carrier = np.array([0.0, zs, zr]) / (zs + zr)  # Willis: zs (sun - carrier) + zr (ring - carrier) = 0
    planet = zs / zp * (carrier - [0.0, 1.0, 0.0])
    G = np.array([[1, 0, 0], [0, 1, 0], carrier, [0, 0, 1], planet, planet, planet])
    return Machine(mechanism, ("arm", "sun", "carrier", "ring", "P1", "P2", "P3"), G)


def wrist() -> Machine:
    """Two motors on a turning arm drive pitch and roll of a hand by bevel wheels: their sum, and their difference."""
    mechanism = supple.loads(
        """
        supple: 1
        name: differential wrist
        gravity: [0, 0, -9.81]
        points: {W: [0.5, 0, 0.2]}
        bodies:
          arm: {mass: 3, center: [0.25, 0, 0.1], inertia: [0.02, 0.1, 0.1]}
          left: {mass: 0.2, center: [0.1, 0.05, 0], inertia: [2e-4, 2e-4, 2e-4]}
          right: {mass: 0.2, center: [0.1, -0.05, 0], inertia: [2e-4, 2e-4, 2e-4]}
          cage: {mass: 0.4, center: [0.51, 0, 0.2], inertia: [4e-4, 5e-4, 3e-4]}
          hand: {mass: 0.6, center: [0.58, 0.01, 0.21], inertia: [6e-4, 9e-4, 8e-4]}
        joints:
          arm: {revolute: [ground, arm], at: [0, 0, 0], axis: [0, 1, 1]}
          left: {revolute: [arm, left], at: [0.1, 0.05, 0], axis: y, viscous: 0.01}
          right: {revolute: [arm, right], at: [0.1, -0.05, 0], axis: y, viscous: 0.01}
          pitch: {revolute: [arm, cage], at: W, axis: y}
          roll: {revolute: [cage, hand], at: W, axis: x, viscous: 0.03}
        couplings:
          sum: {coordinates: {pitch: 2, left: -1, right: -1}}
          difference: {coordinates: {roll: 2, left: -1, right: 1}}
        actuators: {arm: {joint: arm}, left: {joint: left}, right: {joint: right}}
        """
    )
    G = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0.5, 0.5], [0, 0.5, -0.5]])
    return Machine(mechanism, ("arm", "left", "right", "pitch", "roll"), G)


def axle() -> Machine:
    """The differential of a car: the cage turns with the mean of both wheels, its bevel wheel with their difference."""
    mechanism = supple.loads(
        """
        supple: 1
        name: differential of a car
        bodies:
          cage: {mass: 4, center: [0.02, 0, 0], inertia: [0.02, 0.03, 0.02]}
          left: {mass: 6, center: [0, 0.7, 0], inertia: [0.2, 0.35, 0.2]}
          right: {mass: 6, center: [0, -0.7, 0], inertia: [0.2, 0.4, 0.2]}
          bevel: {mass: 0.3, center: [0.05, 0, 0], inertia: [4e-4, 3e-4, 3e-4]}
        joints:
          cage: {revolute: [ground, cage], at: [0, 0, 0], axis: y}
          left: {revolute: [ground, left], at: [0, 0.7, 0], axis: y, viscous: 0.1}
          right: {revolute: [ground, right], at: [0, -0.7, 0], axis: y, viscous: 0.3}
          bevel: {revolute: [cage, bevel], at: [0.05, 0, 0], axis: x}
        couplings:
          mean: {coordinates: {left: 1, right: 1, cage: -2}}
          teeth: {coordinates: {bevel: 12, left: -20, cage: 20}}
        coordinates: [left, right]
        actuators: {engine: {joint: cage}, left: {joint: left}}
        """
    )
    G = np.array([[0.5, 0.5], [1, 0], [0, 1], [20 / 24, -20 / 24]])
    return Machine(mechanism, ("cage", "left", "right", "bevel"), G)


def belt() -> Machine:
    """A belt over two equal pulleys, one fixed to the ground, keeps the hand at the end of an arm level."""
    mechanism = supple.loads(
        """
        supple: 1
        name: belt in an arm
        gravity: [0, 0, -9.81]
        points: {A: [0, 0, 0.1], B: [0.4, 0, 0.3], C: [0.6, 0, 0.3]}
        bodies:
          post: {mass: 2, center: [0, 0.01, 0.05], inertia: [0.01, 0.01, 0.01]}
          arm: {rod: [A, B], mass: 1.5}
          hand: {mass: 0.7, center: [0.5, 0.02, 0.33], inertia: [1e-3, 2e-3, 2e-3]}
        joints:
          turn: {revolute: [ground, post], at: [0, 0, 0], axis: z}
          A: {revolute: [post, arm], axis: y}
          B: {revolute: [arm, hand], axis: y}
        sensors:
          level: {angle: [post, hand], axis: y}
          tip: {position: hand.C}
        couplings:
          belt: {coordinates: {level: 1}}
        actuators: {turn: {joint: turn}, lift: {joint: A}}
        """
    )
    return Machine(mechanism, ("turn", "A", "B"), np.array([[1, 0], [0, 1], [0, -1]]))


def spindle() -> Machine:
    """A spindle turns in a slide and moves it along the axle it turns about: a screw said as a coupling."""
    mechanism = supple.loads(
        """
        supple: 1
        name: spindle as a coupling
        gravity: [0, 0, -9.81]
        bodies:
          carriage: {mass: 3, center: [0.05, 0, 0.1], inertia: [0.01, 0.01, 0.01]}
          spindle: {mass: 1, center: [0, 0, 0.2], inertia: [2e-3, 2e-3, 4e-4]}
        joints:
          guide: {prismatic: [ground, carriage], at: [0, 0, 0.1], axis: [1, 0, 3]}
          spindle: {revolute: [carriage, spindle], at: [0, 0, 0.2], axis: [1, 0, 3], viscous: 1e-3}
        couplings:
          thread: {coordinates: {guide: 1, spindle: 5 mm / (2*pi)}}
        actuators: {motor: {joint: spindle}}
        """
    )
    return Machine(mechanism, ("guide", "spindle"), np.array([[-5e-3 / (2 * np.pi)], [1.0]]))


MACHINES = {make.__name__: make() for make in (planetary, wrist, axle, belt, spindle)}


@pytest.fixture(params=MACHINES)
def machine(request):
    return MACHINES[request.param]


def states(machine, seed, size=0.8):
    n = machine.G.shape[1]
    return np.random.default_rng(seed).uniform(-size, size, (3, n))


def eliminated(machine, theta, v, a):
    """M, P₂, P₁ and Q of the tree at q = G θ, q̇ = G θ̇, q̈ = G θ̈, brought to θ."""
    G = machine.G
    found = supple.linearize(machine.tree, G @ theta, rates=G @ v, accelerations=G @ a)
    assert found.second_order is not None
    needed = np.array(list(found.at["inputs"].values()))
    return (*(G.T @ part @ G for part in found.second_order[:3]), G.T @ needed)


def accelerations(machine, theta, v, push):
    """By the recursions on the tree."""
    found = machine.recursion
    G = machine.G[[machine.joints.index(name) for name in found.coordinates]]
    q, rates = (G @ theta)[None], (G @ v)[None]
    M, needed = mass_matrix(found.tree, q)[0], inverse_dynamics(found.tree, q, rates, 0.0 * rates)[0]
    return np.linalg.solve(G.T @ M @ G, push - G.T @ needed)


def test_coupled_joints_are_where_they_shall_be(machine):
    theta = 6.0 * states(machine, 1)[0]  # several turns
    there = supple.assemble(machine.mechanism, theta).joint_coordinates
    assert_allclose([there[name] for name in machine.joints], machine.G @ theta, rtol=1e-11, atol=1e-11)
    assert supple.check(machine.mechanism).mobility == machine.G.shape[1]


def test_the_local_model_is_that_of_the_tree(machine):
    theta, v, a = states(machine, 2)
    model = supple.local(machine.mechanism, theta)
    M, _, _, needed = eliminated(machine, theta, v, a)
    assert_allclose(model.M, M, rtol=0, atol=1e-12 * np.abs(M).max())
    assert_allclose(model.required_forces(v, a), needed, rtol=0, atol=1e-11 * np.abs(needed).max())


@pytest.mark.parametrize("route", ["tree", "closed chain"])
def test_the_linear_model_is_that_of_the_tree(machine, route, monkeypatch):
    """By the recursions with coordinates eliminated, and in independent coordinates of the closed chain."""
    if route == "closed chain":
        monkeypatch.setattr("supple.linearization.linearization_batch.tree_order", lambda mechanism: None)
    else:
        assert (tree_order(machine.mechanism) is None) == bool(machine.mechanism.sensors)  # of which one is coupled
    theta, v, a = states(machine, 3)
    model = supple.linearize(machine.mechanism, theta, rates=v, accelerations=a)
    M, P2, P1, needed = eliminated(machine, theta, v, a)
    n = len(theta)
    assert_allclose(model.A[n:, :n], np.linalg.solve(M, P2), rtol=0, atol=1e-10 * np.abs(model.A).max())
    assert_allclose(model.A[n:, n:], np.linalg.solve(M, P1), rtol=0, atol=1e-10 * np.abs(model.A).max())
    push = supple.local(machine.mechanism, theta).input_map @ np.array(list(model.at["inputs"].values()))
    assert_allclose(push, needed, rtol=0, atol=1e-10 * np.abs(needed).max())
    batch = supple.linearize_batch(machine.mechanism, theta[None], v[None], accelerations=a[None])
    assert_allclose(batch.A[0], model.A, rtol=0, atol=1e-12 * np.abs(model.A).max())


def test_inverse_dynamics_are_those_of_the_tree(machine):
    theta, v, a = states(machine, 4)

    def course(t):
        return theta + v * t + 0.5 * a * t**2, v + a * t, a + 0.0 * t

    found = supple.inverse(machine.mechanism, course, times=[0.0, 0.01])
    forces = np.array([values[0] for values in found.forces.values()])
    push = supple.local(machine.mechanism, theta).input_map @ forces
    needed = eliminated(machine, theta, v, a)[-1]
    assert_allclose(push, needed, rtol=0, atol=1e-10 * np.abs(needed).max())


@pytest.mark.parametrize("name", ["axle", "belt", "spindle"])  # those of at most two coordinates
def test_the_reduced_model_is_that_of_the_tree(name):
    machine = MACHINES[name]
    names = machine.mechanism.coordinate_names()
    # Trigonometric polynomials of low degree: at degree 16 a Chebyshev series over ±1 is exact to rounding.
    model = supple.reduce(
        machine.mechanism, region=dict.fromkeys(names, (-1.0, 1.0)), fit="chebyshev", boxes=1, degree=16, store=False,
    )  # fmt: skip
    theta, v, a = states(machine, 6)
    M, _, _, needed = eliminated(machine, theta, v, a)
    here = model.evaluate(theta)
    assert_allclose(here.M, M, rtol=0, atol=1e-10 * np.abs(M).max())
    assert_allclose(here.required_forces(v, a), needed, rtol=0, atol=1e-10 * np.abs(needed).max())
    full = supple.linearize(machine.mechanism, theta)
    assert_allclose(model.linearize(theta).A, full.A, rtol=0, atol=1e-9 * np.abs(full.A).max())


def test_the_motion_in_time_is_that_of_the_tree(machine):
    """The same accelerations at the start, and an error that falls with the square of the step."""
    theta, v, _ = states(machine, 5)
    inputs = {name: 0.4 * (-1) ** i for i, name in enumerate(machine.mechanism.actuators)}
    push = supple.local(machine.mechanism, theta).input_map @ np.array([*inputs.values()])
    n, until = len(theta), 0.1
    runs = [
        supple.simulate(machine.mechanism, until=until, step=step, start=theta, rates=v, inputs=inputs)
        for step in (0.005, 0.0025)
    ]
    expected = accelerations(machine, theta, v, push)
    names = machine.mechanism.coordinate_names()
    for run in runs:
        first = np.array([run.accelerations[name][0] for name in names])
        assert_allclose(first, expected, rtol=0, atol=1e-10 * np.abs(expected).max())

    def rates(_, x):
        here = supple.local(machine.mechanism, x[:n]).input_map @ np.array([*inputs.values()])
        return np.concatenate([x[n:], accelerations(machine, x[:n], x[n:], here)])

    exact = solve_ivp(rates, (0.0, until), np.concatenate([theta, v]), method="DOP853", rtol=1e-9, atol=1e-11).y[:n, -1]
    coarse, fine = (np.array([run.coordinates[name][-1] for name in names]) - exact for run in runs)
    assert np.abs(fine).max() < 1e-4
    # Where motion is uniform both are rounding.
    assert_allclose(coarse, 4.0 * fine, rtol=0, atol=0.1 * np.abs(coarse).max() + 1e-9)
    for run in runs:
        joints = np.array([run.joint_coordinates[name] for name in machine.joints])
        theta_of = np.array([run.coordinates[name] for name in names])
        assert_allclose(joints, machine.G @ theta_of, rtol=0, atol=1e-10)


FLEXIBLE = """
supple: 1
name: flexible arm with a belt
points: {A: [0, 0, 0.1], B: [0.5, 0, 0.2]}
materials: {aluminium: {youngs_modulus: 70e9, density: 2700, poisson: 0.33}}
sections: {bar: {rectangle: [20 mm, 8 mm]}}
bodies:
  arm: {beam: [A, B], section: bar, material: aluminium, elements: 4}
  hand: {mass: 0.7, center: [0.55, 0.02, 0.22], inertia: [1e-3, 2e-3, 2e-3]}
joints:
  A: {revolute: [ground, arm], axis: y}
  B: {revolute: [arm, hand], axis: y}
sensors: {level: {angle: [ground, hand], axis: y}}
couplings: {belt: BELT}
actuators: {lift: {joint: A}}
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "belt",
    [
        "{coordinates: {level: 1}}",
        "{coordinates: {A: 1, B: 0.5}}",
        "{coordinates: {A: 20 mm, B: 10 mm}, stiffness: 1e5 N/m}",
    ],
)
def test_flexible_bodies_vibrate_alike_in_both_full_models(belt):
    """Elastic about rest with coupling rows over nodes, and the equations in absolute coordinates."""
    machine = supple.loads(FLEXIBLE.replace("BELT", belt))
    hertz = supple.modes(machine, [0.3], count=5).frequencies_hz
    about = supple.small_motions(machine, [0.3], count=5)
    assert_allclose(about.frequencies_hz, hertz, rtol=6e-7)  # bodies are condensed to 1e-6 of ω²
    links = supple.modes(machine, [0.3], count=5, formulation="erls").frequencies_hz
    assert_allclose(links, hertz, rtol=1e-8)
    linear = supple.linearize(machine, [0.3], internal_modes=3)
    model = supple.reduce(
        machine, region={"lift": (0.2, 0.4)}, internal_modes=3, fit="chebyshev", boxes=1, degree=6, store=False
    )
    poles = [np.sort(np.abs(np.linalg.eigvals(item.A))) for item in (linear, model.linearize([0.3]))]
    assert_allclose(poles[1], poles[0], rtol=1e-5, atol=1e-3)  # of the fit; two are of the free coordinate, and zero
