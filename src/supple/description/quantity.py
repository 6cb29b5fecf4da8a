"""The kinds of values a description is made of: numbers (or expressions), places, directions."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from supple.description.expression import number


def _schema(**limits: float) -> WithJsonSchema:
    """What editors are told: a number within limits, or the text of an expression."""
    expression = {"type": "string", "description": "an arithmetic expression"}
    return WithJsonSchema({"anyOf": [{"type": "number", **limits}, expression]})


Number = Annotated[float, BeforeValidator(number), _schema()]
Positive = Annotated[float, BeforeValidator(number), Field(gt=0.0), _schema(exclusiveMinimum=0.0)]
NotNegative = Annotated[float, BeforeValidator(number), Field(ge=0.0), _schema(minimum=0.0)]
Interval = tuple[Number, Number]

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
