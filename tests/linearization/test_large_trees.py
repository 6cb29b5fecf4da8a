"""Chains too long for dense matrices: accelerations and linear models are those that the dense ways give."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple.formulations.absolute import instant as instants
from supple.formulations.absolute.system import absolute
from supple.kinematics.rest import rest
from supple.linearization import tree_linearization

sys.path.insert(0, str(Path(__file__).parents[1] / "kinematics"))
from large_machines import chain, ladder, tower


@pytest.mark.parametrize("machine", [chain(6), ladder(4), ladder(4, plane=None), tower(3)], ids=lambda one: one.name)
def test_sparse_accelerations_and_reactions_are_the_dense_ones(machine, monkeypatch):
    position = rest(machine)
    bodies, d = len(position.numbering.bodies), position.numbering.sizes.width
    problem = absolute(position, (), 1e-3)
    u = np.ones((1, len(machine.actuators)))
    state = (position.X[None], np.zeros((1, bodies, d)), position.w[None], u, np.zeros((1, 0)))
    dense = instants.instant(problem, *state)
    monkeypatch.setattr(instants, "_MANY", 0)
    sparse = instants.instant(problem, *state)
    for one, other in zip(sparse, dense, strict=True):
        assert_allclose(one, other, atol=1e-11 * np.abs(other).max())


@pytest.fixture(scope="module")
def driven():
    """A chain with an actuator on every joint, seen at its joint in the middle and by the velocity of the next."""
    count = 5
    actuators = {f"m{i}": {"joint": f"P{i}"} for i in range(count)}
    sensors = {"middle": {"position": "P2"}, "speed": {"velocity": "P3"}}
    return lambda: chain(count, actuators=actuators, sensors=sensors)


def test_a_tree_is_linearized_without_its_local_model(driven, monkeypatch):
    whole = supple.linearize(driven())
    monkeypatch.setattr(tree_linearization, "_FEW", 0)
    seen = supple.linearize(driven())
    for name in "ABCD":
        assert_allclose(getattr(seen, name), getattr(whole, name), atol=1e-10 * np.abs(whole.A).max(), err_msg=name)
    assert_allclose(seen.second_order.P3, whole.second_order.P3, atol=1e-12)
    for name in ("states", "inputs", "outputs", "units"):
        assert getattr(seen, name) == getattr(whole, name)
    assert seen.at["states"] == whole.at["states"]
    assert_allclose(list(seen.at["outputs"].values()), list(whole.at["outputs"].values()), atol=1e-13)
