"""Copies: parts drawn once and repeated by rotation, reflection or translation."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Self

from pydantic import BeforeValidator, StringConstraints, WithJsonSchema, model_validator

from supple.description.actuator import Actuator
from supple.description.body import Body, Frame, PointMass
from supple.description.coupling import Coupling
from supple.description.joints.joint import Joint
from supple.description.load import Damper, Force, Spring
from supple.description.quantities.dimension import ANGLE
from supple.description.quantities.quantity import Count, Direction, Name, Number, Part, Place, Position, of
from supple.description.sensor import Sensor

MOST = 100  # copies of one group


def _text(value: Any) -> Any:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


_PATTERN = r"^[A-Za-z0-9_\-]+$"
Suffix = Annotated[
    str,
    BeforeValidator(_text),
    StringConstraints(pattern=_PATTERN, max_length=16),
    WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 0}, {"type": "string", "pattern": _PATTERN}]}),
]


class Copies(Part):
    """Group of parts, written once as the first copy is drawn.

    Every part of every copy has its name with a suffix: `arm` becomes `arm1`, `arm2`, `arm3`. Names of the group refer
    to the parts of the same copy, all other names to parts outside.
    """

    about: Direction | None = None
    """Axis about which the copies are rotated; not given in the plane, where it is the normal."""
    angle: Annotated[Number, of(ANGLE)] | None = None
    """Angle from one copy to the next, rad. Default: a full turn divided by `count`."""
    mirror: Direction | None = None
    """Normal direction of a mirror plane; each copy is followed by its mirror image."""
    shift: Position | None = None
    """Translation from one copy to the next, m."""
    through: Place | None = None
    """Point on the rotation axis and in the mirror plane. Default: the drawing's origin."""
    count: Count | None = None
    """Number of copies; with a mirror, number of pairs (default 1)."""
    suffixes: tuple[Suffix, ...] | None = None
    """Suffix of each copy, the first as drawn, with a mirror each followed by its image. Default: 1, 2, 3, ..."""

    points: dict[Name, Position] = {}
    bodies: dict[Name, Body] = {}
    frames: dict[Name, Frame] = {}
    joints: dict[Name, Joint] = {}
    couplings: dict[Name, Coupling] = {}
    point_masses: dict[Name, PointMass] = {}
    springs: dict[Name, Spring] = {}
    dampers: dict[Name, Damper] = {}
    forces: dict[Name, Force] = {}
    actuators: dict[Name, Actuator] = {}
    sensors: dict[Name, Sensor] = {}

    sections: ClassVar[tuple[str, ...]] = (
        "points", "bodies", "frames", "joints", "couplings", "point_masses", "springs", "dampers", "forces",
        "actuators", "sensors",
    )  # fmt: skip

    @property
    def size(self) -> int:
        """Number of copies, including the first."""
        return (self.count or 1) * (1 if self.mirror is None else 2)

    @property
    def endings(self) -> tuple[str, ...]:
        """Suffix of each copy."""
        return self.suffixes or tuple(str(i + 1) for i in range(self.size))

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.shift is not None and self.chosen("about", "angle", "mirror", "through"):
            raise ValueError("copies are either shifted, or rotated and mirrored, not both")
        if self.count is None and self.mirror is None:
            raise ValueError("the number of copies is missing; set count, or mirror for a pair")
        if self.size < 2:
            raise ValueError("count: 1 makes no copy; write the parts outside copies")
        if self.size > MOST:
            raise ValueError(f"{self.size} copies are too many (at most {MOST})")
        if self.count is None and self.chosen("about", "angle"):
            raise ValueError("the number of rotated copies is missing; set count")
        if self.suffixes is not None and len(set(self.suffixes)) != self.size:
            raise ValueError(f"{self.size} copies need as many different suffixes (got {len(set(self.suffixes))})")
        if not any(getattr(self, section) for section in self.sections):
            raise ValueError(f"the group has no parts to copy; write {', '.join(self.sections[:4])}, ... inside it")
        return self
