"""Sensors: what is measured, the kinds of sensors, their instruments, and the names of the outputs they give."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import ConfigDict, model_validator

from supple.description.measure import Row, along, distance, in_plane, spin, turn
from supple.description.part_of_kind import Key, PartOfKind
from supple.description.quantities.dimension import FREQUENCY, RATIO, TIME
from supple.description.quantities.quantity import (
    Count,
    Direction,
    Duration,
    Interval,
    Length,
    NotNegative,
    NotNegativeOfCoordinate,
    OfCoordinate,
    Part,
    Positive,
    PositiveOfCoordinate,
    of,
)
from supple.diagnostics import InputError
from supple.hardware.instrument import Instrument
from supple.kinds.registry import Registry

# Kinds of sensors: what stands behind their key, and the measures or forces that are their outputs.


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


# What a sensor makes of the true value: noise, delay, resolution and the like, whatever it measures.


Hertz = Annotated[Positive, of(FREQUENCY)]


class Noise(Part):
    """Noise with its spectrum."""

    rms: NotNegativeOfCoordinate = 0.0
    """Root mean square of the noise, in the unit of what is measured."""
    frequency: Hertz | None = None
    """Corner of its spectrum, flat below and falling as 1/f above, Hz; white from reading to reading if left out."""
    walk: NotNegativeOfCoordinate = 0.0
    """RMS that its zero wanders in one second, growing with the root of time; in the unit of what is measured."""


class Bandwidth(Part):
    """A low-pass of its own."""

    frequency: Hertz
    """Hz."""
    damping: Annotated[Positive, of(RATIO)] | None = None
    """Damping ratio of one of second order; of first order if left out."""


class Instrumented(Part):
    """Keys that every sensor may have; one without any is exact."""

    noise: NotNegativeOfCoordinate | Noise | None = None
    """RMS of white noise, in the unit of what is measured; or {rms:, frequency:, walk:}."""
    bias: OfCoordinate = 0.0
    """What it shows beside the true value."""
    delay: Annotated[NotNegative, of(TIME)] = 0.0
    """s."""
    resolution: PositiveOfCoordinate | None = None
    """Readings are multiples of it."""
    range: Interval | None = None
    """Least and largest reading."""
    bandwidth: Hertz | Bandwidth | None = None
    """Of its own low-pass, Hz, of first order; or {frequency:, damping:}."""
    sample_time: Duration | None = None
    """s between its own readings; it reads whenever it is asked if left out."""

    @model_validator(mode="after")
    def _range_rises(self) -> Self:
        if self.range is not None and not self.range[0] < self.range[1]:
            raise ValueError(f"range must rise: {self.range[0]:g} is not below {self.range[1]:g}")
        return self

    @property
    def spectrum(self) -> Noise:
        """Its noise, however it is written."""
        return self.noise if isinstance(self.noise, Noise) else Noise(rms=self.noise or 0.0)

    @property
    def exact(self) -> bool:
        """Whether nothing is said of it."""
        return self.instrument("") == Instrument("")

    def instrument(self, output: str) -> Instrument:
        """Of one of its outputs."""
        noise, low_pass = self.spectrum, self.bandwidth
        if isinstance(low_pass, float):
            low_pass = Bandwidth(frequency=low_pass)
        return Instrument(
            output,
            noise=float(noise.rms), noise_frequency=noise.frequency, walk=float(noise.walk), bias=float(self.bias),
            delay=self.delay, resolution=float(self.resolution or 0.0),
            limits=None if self.range is None else (float(self.range[0]), float(self.range[1])),
            frequency=None if low_pass is None else low_pass.frequency,
            damping=None if low_pass is None else low_pass.damping, sample_time=self.sample_time,
        )  # fmt: skip


# The sensor.


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
