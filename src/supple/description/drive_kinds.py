"""Kinds of drives: what they are told, what stands behind their key, and the block that follows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import Field, create_model

from supple.description.part_of_kind import Key
from supple.description.quantities.dimension import FREQUENCY, INDUCTANCE, RATIO, RESISTANCE, TIME
from supple.description.quantities.quantity import NotNegative, OfCoordinate, Part, Positive, PositiveOfCoordinate, of
from supple.hardware.servos import LinearBlock, integrated, motor, servo
from supple.kinds.registry import Registry

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
