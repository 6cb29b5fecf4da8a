"""A mechanism without loops as a tree, against the local model; loops are refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple.description.actuator import Actuator
from supple.description.body import Body, Frame
from supple.description.joints.joint import Joint, Motor
from supple.description.joints.joint_kinds import JOINT_KINDS
from supple.description.load import Damper, Force, Spring
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError
from supple.formulations.recursive import forward_dynamics, forward_variation, mass_matrix
from supple.formulations.recursive.tree_of_mechanism import tree_of_mechanism

SPATIAL = Mechanism(
    name="arm",
    gravity=[0.3, -0.2, -9.81],
    points={"A": [0, 0, 0], "B": [0.4, 0.1, 0.5], "C": [0.9, 0.2, 0.6], "D": [1.2, 0.1, 0.4], "E": [1.4, 0, 0.4]},
    bodies={
        "post": Body(mass=3, center=[0.1, 0, 0.2], inertia=(0.3, 0.2, 0.1)),
        "fork": Body(mass=2, center=[0.6, 0.1, 0.5], inertia=(0.2, 0.3, 0.2)),
        "hand": Body(mass=1, center=[1.0, 0.2, 0.5], inertia=(0.1, 0.1, 0.2)),
        "tool": Body(mass=0.5, center=[1.3, 0.1, 0.4], inertia=(0.05, 0.04, 0.03)),
        "tip": Body(mass=0.4, center=[1.4, 0.1, 0.5], inertia=(0.03, 0.04, 0.03)),
    },
    frames={"hook": Frame(on="ground", at=[0.5, -0.6, 1.2]), "eye": Frame(on="tool", at=[1.3, 0.2, 0.3])},
    joints={
        "A": Joint(revolute=("ground", "post"), axis="z", viscous=0.3, rest=0.2, motor=Motor(inertia=0.001, gear=10)),
        "B": Joint(universal=("fork", "post"), axes=("y", "x")),
        "C": Joint(cylindrical=("fork", "hand"), axis=[1, 1, 0], viscous={"slide": 0.4, "angle": 0.1}),
        "D": Joint(prismatic=("tool", "hand"), axis=[0, 1, 1]),
        "E": Joint(planar=("tool", "tip"), axis="y"),
    },
    springs={
        "coil": Spring(joint="B.first", stiffness=7, rest=0.1),
        "rope": Spring(between=("hook", "eye"), stiffness=30, length=0.5),
        "band": Spring(between=("hook", "eye"), stiffness=5, length=0),
    },
    dampers={"shock": Damper(between=("hook", "eye"), damping=2), "pot": Damper(joint="E.x", damping=0.2)},
    forces={
        "push": Force(at="eye", force=[1, 2, 3], moment=[0.1, 0.2, 0.3]),
        "jet": Force(at="eye", force=[2, 0, 1], follower=True),
        "pull": Force(joint="D", force=1.5),
    },
    actuators={
        name: Actuator(joint=joint)
        for name, joint in [
            ("a", "A"), ("b1", "B.first"), ("b2", "B.second"), ("c1", "C.slide"), ("c2", "C.angle"), ("d", "D"),
            ("e1", "E.x"), ("e2", "E.y"), ("e3", "E.angle"),
        ]
    },
)  # fmt: skip
PLANAR = Mechanism(
    name="planar",
    plane="xz",
    gravity=[0, -9.81],
    points={"A": [0, 0], "B": [1, 0], "C": [1.5, 0.5]},
    bodies={
        "first": Body(rod=("A", "B"), mass=2),
        "second": Body(rod=("B", "C"), mass=1),
        "slider": Body(mass=0.5, center="C", inertia=0.01),
    },
    joints={
        "A": Joint(revolute=("first", "ground")),
        "B": Joint(revolute=("first", "second")),
        "C": Joint(prismatic=("second", "slider"), axis=[1, 1]),
    },
    springs={"coil": Spring(joint="C", stiffness=20, rest=0.1)},
    actuators={"a": Actuator(joint="A"), "b": Actuator(joint="B"), "c": Actuator(joint="C")},
)


SCREWS = Mechanism(
    name="screws",
    gravity=[0.3, -0.2, -9.81],
    points={"A": [0, 0, 0], "B": [0.4, 0.1, 0.5], "C": [0.9, 0.2, 0.6]},
    bodies={
        "post": Body(mass=3, center=[0.1, 0, 0.2], inertia=(0.3, 0.2, 0.1)),
        "nut": Body(mass=2, center=[0.6, 0.1, 0.5], inertia=(0.2, 0.3, 0.2)),
        "tool": Body(mass=1, center=[1.0, 0.2, 0.5], inertia=(0.1, 0.1, 0.2)),
    },
    joints={
        "A": Joint(screw=("ground", "post"), axis=[0, 1, 1], pitch=0.3, rest=0.2),
        "B": Joint(revolute=("post", "nut"), axis="x"),
        "C": Joint(screw=("tool", "nut"), axis=[1, 1, 0], pitch=-0.5, viscous=0.1),
    },
    actuators={"a": Actuator(joint="A"), "b": Actuator(joint="B"), "c": Actuator(joint="C")},
)


@pytest.mark.parametrize("mechanism", [SPATIAL, PLANAR, SCREWS], ids=["space", "plane", "screws"])
def test_a_tree_has_the_equations_of_the_local_model(mechanism):
    found = tree_of_mechanism(mechanism)
    order = [found.coordinates.index(item.joint) for item in mechanism.actuators.values()]
    rng = np.random.default_rng(0)
    theta = supple.assemble(mechanism).theta + rng.uniform(-0.3, 0.3, len(order))
    rates, u = rng.normal(size=(2, len(order)))
    model = supple.local(mechanism, theta)
    q, v = np.empty(len(order)), np.empty(len(order))
    q[order], v[order] = theta, rates
    M = mass_matrix(found.tree, q)[np.ix_(order, order)]
    assert_allclose(M, model.M, atol=1e-11 * np.abs(model.M).max())
    applied = model.force + model.input_map @ u - model.damping @ rates - model.inertia_forces(rates, 0 * rates)
    expected = np.linalg.solve(model.M, applied)
    accelerations = forward_dynamics(found.tree, q, v, u)[order]
    assert_allclose(accelerations, expected, atol=1e-10 * np.abs(expected).max())
    by_input = forward_variation(found.tree, q, v, u).by_input[order]
    assert_allclose(by_input, np.linalg.solve(model.M, model.input_map), atol=1e-10 * np.abs(by_input).max())


def test_an_actuator_along_a_distance():
    cylinder = {**SPATIAL.actuators, "e3": Actuator(between=("hook", "eye"))}
    mechanism = SPATIAL.replace(actuators=cylinder, coordinates=tuple(a.joint for a in SPATIAL.actuators.values()))
    found = tree_of_mechanism(mechanism)
    order = [found.coordinates.index(name) for name in mechanism.coordinates]
    rng = np.random.default_rng(1)
    theta, u = rng.uniform(-0.3, 0.3, len(order)), rng.normal(size=len(order))
    model, q = supple.local(mechanism, theta), np.empty(len(order))
    q[order] = theta
    expected = np.linalg.solve(model.M, model.force + model.input_map @ u)
    rest = np.zeros(len(order))
    assert_allclose(forward_dynamics(found.tree, q, rest, u)[order], expected, atol=1e-10 * np.abs(expected).max())
    by_input = forward_variation(found.tree, q, rest, u).by_input[order]
    assert_allclose(by_input, np.linalg.solve(model.M, model.input_map), atol=1e-10 * np.abs(by_input).max())


def test_a_free_body_falls():
    body = Body(mass=2, center=[0.1, 0.2, 0.3], inertia=(0.1, 0.2, 0.3))
    for bodies in (("ground", "stone"), ("stone", "ground")):
        stone = Mechanism(name="stone", gravity=[0, 0, -9.81], bodies={"stone": body}, joints={"F": Joint(free=bodies)})
        found = tree_of_mechanism(stone)
        assert set(found.coordinates) == {f"F.{x}" for x in ("x", "y", "z", "rotation_x", "rotation_y", "rotation_z")}
        a = forward_dynamics(found.tree, found.tree.neutral(), np.zeros(6))
        sign = 1.0 if bodies[0] == "ground" else -1.0
        assert_allclose(a[found.coordinates.index("F.z")], -9.81 * sign, atol=1e-12)
        assert_allclose(np.abs(a).sum(), 9.81, atol=1e-12)


def test_a_loop_is_refused_by_name():
    closed = PLANAR.replace(joints={**PLANAR.joints, "D": Joint(revolute=("ground", "slider"), at=[2, 0])})
    with pytest.raises(InputError, match=r"1 .*close loops: \w; .*cut them"):
        tree_of_mechanism(closed)


def test_what_bends_is_refused_by_name():
    joints = {**PLANAR.joints, "B": Joint(revolute=("first", "second"), elastic={"x": 1e6})}
    with pytest.raises(InputError, match=r'joint "B": .*is elastic.*tree needs rigid bodies'):
        tree_of_mechanism(PLANAR.replace(joints=joints))


def test_a_kind_of_joint_without_steps_is_refused_by_name(monkeypatch):
    """Not taken for a hinge, though its coordinate is an angle."""
    hinge = JOINT_KINDS["revolute"]
    monkeypatch.setitem(JOINT_KINDS._known, "revolute", replace(hinge, plane=replace(hinge.plane, steps=None)))
    with pytest.raises(InputError, match=r'joint "A": a tree .*revolute joints in the plane; .*closed chains'):
        tree_of_mechanism(PLANAR.replace(name="other"))
