"""Reduced models under commands of drives: as the flexible mechanism they were made from."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from flexible_arm import HOME, five_bar, model
from numpy.testing import assert_allclose

import supple
from supple.diagnostics import SuppleNote

SERVO = {"velocity": {"frequency": 30.0, "damping": 0.7, "delay": 2e-3}}
YIELDS = {**SERVO, "stiffness": 2e3, "viscous": 1.0}
MOTOR = {"motor": {"torque_constant": 0.1, "resistance": 0.5, "inductance": 2e-3, "gear": 20.0}, "viscous": 0.2}


def driven(first, second):
    """The mechanism with these drives, and its model with the same."""
    actuators = {"A": {"joint": "A", "drive": first}, "E": {"joint": "E", "drive": second}}
    mechanism = five_bar().replace(actuators=actuators)
    return mechanism, replace(model(), hardware=supple.hardware_of(mechanism))


@pytest.mark.parametrize("drives", [(SERVO, SERVO), (YIELDS, SERVO), (MOTOR, YIELDS)], ids=["led", "yields", "motor"])
def test_its_responses_to_commands_are_the_mechanism_s(drives):
    mechanism, small = driven(*drives)
    ask = (["A", "E"], ["tool.x", "tool.z"], np.array([1.0, 7.0, 30.0]))
    options = {"kind": "accelerance", "free_actuators": True, "preload": False}
    whole, ours = supple.frf(mechanism, HOME, *ask, **options), small.frf(HOME, *ask, **options)
    assert ours.units == whole.units
    scale = np.abs(whole.values).max(axis=(0, 1))
    assert_allclose(ours.values / scale, whole.values / scale, atol=2e-3)  # of two modes, fitted to 1e-3


def test_its_linear_model_is_its_response():
    """About where it sags, by a thousandth of its size; the response is about the shape without its weight."""
    _, small = driven(YIELDS, MOTOR)
    lines = np.array([0.5, 5.0, 20.0])
    linear = small.linearize(HOME, pade=8)
    found = small.frf(HOME, ["A", "E"], ["tool.x", "tool.z"], lines, free_actuators=True)
    wanted = linear.frequency_response(lines)
    scale = np.abs(found.values).max(axis=(1, 2), keepdims=True)
    assert_allclose(wanted.values / scale, found.values / scale, atol=1e-3)
    assert linear.states[8:] == ("A.drive1", "A.drive2", "A.drive3", "E.drive1", *(f"A.delay{i + 1}" for i in range(8)))


def command(t):
    return 0.5 * np.sin(20.0 * np.pi * t) ** 2 if t < 0.05 else 0.0


@pytest.mark.parametrize("drives", [(SERVO, SERVO), (SERVO, YIELDS), (SERVO, MOTOR)], ids=["led", "yields", "motor"])
def test_it_moves_as_the_mechanism_does(drives):
    mechanism, small = driven(*drives)
    size = 2.0 if drives[1] is MOTOR else -0.4  # V, or of the first
    times, commands = np.linspace(0.0, 0.08, 41), {"A": command, "E": lambda t: size * command(t)}
    with pytest.warns(SuppleNote, match=r"damping model .*stiffness-proportional.*2 % .*62\.55 Hz.*rayleigh: \[0, "):
        whole = supple.simulate(mechanism, times, commands, HOME)
    ours = small.simulate(times, commands, HOME)
    for name in ("tool.x", "tool.z"):
        moved = whole.outputs[name] - whole.outputs[name][0]
        assert_allclose(ours.outputs[name] - ours.outputs[name][0], moved, atol=5e-3 * np.ptp(moved))
    for name, force in whole.driving_forces.items():
        assert_allclose(ours.driving_forces[name][5:], force[5:], atol=0.05 * np.abs(force).max())
    assert ours.energy_defect < 1e-6
    if drives[1] is not MOTOR:  # which holds nothing
        still = small.simulate(0.02, None, HOME)
        assert_allclose(still.coordinates["A"], HOME["A"], atol=1e-9)
        assert np.ptp(still.outputs["tool.z"]) < 1e-4 * np.ptp(whole.outputs["tool.z"])
