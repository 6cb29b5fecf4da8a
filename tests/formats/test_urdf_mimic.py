"""Joints that mimic others, as couplings: robots against Pinocchio's equations with their coordinates eliminated.

With q = G θ + c of all joints, M = Gᵀ M_q G, and forces follow in the same way. Pinocchio's own mimic models, where it
builds one, must say the same.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from functools import cache
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

import supple
from supple.formats.source import source_of
from supple.kinematics.rest import rest

pin = pytest.importorskip("pinocchio", reason="Pinocchio (PyPI: pin) is not installed")
pytestmark = pytest.mark.filterwarnings("ignore:.*URDF does not define")

# Grippers of Franka, Rethink, PAL (a linkage by mimic joints alone) and Willow Garage; hands of PAL and Aldebaran.
NAMES = ("panda.urdf", "baxter.urdf", "tiago_pro.urdf", "pr2.urdf", "talos_full_v2.urdf", "romeo.urdf")
MODELLED = ("panda.urdf", "baxter.urdf", "pr2.urdf", "tiago_pro.urdf")  # Pinocchio finds no leader in the others
MASSLESS = ("romeo.urdf",)  # its hands weigh nothing


def robots() -> dict[str, Path]:
    try:
        listed = files("example-robot-data") or []
    except PackageNotFoundError:
        return {}
    found = [Path(str(item.locate())).resolve() for item in listed if item.suffix == ".urdf"]
    return {path.name: path for path in found if path.name in NAMES}


ROBOTS = robots()
if not ROBOTS:
    pytest.skip("the package example-robot-data is not installed", allow_module_level=True)


class Eliminated:
    """Pinocchio's tree with every joint, and q = G θ + c read from the URDF's own elements."""

    def __init__(self, name: str):
        read = supple.load(ROBOTS[name])
        smooth = {joint: part.model_copy(update={"dry": None}) for joint, part in read.joints.items()}
        self.mechanism = read.replace(joints=smooth)  # dry friction is no part of Pinocchio's equations
        self.model = pin.buildModelFromUrdf(str(ROBOTS[name]))
        self.data = self.model.createData()
        written = {joint: source_of(read).names.get(("joints", joint), joint) for joint in read.joints}
        self.joints = {word: self.model.joints[self.model.getJointId(word)] for word in written.values()}
        self.theta = [written[joint] for joint in read.coordinate_names()]
        self.G, self.c = np.zeros((self.model.nv, len(self.theta))), np.zeros(self.model.nv)
        for joint in self.joints:
            at, (leader, factor, offset) = self.joints[joint].idx_v, followed(name, joint)
            self.c[at] = offset
            self.G[at, self.theta.index(leader)] = factor
        self.viscous = np.zeros(self.model.nv)
        for joint, word in written.items():
            self.viscous[self.joints[word].idx_v] = read.joints[joint].viscous or 0.0

    def q(self, theta):
        """An unbounded hinge is cosine and sine in Pinocchio."""
        values, found = self.G @ theta + self.c, pin.neutral(self.model)
        for joint in self.joints.values():
            value = values[joint.idx_v]
            found[joint.idx_q : joint.idx_q + joint.nq] = value if joint.nq == 1 else [np.cos(value), np.sin(value)]
        return found

    def mass(self, theta):
        upper = np.triu(pin.crba(self.model, self.data, self.q(theta)))
        return self.G.T @ (upper + np.triu(upper, 1).T) @ self.G

    def needed(self, theta, v, a):
        """Forces along θ that the motion takes."""
        rates = self.G @ v
        return self.G.T @ (pin.rnea(self.model, self.data, self.q(theta), rates, self.G @ a) + self.viscous * rates)

    def accelerations(self, theta, v, u):
        return np.linalg.solve(self.mass(theta), u - self.needed(theta, v, 0.0 * v))

    def linear(self, theta, v, a):
        """A of (θ, θ̇)."""
        n = len(theta)
        by_q, by_v, _ = pin.computeRNEADerivatives(self.model, self.data, self.q(theta), self.G @ v, self.G @ a)
        both = np.hstack([self.G.T @ by_q @ self.G, self.G.T @ (by_v + np.diag(self.viscous)) @ self.G])
        return np.block([[np.zeros((n, n)), np.eye(n)], [-np.linalg.solve(self.mass(theta), both)]])


def followed(name: str, joint: str) -> tuple[str, float, float]:
    """(leader, m, c) of a joint: q = m q_leader + c, through joints that themselves follow."""
    elements = {item.get("name"): item for item in ET.parse(ROBOTS[name]).getroot().findall("joint")}
    factor, offset = 1.0, 0.0
    while (mimic := elements[joint].find("mimic")) is not None:
        offset += factor * float(mimic.get("offset", 0.0))
        factor *= float(mimic.get("multiplier", 1.0))
        joint = mimic.get("joint")
    return joint, factor, offset


eliminated = cache(Eliminated)


@pytest.fixture(params=[name for name in NAMES if name in ROBOTS])
def robot(request):
    return request.param, eliminated(request.param)


def test_every_mimic_joint_is_a_coupling(robot):
    name, theirs = robot
    ours = theirs.mechanism
    assert len(ours.joints) == theirs.model.nv == len(ours.couplings) + len(ours.actuators)
    assert len(ours.couplings) == sum(followed(name, joint)[0] != joint for joint in theirs.joints) > 0
    found = rest(ours).mobility
    assert (found.mobility, found.redundant) == (len(ours.actuators), 0)


def test_mass_and_gravity_are_those_of_the_eliminated_tree(robot):
    _, theirs = robot
    rng = np.random.default_rng(3)
    for theta in rng.uniform(-0.6, 0.6, (2, len(theirs.theta))):
        found, M = supple.local(theirs.mechanism, theta), theirs.mass(theta)
        weight = theirs.needed(theta, 0.0 * theta, 0.0 * theta)
        assert_allclose(found.M, M, rtol=0, atol=1e-12 * np.abs(M).max())
        assert_allclose(found.force, -weight, rtol=0, atol=1e-12 * np.abs(weight).max())


@pytest.mark.parametrize("route", ["tree", "closed chain"])
def test_linear_models_are_those_of_the_eliminated_tree(robot, route, monkeypatch):
    name, theirs = robot
    if route == "closed chain":
        monkeypatch.setattr("supple.linearization.linearization_batch.tree_order", lambda mechanism: None)
    if name in MASSLESS:
        pytest.skip("what weighs nothing has no accelerations")
    rng = np.random.default_rng(4)
    theta, v, u = (rng.uniform(-0.6, 0.6, (2, len(theirs.theta))) for _ in range(3))
    batch = supple.linearize_batch(theirs.mechanism, theta, v, inputs=u)
    for k in range(2):
        a = theirs.accelerations(theta[k], v[k], u[k])
        assert_allclose(batch.accelerations[k], a, rtol=0, atol=1e-10 * np.abs(a).max())
        A = theirs.linear(theta[k], v[k], a)
        assert_allclose(batch.A[k], A, rtol=0, atol=1e-10 * np.abs(A).max())


@pytest.mark.parametrize("name", [name for name in MODELLED if name in ROBOTS])
def test_pinocchios_own_mimic_models_say_the_same(name):
    theirs = eliminated(name)
    model = pin.buildModelFromUrdf(str(ROBOTS[name]), True)
    data = model.createData()
    theta = np.random.default_rng(5).uniform(-0.6, 0.6, len(theirs.theta))
    q, order = pin.neutral(model), []
    for word, value in zip(theirs.theta, theta, strict=True):
        joint = model.joints[model.getJointId(word)]
        q[joint.idx_q : joint.idx_q + joint.nq] = value if joint.nq == 1 else [np.cos(value), np.sin(value)]
        order.append(joint.idx_v)
    upper = np.triu(pin.crba(model, data, q))
    M = (upper + np.triu(upper, 1).T)[np.ix_(order, order)]
    assert_allclose(supple.local(theirs.mechanism, theta).M, M, rtol=0, atol=1e-12 * np.abs(M).max())


def test_a_run_is_that_of_the_eliminated_equations():
    """Falling from a bent posture: the same accelerations at the start, an error that falls with the step squared."""
    theirs = eliminated("panda.urdf")
    start = np.array([0.2, -0.4, 0.3, -1.5, 0.1, 1.2, 0.4, 0.02])
    u = np.array([1.0, -2.0, 0.5, 1.0, 0.2, -0.1, 0.05, 0.3])
    n, until = len(start), 0.08
    inputs = dict(zip(theirs.theta, u, strict=True))
    exact = solve_ivp(
        lambda _, x: np.concatenate([x[n:], theirs.accelerations(x[:n], x[n:], u)]),
        (0.0, until), np.concatenate([start, 0.0 * start]), method="DOP853", rtol=1e-12, atol=1e-13,
    ).y[:n, -1]  # fmt: skip
    errors = []
    for step in (0.004, 0.002):
        run = supple.simulate(theirs.mechanism, until=until, step=step, start=start, inputs=inputs)
        errors.append(np.array([run.coordinates[word][-1] for word in theirs.theta]) - exact)
        first = np.array([run.accelerations[word][0] for word in theirs.theta])
        expected = theirs.accelerations(start, 0.0 * start, u)
        assert_allclose(first, expected, rtol=0, atol=1e-10 * np.abs(expected).max())
        leader, follower = (run.joint_coordinates[f"panda_finger_joint{i}"] for i in (1, 2))
        assert_allclose(follower, leader, rtol=0, atol=1e-11)  # m: where a step stops
    assert np.abs(errors[1]).max() < 1e-4
    assert_allclose(errors[0], 4.0 * errors[1], rtol=0, atol=0.1 * np.abs(errors[0]).max())
