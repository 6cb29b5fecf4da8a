"""Drives of a mechanism's actuators as blocks."""

from __future__ import annotations

from supple.description.mechanism import Mechanism
from supple.description.quantities.coordinate_dimensions import TURNING, coordinate_dimensions
from supple.diagnostics import InputError
from supple.diagnostics.errors import fault_at
from supple.hardware.drive_block import DriveBlock

_VOLTAGE = "V"
_TURNING = {"value": "rad", "rate": "rad/s", "force": "N m", "voltage": _VOLTAGE}
_SLIDING = {"value": "m", "rate": "m/s", "force": "N", "voltage": _VOLTAGE}


def drive_blocks(mechanism: Mechanism) -> tuple[DriveBlock, ...]:
    """Return the block of every actuator that has a drive; errors name the actuator."""
    return tuple(_block(mechanism, name) for name, actuator in mechanism.actuators.items() if actuator.drive)


def _block(mechanism: Mechanism, name: str) -> DriveBlock:
    actuator, path = mechanism.actuators[name], ("actuators", name, "drive")
    assert actuator.drive is not None
    turns = coordinate_dimensions(mechanism, name) is TURNING
    limits = actuator.force_limits
    bounds = None if limits is None else (float(limits[0]), float(limits[1]))
    try:
        return actuator.drive.block(name, _TURNING if turns else _SLIDING, _gear(mechanism, name), bounds)
    except InputError as error:
        raise fault_at(path, error.message, error.hint) from None


def _gear(mechanism: Mechanism, name: str) -> float:
    """Return the gear of the motor on the coordinate of an actuator; 1 without one."""
    reference = mechanism.actuators[name].joint
    found = None if reference is None else mechanism.joint_coordinate(reference)
    if found is None:
        return 1.0
    joint, coordinate = found
    motor = mechanism.joints[joint].value("motor", coordinate, mechanism.plane)
    return 1.0 if motor is None else float(motor.gear)
