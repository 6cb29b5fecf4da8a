"""Motions of coordinates or of a tool in time."""

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
    """Motion from rest to rest in the shortest time that its bounds allow."""

    velocity: PositiveOfCoordinate | None = None
    """Largest speed, rad/s or m/s."""
    acceleration: PositiveOfCoordinate | None = None
    """Largest acceleration, rad/s² or m/s²."""
    jerk: PositiveOfCoordinate | None = None
    """Largest jerk, rad/s³ or m/s³. Default: no limit, so that the acceleration jumps."""

    def bounds(self) -> dict[str, float]:
        """Return the bounds that are given."""
        return {name: getattr(self, name) for name in self.chosen(*BOUNDS)}


class CoordinateMotion(Bounded):
    """Motion of one coordinate: `to` a value, at a constant `rate`, a sine, or constant at `from`."""

    start: OfCoordinate | None = Field(default=None, alias="from")
    """Initial value, rad or m. Default: the value at rest."""
    to: OfCoordinate | None = None
    """Final value, rad or m; the coordinate moves from rest to rest within the bounds."""
    rate: OfCoordinate | None = None
    """Constant rate, rad/s or m/s: `60 rpm`, `0.2`."""
    amplitude: OfCoordinate | None = None
    """Amplitude of a sine about `from`, rad or m: from + amplitude sin(2π frequency t)."""
    frequency: Annotated[Positive, of(FREQUENCY)] | None = None
    """Frequency of the sine, Hz."""

    @model_validator(mode="after")
    def _one_course(self) -> Self:
        courses = self.chosen("to", "rate", "amplitude")
        if len(courses) > 1:
            raise ValueError(f"a coordinate takes only one of {' and '.join(courses)}")
        if not courses and self.start is None:
            raise ValueError(
                "no motion is given: set to, rate, amplitude with frequency, or from alone for a constant coordinate"
            )
        if (self.amplitude is None) != (self.frequency is None):
            raise ValueError("a sine needs amplitude and frequency")
        given = self.bounds()
        if given and self.to is None:
            raise ValueError(f"{', '.join(given)} can only bound a motion with `to`")
        return self


class ToolMotion(Bounded):
    """Motion of a point along straight segments, with a stop at every corner."""

    place: str
    """Point that moves: a frame, a point of a joint, `body.point`, or a sensor of such a point."""
    path: Annotated[tuple[Position, ...], Field(min_length=2)]
    """Positions along the path, in the drawing's axes, m; the motion begins at the first."""


class Motion(Part):
    """Motion of coordinates or of a tool, with its duration. All other coordinates stay at rest."""

    coordinates: Annotated[dict[str, CoordinateMotion], Field(min_length=1)] | None = None
    """Motion of each coordinate."""
    tool: ToolMotion | None = None
    """Path of a tool; the coordinates follow from loop closure."""
    duration: Duration | None = None
    """Duration, s. Default: the shortest that the bounds allow. A longer duration stretches the bounded motions."""

    @model_validator(mode="after")
    def _check_motion(self) -> Self:
        if len(self.chosen("coordinates", "tool")) != 1:
            raise ValueError("a motion needs exactly one of coordinates and tool")
        if self.duration is None and not any(part.bounds() for part in self._parts()):
            raise ValueError("no duration; set duration:, or velocity:, acceleration: or jerk: of a motion with to:")
        return self

    def _parts(self) -> list[Bounded]:
        if self.tool is not None:
            return [self.tool]
        return list((self.coordinates or {}).values())
