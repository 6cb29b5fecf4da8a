"""Commands with which drives that pull give the forces that a controller asks for, slowly speaking.

    ẋ = A x + B c + E ω,   f = C x + D c,   force f - c_v ω        settled: force = g c - d ω
    g = D - C A⁻¹ B,   d = c_v + C A⁻¹ E,   c = (u + d ω) / g

ω = Bᵀ θ̇ is the rate along the actuator. Lags, delays, dead bands and limits are not in it: a loop stays well below the
drive's bandwidth, or is given a preview where it has one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple.array_types import Array
from supple.control.plants.surrounding import hardware_in
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError
from supple.hardware.drive_block import DriveBlock
from supple.hardware.hardware import Hardware
from supple.reduced.model import ReducedModel


@dataclass(frozen=True, eq=False)
class ForceCommands:
    """gain : g (a,), N or N m for a unit of the command; drag : d (a,), N s/m or N m s/rad; driven : names of the
    actuators that have a drive."""

    gain: Array
    drag: Array
    driven: tuple[str, ...] = ()

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

    def rows(self, forces: Array) -> Array:
        """Commands (a, ...) for a unit of whatever forces (a, ...) are for, where nothing moves."""
        return np.asarray((forces.T / self.gain).T)

    def by_rate(self, B: Array) -> Array:
        """Commands (a, s) for a unit of θ̇ that make up for the drag; B (s, a): of forces along θ."""
        return self.rows(self.drag[:, None] * B.T)

    def damping(self, B: Array) -> Array:
        """B d Bᵀ (s, s), which drives add to the damping of θ."""
        return np.asarray((B * self.drag) @ B.T)


def force_commands(
    of: Mechanism | ReducedModel, actuators: tuple[str, ...], hardware: Hardware | bool, part: str
) -> ForceCommands:
    """Of the drives of some actuators.

    hardware : as in `closed_loop`: True those of the mechanism or model itself, False none
    part     : who asks
    """
    return commands_for(hardware_in(of, hardware), actuators, part)


def commands_for(known: Hardware, actuators: tuple[str, ...], part: str) -> ForceCommands:
    """Of the drives among some hardware."""
    pairs = [_settled(known.drive(name), part) for name in actuators]
    driven = tuple(name for name in actuators if known.drive(name) is not None)
    return ForceCommands(np.array([pair[0] for pair in pairs]), np.array([pair[1] for pair in pairs]), driven)


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
