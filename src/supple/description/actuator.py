"""Actuators: forces along a joint coordinate, or along the distance between two points (a cylinder)."""

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
from supple.hardware.state_space import LinearBlock, integrate_block, motor, servo
from supple.kinds.registry import Registry

# Kinds of drives: the quantity that their command prescribes, their keys in the file, and their linear block.


CommandQuantity = Literal["value", "rate", "force", "voltage"]
"""Quantity that a command prescribes: the coordinate's value, its rate, the force along it, or a voltage."""


@dataclass(frozen=True, eq=False)
class DriveParameter:
    """Parameter of a drive kind: a key inside the kind's own key.

    Parameters
    ----------
    type : type
        Type of the value, as for pydantic.
    description : str
        Description with unit and default, in one sentence.
    required : bool, optional
        Whether the file must give it. Default: False.
    of : mapping of str to int, optional
        Dimension relative to the coordinate, as powers of dimensions, such as {"rate": 1, "voltage": -1}. The names are
        those of a coordinate (value, rate, force), voltage, current, and gear (that of the drive).
    """

    type: Any
    description: str
    required: bool = False
    of: Mapping[str, int] = field(default_factory=dict)


_DELAY = DriveParameter(Annotated[NotNegative, of(TIME)], "Dead time between command and response, s. Default: none.")


@dataclass(frozen=True, eq=False)
class DriveKind:
    """Record of a drive kind: everything in which drive kinds differ.

    Parameters
    ----------
    name : str
        Key in the mechanism file.
    description : str
        What the drive does with its command, in one sentence.
    command : {"value", "rate", "force", "voltage"}
        Quantity that the command prescribes, which determines its unit.
    moves : bool
        Whether the output is a motion; otherwise it is a force.
    parameters : mapping of str to DriveParameter
        Parameters inside the key, in addition to the delay that every drive has.
    block : callable
        ``block(parameters) -> LinearBlock`` for the given parameters, {name: value}. These always include a gear: that
        of the file, that of the joint's motor, or 1.
    """

    name: str
    description: str
    command: CommandQuantity
    moves: bool
    parameters: Mapping[str, DriveParameter]
    block: Callable[[Mapping[str, float]], LinearBlock]

    @cached_property
    def all_parameters(self) -> dict[str, DriveParameter]:
        """Parameters including the delay."""
        return {**self.parameters, "delay": _DELAY}

    @cached_property
    def keys(self) -> dict[str, Key]:
        """Keys that this kind adds to a drive."""
        fields: dict[str, Any] = {
            name: (
                item.type if item.required else item.type | None,
                Field(default=... if item.required else None, description=item.description),
            )
            for name, item in self.all_parameters.items()
        }
        title = f"{self.name.title().replace('_', '')}Drive"
        return {
            self.name: Key(create_model(title, __base__=Part, __doc__=self.description, **fields), self.description)
        }


_FREQUENCY = Annotated[Positive, of(FREQUENCY)]
_LAG = {
    "frequency": DriveParameter(_FREQUENCY, "Bandwidth, Hz. Default: infinite."),
    "damping": DriveParameter(
        Annotated[Positive, of(RATIO)], "Damping ratio of a second-order lag. Default: first-order lag."
    ),
}


def _gain(of: Mapping[str, int], description: str, required: bool = False) -> DriveParameter:
    return DriveParameter(PositiveOfCoordinate, description, required, of)


def _servo(given: Mapping[str, float]) -> LinearBlock:
    return servo(given.get("gain", 1.0), given.get("frequency"), given.get("damping"))


def _motor(given: Mapping[str, float]) -> LinearBlock:
    constant = given["torque_constant"]
    back_emf = given.get("back_emf", constant)
    return motor(constant, given["resistance"], given.get("inductance"), back_emf, given["gear"])


_STATIC_GAIN = "Static gain: output per unit of command. Default: 1."
_PER_CURRENT = {"force": 1, "gear": -1, "current": -1}

DRIVE_KINDS = Registry(
    "drive kind", DriveKind,
    DriveKind(
        "velocity", "Velocity servo: the rate of the coordinate follows the command, m/s or rad/s.",
        command="rate", moves=True, parameters={**_LAG, "gain": _gain({}, _STATIC_GAIN)},
        block=lambda given: integrate_block(_servo(given)),
    ),
    DriveKind(
        "position", "Position servo: the coordinate follows the command, m or rad.",
        command="value", moves=True,
        parameters={
            **_LAG, "frequency": DriveParameter(_FREQUENCY, "Bandwidth, Hz.", required=True),
            "gain": _gain({}, _STATIC_GAIN),
        },
        block=_servo,
    ),
    DriveKind(
        "force", "Force servo: the force follows the command, N or N m.",
        command="force", moves=False, parameters={**_LAG, "gain": _gain({}, _STATIC_GAIN)}, block=_servo,
    ),
    DriveKind(
        "valve", "Valve and cylinder, independent of pressure: the rate of the coordinate follows the voltage.",
        command="voltage", moves=True,
        parameters={"gain": _gain({"rate": 1, "voltage": -1}, "Rate per volt, m/s/V or rad/s/V.", True), **_LAG},
        block=lambda given: integrate_block(_servo(given)),
    ),
    DriveKind(
        "motor", "Direct-current motor and gear: the voltage produces the force along the coordinate.",
        command="voltage", moves=False,
        parameters={
            "torque_constant": _gain(
                _PER_CURRENT, "Torque constant of the rotor, N m/A (N/A for a linear motor).", required=True
            ),
            "resistance": DriveParameter(Annotated[Positive, of(RESISTANCE)], "Winding resistance, Ohm.", True),
            "inductance": DriveParameter(
                Annotated[Positive, of(INDUCTANCE)], "Winding inductance, H. Default: none (quasi-static current)."
            ),
            "back_emf": _gain(_PER_CURRENT, "Back-EMF constant of the rotor, V s/rad. Default: torque_constant."),
            "gear": DriveParameter(
                OfCoordinate,
                "Rotor angle per unit of the coordinate, rad/rad or rad/m. Default: the gear of the joint's motor, "
                "else 1.",
                of={"gear": 1},
            ),
        },
        block=_motor,
    ),
)  # fmt: skip


# The drive of an actuator: its command, the limits of the command, and its block.


class ActuatorDrive(PartOfKind):
    """Drive of an actuator: a servo, a valve with its cylinder, or a motor, with the limits of its command."""

    kinds: ClassVar = DRIVE_KINDS

    limits: Interval | None = None
    """Least and largest command, in the unit of the command. A force drive also respects the `force_limits` of the
    actuator."""
    rate_limit: PositiveOfCoordinate | None = None
    """Largest rate of change of the command, unit of the command per second."""
    dead_band: NotNegativeOfCoordinate = 0.0
    """Dead band of the command: smaller commands have no effect, larger ones are reduced by it (as by the overlap of a
    valve)."""
    resolution: PositiveOfCoordinate | None = None
    """Resolution of the command, which is rounded to multiples of it."""
    stiffness: PositiveOfCoordinate | None = None
    """Stiffness between a drive with motion output and the coordinate, N/m or N m/rad. Default: rigid, so that the
    drive prescribes the coordinate whatever the force."""
    viscous: NotNegativeOfCoordinate = 0.0
    """Damping parallel to the stiffness, N s/m or N m s/rad; for a drive with force output, viscous friction of the
    coordinate."""

    @property
    def record(self) -> DriveKind:
        """Record of the drive's kind."""
        return DRIVE_KINDS[self.kind]

    @property
    def given(self) -> dict[str, float]:
        """Parameters of the kind that the file gives."""
        found = {name: getattr(self.kind_value, name) for name in self.record.all_parameters}
        return {name: value for name, value in found.items() if value is not None}

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        kinds = self._kinds()
        if len(kinds) != 1:
            raise ValueError(f"a drive needs exactly one kind: {', '.join(DRIVE_KINDS)}")
        if self.limits is not None and not self.limits[0] < self.limits[1]:
            raise ValueError(f"limits must increase (got {self.limits[0]:g} to {self.limits[1]:g})")
        if "damping" in self.given and "frequency" not in self.given:
            raise ValueError("a damping ratio needs a frequency; add frequency")
        kind = DRIVE_KINDS[kinds[0]]
        if self.stiffness is not None and not kind.moves:
            moving = ", ".join(name for name, other in DRIVE_KINDS.items() if other.moves)
            raise ValueError(
                f"a {kind.name} drive outputs a force and has no stiffness; drives with motion output: {moving}"
            )
        if self.viscous and kind.moves and self.stiffness is None:
            raise ValueError("viscous needs a stiffness: it has no effect on a prescribed coordinate")
        return self

    def block(
        self, actuator: str, units: Mapping[str, str], gear: float, force_limits: tuple[float, float] | None
    ) -> DriveBlock:
        """Return the block with the equations of this drive.

        units        : units of the possible commands (value, rate, force, voltage)
        gear         : gear of the joint's motor, or 1
        force_limits : limits of the actuator, which a force drive respects
        """
        kind = self.record
        given = {"gear": gear} | {name: float(value) for name, value in self.given.items()}
        linear = kind.block(given)
        limits = self.limits
        if kind.command == "force" and force_limits is not None:
            gain = given.get("gain", 1.0)
            least, largest = limits or (-float("inf"), float("inf"))
            limits = max(least, force_limits[0] / gain), min(largest, force_limits[1] / gain)
            if not limits[0] < limits[1]:
                raise InputError(
                    "the limits of the drive and the force_limits of the actuator exclude each other",
                    hint="widen one of them",
                )
        return DriveBlock(
            actuator, kind.name, kind.moves, linear.A, linear.B, linear.C, linear.D, linear.E,
            stiffness=None if self.stiffness is None else float(self.stiffness),
            damping=linear.damping + float(self.viscous), delay=given.get("delay", 0.0),
            limits=None if limits is None else (float(limits[0]), float(limits[1])),
            rate_limit=None if self.rate_limit is None else float(self.rate_limit),
            dead_band=float(self.dead_band), resolution=float(self.resolution or 0.0), unit=units[kind.command],
        )  # fmt: skip


class Actuator(Acting):
    """Actuator along a joint coordinate or a distance; a positive force increases that coordinate.

    Examples
    --------
    >>> import supple
    >>> supple.Actuator(joint="elbow", force_limits=[-40, 40]).force_limits
    (-40.0, 40.0)
    """

    limits: Interval | None = None
    """Least and largest value of the coordinate, m or rad."""
    force_limits: Interval | None = None
    """Least and largest force, N or N m."""
    drive: ActuatorDrive | None = None
    """Drive that turns the command into a force or a motion. Default: the command is the force."""

    @model_validator(mode="after")
    def _check_limits(self) -> Self:
        for name in ("limits", "force_limits"):
            bounds = getattr(self, name)
            if bounds is not None and not bounds[0] < bounds[1]:
                raise ValueError(f"{name} must increase (got {bounds[0]:g} to {bounds[1]:g})")
        return self
