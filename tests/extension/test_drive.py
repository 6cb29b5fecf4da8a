"""A kind of drive from one file: a stepper whose motion lags by two equal first-order filters."""

from __future__ import annotations

STEPPER = """
import numpy as np
import supple
from supple.hardware.state_space import LinearBlock


def block(given):
    rate = 1.0 / given["lag"]
    A = np.array([[-rate, rate], [0.0, -rate]])
    return LinearBlock(A, np.array([0.0, rate]), np.array([1.0, 0.0]), 0.0, np.zeros(2))


STEPPER = supple.DriveKind(
    name="stepper",
    description="A stepper motor: the coordinate follows the command through two lags.",
    command="value",
    moves=True,
    parameters={"lag": supple.DriveParameter(float, "Of each, s.", required=True)},
    block=block,
)
"""
MACHINE = """
supple: 1
name: arm
points: {A: [0, 0, 0], B: [1, 0, 0.2]}
bodies: {arm: {rod: [A, B], mass: 1, inertia: [0.01, 0.01, 0.01], center: B}}
joints: {A: {revolute: [ground, arm], axis: z}}
actuators: {turn: {joint: A, drive: {stepper: {lag: 0.01, delay: 1 ms}, resolution: 0.1 deg}}}
"""
USED = """
import json
import supple

(drive,) = supple.hardware_of(supple.load("machine.yaml")).drives
print(json.dumps({"leads": drive.leads, "unit": drive.unit, "delay": drive.delay, "A": drive.A.tolist()}))
"""


def test_a_drive_is_one_record(installed):
    found = installed(STEPPER, "STEPPER")
    (found.folder / "machine.yaml").write_text(MACHINE)
    assert found.python(USED) == {"leads": True, "unit": "rad", "delay": 1e-3, "A": [[-100.0, 100.0], [0.0, -100.0]]}
    assert "stepper" in found.supple("schema")["$defs"]["ActuatorDrive"]["properties"]
