"""Commands with which drives that pull give the forces that a controller asks for, slowly speaking.

    ẋ = A x + B c + E ω,   f = C x + D c,   force f - c_v ω        settled: force = g c - d ω
    g = D - C A⁻¹ B,   d = c_v + C A⁻¹ E,   c = (u + d ω) / g

ω is the rate along the actuator. Lags and delays are not in it: give the controller a preview.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError
from supple.formulations.hardware import hardware_of
from supple.hardware.drive_block import DriveBlock
from supple.hardware.hardware import NO_HARDWARE, Hardware
from supple.reduced.model import ReducedModel

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ForceCommands:
    """gain : g (a,), N or N m for a unit of the command; drag : d (a,), N s/m or N m s/rad."""

    gain: Array
    drag: Array

    @property
    def plain(self) -> bool:
        """Whether commands are the forces themselves."""
        return bool((self.gain == 1.0).all() and not self.drag.any())

    def commands(self, forces: Array, along: Array) -> Array:
        """c (a,) of forces at rates ω (a,)."""
        return (forces + self.drag * along) / self.gain

    def forces(self, commands: Array, along: Array) -> Array:
        """Back."""
        return self.gain * commands - self.drag * along


def force_commands(
    of: Mechanism | ReducedModel, actuators: tuple[str, ...], hardware: Hardware | bool, part: str
) -> ForceCommands:
    """Of the drives of some actuators.

    hardware : as in `closed_loop`: True those of the mechanism or model itself, False none
    part     : who asks
    """
    own = of.hardware if isinstance(of, ReducedModel) else hardware_of(of)
    known = hardware if isinstance(hardware, Hardware) else own if hardware else NO_HARDWARE
    pairs = [_settled(known.drive(name), part) for name in actuators]
    return ForceCommands(np.array([pair[0] for pair in pairs]), np.array([pair[1] for pair in pairs]))


def _settled(block: DriveBlock | None, part: str) -> tuple[float, float]:
    """g and d of a drive; of none the command is the force."""
    if block is None:
        return 1.0, 0.0
    if block.moves:
        raise InputError(
            f'the drive of actuator "{block.actuator}" takes {block.unit} and moves it, and {part} asks for forces',
            part=part, hint="take joint_servo or two_time_scales, or leave drives out on both sides (hardware=False)",
        )  # fmt: skip
    settled = np.linalg.solve(block.A, np.column_stack([block.B, block.E])) if block.order else np.zeros((0, 2))
    by_command, by_rate = block.C @ settled
    gain = block.D - float(by_command)
    if gain == 0.0:
        raise InputError(
            f'a constant command of actuator "{block.actuator}" gives no force', part=part, hint="correct its drive"
        )
    return gain, block.damping + float(by_rate)
