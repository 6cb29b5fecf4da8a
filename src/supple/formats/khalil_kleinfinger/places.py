"""Places that springs, forces, sensors and the like name, as frames that rows of a table define."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from supple.description.drawing import Attached, Drawing

_NOT_PLACES = ("joint", "reaction", "axis", "axes", "coordinates", "law", "name", "description")
_SECTIONS = ("springs", "dampers", "forces", "actuators", "sensors", "motions", "point_masses")


@dataclass(eq=False)
class Places:
    """The frames there are, by their names, and those that are needed besides."""

    drawing: Drawing
    taken: set[str]
    new: dict[str, Attached] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)

    def named(self, reference: str) -> str:
        """The frame that is a place; a new one where the place is a point, an end or a body's origin."""
        if reference in self.drawing.frames or reference == "ground":
            self.used.add(reference)
            return reference
        name = f"{reference.replace('.', '_')}_place"
        while name in self.taken:
            name += "_"
        if name not in self.new:
            self.new[name] = self.drawing.attached(reference, ())
        return name


def with_places(data: Mapping[str, Any], places: Places) -> dict[str, Any]:
    """Sections of a mechanism file with every place named by a frame."""
    return {key: _replaced(part, places) if key in _SECTIONS else part for key, part in data.items()}


def _replaced(parts: Mapping[str, Any], places: Places) -> dict[str, Any]:
    return {name: _part(part, places) if isinstance(part, Mapping) else part for name, part in parts.items()}


def _part(part: Mapping[str, Any], places: Places) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in part.items():
        if key in _NOT_PLACES:
            found[key] = value
        elif isinstance(value, str) and _is_place(value, places.drawing):
            found[key] = places.named(value)
        elif isinstance(value, tuple | list) and value and all(isinstance(item, str) for item in value):
            found[key] = [places.named(item) if _is_place(item, places.drawing) else item for item in value]
        elif key == "tool" and isinstance(value, Mapping):
            found[key] = _part(value, places)
        else:
            found[key] = value
    return found


def _is_place(reference: str, drawing: Drawing) -> bool:
    head = reference.partition(".")[0]
    known = (*drawing.frames, *drawing.joint_points, *drawing.bodies)
    return reference in known or ("." in reference and head in drawing.bodies)
