"""Kinds of sensors: what stands behind their key, and the measures that are their outputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from supple.description.measure import Row, along, distance, turn
from supple.description.part_of_kind import Key
from supple.kinds.registry import Registry


@dataclass(frozen=True, eq=False)
class SensorKind:
    """Everything that differs between kinds of sensors.

    name   : its key in the mechanism file
    says   : what it measures, in one sentence
    places : how many places stand behind the key: two frames; one, which is seen from the ground; or none, and it is
             the name of a joint, whose coordinate is measured
    space, plane : what is added to the sensor's name ("" for its own name) -> what is measured, where no axis is given;
             in the plane x and y stand for its two letters. Empty if an axis must be given
    axis   : the same where an axis is given, in the axes of the first frame; it is then z. Empty if it takes none
    """

    name: str
    says: str
    places: Literal[0, 1, 2]
    space: Mapping[str, Row] = field(default_factory=dict)
    plane: Mapping[str, Row] = field(default_factory=dict)
    axis: Mapping[str, Row] = field(default_factory=dict)

    @cached_property
    def keys(self) -> dict[str, Key]:
        """What it adds to the keys of a sensor."""
        return {self.name: Key(tuple[str, str] if self.places == 2 else str, self.says)}


_DISTANCE, _TURN = {"": distance()}, {"": turn("z")}

SENSOR_KINDS = Registry(
    "sensor kind", SensorKind,
    SensorKind("joint", "A joint, or `joint.coordinate` where it has several: its coordinate.", places=0),
    SensorKind(
        "between", "Two frames, points of joints, or `body.point`: their distance.",
        places=2, space=_DISTANCE, plane=_DISTANCE,
    ),
    SensorKind(
        "position", "A frame, a point of a joint, or `body.point`: where it is, in the drawing's axes.",
        places=1, space={letter: along(letter) for letter in "xyz"}, plane={letter: along(letter) for letter in "xy"},
        axis={"": along("z")},
    ),
    SensorKind(
        "angle",
        "Two frames (or bodies): how far the second has turned against the first about `axis`, rad; zero where their "
        "axes are parallel. Full turns are counted.",
        places=2, plane=_TURN, axis=_TURN,
    ),
)  # fmt: skip
