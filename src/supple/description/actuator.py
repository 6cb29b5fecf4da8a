"""Actuators: a force along a joint's coordinate, or along the distance of two places (a cylinder)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, create_model, model_validator

from supple.description.load import Acting
from supple.description.part_of_kind import Key, PartOfKind
from supple.description.quantities.dimension import FREQUENCY, INDUCTANCE, RATIO, RESISTANCE, TIME
from supple.description.quantities.quantity import (
    Interval,
    NotNegative,
    NotNegativeOfCoordinate,
    OfCoordinate,
    Part,
    Positive,
    PositiveOfCoordinate,
    of,
)
from supple.diagnostics import InputError
from supple.hardware.drive_block import DriveBlock
from supple.hardware.state_space import LinearBlock, integrated, motor, servo
from supple.kinds.registry import Registry

# Kinds of drives: what they are told, what stands behind their key, and the block that follows.


Told = Literal["value", "rate", "force", "voltage"]
"""What a command is: of the coordinate's own value, rate or force, or volts."""


@dataclass(frozen=True, eq=False)
class DriveParameter:
    """A number behind the key of a kind.

    type, says, required : as of a `Key`
    of : where its dimension hangs on the coordinate: dimensions and their powers, such as {"rate": 1, "voltage": -1};
         those of a coordinate (value, rate, force), voltage, current, or gear (that of the drive)
    """

    type: Any
    says: str
    required: bool = False
    of: Mapping[str, int] = field(default_factory=dict)


_DELAY = DriveParameter(Annotated[NotNegative, of(TIME)], "Time until a command is felt, s; none if left out.")


@dataclass(frozen=True, eq=False)
class DriveKind:
    """Everything that differs between kinds of drives.

    name       : its key in the mechanism file
    says       : what it does with its command, in one sentence
    told       : what its command is, and so its unit
    moves      : its output is a motion, otherwise a force
    parameters : what stands behind the key, beside the delay that every drive may have
    block      : the linear block, of the parameters that are given; a gear is always among them: that of the file, of
                 the joint's motor, or 1
    """

    name: str
    says: str
    told: Told
    moves: bool
    parameters: Mapping[str, DriveParameter]
    block: Callable[[Mapping[str, float]], LinearBlock]

    @cached_property
    def all_parameters(self) -> dict[str, DriveParameter]:
        """With the delay."""
        return {**self.parameters, "delay": _DELAY}

    @cached_property
    def keys(self) -> dict[str, Key]:
        """What it adds to the keys of a drive."""
        fields: dict[str, Any] = {
            name: (
                item.type if item.required else item.type | None,
                Field(default=... if item.required else None, description=item.says),
            )
            for name, item in self.all_parameters.items()
        }
        title = f"{self.name.title().replace('_', '')}Drive"
        return {self.name: Key(create_model(title, __base__=Part, __doc__=self.says, **fields), self.says)}


_FREQUENCY = Annotated[Positive, of(FREQUENCY)]
_LAG = {
    "frequency": DriveParameter(_FREQUENCY, "Bandwidth, Hz; ideal if left out."),
    "damping": DriveParameter(
        Annotated[Positive, of(RATIO)], "Damping ratio of a lag of second order; of first order if left out."
    ),
}


def _gain(of: Mapping[str, int], says: str, required: bool = False) -> DriveParameter:
    return DriveParameter(PositiveOfCoordinate, says, required, of)


def _servo(given: Mapping[str, float]) -> LinearBlock:
    return servo(given.get("gain", 1.0), given.get("frequency"), given.get("damping"))


def _motor(given: Mapping[str, float]) -> LinearBlock:
    constant = given["torque_constant"]
    back_emf = given.get("back_emf", constant)
    return motor(constant, given["resistance"], given.get("inductance"), back_emf, given["gear"])


_HERE = "What it reaches for a unit of its command; 1 if left out."
_PER_CURRENT = {"force": 1, "gear": -1, "current": -1}

DRIVE_KINDS = Registry(
    "drive kind", DriveKind,
    DriveKind(
        "velocity", "A velocity servo: the coordinate's rate follows the command, m/s or rad/s.",
        told="rate", moves=True, parameters={**_LAG, "gain": _gain({}, _HERE)},
        block=lambda given: integrated(_servo(given)),
    ),
    DriveKind(
        "position", "A position servo: the coordinate follows the command, m or rad.",
        told="value", moves=True,
        parameters={
            **_LAG, "frequency": DriveParameter(_FREQUENCY, "Bandwidth, Hz.", required=True), "gain": _gain({}, _HERE)
        },
        block=_servo,
    ),
    DriveKind(
        "force", "A force servo: the force follows the command, N or N m.",
        told="force", moves=False, parameters={**_LAG, "gain": _gain({}, _HERE)}, block=_servo,
    ),
    DriveKind(
        "valve", "A valve and its cylinder, whatever the pressure: the coordinate's rate follows the voltage.",
        told="voltage", moves=True,
        parameters={"gain": _gain({"rate": 1, "voltage": -1}, "m/s (or rad/s) for a volt.", required=True), **_LAG},
        block=lambda given: integrated(_servo(given)),
    ),
    DriveKind(
        "motor", "A direct-current motor behind a gear: volts to the force along the coordinate.",
        told="voltage", moves=False,
        parameters={
            "torque_constant": _gain(
                _PER_CURRENT, "Torque of the rotor for an ampere, N m/A (N/A of a linear motor).", required=True
            ),
            "resistance": DriveParameter(Annotated[Positive, of(RESISTANCE)], "Of the winding, Ohm.", required=True),
            "inductance": DriveParameter(
                Annotated[Positive, of(INDUCTANCE)], "Of the winding, H; the current follows at once if left out."
            ),
            "back_emf": _gain(_PER_CURRENT, "Voltage for a rad/s of the rotor, V s/rad; torque_constant if left out."),
            "gear": DriveParameter(
                OfCoordinate,
                "Rotor angle for a unit of the coordinate (rad/rad, or rad/m); that of the joint's motor if left out, "
                "or 1.",
                of={"gear": 1},
            ),
        },
        block=_motor,
    ),
)  # fmt: skip


# The drive of an actuator: what its command is, and what becomes of it on the way to the mechanism.


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


class Actuator(Acting):
    """Its coordinate is the joint's, or the distance; its force drives that coordinate to grow."""

    limits: Interval | None = None
    """Least and largest value of its coordinate."""
    force_limits: Interval | None = None
    """Least and largest force."""
    drive: ActuatorDrive | None = None
    """What stands between its command and its force or motion; left out, the command is the force."""

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        for name in ("limits", "force_limits"):
            bounds = getattr(self, name)
            if bounds is not None and not bounds[0] < bounds[1]:
                raise ValueError(f"{name} must rise: {bounds[0]:g} is not below {bounds[1]:g}")
        return self
