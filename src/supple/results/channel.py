"""A channel of a test: where something is measured or pushed, along which direction, what it is, and in which unit."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from supple.array_types import Array
from supple.diagnostics import InputError, nearest
from supple.diagnostics.errors import quoted

Vector3 = tuple[float, float, float]

AXES = ("x", "y", "z", "rx", "ry", "rz")
TURNS = (*AXES[3:], "angle")
"""Directions about an axis; `angle` is that of a mechanism in a plane."""


class MeasuredQuantity(NamedTuple):
    """A kind of thing that is measured: its SI unit along and about an axis, and how often it is differentiated.

    order : of a motion: displacement 0, velocity 1, acceleration 2; None of what is no motion
    """

    unit: str
    turning: str
    order: int | None = None


QUANTITIES: dict[str, MeasuredQuantity] = {
    "force": MeasuredQuantity("N", "N m"),
    "displacement": MeasuredQuantity("m", "rad", 0),
    "velocity": MeasuredQuantity("m/s", "rad/s", 1),
    "acceleration": MeasuredQuantity("m/s²", "rad/s²", 2),
    "strain": MeasuredQuantity("m/m", "m/m", 0),
    "other": MeasuredQuantity("", ""),
}
MOTIONS = ("displacement", "velocity", "acceleration")


@dataclass(frozen=True)
class Channel:
    """One channel; `platform.-z` is the one of the point `platform` along -z.

    point     : the name of the place, as the test calls it
    direction : x, y, z, rx, ry, rz or `angle`, with - in front of one that counts the other way; three numbers, a
                direction that is none of the axes (they are made a unit vector); "" where there is none, as of strain
    quantity  : force (a moment about an axis), displacement, velocity, acceleration, strain, other
    position  : of the point, m, in the axes of the drawing; None where it is not known
    recorded  : the unit in the file; numbers here are in `unit`, which is SI
    """

    point: str
    direction: str | Vector3 = ""
    quantity: str = "acceleration"
    position: Vector3 | None = None
    recorded: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        if self.quantity not in QUANTITIES:
            raise InputError(
                f"{quoted(self.quantity)} is not a quantity", part=f"channel {quoted(self.point)}",
                hint=nearest(str(self.quantity), QUANTITIES),
            )  # fmt: skip
        object.__setattr__(self, "direction", _direction(self.direction, self.point))
        if self.position is not None:
            object.__setattr__(self, "position", _three(self.position, f"position of {quoted(self.point)}"))

    @property
    def name(self) -> str:
        """`point.direction`."""
        text = direction_text(self.direction, 6)
        return f"{self.point}.{text}" if text else self.point

    @property
    def turns(self) -> bool:
        """Whether it is about its direction, not along it."""
        return isinstance(self.direction, str) and self.direction.removeprefix("-") in TURNS

    @property
    def unit(self) -> str:
        """Of its numbers, SI."""
        kind = QUANTITIES[self.quantity]
        return (kind.turning if self.turns else kind.unit) or self.recorded

    @property
    def order(self) -> int | None:
        """How often a displacement is differentiated to give it."""
        return QUANTITIES[self.quantity].order

    @property
    def vector(self) -> Array | None:
        """The unit vector it is along, or about; None where it has no direction, or that of a plane's angle."""
        if not isinstance(self.direction, str):
            return np.array(self.direction)
        axis = self.direction.removeprefix("-")
        if axis not in AXES:
            return None
        sign = -1.0 if self.direction.startswith("-") else 1.0
        return np.asarray(sign * np.eye(3)[AXES.index(axis) % 3])

    def reversed(self) -> Channel:
        """The same, counted the other way."""
        if isinstance(self.direction, str):
            turned = self.direction[1:] if self.direction.startswith("-") else f"-{self.direction}"
            other: str | Vector3 = turned if self.direction else ""
        else:
            other = (-self.direction[0], -self.direction[1], -self.direction[2])
        return self.replaced(direction=other)

    def replaced(self, **changes: Any) -> Channel:
        """The same but for what is given."""
        kept = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return Channel(**{**kept, **changes})


def channel(name: str, quantity: str = "acceleration", position: Vector3 | None = None, recorded: str = "") -> Channel:
    """The channel of a name: `platform.z`, `platform.-z`, `platform.(0.6 0 0.8)`, or a point alone."""
    found = re.fullmatch(r"(?P<point>.+)\.\((?P<vector>[^()]*)\)", name)
    if found:
        return Channel(found["point"], _vector_of(found["vector"], name), quantity, position, recorded)
    point, _, axis = name.rpartition(".")
    if point and axis.removeprefix("-") in (*AXES, "angle"):
        return Channel(point, axis, quantity, position, recorded)
    return Channel(name, "", quantity, position, recorded)


def direction_text(direction: str | Vector3, digits: int = 17) -> str:
    """`-z`, or `(0.6 0 0.8)`."""
    return direction if isinstance(direction, str) else f"({' '.join(f'{value:.{digits}g}' for value in direction)})"


def direction_of(text: str) -> str | Vector3:
    """The direction that a text says."""
    return _vector_of(text[1:-1], text) if text.startswith("(") else text


def _vector_of(text: str, name: str) -> Vector3:
    try:
        return _three([float(value) for value in text.replace(",", " ").split()], quoted(name))
    except ValueError:
        raise InputError(
            f"{quoted(text)} is not a direction", part=quoted(name), hint="give three numbers, as in (0.6 0 0.8)"
        ) from None


def _direction(given: Any, point: str) -> str | Vector3:
    part = f"channel {quoted(point)}"
    if isinstance(given, str):
        if given and given.removeprefix("-") not in (*AXES, "angle"):
            hint = "x, y, z, rx, ry, rz, with - for the other way, or three numbers"
            raise InputError(f"{quoted(given)} is not a direction", part=part, hint=hint)
        return given
    x, y, z = _three(given, f"direction of {quoted(point)}")
    length = float(np.sqrt(x * x + y * y + z * z))
    if length == 0.0:
        raise InputError("its direction is zero", part=part, hint="give three numbers, as in (0, 0.6, 0.8)")
    unit = (x / length + 0.0, y / length + 0.0, z / length + 0.0)
    for i, axis in enumerate(AXES[:3]):  # along an axis it has its letter, so that names are the same
        if abs(unit[i]) > 1.0 - 1e-14:
            return axis if unit[i] > 0.0 else f"-{axis}"
    return unit


def _three(given: Any, part: str) -> Vector3:
    values = np.asarray(given, dtype=float).reshape(-1)
    if len(values) != 3 or not np.isfinite(values).all():
        raise InputError(f"{len(values)} numbers were given, or some that are not finite", part=part, hint="give three")
    return float(values[0]), float(values[1]), float(values[2])
