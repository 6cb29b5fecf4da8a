"""Copies: parts drawn once and repeated by turning, mirroring or shifting them."""

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
    """A group of parts, written once as the first of them is drawn.

    Every part of every copy has its name with a suffix: `arm` becomes `arm1`, `arm2`, `arm3`. Names of the group mean
    those of the same copy, all others the parts outside.
    """

    about: Direction | None = None
    """Turned about this axis; left out in the plane, where they turn about its normal."""
    angle: Annotated[Number, of(ANGLE)] | None = None
    """From one to the next; a full turn divided by `count` if left out."""
    mirror: Direction | None = None
    """Each with its mirror image: the direction across the mirror."""
    shift: Position | None = None
    """From one to the next, m."""
    through: Place | None = None
    """A place on the axis and in the mirror; the drawing's origin if left out."""
    count: Count | None = None
    """How many; with a mirror, how many pairs (one if left out)."""
    suffixes: tuple[Suffix, ...] | None = None
    """One for each, the first as drawn, with a mirror its image next; 1, 2, 3, ... if left out."""

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
        """How many copies there are, the first among them."""
        return (self.count or 1) * (1 if self.mirror is None else 2)

    @property
    def endings(self) -> tuple[str, ...]:
        """The suffix of each copy."""
        return self.suffixes or tuple(str(i + 1) for i in range(self.size))

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.shift is not None and self.chosen("about", "angle", "mirror", "through"):
            raise ValueError("copies are shifted, or turned and mirrored, not both")
        if self.count is None and self.mirror is None:
            raise ValueError("how many? give count, or mirror for a pair")
        if self.size < 2:
            raise ValueError("one copy is the part itself: write it outside of copies")
        if self.size > MOST:
            raise ValueError(f"{self.size} copies are too many (at most {MOST})")
        if self.count is None and self.chosen("about", "angle"):
            raise ValueError("how many are turned? give count")
        if self.suffixes is not None and len(set(self.suffixes)) != self.size:
            raise ValueError(f"{self.size} copies need as many different suffixes, not {len(set(self.suffixes))}")
        if not any(getattr(self, section) for section in self.sections):
            raise ValueError(f"it holds nothing to copy: write {', '.join(self.sections[:4])}, ... inside it")
        return self
