"""The drive of an actuator: what its command is, and what becomes of it on the way to the mechanism."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Self

from pydantic import model_validator

from supple.description.drive_kinds import DRIVE_KINDS, DriveKind
from supple.description.part_of_kind import PartOfKind
from supple.description.quantities.quantity import Interval, NotNegativeOfCoordinate, PositiveOfCoordinate
from supple.diagnostics import InputError
from supple.hardware.drive_block import DriveBlock


class ActuatorDrive(PartOfKind):
    """A servo, a valve with its cylinder or a motor, with the limits of its command."""

    kinds: ClassVar = DRIVE_KINDS

    limits: Interval | None = None
    """Least and largest command, in its unit; of a force drive the actuator's force_limits as well."""
    rate_limit: PositiveOfCoordinate | None = None
    """How fast the command may change, its unit for a second."""
    dead_band: NotNegativeOfCoordinate = 0.0
    """A command up to this size does nothing; of a larger one the rest counts, as of a valve with overlap."""
    resolution: PositiveOfCoordinate | None = None
    """The command is rounded to multiples of it."""
    stiffness: PositiveOfCoordinate | None = None
    """Of a drive that moves: what is between it and the coordinate, N/m or N m/rad. Left out: it leads the coordinate,
    which is where the drive puts it whatever the force."""
    viscous: NotNegativeOfCoordinate = 0.0
    """Beside the stiffness, N s/m or N m s/rad; of a drive that gives a force, what resists the coordinate's rate."""

    @property
    def record(self) -> DriveKind:
        """Of its kind."""
        return DRIVE_KINDS[self.kind]

    @property
    def given(self) -> dict[str, float]:
        """The parameters of its kind that are written."""
        found = {name: getattr(self.said, name) for name in self.record.all_parameters}
        return {name: value for name, value in found.items() if value is not None}

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        kinds = self._kinds()
        if len(kinds) != 1:
            raise ValueError(f"a drive has exactly one kind: {', '.join(DRIVE_KINDS)}")
        if self.limits is not None and not self.limits[0] < self.limits[1]:
            raise ValueError(f"limits must rise: {self.limits[0]:g} is not below {self.limits[1]:g}")
        if "damping" in self.given and "frequency" not in self.given:
            raise ValueError("a damping ratio stands beside a frequency")
        kind = DRIVE_KINDS[kinds[0]]
        if self.stiffness is not None and not kind.moves:
            moving = ", ".join(name for name, other in DRIVE_KINDS.items() if other.moves)
            raise ValueError(f"a {kind.name} drive gives a force and has no stiffness; those that move are {moving}")
        if self.viscous and kind.moves and self.stiffness is None:
            raise ValueError("viscous stands beside a stiffness: a coordinate that is led does not feel it")
        return self

    def block(
        self, actuator: str, units: Mapping[str, str], gear: float, force_limits: tuple[float, float] | None
    ) -> DriveBlock:
        """Its equations.

        units        : of what commands may be (value, rate, force, voltage); gear : of the joint's motor, or 1
        force_limits : of the actuator, which a force drive keeps
        """
        kind = self.record
        given = {"gear": gear} | {name: float(value) for name, value in self.given.items()}
        linear = kind.block(given)
        limits = self.limits
        if kind.told == "force" and force_limits is not None:
            gain = given.get("gain", 1.0)
            least, largest = limits or (-float("inf"), float("inf"))
            limits = max(least, force_limits[0] / gain), min(largest, force_limits[1] / gain)
            if not limits[0] < limits[1]:
                raise InputError("its limits and the actuator's force_limits exclude each other", hint="widen one")
        return DriveBlock(
            actuator, kind.name, kind.moves, linear.A, linear.B, linear.C, linear.D, linear.E,
            stiffness=None if self.stiffness is None else float(self.stiffness),
            damping=linear.damping + float(self.viscous), delay=given.get("delay", 0.0),
            limits=None if limits is None else (float(limits[0]), float(limits[1])),
            rate_limit=None if self.rate_limit is None else float(self.rate_limit),
            dead_band=float(self.dead_band), resolution=float(self.resolution or 0.0), unit=units[kind.told],
        )  # fmt: skip
