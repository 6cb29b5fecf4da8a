"""Static equilibrium, and that what starts there stays."""

from __future__ import annotations

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple

PENDULUM = supple.Mechanism(
    plane="xz", gravity=[0, -9.81], points={"O": [0, 0], "P": [1, 0]}, bodies={"rod": {"rod": ["O", "P"], "mass": 1}},
    joints={"O": {"revolute": ["ground", "rod"]}}, actuators={"O": {"joint": "O"}},
)  # fmt: skip


@pytest.mark.parametrize("start", [0.0, 1.0, 3.0, np.pi / 2, -np.pi / 2])
def test_a_pendulum_hangs_also_from_upright(start):
    angle = supple.equilibrium(PENDULUM, [start]).theta[0]
    assert_allclose(np.sin(angle), -1.0, atol=1e-14)


def test_a_constant_torque_lifts_it():
    angle = supple.equilibrium(PENDULUM, inputs=[2.0]).theta[0]
    assert_allclose(9.81 / 2 * np.cos(angle), 2.0, rtol=1e-9)
    found = supple.simulate(PENDULUM, until=2.0, step=1e-2, start="equilibrium", inputs={"O": 2.0})
    assert_allclose(found.coordinates["O"], angle, atol=1e-12)


@pytest.mark.parametrize("size", [1e-6, 1e-3, 1e3])
@pytest.mark.parametrize("mass", [1e-9, 1e6])
def test_a_pendulum_of_any_size_falls_from_upright(size, mass):
    small = PENDULUM.replace(points={"O": [0, 0], "P": [size, 0]}, bodies={"rod": {"rod": ["O", "P"], "mass": mass}})
    angle = supple.equilibrium(small, [np.pi / 2]).theta[0]
    assert_allclose(angle % (2 * np.pi), 1.5 * np.pi, rtol=1e-14)


def test_the_force_that_is_left_is_rounding(example):
    held = springs_at(example("orthoglide"), 2e3)
    here = supple.equilibrium(held)
    sag = np.abs(here.theta - supple.assemble(held).theta).max()
    assert np.abs(supple.local(held, here).force).max() < 1e-13 * 2e3 * sag + 1e-15 * 2e3


def springs_at(mechanism, stiffness):
    """The mechanism held by a spring at every actuator."""
    here = supple.assemble(mechanism)
    springs = {}
    for i, (name, actuator) in enumerate(mechanism.actuators.items()):
        along = {"between": actuator.between} if actuator.between else {"joint": actuator.joint}
        relaxed = {"length" if actuator.between else "rest": float(here.theta[i])}
        springs[f"at_{name}"] = along | {"stiffness": stiffness} | relaxed
    return mechanism.replace(springs=springs)


@pytest.mark.parametrize(("name", "stiffness"), [("four-bar", 5.0), ("orthoglide", 2e3), ("stewart", 5e4)])
def test_what_starts_in_equilibrium_stays_there(example, name, stiffness):
    held = springs_at(example(name), stiffness)
    here = supple.equilibrium(held)
    sag = np.abs(here.theta - supple.assemble(held).theta).max()
    assert sag > 1e-4  # gravity bends the springs
    model = supple.local(held, here)
    assert_allclose(model.force, 0.0, atol=1e-9 * stiffness * sag)
    found = supple.simulate(held, until=1.0, step=1e-3, start="equilibrium")
    assert_allclose(found.bodies.w, np.tile(found.bodies.w[0], (len(found.time), 1)), atol=1e-9)
    assert np.abs(found.energy["kinetic"]).max() < 1e-15


def test_what_nothing_holds_has_none():
    sledge = supple.Mechanism(
        plane="xz", gravity=[0, -9.81], points={"S": [0, 0]},
        bodies={"sledge": {"mass": 1, "center": "S", "inertia": 0.1}},
        joints={"S": {"prismatic": ["ground", "sledge"], "axis": [1, -0.2]}}, coordinates=["S"],
    )  # fmt: skip
    with pytest.raises(supple.InputError, match=r"add springs or actuator forces") as caught:
        supple.equilibrium(sledge, [0.25])
    assert re.search(r"from S=0\.25.* at S=.* N along S", str(caught.value))
    held = sledge.replace(springs={"rope": {"joint": "S", "stiffness": 10.0, "rest": 0.0}})
    assert_allclose(supple.equilibrium(held).theta, 9.81 * 0.2 / np.hypot(1, 0.2) / 10.0, rtol=1e-9)


@pytest.mark.parametrize("inputs", [[0.0, 1.0], 1.0, [[1.0]], []])
def test_inputs_of_another_shape_are_refused(inputs):
    with pytest.raises(supple.InputError, match=r"inputs: .*\(1,\) values.*actuator \(O\)"):
        supple.equilibrium(PENDULUM, inputs=inputs)


def test_inputs_must_be_finite():
    with pytest.raises(supple.InputError, match=r"inputs: .*NaN"):
        supple.equilibrium(PENDULUM, inputs=[np.nan])


@pytest.mark.parametrize("analysis", [supple.deflection, supple.compliance])
def test_statics_of_rigid_mechanisms_are_refused_without_a_word_about_vibrations(analysis):
    with pytest.raises(supple.InputError, match=r'"pendulum": no body or joint is elastic; .*beam') as refused:
        analysis(supple.load("pendulum"), None, **({"places": "P"} if analysis is supple.compliance else {}))
    assert "vibrat" not in str(refused.value)
