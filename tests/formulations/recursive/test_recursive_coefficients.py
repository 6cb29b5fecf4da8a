"""Local models and inverse dynamics of trees: the recursion gives what the general path gives, to rounding.

Both paths add up some hundred products of numbers up to the largest of a coefficient, and the general one solves
triangular systems of well-scaled rows. Rounding of 1e-16 grows by less than 1e4 on the way: 1e-12 of the largest.
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from test_tree_of_mechanism import PLANAR, SCREWS, SPATIAL

import supple
from supple import Actuator, Body, Force, Frame, Joint, Mechanism, Motor, Sensor, Spring
from supple.formulations.recursive.recursive_tree import recursive_tree
from supple.kinematics.closure import assemble
from supple.parameterization import rigid_rows
from supple.parameterization.local_model import local_row

ROUNDING = 1e-12
KINDS = {
    "revolute": ("",), "prismatic": ("",), "screw": ("",), "cylindrical": ("slide", "angle"),
    "universal": ("first", "second"), "planar": ("x", "y", "angle"),
}  # fmt: skip


def random_tree(seed: int, friction: bool = False) -> Mechanism:
    """Bodies on random parents behind random joints, either way round; springs, loads, motors, sensors."""
    rng = np.random.default_rng(seed)
    bodies, joints, actuators, points = {}, {}, {}, {}
    count = int(rng.integers(2, 6))
    for i in range(count):
        points[f"P{i}"] = rng.normal(size=3).tolist()
        inertia = rng.uniform(0.16, 0.3, 3)
        center = rng.normal(size=3).tolist()
        bodies[f"b{i}"] = Body(mass=float(rng.uniform(0.5, 3)), center=center, inertia=tuple(inertia.tolist()))
        parent = "ground" if i == 0 else f"b{rng.integers(0, i)}"
        kind = str(rng.choice(list(KINDS)))
        pair = (parent, f"b{i}") if rng.random() < 0.5 else (f"b{i}", parent)
        a, b = np.linalg.qr(rng.normal(size=(3, 3)))[0][:2].tolist()
        options = {"axes": (a, b)} if kind == "universal" else {"axis": a}
        if kind == "screw":
            options["pitch"] = float(rng.normal())
        if len(KINDS[kind]) == 1:
            options |= {"viscous": float(rng.uniform(0, 1)), "motor": Motor(inertia=1e-3, gear=8)}
            options |= {"dry": 0.7} if friction else {}
        joints[f"P{i}"] = Joint(**{kind: pair}, **options)
        for name in KINDS[kind]:
            joint = f"P{i}.{name}" if name else f"P{i}"
            actuators[f"m{len(actuators)}"] = Actuator(joint=joint)
    tip = f"b{count - 1}"
    return Mechanism(
        name=f"tree {seed}", gravity=rng.normal(size=3).tolist(), points=points, bodies=bodies, joints=joints,
        frames={"hook": Frame(on="ground", at=[9.0, 8.0, 7.0]), "eye": Frame(on=tip, at=rng.normal(size=3).tolist())},
        springs={
            "coil": Spring(joint=actuators["m0"].joint, stiffness=7, rest=0.1),
            "rope": Spring(between=("hook", "eye"), stiffness=30, length=0.5),
        },
        forces={
            "push": Force(at="eye", force=[1, 2, 3], moment=[0.1, 0.2, 0.3]),
            "jet": Force(at="eye", force=[2, 0, 1], follower=True),
        },
        actuators=actuators, sensors={"tip": Sensor(position="eye"), "pull": Sensor(between=("hook", "eye"))},
    )  # fmt: skip


def cases() -> dict[str, Mechanism]:
    spatial = SPATIAL.replace(springs={name: item for name, item in SPATIAL.springs.items() if name != "band"})
    found = {"space": spatial, "plane": PLANAR, "screws": SCREWS}
    found |= {f"random {seed}": random_tree(seed) for seed in range(12)}
    return found | {f"random {seed} with friction": random_tree(seed, friction=True) for seed in (20, 21, 22)}


@pytest.fixture(params=cases(), scope="module")
def tree(request):
    return cases()[request.param]


def batch_at(mechanism: Mechanism, count: int):
    rng = np.random.default_rng(1)
    rest = assemble(mechanism).theta
    return rng, rest + rng.uniform(-0.4, 0.4, (count, len(rest)))


def test_every_coefficient_is_that_of_the_general_path(tree, monkeypatch):
    assert recursive_tree(tree) is not None
    here = assemble(tree, batch_at(tree, 11)[1])
    found, regular = rigid_rows.rigid_rows(here)
    monkeypatch.setattr(rigid_rows, "tree_of_rows", lambda position: None)
    expected, also = rigid_rows.rigid_rows(here)
    assert regular.all()
    assert also.all()
    layout = local_row(here)
    for name in layout.shapes:
        ours, theirs = layout.part(found, name), layout.part(expected, name)
        if ours.size:
            size = max(1.0, np.abs(theirs).max(), np.abs(layout.part(expected, "M")).max())
            assert_allclose(ours, theirs, rtol=0, atol=ROUNDING * size, err_msg=name)


def test_a_row_does_not_depend_on_its_batch(tree):
    theta = batch_at(tree, 11)[1]
    whole = supple.local(tree, theta)
    for n in (0, 7, 10):
        np.testing.assert_array_equal(supple.local(tree, theta[n]).christoffel, whole.christoffel[n])


def test_forces_along_a_motion_are_those_of_the_local_model(tree, monkeypatch):
    rng, theta = batch_at(tree, 9)
    rates, accelerations = rng.normal(size=(2, *theta.shape))
    path = supple.Trajectory(assemble(tree).rest.numbering.coordinates, np.arange(9.0), theta, rates, accelerations)
    found = supple.inverse(tree, path)
    monkeypatch.setattr("supple.inverse_dynamics.inverse_dynamics.recursive_tree", lambda mechanism: None)
    monkeypatch.setattr(rigid_rows, "tree_of_rows", lambda position: None)
    expected = supple.inverse(tree, path)
    size = np.abs(expected.needed).max()
    assert_allclose(found.needed, expected.needed, rtol=0, atol=ROUNDING * size)
    assert_allclose(found.friction, expected.friction, rtol=0, atol=ROUNDING)
    for name in expected.forces:
        assert_allclose(found.forces[name], expected.forces[name], rtol=0, atol=ROUNDING * size, err_msg=name)
    assert found.model.M.shape == expected.model.M.shape
    assert_allclose(found.motion.dV, expected.motion.dV, atol=1e-9)
