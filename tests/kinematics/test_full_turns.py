"""Angles may exceed a turn: cranks go round and round, and what is measured keeps counting."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple.kinematics.closure import assemble
from supple.parameterization.local_model import local

TURN = 2.0 * np.pi


def crank_rocker(space=False, **more):
    """Shortest and longest bar are together below the other two (Grashof): the shortest goes right round."""
    points = {"A": [0.0, 0.0], "B": [0.3, 0.0], "C": [0.85, 0.7], "D": [1.0, 0.0]}
    lengths = {"crank": 0.3, "coupler": 0.9, "rocker": 0.7}
    ends = {"crank": ["A", "B"], "coupler": ["B", "C"], "rocker": ["D", "C"]}
    pairs = {"A": ["ground", "crank"], "B": ["crank", "coupler"], "C": ["coupler", "rocker"], "D": ["ground", "rocker"]}
    parts = {
        "points": points,
        "bodies": {name: {"rod": ends[name], "length": lengths[name], "mass": 1.0} for name in ends},
        "joints": {name: {"revolute": pair} for name, pair in pairs.items()},
        "actuators": {"motor": {"joint": "A"}},
        "gravity": [0.0, -9.81],
    }
    if space:
        parts["points"] = {name: [x, 0.0, z] for name, (x, z) in points.items()}
        parts["joints"] = {name: joint | {"axis": "-y"} for name, joint in parts["joints"].items()}
        return supple.Mechanism(**parts | {"gravity": [0.0, 0.0, -9.81]} | more)
    return supple.Mechanism(plane="xz", **parts | more)


@pytest.mark.parametrize("space", [False, True], ids=["in the plane", "in space"])
@pytest.mark.parametrize("turns", [1, 2, -2])
def test_a_crank_comes_back_to_the_same_places_after_full_turns(space, turns):
    mechanism = crank_rocker(space)
    start = np.linspace(-0.4, 1.2, 5)[:, None]
    once, again = assemble(mechanism, start), assemble(mechanism, start + turns * TURN)
    for name in ("B", "C", "coupler", "rocker"):
        # gaps are closed to 1e-12, at a condition of some tens
        assert_allclose(again.frame(name).position, once.frame(name).position, atol=1e-11)
        assert_allclose(again.frame(name).rotation, once.frame(name).rotation, atol=1e-11)
    grown = {"A": turns * TURN, "B": -turns * TURN, "C": 0.0, "D": 0.0}
    for name, change in grown.items():
        found = again.joint_coordinates[name] - once.joint_coordinates[name]
        assert_allclose(found, change, atol=1e-11)


def test_two_turns_in_small_steps_and_in_one_go_agree():
    mechanism = crank_rocker()
    thetas = np.linspace(0.0, 2.0 * TURN, 401)
    found = assemble(mechanism, thetas[:, None])
    rocker = found.joint_coordinates["D"]
    assert np.abs(np.diff(rocker)).max() < 0.05  # it never jumps to the other branch: 0.03 rad a step at 1 rad/rad
    assert_allclose(rocker[:201], rocker[200:], atol=1e-10)
    assert (np.diff(found.joint_coordinates["B"]) < 0.0).all()  # the coupler turns back against the crank


def test_the_model_repeats_with_every_turn():
    mechanism = crank_rocker()
    theta = np.array([[0.7], [2.9]])
    once, again = local(mechanism, theta), local(mechanism, theta + 2.0 * TURN)
    assert_allclose(again.M, once.M, rtol=1e-10)  # as the places do
    assert_allclose(again.christoffel, once.christoffel, rtol=1e-9)
    assert_allclose(again.force, once.force, rtol=1e-9)
    assert_allclose(again.potential, once.potential, rtol=1e-10)


def test_a_spring_on_a_hinge_winds_up():
    mechanism = crank_rocker(springs={"clock": {"joint": "A", "stiffness": 2.0, "rest": 0.5}}, gravity=None)
    theta = np.array([[0.7], [0.7 + TURN], [0.7 - 2.0 * TURN]])
    model = local(mechanism, theta)
    assert_allclose(model.potential, 0.5 * 2.0 * (theta[:, 0] - 0.5) ** 2, rtol=1e-12)
    assert_allclose(model.force[:, 0], -2.0 * (theta[:, 0] - 0.5), rtol=1e-12)


def test_a_drawing_may_start_beyond_half_a_turn():
    """`rest` says which turn the drawing shows."""
    joints = {name: joint.model_dump(exclude_none=True) for name, joint in crank_rocker().joints.items()}
    joints["A"]["rest"] = 7.0
    mechanism = crank_rocker(joints=joints)
    assert_allclose(assemble(mechanism, [7.3]).frame("C").position, assemble(crank_rocker(), [0.3]).frame("C").position,
                    atol=1e-11)  # fmt: skip


def test_a_pendulum_turns_as_often_as_it_is_told():
    pendulum = supple.Mechanism(
        plane="xy", points={"O": [0, 0], "P": [1, 0]}, bodies={"bar": {"rod": ["O", "P"], "mass": 1}},
        joints={"O": {"revolute": ["ground", "bar"]}}, actuators={"motor": {"joint": "O"}},
    )  # fmt: skip
    angle = 17.0 * TURN + 0.25
    found = assemble(pendulum, [angle])
    assert_allclose(found.frame("P").position, [np.cos(0.25), np.sin(0.25), 0.0], atol=1e-12)
    assert_allclose(found.joint_coordinates["O"], angle, rtol=1e-14)
