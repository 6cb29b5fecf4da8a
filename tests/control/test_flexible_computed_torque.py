"""Computed torque and references that know how a flexible mechanism deforms."""

import flexible_arm
import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple import control
from supple.control.controller import Measurement
from supple.reduced.time.begin import quasi_static

THETA = ("A", "E")


@pytest.fixture(scope="module")
def model():
    return flexible_arm.model()


@pytest.fixture(scope="module")
def motion():
    ends = {"A": (2.02, 2.17), "E": (1.15, 1.0)}
    bounds = {"velocity": 2.0, "acceleration": 15.0, "jerk": 300.0}
    return supple.Motion(coordinates={k: {"from": a, "to": b} | bounds for k, (a, b) in ends.items()})


def test_forces_are_those_of_the_deformed_model_on_its_way(model, motion):
    """Where the motion is met exactly, forces are those of the quasi-static deformation; taken as rigid, at δ = 0."""
    wanted = control.reference(motion, model)
    flexible, rigid = (control.computed_torque(model, motion, 30.0, rigid=stiff) for stiff in (False, True))
    for t in (0.05, 0.12):
        theta, rates, accelerations, _ = wanted.at(t)
        still = np.zeros(2)
        delta = quasi_static(model, theta[None], rates[None], accelerations[None])[0]
        for controller, deformed in ((flexible, delta), (rigid, still)):
            v, a = np.append(rates, still), np.append(accelerations, still)
            needed = model.evaluate(theta, delta=deformed).required_forces(v, a, deformed)[:2]
            seen = Measurement(THETA, theta, rates)
            assert_allclose(controller.step(t, seen), needed, rtol=1e-6)  # B is the unit matrix


def test_forces_of_a_planned_motion_are_those_of_its_deformation(model, motion):
    """Along a motion that was planned with the model they are the forces that its plan needs, with δ̇ and δ̈; half a
    sample ahead where they are held."""
    planned = control.rest_to_rest(model, motion)
    controller = control.computed_torque(model, planned, 30.0, preview=1e-3)
    for t in (0.03, 0.11):
        theta, rates, _, _ = planned.reference.at(t)
        accelerations = planned.reference.at(t + 1e-3)[2]
        delta, bending, second, _ = planned.deformation.at(t + 1e-3)
        v, a = np.append(rates, bending), np.append(accelerations, second)
        needed = model.inverse(theta, v, a, delta=delta)[:2]
        assert_allclose(controller.step(t, Measurement(THETA, theta, rates)), needed, rtol=1e-9)


def test_compensated_motion_brings_the_tool_where_it_should_be(model, motion):
    """Standing, the tool of the deformed mechanism is where that of the rigid one is: by the full equations."""
    five_bar = flexible_arm.five_bar()
    made, plain = control.compensate_deflection(motion, model, "tool"), control.reference(motion, model)
    assert made.begin < plain.begin
    for t in (made.begin, made.end):
        theta = made.at(t)[0]
        sag = supple.deflection(five_bar, theta, large=True)
        here, goal = (supple.local(five_bar, where, rigid=True).outputs for where in (theta, plain.at(t)[0]))
        for name in ("tool.x", "tool.z"):
            assert_allclose(here[name].value + sag.of(name), goal[name].value, atol=1e-7)  # of 60 µm that it sags


def test_compensated_motion_is_smooth(model, motion):
    """Rates and accelerations are those of its own values."""
    made = control.compensate_deflection(motion, model, "tool")
    t = np.linspace(made.begin, made.end, 2001)
    theta, rates, accelerations, _ = made.sample(t).transpose(1, 0, 2)
    for values, slope in ((theta, rates), (rates, accelerations)):
        assert_allclose(np.gradient(values, t, axis=0)[1:-1], slope[1:-1], atol=2e-3 * np.abs(slope).max())


def test_refusals(model, motion):
    with pytest.raises(supple.InputError, match='unknown position output "tol"; did you mean'):
        control.compensate_deflection(motion, model, "tol")
    with pytest.raises(supple.InputError, match=r"2 coordinates .* 3 outputs; give at most 2"):
        control.compensate_deflection(motion, model, ["tool", "tool.x"])
    with pytest.raises(supple.InputError, match="no end"):
        control.compensate_deflection(lambda t: ([2.0, 1.0], [0.0, 0.0], [0.0, 0.0]), model, "tool")
    with pytest.raises(supple.InputError, match=r"reactions.*torque or peak"):
        control.computed_torque(model, motion, 30.0, minimize="multipliers")
