"""Linear models of mechanisms, trees and closed chains, against differences of other formulations' accelerations."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from full_accelerations import dae_accelerations, differences, local_accelerations
from numpy.testing import assert_allclose
from random_mechanisms import CASES, case

import supple
from supple.linearization.tree_linearization import tree_order

GIVEN = {  # θ from rest, θ̇ and forces, each of a size that moves everything
    "four-bar": ([0.3], [1.5], [2.0]),
    "andrews-squeezer": ([0.4], [20.0], []),
    "flexible-five-bar": ([0.15, -0.1], [1.0, 2.0], [3.0, -1.0]),
    "stewart": ([0.02, -0.01, 0.03, 0.01, -0.02, 0.015], [0.2, -0.1, 0.3, 0.15, -0.25, 0.1],
                [300, 350, 400, 320, 310, 360]),
    "four-bar-redundant": ([0.3], [3.0], [20.0, -5.0, 3.0, 7.0]),
    "orthoglide-parallelogram": ([-0.1, 0.02, -0.15], [0.5, -0.3, 0.4], [3.0, 2.0, 25.0]),
    "spatial-slider-crank": ([0.4], [2.0], None),
    "bricard": ([0.2], [1.5], None),
}  # fmt: skip


def given(mechanism, name, moving):
    shift, rates, forces = GIVEN[name]
    theta = supple.assemble(mechanism).theta + np.array(shift)
    u = np.zeros(len(mechanism.actuators)) if forces is None else np.array(forces, float)
    return theta, np.array(rates) * moving, u


@pytest.mark.parametrize("moving", [0.0, 1.0], ids=["at rest", "in motion"])
@pytest.mark.parametrize("name", GIVEN)
def test_closed_chains_against_the_full_equations(example, name, moving):
    mechanism = example(name)
    theta, rates, u = given(mechanism, name, moving)
    found = supple.linearize(mechanism, theta, rates=rates, inputs=u, rigid=True)
    s = len(theta)
    expected = differences(lambda *state: dae_accelerations(mechanism, *state), theta, rates, u)
    for part, wanted in zip((found.A[s:, :s], found.A[s:, s:], found.B[s:]), expected, strict=True):
        assert_allclose(part, wanted, atol=1e-6 * max(np.abs(wanted).max(initial=0.0), 1.0))
    again = differences(lambda *state: local_accelerations(mechanism, *state), theta, rates, u)
    for part, wanted in zip((found.A[s:, :s], found.A[s:, s:], found.B[s:]), again, strict=True):
        # rounding over the step, and its fourth power
        assert_allclose(part, wanted, atol=1e-8 * max(np.abs(wanted).max(initial=0.0), 1.0))
    assert_allclose(found.A[:s], np.eye(2 * s)[s:], atol=0)
    assert_allclose(found.B[:s], 0.0, atol=0)


@pytest.mark.parametrize("name", CASES)
def test_random_mechanisms_against_the_full_equations(name):
    """Every kind of joint, with springs, dampers, motors, friction, loads and actuators as the draw has them."""
    made = case(name)
    mechanism, s = made.mechanism, len(made.rest)
    rng = np.random.default_rng(11)
    theta, rates = made.thetas(1, 5)[0], rng.standard_normal(s)
    u = 5.0 * rng.standard_normal(len(mechanism.actuators))
    found = supple.linearize(mechanism, theta, rates=rates, inputs=u, friction_speed=1.0)
    expected = differences(lambda *state: dae_accelerations(mechanism, *state, friction_speed=1.0), theta, rates, u)
    for part, wanted in zip((found.A[s:, :s], found.A[s:, s:], found.B[s:]), expected, strict=True):
        assert_allclose(part, wanted, atol=1e-6 * max(np.abs(wanted).max(initial=0.0), 1.0))


@pytest.mark.parametrize("name", ["planar tree 1", "planar tree 2", "chain 2", "tree 1"])
def test_both_routes_give_the_same_for_trees(name, monkeypatch):
    made = case(name)
    joints = {key: {k: v for k, v in joint.items() if k != "dry"} for key, joint in made.parts["joints"].items()}
    mechanism = supple.Mechanism(**{**made.parts, "joints": joints})  # friction takes the other route anyway
    rng = np.random.default_rng(2)
    rates, u = rng.standard_normal(len(made.rest)), rng.standard_normal(len(mechanism.actuators))
    state = {"at": made.thetas(1, 3)[0], "rates": rates, "inputs": u}
    assert tree_order(mechanism) is not None
    tree = supple.linearize(mechanism, **state)
    monkeypatch.setattr("supple.linearization.linearization_batch.tree_order", lambda mechanism: None)
    chain = supple.linearize(mechanism, **state)
    for one, other in ((tree.A, chain.A), (tree.B, chain.B), *zip(tree.second_order, chain.second_order, strict=True)):
        assert_allclose(one, other, atol=1e-10 * max(np.abs(other).max(initial=0.0), 1.0))
    assert tree.at["accelerations"] == pytest.approx(chain.at["accelerations"], rel=1e-9, abs=1e-9)


def spatial(four_bar):
    """The planar four-bar with its hinges across the plane, in space: three rows too many."""
    lifted = {name: [x, 0.0, z] for name, (x, z) in {"A": (0, 0), "B": (0.5, 0), "D": (1.0, 0)}.items()}
    X = supple.assemble(four_bar).frame("E").position
    joints = {name: {"revolute": joint.bodies, "axis": [0, -1, 0]} for name, joint in four_bar.joints.items()}
    bodies = {name: {"rod": list(body.rod), "line_mass": 0.54} for name, body in four_bar.bodies.items()}
    return supple.Mechanism(
        name="in space", gravity=[0, 0, -9.81], points={**lifted, "E": X.tolist()}, bodies=bodies, joints=joints,
        actuators={"crank": {"joint": "A"}}, sensors={"E": {"position": "E"}},
    )  # fmt: skip


def test_redundant_constraints_change_nothing(example):
    flat = example("four-bar")
    state = {"at": [0.4], "rates": [2.0], "inputs": [1.0]}
    plane, space = supple.linearize(flat, **state), supple.linearize(spatial(flat), **state)
    assert_allclose(space.A, plane.A, atol=1e-10 * np.abs(plane.A).max())
    assert_allclose(space.B, plane.B, rtol=1e-10)
    assert_allclose(space.C[[0, 2]], plane.C, atol=1e-12)
    one, other = example("orthoglide"), example("orthoglide-parallelogram")
    state = {"at": [-0.1, 0.02, -0.2], "rates": [0.4, -0.2, 0.3], "accelerations": [1.0, 2.0, -1.0]}
    single, double = supple.linearize(one, **state), supple.linearize(other, **state)
    assert_allclose(double.A, single.A, atol=1e-9 * np.abs(single.A).max())
    assert_allclose(double.B, single.B, atol=1e-9 * np.abs(single.B).max())
    assert single.at["inputs"] == pytest.approx(double.at["inputs"], rel=1e-9)


ROD = {"plane": "xz", "gravity": [0, -9.81], "bodies": {"rod": {"rod": ["O", "P"], "mass": 3}}}
HANGING = {"points": {"O": [0, 0], "P": [0.6, -0.8], "Q": [2, 0]}, "joints": {"O": {"revolute": ["ground", "rod"]}}}
CARRIED = {
    "points": {"O": [0, 0], "P": [0.6, -0.8]},
    "bodies": {**ROD["bodies"], "cross": {"mass": 0, "center": "O"}},
    "joints": {
        "slide": {"prismatic": ["ground", "cross"], "at": "O", "axis": [1, 0]},
        "pin": {"revolute": ["cross", "rod"], "at": "O"},
        "O": {"revolute": ["ground", "rod"]},
    },
}  # fmt: skip
RODS = {
    "its angle": HANGING | {"coordinates": ["O"]},
    "a distance": HANGING | {"actuators": {"rope": {"between": ["rod.P", "ground.Q"]}}, "coordinates": ["rope"]},
    "a closed chain": CARRIED | {"coordinates": ["pin"]},
}


@pytest.mark.parametrize("coordinates", RODS)
def test_a_hanging_rod_swings_alike_in_any_coordinates(coordinates):
    rod = supple.Mechanism(**(ROD | RODS[coordinates]))
    found = supple.linearize(rod, "equilibrium")
    (mode,) = found.modes().frequencies_hz
    assert mode == pytest.approx(np.sqrt(1.5 * 9.81) / (2 * np.pi), rel=1e-9)
    assert round(mode, 4) == 0.6105
    assert_allclose(found.eigenvalues.real, 0.0, atol=1e-9)


def test_eigenvalues_are_those_of_the_reduced_model(example):
    for name, rates in (("four-bar", [1.5]), ("flexible-five-bar", [1.0, 2.0])):
        mechanism = example(name)
        here = supple.assemble(mechanism)
        names, theta = tuple(here.coordinates), here.theta
        region = {key: (value - 0.05, value + 0.05) for key, value in zip(names, theta, strict=True)}
        model = supple.reduce(mechanism, region=region, tolerance=1e-9, store=None, rigid=True)
        for speed in (None, rates):
            full = supple.linearize(mechanism, theta, rates=speed, rigid=True)
            small = model.linearize(theta, rates=speed)
            scale = np.abs(full.eigenvalues).max()
            # Γ's slope is the second derivative of the fit, which loses some of its digits
            assert_allclose(small.eigenvalues, full.eigenvalues, atol=1e-5 * scale)
            assert_allclose(small.B, full.B, atol=1e-7 * np.abs(full.B).max())
            assert small.at["inputs"] == pytest.approx(full.at["inputs"], rel=1e-6, abs=1e-6)


@pytest.mark.slow
def test_a_batch_is_every_state_alone(example):
    for name in ("four-bar", "stewart", "two-link"):
        mechanism = example(name)
        rng = np.random.default_rng(4)
        middle = supple.assemble(mechanism).theta
        theta = middle + 0.02 * rng.standard_normal((70, len(middle)))  # more than one thread takes
        rates = rng.standard_normal(theta.shape)
        u = rng.standard_normal((70, len(mechanism.actuators)))
        found = supple.linearize_batch(mechanism, theta, rates, inputs=u)
        assembled = supple.linearize_batch(mechanism, supple.assemble(mechanism, theta), rates, inputs=u)
        assert_allclose(found.A, assembled.A, rtol=0, atol=0)
        held = supple.linearize_batch(mechanism, theta, rates, accelerations=found.accelerations)
        assert_allclose(held.A, found.A, atol=1e-7 * np.abs(found.A).max())
        assert_allclose(held.inputs, u, atol=1e-8 * np.abs(u).max())
        for n in (0, 33, 69):
            alone = supple.linearize(mechanism, theta[n], rates=rates[n], inputs=u[n])
            assert_allclose(found.A[n], alone.A, atol=1e-11 * np.abs(alone.A).max())
            assert_allclose(found.B[n], alone.B, atol=1e-11 * np.abs(alone.B).max())
            assert [*alone.at["accelerations"].values()] == pytest.approx(found.accelerations[n], rel=1e-9)


def test_the_linear_model_predicts_small_motions(example):
    """A trajectory beside another: their difference follows A along the way."""
    mechanism = example("four-bar").replace(gravity=[0, -2.0])
    step, until = 2e-4, 0.1
    options = {"until": until, "step": step, "inputs": {"crank": 0.5}}
    main = supple.simulate(mechanism, start=[0.1], rates=[2.0], **options)
    beside = supple.simulate(mechanism, start=[0.1 + 1e-5], rates=[2.0], **options)
    theta, rates = main.coordinates["crank"], main.rates["crank"]
    A = supple.linearize_batch(mechanism, theta[:, None], rates[:, None], inputs=[0.5]).A
    x = np.array([1e-5, 0.0])
    for here, there in pairwise(A):
        slope = here @ x
        x = x + 0.5 * step * (slope + there @ (x + step * slope))
    expected = beside.coordinates["crank"][-1] - theta[-1]
    assert abs(expected - 1e-5) > 1e-7  # it did change
    assert x[0] == pytest.approx(expected, rel=1e-3)  # what is quadratic in 1e-5, and the errors of both marches
