"""Every robot of the package example-robot-data: read as Pinocchio reads it, or refused for a reason."""

from __future__ import annotations

import random
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple.description.drawing import Drawing
from supple.description.mass_properties import mass_properties
from supple.formats.source import source_of

pin = pytest.importorskip("pinocchio", reason="Pinocchio (PyPI: pin) is not installed")

BASES = ("fixed", "floating")
# What these robots have beyond URDF, each said when it is read.
ADDED = {
    "panda_description/panda.urdf": "D of <dynamics> .*, K of <dynamics>",
    "anymal_b_simple_description/anymal.urdf": "command_effort of <limit>",
}
pytestmark = pytest.mark.filterwarnings("ignore:.*URDF does not define")
BROKEN_MIMIC = r':\d+: joint "Left_index_q2": it mimics "index_q1", which is not another joint'
NO_MOTION = "no link can move: every link is fixed to the root link"
IMPOSSIBLE = r":\d+: body .* principal moment"
REFUSED = {
    "alex_description/alex_psyonic_hands.urdf": dict.fromkeys(BASES, BROKEN_MIMIC),
    "hector_description/quadrotor_base.urdf": {"fixed": NO_MOTION},
    "iris_description/iris_simple.urdf": {"fixed": NO_MOTION},
    "romeo_description/romeo_laas_small.urdf": dict.fromkeys(BASES, IMPOSSIBLE),
    "romeo_description/romeo_small.urdf": dict.fromkeys(BASES, IMPOSSIBLE),
    "ur_description/ur3.urdf": dict.fromkeys(BASES, "the robot has no links"),
}
MOST_JOINTS = 13  # of robots whose mass matrix is compared; larger ones take long and show nothing new


def robots() -> dict[str, Path]:
    try:
        listed = files("example-robot-data") or []
    except PackageNotFoundError:
        return {}
    found = sorted(Path(str(item.locate())).resolve() for item in listed if item.suffix == ".urdf")
    return {f"{path.parents[1].name}/{path.name}": path for path in found}


ROBOTS = robots()
CASES = [pytest.param(name, base, id=f"{name}-{base}") for name in ROBOTS for base in BASES]
LOADED = [case for case in CASES if case.values[1] not in REFUSED.get(case.values[0], {})]
# Every robot once, on one of its bases.
SAMPLE = [random.Random(name).choice([case for case in LOADED if case.values[0] == name])
          for name in dict.fromkeys(case.values[0] for case in LOADED)]  # fmt: skip
if not ROBOTS:
    pytest.skip("the package example-robot-data is not installed", allow_module_level=True)


def load(name: str, base: str = "fixed") -> supple.Mechanism:
    # Pinocchio lets mimicking joints move on their own as well, unless it is asked not to.
    return supple.load(ROBOTS[name], sidecar={"base": base, "mimic": "free"})


def theirs(name: str, base: str = "fixed"):
    return pin.buildModelFromUrdf(str(ROBOTS[name]), *([] if base == "fixed" else [pin.JointModelFreeFlyer()]))


def test_the_list_of_the_refused_is_up_to_date():
    assert set(REFUSED) <= set(ROBOTS)
    assert len(LOADED) > 100
    assert {case.values[1] for case in SAMPLE} == set(BASES)


@pytest.mark.parametrize(("name", "base"), [(name, base) for name, why in REFUSED.items() for base in why])
def test_refused_for_a_reason(name, base):
    with pytest.raises(supple.InputError, match=REFUSED[name][base]) as refused:
        load(name, base)
    assert refused.value.file == str(ROBOTS[name])
    assert refused.value.hint


@pytest.mark.parametrize("name", ADDED)
def test_additions_are_said(name):
    with pytest.warns(supple.SuppleWarning, match=ADDED[name]):
        load(name)


@pytest.mark.parametrize(("name", "base"), SAMPLE)
def test_mass_and_its_centre(name, base):
    mechanism, model = load(name, base), theirs(name, base)
    drawing = Drawing(mechanism)
    ours = mass_properties(drawing)
    mass = sum(part.mass for part in ours.values())
    moment = sum(part.mass * drawing.bodies[body].to_world(part.center) for body, part in ours.items())
    data = model.createData()
    pin.forwardKinematics(model, data, pin.neutral(model))
    # Joint 0 is the universe, which carries what is fixed to it.
    parts = [(model.inertias[i], data.oMi[i]) for i in range(1, model.njoints)]
    total = sum(inertia.mass for inertia, _ in parts)
    assert_allclose(mass, total, rtol=1e-13)
    center = sum(inertia.mass * place.act(inertia.lever) for inertia, place in parts) / total
    assert_allclose(moment / mass, center, atol=1e-13)  # m: rounding of products of a few rotations
    assert len(mechanism.joints) == model.njoints - 1


def written_joints(mechanism: supple.Mechanism) -> list[str]:
    """Names of the joints as in the URDF."""
    names = source_of(mechanism).names
    return [names.get(("joints", name), name) for name in mechanism.joints]


ARMS = [name for name in ROBOTS if "fixed" not in REFUSED.get(name, {}) and theirs(name).nv <= MOST_JOINTS]


@pytest.mark.parametrize("name", ARMS)
def test_mass_matrix_and_gravity(name):
    read, model = load(name), theirs(name)
    mechanism = read.replace(coordinates=tuple(read.joints), actuators={})  # mimicking joints have no actuators
    data = model.createData()
    joints = [model.joints[model.getJointId(joint)] for joint in written_joints(read)]
    order = [joint.idx_v for joint in joints]
    rng = np.random.default_rng(7)
    for theta in rng.uniform(-1, 1, (3, len(joints))):
        q = pin.neutral(model)
        for joint, value in zip(joints, theta, strict=True):
            # An unbounded hinge is cosine and sine in Pinocchio.
            q[joint.idx_q : joint.idx_q + joint.nq] = value if joint.nq == 1 else [np.cos(value), np.sin(value)]
        upper = np.triu(pin.crba(model, data, q))
        M = (upper + np.triu(upper, 1).T)[np.ix_(order, order)]
        gravity = pin.computeGeneralizedGravity(model, data, q)[order]
        found = supple.local(mechanism, theta)
        assert_allclose(found.M, M, rtol=0, atol=1e-12 * np.abs(M).max())
        assert_allclose(found.force, -gravity, rtol=0, atol=1e-12 * max(np.abs(gravity).max(), 1.0))


ARMS = [name for name in ROBOTS if name.startswith(("ur_description/ur5", "ur_description/ur10", "kinova_description"))]


@pytest.mark.parametrize("name", [name for name in ARMS if name not in REFUSED][:4])
def test_forces_along_a_motion_are_those_of_the_recursion_of_newton_and_euler(name):
    model, arm = theirs(name), load(name)
    data, rng = model.createData(), np.random.default_rng(0)
    names = supple.assemble(arm).rest.numbering.coordinates
    order = [list(model.names).index(item) - 1 for item in names]
    theta, rates, accelerations = rng.uniform(-0.5, 0.5, (3, 5, len(names)))
    here = supple.local(arm, theta)
    found = here.required_forces(rates, accelerations) - np.einsum("nij,nj->ni", here.damping, rates)
    for n in range(5):
        q, v, a = pin.neutral(model), np.zeros(model.nv), np.zeros(model.nv)
        for i, joint in enumerate(order):
            at = model.joints[joint + 1]
            turn = [np.cos(theta[n, i]), np.sin(theta[n, i])]  # how Pinocchio keeps the angle of a continuous joint
            q[at.idx_q : at.idx_q + at.nq] = turn if at.nq == 2 else theta[n, i]
            v[at.idx_v], a[at.idx_v] = rates[n, i], accelerations[n, i]
        expected = pin.rnea(model, data, q, v, a)[[model.joints[joint + 1].idx_v for joint in order]]
        assert_allclose(found[n], expected, rtol=0, atol=1e-11 * max(1.0, np.abs(expected).max()))
