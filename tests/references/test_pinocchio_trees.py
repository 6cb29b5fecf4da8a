"""Mass matrix, inverse and forward dynamics and all their derivatives, against Pinocchio, robot by robot."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from pinocchio_trees import configuration, full, joint_of, random_configuration, robot_files, tree_of

from supple.diagnostics import NumericalError
from supple.formulations.recursive import (
    forward_dynamics,
    forward_variation,
    inverse_dynamics,
    inverse_variation,
    mass_matrix,
)

ROBOTS = robot_files()
LEFT_OUT = {"ur_description/ur3.urdf": "its robot has no name, and Pinocchio's parser refuses it"}
"""Robots that are not compared, and why; no other has a joint of a kind that we lack."""
MASSLESS = {"romeo_description/romeo.urdf", "romeo_description/romeo_laas_small.urdf"}
"""Robots with joints that move no mass: they have inverse dynamics, and no forward dynamics."""
ARMS = ("panda_description/panda.urdf", "xarm_description/xarm7.urdf", "talos_data/talos_left_arm.urdf")


def model_of(name, base="fixed"):
    roots = [] if base == "fixed" else [pin.JointModelFreeFlyer()]
    return pin.buildModelFromUrdf(str(ROBOTS[name]), *roots)


def difference(ours, theirs, scale=0.0):
    """Relative to the largest entry, or to a natural scale where all entries may vanish."""
    return np.abs(ours - theirs).max() / max(np.abs(theirs).max(), scale, 1e-300)


def compared_inverse(model, tree, q, v, a):
    """Mass matrix and inverse dynamics: these exist whatever the masses."""
    data, x = model.createData(), configuration(model, q)
    M = full(pin.crba(model, data, q))
    tau = pin.rnea(model, data, q, v, a).copy()
    found = {"M": difference(mass_matrix(tree, x), M), "tau": difference(inverse_dynamics(tree, x, v, a), tau)}
    by_q, by_rate, _ = (item.copy() for item in pin.computeRNEADerivatives(model, data, q, v, a))
    ours, size = inverse_variation(tree, x, v, a), np.abs(M).max()  # rates are about one
    found |= {"tau by q": difference(ours.by_q, by_q, size), "tau by rate": difference(ours.by_rate, by_rate, size)}
    return found | {"M beside": difference(ours.M, M)}


def compared(model, tree, q, v, a):
    """Largest differences of everything, and the condition of the mass matrix."""
    data, x = model.createData(), configuration(model, q)
    M, tau = full(pin.crba(model, data, q)), pin.rnea(model, data, q, v, a).copy()
    found = compared_inverse(model, tree, q, v, a)
    found["accelerations"] = difference(forward_dynamics(tree, x, v, tau), pin.aba(model, data, q, v, tau))
    by_q, by_rate, by_input = (item.copy() for item in pin.computeABADerivatives(model, data, q, v, tau))
    forward = forward_variation(tree, x, v, tau)
    found |= {"by q": difference(forward.by_q, by_q, 1.0), "by rate": difference(forward.by_rate, by_rate, 1.0)}
    found["by input"] = difference(forward.by_input, full(by_input))
    return found, np.linalg.cond(M)


def test_the_robots_left_out_are_those_with_a_reason():
    refused = set()
    for name in ROBOTS:
        try:
            model = model_of(name)
            [joint_of(model, i) for i in range(1, model.njoints)]
        except (KeyError, ValueError):
            refused.add(name)
    assert refused == set(LEFT_OUT)
    assert len(ROBOTS) - len(refused) > 50


@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("name", [name for name in ROBOTS if name not in LEFT_OUT])
def test_dynamics_and_derivatives_of_every_robot(name, base):
    model = model_of(name, base)
    if model.nv == 0:
        assert base == "fixed"  # a body without joints: only the floating one can move
        return
    tree, rng = tree_of(model), np.random.default_rng(len(name))
    for _ in range(2):
        q, v, a = random_configuration(model, rng), rng.normal(size=model.nv), rng.normal(size=model.nv)
        if name in MASSLESS:
            assert max(compared_inverse(model, tree, q, v, a).values()) < 1e-10
            assert not np.isfinite(pin.aba(model, model.createData(), q, v, a)).all()
            with pytest.raises(NumericalError, match=r"not finite; .*joint that moves no mass"):
                forward_dynamics(tree, configuration(model, q), v, a)
            continue
        found, condition = compared(model, tree, q, v, a)
        tolerance = 1e-10 * max(1.0, condition / 1e5)  # forward dynamics lose the digits of the mass matrix's condition
        assert max(found.values()) < tolerance, (found, condition)


@pytest.mark.parametrize("name", ARMS)
def test_a_thousand_states_of_seven_joint_arms(name):
    model = model_of(name)
    model = pin.buildReducedModel(model, list(range(8, model.njoints)), pin.neutral(model))
    assert model.nv == 7
    tree, rng, count = tree_of(model), np.random.default_rng(7), 1000
    q = np.array([random_configuration(model, rng) for _ in range(count)])
    v, a = rng.normal(size=(2, count, 7))
    x, data = np.array([configuration(model, item) for item in q]), model.createData()
    tau = np.array([pin.rnea(model, data, *state) for state in zip(q, v, a, strict=True)])
    M, back = mass_matrix(tree, x), forward_dynamics(tree, x, v, tau)
    inverse, forward = inverse_variation(tree, x, v, a), forward_variation(tree, x, v, tau)
    torques = inverse_dynamics(tree, x, v, a)
    for i in range(count):
        expected = full(pin.crba(model, data, q[i]))
        tolerance = 1e-10 * max(1.0, np.linalg.cond(expected) / 1e5)
        found = [difference(M[i], expected), difference(inverse.M[i], expected), difference(torques[i], tau[i])]
        found.append(difference(back[i], pin.aba(model, data, q[i], v[i], tau[i])))
        by_q, by_rate, _ = pin.computeRNEADerivatives(model, data, q[i], v[i], a[i])
        found += [difference(inverse.by_q[i], by_q), difference(inverse.by_rate[i], by_rate)]
        by_q, by_rate, by_input = pin.computeABADerivatives(model, data, q[i], v[i], tau[i])
        found += [difference(forward.by_q[i], by_q), difference(forward.by_rate[i], by_rate)]
        found.append(difference(forward.by_input[i], full(by_input)))
        assert max(found) < tolerance, (i, found)
