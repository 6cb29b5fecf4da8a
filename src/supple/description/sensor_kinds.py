"""Kinds of sensors: what stands behind their key, and the measures or forces that are their outputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from supple.description.measure import Row, along, distance, spin, turn
from supple.description.part_of_kind import Key
from supple.description.quantities.quantity import Count, Length
from supple.kinds.registry import Registry

Axes = Literal["world", "body"]
Order = Literal[0, 1, 2]
Inside = Literal["", "reaction", "section", "stress", "strain"]

_AXES = Key(Axes, "The axes of its components: `world` (the drawing's) if left out, or `body`: the frame's own.", False)
_ORDER = Key(Order, "0 what it measures, 1 how fast that changes, 2 its second rate; 0 if left out.", False)
_GRAVITY = Key(bool, "True: less gravity, as an accelerometer at that place sees it, which at rest shows -g.", False)
_BEAM = Key(Count, "Which beam of a body of several, counted from 1, where the place is on more than one.", False)
_SPOT = Key(
    tuple[Length, Length],
    "Where on the section: distances from its centre along the section's y and z, m. z is the height, towards `up`.",
)


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
    order  : 0 the measure itself, 1 its rate, 2 its second rate
    vector : its outputs are components of a vector, and may be asked for in the second frame's own axes (`axes: body`)
    falls  : gravity may be taken off it (`gravity: true`)
    inside : a force inside the mechanism rather than a measure: a joint's "reaction", a beam's "section", or the
             "stress" or "strain" on the section; its outputs are then named by `supple.formulations.efforts`
    """

    name: str
    says: str
    places: Literal[0, 1, 2]
    space: Mapping[str, Row] = field(default_factory=dict)
    plane: Mapping[str, Row] = field(default_factory=dict)
    axis: Mapping[str, Row] = field(default_factory=dict)
    order: Order = 0
    vector: bool = False
    falls: bool = False
    inside: Inside = ""

    @cached_property
    def keys(self) -> dict[str, Key]:
        """What it adds to the keys of a sensor."""
        found = {self.name: Key(tuple[str, str] if self.places == 2 else str, self.says)}
        if self.vector or self.inside == "reaction":
            found["axes"] = _AXES
        if self.falls:
            found["gravity"] = _GRAVITY
        if self.inside in ("section", "stress", "strain"):
            found["beam"] = _BEAM
        if self.inside in ("stress", "strain"):
            found["at"] = _SPOT
        if not self.order and not self.inside and not self.vector:
            found["order"] = _ORDER
        return found


_DISTANCE, _TURN = {"": distance()}, {"": turn("z")}
_ALONG: dict[str, Any] = {
    "space": {letter: along(letter) for letter in "xyz"}, "plane": {letter: along(letter) for letter in "xy"},
    "axis": {"": along("z")},
}  # fmt: skip
_SPIN = {letter: spin(letter) for letter in "xyz"}
_AT = "A frame, a point of a joint, or `body.point`:"

SENSOR_KINDS = Registry(
    "sensor kind", SensorKind,
    SensorKind("joint", "A joint, or `joint.coordinate` where it has several: its coordinate.", places=0),
    SensorKind(
        "between", "Two frames, points of joints, or `body.point`: their distance.",
        places=2, space=_DISTANCE, plane=_DISTANCE,
    ),
    SensorKind(
        "position", f"{_AT} where it is, in the drawing's axes.",
        places=1, **_ALONG,
    ),
    SensorKind(
        "angle",
        "Two frames (or bodies): how far the second has turned against the first about `axis`, rad; zero where their "
        "axes are parallel. Full turns are counted.",
        places=2, plane=_TURN, axis=_TURN,
    ),
    SensorKind(
        "velocity", f"{_AT} how fast it moves, m/s.",
        places=1, **_ALONG,
        order=1, vector=True,
    ),
    SensorKind(
        "acceleration", f"{_AT} its acceleration, m/s²; with `gravity: true` what an accelerometer there sees.",
        places=1, **_ALONG,
        order=2, vector=True, falls=True,
    ),
    SensorKind(
        "angular_velocity", "A frame, a body, or `body.point`: how fast it turns, rad/s; in the plane one number.",
        places=1, space=_SPIN, plane=_TURN, axis={"": spin("z")}, order=1, vector=True,
    ),
    SensorKind(
        "angular_acceleration", "A frame, a body, or `body.point`: the rate of its angular velocity, rad/s².",
        places=1, space=_SPIN, plane=_TURN, axis={"": spin("z")}, order=2, vector=True,
    ),
    SensorKind(
        "reaction",
        "A joint: force (N: `NAME.x`, ...) and moment (N m: `NAME.mx`, ..., in the plane `NAME.m`) of the joint on its "
        "second body, about its place there.",
        places=0, inside="reaction",
    ),
    SensorKind(
        "section",
        "A place on a beam: force and moment there of the part towards the beam's second end on the other, in the "
        "section's axes: `NAME.N`, `NAME.Qy`, `NAME.Qz` (N), `NAME.T`, `NAME.My`, `NAME.Mz` (N m); in the plane "
        "`NAME.N`, `NAME.Q`, `NAME.M`.",
        places=1, inside="section",
    ),
    SensorKind(
        "stress", "A place on a beam: the stress along the beam at one spot of its section (`at`), Pa.",
        places=1, inside="stress",
    ),
    SensorKind(
        "strain", "A place on a beam: the strain along the beam at one spot of its section (`at`).",
        places=1, inside="strain",
    ),
)  # fmt: skip
