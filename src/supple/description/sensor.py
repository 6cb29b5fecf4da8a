"""Sensors: what is measured, and the names of the outputs it gives."""

from __future__ import annotations

from typing import Self

from pydantic import model_validator

from supple.description.load import Acting
from supple.description.quantities.quantity import Direction


class Sensor(Acting):
    """The position of a place (`tip.x`, `tip.z`, or one component), a joint's coordinate, or a distance."""

    position: str | None = None
    """A frame, a point of a joint, or `body.point`."""
    axis: Direction | None = None
    """One direction in space; all components, each an output of its own, if left out."""

    @model_validator(mode="after")
    def _axis_of_position(self) -> Self:
        if self.axis is not None and self.position is None:
            raise ValueError("only a position has an axis")
        return self
