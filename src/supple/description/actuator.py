"""Actuators: a force along a joint's coordinate, or along the distance of two places (a cylinder)."""

from __future__ import annotations

from typing import Self

from pydantic import model_validator

from supple.description.actuator_drive import ActuatorDrive
from supple.description.load import Acting
from supple.description.quantities.quantity import Interval


class Actuator(Acting):
    """Its coordinate is the joint's, or the distance; its force drives that coordinate to grow."""

    limits: Interval | None = None
    """Least and largest value of its coordinate."""
    force_limits: Interval | None = None
    """Least and largest force."""
    drive: ActuatorDrive | None = None
    """What stands between its command and its force or motion; left out, the command is the force."""

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        for name in ("limits", "force_limits"):
            bounds = getattr(self, name)
            if bounds is not None and not bounds[0] < bounds[1]:
                raise ValueError(f"{name} must rise: {bounds[0]:g} is not below {bounds[1]:g}")
        return self
