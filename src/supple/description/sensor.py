"""Sensors: what is measured, and the names of the outputs it gives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from pydantic import ConfigDict, model_validator

from supple.description.instrumentation import Instrumented
from supple.description.measure import Row, in_plane
from supple.description.part_of_kind import PartOfKind
from supple.description.quantities.quantity import Direction
from supple.description.sensor_kinds import SENSOR_KINDS, SensorKind
from supple.diagnostics import InputError


class Sensor(PartOfKind, Instrumented):
    """What is seen of the motion or of the forces inside: position, velocity or acceleration of a place (`tip.x`,
    `tip.z`, or one component), how it turns, a joint's coordinate, a distance, an angle, a reaction, a section force or
    a stress."""

    model_config = ConfigDict(extra="allow")  # keys of its kind

    kinds: ClassVar = SENSOR_KINDS

    axis: Direction | None = None
    """Of a vector one direction; all components, each an output of its own, if left out. It is one of the drawing's, or
    of the frame's with `axes: body`. Of an angle the axis that is turned about, in the first frame's axes; in the plane
    the normal, and left out."""

    @property
    def placed_by(self) -> str:
        """The key that says what it looks at."""
        return self.kind

    @property
    def record(self) -> SensorKind:
        """Of its kind."""
        return SENSOR_KINDS[self.kind]

    @property
    def places(self) -> tuple[str, ...]:
        """The places that it looks at."""
        named = self.said
        return {0: (), 1: (named,), 2: named}[self.record.places]

    @property
    def place(self) -> str | None:
        """The one place that it looks at, seen from the ground; None for other kinds."""
        return self.places[0] if len(self.places) == 1 else None

    def option(self, key: str, otherwise: Any = None) -> Any:
        """What stands behind a further key of its kind, or `otherwise` if it is left out."""
        found = (self.__pydantic_extra__ or {}).get(key)
        return otherwise if found is None else found

    @property
    def order(self) -> int:
        """0 for a measure itself, 1 for its rate, 2 for its second rate."""
        return int(self.option("order", self.record.order))

    @property
    def own_axes(self) -> bool:
        """Whether components are those in the axes of what it looks at."""
        return bool(self.option("axes", "world") == "body")

    def outputs(self, plane: str | None) -> Mapping[str, Row]:
        """What is added to its name -> what is measured between its places; nothing of a joint's coordinate, nor of a
        force inside."""
        kind = self.record
        if self.axis is not None:
            if plane and any(term.turns for row in kind.axis.values() for term in row):
                raise InputError("in the plane its axis is the normal", hint="leave axis out")
            return kind.axis
        if kind.axis and not (kind.plane if plane else kind.space):
            raise InputError("it has no axis", hint="say about what: axis: z")
        return {in_plane(name, plane): row for name, row in (kind.plane if plane else kind.space).items()}

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        kinds = self._kinds()
        if len(kinds) != 1:
            raise ValueError(f"exactly one of {', '.join(SENSOR_KINDS)} says what it measures")
        if self.axis is not None and not SENSOR_KINDS[kinds[0]].axis:
            with_axis = ", ".join(name for name, kind in SENSOR_KINDS.items() if kind.axis)
            raise ValueError(f"a {kinds[0]} sensor has no axis; those that have one are {with_axis}")
        return self
