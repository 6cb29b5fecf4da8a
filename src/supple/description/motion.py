"""Motions: how the coordinates, or a tool, move in time."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from supple.description.quantities.dimension import FREQUENCY
from supple.description.quantities.quantity import (
    Duration,
    OfCoordinate,
    Part,
    Position,
    Positive,
    PositiveOfCoordinate,
    of,
)

BOUNDS = ("velocity", "acceleration", "jerk")


class Bounded(Part):
    """Something that moves from rest to rest as fast as its bounds allow."""

    velocity: PositiveOfCoordinate | None = None
    """Largest speed: rad/s or m/s."""
    acceleration: PositiveOfCoordinate | None = None
    """Largest acceleration: rad/s² or m/s²."""
    jerk: PositiveOfCoordinate | None = None
    """Largest change of the acceleration: rad/s³ or m/s³; without it the acceleration jumps."""

    def bounds(self) -> dict[str, float]:
        """The bounds that are given."""
        return {name: getattr(self, name) for name in self.chosen(*BOUNDS)}


class CoordinateMotion(Bounded):
    """The course of one coordinate: `to` a value, at a constant `rate`, a sine, or standing still at `from`."""

    start: OfCoordinate | None = Field(default=None, alias="from")
    """Where it begins; its value at rest if left out."""
    to: OfCoordinate | None = None
    """Where it ends, moving from rest to rest within the bounds."""
    rate: OfCoordinate | None = None
    """Constant rate, rad/s or m/s: `60 rpm`, `0.2`."""
    amplitude: OfCoordinate | None = None
    """Of a sine about `from`: from + amplitude sin(2π frequency t)."""
    frequency: Annotated[Positive, of(FREQUENCY)] | None = None
    """Of the sine, Hz."""

    @model_validator(mode="after")
    def _one_course(self) -> Self:
        courses = self.chosen("to", "rate", "amplitude")
        if len(courses) > 1:
            raise ValueError(f"a coordinate has one course, not {' and '.join(courses)}")
        if not courses and self.start is None:
            raise ValueError("it says nothing: give to, rate, amplitude with frequency, or from alone to stand still")
        if (self.amplitude is None) != (self.frequency is None):
            raise ValueError("a sine needs amplitude and frequency")
        given = self.bounds()
        if given and self.to is None:
            raise ValueError(f"{', '.join(given)} can only bound a motion `to` a value")
        return self


class ToolMotion(Bounded):
    """A place led along straight pieces, stopping at every corner."""

    place: str
    """A frame, a point of a joint, `body.point`, or a sensor of such a place."""
    path: Annotated[tuple[Position, ...], Field(min_length=2)]
    """Where it goes, in the drawing's axes, m; it begins at the first."""


class Motion(Part):
    """What moves, and how long; coordinates that are not mentioned stay at rest."""

    coordinates: Annotated[dict[str, CoordinateMotion], Field(min_length=1)] | None = None
    """The course of each coordinate."""
    tool: ToolMotion | None = None
    """The path of a tool; the coordinates follow by closure."""
    duration: Duration | None = None
    """s; left out, as short as the bounds allow. A longer one stretches what is bounded."""

    @model_validator(mode="after")
    def _one_thing_for_some_time(self) -> Self:
        if len(self.chosen("coordinates", "tool")) != 1:
            raise ValueError("a motion is one of coordinates or of a tool")
        if self.duration is None and not any(part.bounds() for part in self._parts()):
            raise ValueError("nothing says how long it takes: give duration, or bounds of what moves `to` a value")
        return self

    def _parts(self) -> list[Bounded]:
        if self.tool is not None:
            return [self.tool]
        return list((self.coordinates or {}).values())
