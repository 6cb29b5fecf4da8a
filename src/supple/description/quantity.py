"""The kinds of values a description is made of: numbers (or expressions), places, directions."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from supple.description.expression import number

LARGEST = 1e30


def _schema(**limits: float) -> WithJsonSchema:
    """What editors are told: a number within limits, or the text of an expression."""
    expression = {"type": "string", "description": "an arithmetic expression"}
    return WithJsonSchema({"anyOf": [{"type": "number", **limits}, expression]})


def _bearable(value: Any) -> float:
    """A number whose square and cube can still be computed with."""
    found = number(value)
    if abs(found) > LARGEST:
        raise ValueError(f"{found:g} is too large to compute with (at most {LARGEST:g}); check its unit")
    return found


def _whole(value: Any) -> int:
    """A whole number, written as such or as an expression."""
    found = _bearable(value)
    if found != round(found):
        raise ValueError(f"{found:g} is not a whole number")
    return round(found)


Number = Annotated[float, BeforeValidator(_bearable), _schema()]
Positive = Annotated[float, BeforeValidator(_bearable), Field(gt=0.0), _schema(exclusiveMinimum=0.0)]
NotNegative = Annotated[float, BeforeValidator(_bearable), Field(ge=0.0), _schema(minimum=0.0)]
Interval = tuple[Number, Number]
Count = Annotated[
    int,
    BeforeValidator(_whole),
    Field(ge=1, le=10_000),
    WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 1, "maximum": 10_000}, {"type": "string"}]}),
]

Vector = Annotated[tuple[Number, ...], Field(min_length=2, max_length=3)]
"""Three components in space, two in the plane."""

Place = str | Vector
"""A point's or frame's name, `body.point`, or coordinates in the drawing."""

Direction = str | Vector
"""x, y, z, -x, -y, -z, or components in the drawing."""


class Part(BaseModel):
    """A frozen part of a description; unknown names are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    def chosen(self, *names: str) -> list[str]:
        """Which of these alternatives the user wrote."""
        return [name for name in names if getattr(self, name) is not None]
