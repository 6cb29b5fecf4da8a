"""The kinds of values a description is made of: numbers (or expressions) of a dimension, places, directions."""

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
    """What editors are told: a number within limits, or the text of an expression."""
    expression = {"type": "string", "description": "an arithmetic expression"}
    return WithJsonSchema({"anyOf": [{"type": "number", **limits}, expression]})


def _bearable(value: Any) -> float:
    """A number whose square and cube can still be computed with."""
    found = float(number(value))
    if abs(found) > LARGEST:
        raise ValueError(f"{found:g} is too large to compute with (at most {LARGEST:g}); check its unit")
    return found


def _whole(value: Any) -> int:
    """A whole number, written as such or as an expression."""
    found = _bearable(_of(RATIO, value))
    if found != round(found):
        raise ValueError(f"{found:g} is not a whole number")
    return round(found)


def of(dimension: Dimension) -> BeforeValidator:
    """Beside a kind of number: only quantities of this dimension, or plain numbers in SI."""
    return BeforeValidator(partial(_of, dimension))


def _of(dimension: Dimension, value: Any) -> float:
    try:
        return require(number(value), dimension)
    except InputError as error:
        raise ValueError(str(error)) from error


def _kept(value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
    found = number(value)  # pydantic gives back the float alone
    handler(found)
    return found


Number = Annotated[float, BeforeValidator(_bearable), _schema()]
Positive = Annotated[float, BeforeValidator(_bearable), Field(gt=0.0), _schema(exclusiveMinimum=0.0)]
NotNegative = Annotated[float, BeforeValidator(_bearable), Field(ge=0.0), _schema(minimum=0.0)]

_WRITTEN = PlainSerializer(lambda value: float(value) if isinstance(value, float) else value)
Quantity = Annotated[Number, WrapValidator(_kept), _WRITTEN]
"""Of any dimension, which it keeps."""
OfCoordinate = Quantity
"""Said of a coordinate, so of an angle or of a length: it keeps its dimension until the coordinate is known."""
PositiveOfCoordinate = Annotated[Positive, WrapValidator(_kept), _WRITTEN]
NotNegativeOfCoordinate = Annotated[NotNegative, WrapValidator(_kept), _WRITTEN]
Interval = tuple[OfCoordinate, OfCoordinate]
PoseOfPlace = Annotated[tuple[OfCoordinate, ...], Field(min_length=2, max_length=6)]
"""Where a place is, or where and how it is turned."""

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
"""Three components in space, two in the plane."""
Position = Annotated[tuple[Length, ...], _COMPONENTS]
Acceleration = Annotated[tuple[Annotated[Number, of(ACCELERATION)], ...], _COMPONENTS]
ForceVector = Annotated[tuple[Annotated[Number, of(FORCE)], ...], _COMPONENTS]
Moment = Annotated[tuple[Torque, ...], _COMPONENTS]

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_\-]*$", max_length=64)]
"""Of a part: letters, digits, _ and -, not a digit first."""

Place = str | Position
"""A point's or frame's name, `body.point`, or coordinates in the drawing."""


def _two_places(value: Any) -> Any:
    """Two names, of which one at least can be no component: [A, D], where A and D are not both parameters."""
    written = isinstance(value, list | tuple) and len(value) == 2 and all(isinstance(item, str) for item in value)
    if not written or not any(
        item.replace(".", "_").isidentifier() and item not in current_parameters() for item in value
    ):
        raise ValueError("write two places")
    return value


FromTo = Annotated[tuple[str, str], BeforeValidator(_two_places)]
"""From one place of the drawing to another."""

Direction = Annotated[str | FromTo | Vector, Field(union_mode="left_to_right")]
"""x, y, z, -x, -y, -z, components in the drawing, or [A, D]: from A to D as drawn."""


class Part(BaseModel):
    """A frozen part of a description; unknown names are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    def chosen(self, *names: str) -> list[str]:
        """Which of these alternatives the user wrote."""
        return [name for name in names if getattr(self, name) is not None]


# Numbers as data files write them.


_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_LONGEST = 100  # characters


def plain_number(text: str) -> float:
    """The number that a text without blanks is, as data files write it: 12, -0.5, 1.2e-3; nan if it is none.

    Python would also take 1_5, ١٢ and infinity.
    """
    return float(text) if len(text) < _LONGEST and _NUMBER.fullmatch(text) else math.nan
