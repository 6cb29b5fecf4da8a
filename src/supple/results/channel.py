"""Channels of tests: location, direction, quantity and unit of a measurement or an excitation."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from supple.array_types import Array
from supple.diagnostics import InputError, require_known
from supple.diagnostics.errors import quote

Vector3 = tuple[float, float, float]

AXES = ("x", "y", "z", "rx", "ry", "rz")
TURNS = (*AXES[3:], "angle")
"""Directions about an axis; `angle` is the rotation in a planar mechanism."""


class MeasuredQuantity(NamedTuple):
    """Kind of measured quantity: its SI units along and about an axis, and its time derivative order.

    order : displacement 0, velocity 1, acceleration 2; None for quantities that are not motions
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
    """Measurement or excitation channel of a test; `platform.-z` is the channel at the point `platform` along -z.

    Attributes
    ----------
    point : str
        Name of the point in the test.
    direction : str or tuple of float
        Direction: x, y, z, rx, ry, rz or `angle`, with a leading - for the opposite sense, or a vector of three
        numbers,
        which is normalized. It is "" for quantities without a direction, such as strain.
    quantity : str
        Quantity: force (a moment for directions about an axis), displacement, velocity, acceleration, strain or other.
    position : tuple of float or None
        Position of the point, m, in the axes of the drawing; None if unknown.
    recorded : str
        Unit in the file. Values in supple have the SI unit `unit`.

    Examples
    --------
    >>> import supple
    >>> force = supple.Channel("platform", "-z", "force")
    >>> force.name, force.unit
    ('platform.-z', 'N')
    """

    point: str
    direction: str | Vector3 = ""
    quantity: str = "acceleration"
    position: Vector3 | None = None
    recorded: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        require_known("quantity", self.quantity, QUANTITIES, part=f"channel {quote(self.point)}")
        object.__setattr__(self, "direction", _direction(self.direction, self.point))
        if self.position is not None:
            object.__setattr__(self, "position", _three(self.position, f"position of {quote(self.point)}"))

    @property
    def name(self) -> str:
        """Name of the channel, `point.direction`."""
        text = direction_text(self.direction, 6)
        return f"{self.point}.{text}" if text else self.point

    @property
    def turns(self) -> bool:
        """True if the direction is about an axis."""
        return isinstance(self.direction, str) and self.direction.removeprefix("-") in TURNS

    @property
    def unit(self) -> str:
        """SI unit of the values."""
        kind = QUANTITIES[self.quantity]
        return (kind.turning if self.turns else kind.unit) or self.recorded

    @property
    def order(self) -> int | None:
        """Order of the time derivative of a displacement; None for quantities that are not motions."""
        return QUANTITIES[self.quantity].order

    @property
    def vector(self) -> Array | None:
        """Unit vector of the direction; None if there is no direction, or for the angle in a plane."""
        if not isinstance(self.direction, str):
            return np.array(self.direction)
        axis = self.direction.removeprefix("-")
        if axis not in AXES:
            return None
        sign = -1.0 if self.direction.startswith("-") else 1.0
        return np.asarray(sign * np.eye(3)[AXES.index(axis) % 3])

    def reverse(self) -> Channel:
        """Return the channel with the opposite direction."""
        if isinstance(self.direction, str):
            turned = self.direction[1:] if self.direction.startswith("-") else f"-{self.direction}"
            other: str | Vector3 = turned if self.direction else ""
        else:
            other = (-self.direction[0], -self.direction[1], -self.direction[2])
        return self.copy_with(direction=other)

    def copy_with(self, **changes: Any) -> Channel:
        """Return a copy with some attributes replaced."""
        kept = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return Channel(**{**kept, **changes})


def channel(name: str, quantity: str = "acceleration", position: Vector3 | None = None, recorded: str = "") -> Channel:
    """Return the channel with a name: `platform.z`, `platform.-z`, `platform.(0.6 0 0.8)`, or a point alone."""
    found = re.fullmatch(r"(?P<point>.+)\.\((?P<vector>[^()]*)\)", name)
    if found:
        return Channel(found["point"], _vector_of(found["vector"], name), quantity, position, recorded)
    point, _, axis = name.rpartition(".")
    if point and axis.removeprefix("-") in (*AXES, "angle"):
        return Channel(point, axis, quantity, position, recorded)
    return Channel(name, "", quantity, position, recorded)


def direction_text(direction: str | Vector3, digits: int = 17) -> str:
    """Return a direction as text: `-z`, or `(0.6 0 0.8)`."""
    return direction if isinstance(direction, str) else f"({' '.join(f'{value:.{digits}g}' for value in direction)})"


def direction_of(text: str) -> str | Vector3:
    """Return the direction given by a text."""
    return _vector_of(text[1:-1], text) if text.startswith("(") else text


def _vector_of(text: str, name: str) -> Vector3:
    try:
        return _three([float(value) for value in text.replace(",", " ").split()], quote(name))
    except ValueError:
        raise InputError(
            f"{quote(text)} is not a direction", part=quote(name), hint="give three numbers, such as (0.6 0 0.8)"
        ) from None


def _direction(given: Any, point: str) -> str | Vector3:
    part = f"channel {quote(point)}"
    if isinstance(given, str):
        if given and given.removeprefix("-") not in (*AXES, "angle"):
            hint = "give x, y, z, rx, ry or rz, with - for the opposite sense, or three numbers"
            raise InputError(f"{quote(given)} is not a direction", part=part, hint=hint)
        return given
    x, y, z = _three(given, f"direction of {quote(point)}")
    length = float(np.sqrt(x * x + y * y + z * z))
    if length == 0.0:
        raise InputError("the direction is a zero vector", part=part, hint="give three numbers, such as (0, 0.6, 0.8)")
    unit = (x / length + 0.0, y / length + 0.0, z / length + 0.0)
    for i, axis in enumerate(AXES[:3]):  # a direction along an axis gets its letter, so that names are equal
        if abs(unit[i]) > 1.0 - 1e-14:
            return axis if unit[i] > 0.0 else f"-{axis}"
    return unit


def _three(given: Any, part: str) -> Vector3:
    values = np.asarray(given, dtype=float).reshape(-1)
    if len(values) != 3 or not np.isfinite(values).all():
        raise InputError(f"expected three finite numbers (got {values.tolist()})", part=part, hint="give three numbers")
    return float(values[0]), float(values[1]), float(values[2])
