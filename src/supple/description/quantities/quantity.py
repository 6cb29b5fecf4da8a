"""Types of the values in a description: numbers or expressions with a dimension, points, directions."""

from __future__ import annotations

import math
import re
from functools import partial
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    StringConstraints,
    ValidatorFunctionWrapHandler,
    WithJsonSchema,
    WrapValidator,
)

from supple.description.quantities.dimension import (
    ACCELERATION,
    FORCE,
    INERTIA,
    LENGTH,
    MASS,
    RATIO,
    TIME,
    TORQUE,
    Dimension,
    require,
)
from supple.description.quantities.expression import current_parameters, number
from supple.diagnostics import InputError

LARGEST = 1e30


def _schema(**limits: float) -> WithJsonSchema:
    """Return the JSON schema for editors: a number within limits, or the text of an expression."""
    expression = {"type": "string", "description": "an arithmetic expression"}
    return WithJsonSchema({"anyOf": [{"type": "number", **limits}, expression]})


def _bearable(value: Any) -> float:
    """Return a number whose square and cube do not overflow."""
    found = float(number(value))
    if abs(found) > LARGEST:
        raise ValueError(f"{found:g} is too large (at most {LARGEST:g}); check its unit")
    return found


def _whole(value: Any) -> int:
    """Return a whole number, given as a number or as an expression."""
    found = _bearable(_of(RATIO, value))
    if found != round(found):
        raise ValueError(f"{found:g} is not a whole number")
    return round(found)


def of(dimension: Dimension) -> BeforeValidator:
    """Return a validator for a number: only quantities of this dimension, or plain numbers in SI units."""
    return BeforeValidator(partial(_of, dimension))


def _of(dimension: Dimension, value: Any) -> float:
    try:
        return require(number(value), dimension)
    except InputError as error:
        raise ValueError(str(error)) from error


def _keep_quantity(value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
    found = number(value)  # pydantic gives back the float alone
    handler(found)
    return found


Number = Annotated[float, BeforeValidator(_bearable), _schema()]
Positive = Annotated[float, BeforeValidator(_bearable), Field(gt=0.0), _schema(exclusiveMinimum=0.0)]
NotNegative = Annotated[float, BeforeValidator(_bearable), Field(ge=0.0), _schema(minimum=0.0)]

_WRITTEN = PlainSerializer(lambda value: float(value) if isinstance(value, float) else value)
Quantity = Annotated[Number, WrapValidator(_keep_quantity), _WRITTEN]
"""Number of any dimension, which it keeps."""
OfCoordinate = Quantity
"""Quantity about a coordinate, an angle or a length: it keeps its dimension until the coordinate is known."""
PositiveOfCoordinate = Annotated[Positive, WrapValidator(_keep_quantity), _WRITTEN]
NotNegativeOfCoordinate = Annotated[NotNegative, WrapValidator(_keep_quantity), _WRITTEN]
Interval = tuple[OfCoordinate, OfCoordinate]
PoseOfPlace = Annotated[tuple[OfCoordinate, ...], Field(min_length=2, max_length=6)]
"""Position of a point, or position and orientation."""

Length = Annotated[Number, of(LENGTH)]
PositiveLength = Annotated[Positive, of(LENGTH)]
NotNegativeLength = Annotated[NotNegative, of(LENGTH)]
Mass = Annotated[NotNegative, of(MASS)]
MomentOfInertia = Annotated[Number, of(INERTIA)]
Torque = Annotated[Number, of(TORQUE)]
Duration = Annotated[Positive, of(TIME)]
Count = Annotated[
    int,
    BeforeValidator(_whole),
    Field(ge=1, le=10_000),
    WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 1, "maximum": 10_000}, {"type": "string"}]}),
]

_COMPONENTS = Field(min_length=2, max_length=3)
Vector = Annotated[tuple[Number, ...], _COMPONENTS]
"""Vector of three components in space, two in the plane."""
Position = Annotated[tuple[Length, ...], _COMPONENTS]
Acceleration = Annotated[tuple[Annotated[Number, of(ACCELERATION)], ...], _COMPONENTS]
ForceVector = Annotated[tuple[Annotated[Number, of(FORCE)], ...], _COMPONENTS]
Moment = Annotated[tuple[Torque, ...], _COMPONENTS]

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_\-]*$", max_length=64)]
"""Name of a part: letters, digits, _ and -, not starting with a digit."""

Place = str | Position
"""Name of a point or frame, `body.point`, or coordinates in the drawing."""


def _two_places(value: Any) -> Any:
    """Return a pair [A, D] of point names; at least one of them must not be a parameter."""
    written = isinstance(value, list | tuple) and len(value) == 2 and all(isinstance(item, str) for item in value)
    if not written or not any(
        item.replace(".", "_").isidentifier() and item not in current_parameters() for item in value
    ):
        raise ValueError("write two point names, [A, D]")
    return value


FromTo = Annotated[tuple[str, str], BeforeValidator(_two_places)]
"""Direction from one point of the drawing to another."""

Direction = Annotated[str | FromTo | Vector, Field(union_mode="left_to_right")]
"""Direction: x, y, z, -x, -y, -z, components in the drawing, or [A, D] for the direction from A to D as drawn."""


class Part(BaseModel):
    """Frozen part of a description; unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    def chosen(self, *names: str) -> list[str]:
        """Return which of these fields the user set."""
        return [name for name in names if getattr(self, name) is not None]


# Numbers in data files.


_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_LONGEST = 100  # characters


def plain_number(text: str) -> float:
    """Return the number in a text without blanks, as in data files: 12, -0.5, 1.2e-3; NaN if it is not one.

    Python's float would also accept 1_5, ١٢ and infinity.
    """
    return float(text) if len(text) < _LONGEST and _NUMBER.fullmatch(text) else math.nan
