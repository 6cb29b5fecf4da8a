"""Sensors: the kinds of sensors with their measured quantities, their instruments, and the names of their outputs."""

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

# Kinds of sensors: the value of their key, and the measures or forces that are their outputs.


Axes = Literal["world", "body"]
Order = Literal[0, 1, 2]
Inside = Literal["", "reaction", "section", "stress", "strain"]

_AXES = Key(
    Axes, "Axes of the components: `world` (those of the drawing, default) or `body` (those of the frame).", False
)
_ORDER = Key(Order, "Derivative: 0 the quantity itself (default), 1 its rate, 2 its second rate.", False)
_GRAVITY = Key(
    bool, "True: subtract gravity, as an accelerometer at that point measures it, which at rest shows -g.", False
)
_BEAM = Key(Count, "Number of the beam, counted from 1, if the point is on several beams of the body.", False)
_SPOT = Key(
    tuple[Length, Length],
    "Point of the section: distances from its centre along the section's y and z, m. z is the height, towards `up`.",
)


@dataclass(frozen=True, eq=False)
class SensorKind:
    """Record of a sensor kind: everything in which sensor kinds differ.

    Parameters
    ----------
    name : str
        Key in the mechanism file.
    description : str
        What the sensor measures, in one sentence.
    places : {0, 1, 2}
        Number of points in the value of the key: 2 frames; 1 point, measured relative to the ground; or 0 for the name
        of a joint, whose coordinate is measured.
    space, plane : mapping of str to Row, optional
        Suffix of the sensor's name ("" for its own name) -> measured row, if no axis is given. In the plane x and y
        stand for the two letters of the plane. Empty if an axis is required.
    axis : mapping of str to Row, optional
        The same if an axis is given, in the axes of the first frame, in which it is z. Empty if no axis is allowed.
    order : {0, 1, 2}, optional
        Derivative: 0 the measure itself, 1 its rate, 2 its second rate. Default: 0.
    vector : bool, optional
        Whether the outputs are components of a vector, which `axes: body` gives in the axes of the second frame.
        Default: False.
    falls : bool, optional
        Whether gravity may be subtracted (`gravity: true`). Default: False.
    inside : str, optional
        Internal force instead of a measure: the "reaction" of a joint, the force on the "section" of a beam, or the
        "stress" or "strain" there. `supple.formulations.efforts` names the outputs. Default: none.
    """

    name: str
    description: str
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
        """Keys that this kind adds to a sensor."""
        found = {self.name: Key(tuple[str, str] if self.places == 2 else str, self.description)}
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
_AT = "a frame, a point of a joint, or `body.point`."

SENSOR_KINDS = Registry(
    "sensor kind", SensorKind,
    SensorKind("joint", "Coordinate of a joint; `joint.coordinate` if the joint has several.", places=0),
    SensorKind(
        "between", "Distance of two points: frames, points of joints, or `body.point`.",
        places=2, space=_DISTANCE, plane=_DISTANCE,
    ),
    SensorKind(
        "position", f"Position of a point, in the drawing's axes, m: {_AT}",
        places=1, **_ALONG,
    ),
    SensorKind(
        "angle",
        "Rotation angle of the second frame (or body) relative to the first about `axis`, rad; zero where their "
        "axes are parallel. Full turns are counted.",
        places=2, plane=_TURN, axis=_TURN,
    ),
    SensorKind(
        "velocity", f"Velocity of a point, m/s: {_AT}",
        places=1, **_ALONG,
        order=1, vector=True,
    ),
    SensorKind(
        "acceleration", f"Acceleration of a point, m/s²: {_AT} With `gravity: true` the reading of an accelerometer.",
        places=1, **_ALONG,
        order=2, vector=True, falls=True,
    ),
    SensorKind(
        "angular_velocity", "Angular velocity of a frame, a body, or `body.point`, rad/s; in the plane one number.",
        places=1, space=_SPIN, plane=_TURN, axis={"": spin("z")}, order=1, vector=True,
    ),
    SensorKind(
        "angular_acceleration",
        "Angular acceleration of a frame, a body, or `body.point`, rad/s²; in the plane one number.",
        places=1, space=_SPIN, plane=_TURN, axis={"": spin("z")}, order=2, vector=True,
    ),
    SensorKind(
        "reaction",
        "Joint reaction: force (N: `NAME.x`, ...) and moment (N m: `NAME.mx`, ..., in the plane `NAME.m`) on its "
        "second body, about the point of the joint there.",
        places=0, inside="reaction",
    ),
    SensorKind(
        "section",
        "Section force at a point on a beam: force and moment of the part towards the second end on the other, in the "
        "section's axes: `NAME.N`, `NAME.Qy`, `NAME.Qz` (N), `NAME.T`, `NAME.My`, `NAME.Mz` (N m); in the plane "
        "`NAME.N`, `NAME.Q`, `NAME.M`.",
        places=1, inside="section",
    ),
    SensorKind(
        "stress", "Normal stress along a beam, Pa, at a point on the beam and a point of its section (`at`).",
        places=1, inside="stress",
    ),
    SensorKind(
        "strain", "Normal strain along a beam, at a point on the beam and a point of its section (`at`).",
        places=1, inside="strain",
    ),
)  # fmt: skip


# Errors of the instrument: noise, delay, resolution and the like, for all kinds of sensors.


Hertz = Annotated[Positive, of(FREQUENCY)]


class Noise(Part):
    """Noise with its spectrum."""

    rms: NotNegativeOfCoordinate = 0.0
    """Root mean square of the noise, in the unit of the measured quantity."""
    frequency: Hertz | None = None
    """Corner frequency of its spectrum, flat below and falling as 1/f above, Hz. Default: white from reading to
    reading."""
    walk: NotNegativeOfCoordinate = 0.0
    """RMS drift of the zero in one second, growing with the square root of time, in the unit of the measured quantity.
    """


class Bandwidth(Part):
    """Low-pass filter of the instrument."""

    frequency: Hertz
    """Corner frequency, Hz."""
    damping: Annotated[Positive, of(RATIO)] | None = None
    """Damping ratio of a second-order filter. Default: first-order filter."""


class Instrumented(Part):
    """Instrument keys that every sensor may have; a sensor without any is exact."""

    noise: NotNegativeOfCoordinate | Noise | None = None
    """RMS of white noise, in the unit of the measured quantity; or `{rms:, frequency:, walk:}`. Default: none."""
    bias: OfCoordinate = 0.0
    """Constant error that is added to the true value, in its unit."""
    delay: Annotated[NotNegative, of(TIME)] = 0.0
    """Dead time, s."""
    resolution: PositiveOfCoordinate | None = None
    """Resolution: readings are multiples of it. Default: continuous."""
    range: Interval | None = None
    """Least and largest reading. Default: unlimited."""
    bandwidth: Hertz | Bandwidth | None = None
    """Corner frequency of a first-order low-pass filter, Hz; or `{frequency:, damping:}`. Default: unlimited bandwidth.
    """
    sample_time: Duration | None = None
    """Time between readings of the sensor, s. Default: a reading at every request."""

    @model_validator(mode="after")
    def _range_rises(self) -> Self:
        if self.range is not None and not self.range[0] < self.range[1]:
            raise ValueError(f"range must increase (got {self.range[0]:g} to {self.range[1]:g})")
        return self

    @property
    def spectrum(self) -> Noise:
        """Noise with its spectrum, in either form of the file."""
        return self.noise if isinstance(self.noise, Noise) else Noise(rms=self.noise or 0.0)

    @property
    def exact(self) -> bool:
        """Whether the sensor has no instrument keys."""
        return self.instrument("") == Instrument("")

    def instrument(self, output: str) -> Instrument:
        """Return the instrument of one of its outputs."""
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
    """Sensor of motion or of internal forces, with one output or one per component (`tip.x`, `tip.z`).

    It measures position, velocity or acceleration of a point, rotation, a joint coordinate, a distance, an angle, a
    joint reaction, a section force, a stress or a strain.

    Examples
    --------
    >>> import supple
    >>> tuple(supple.Sensor(acceleration="tip").outputs(None))
    ('x', 'y', 'z')
    """

    model_config = ConfigDict(extra="allow")  # keys of its kind

    kinds: ClassVar = SENSOR_KINDS

    axis: Direction | None = None
    """Axis of the measurement. For a vector, one direction in the drawing's axes, or in the frame's with `axes: body`.
    Default: all components, each an output of its own. For an angle, the rotation axis in the first frame's axes; not
    given in the plane, where it is the normal."""

    @property
    def location_key(self) -> str:
        """Key that gives the measured points."""
        return self.kind

    @property
    def record(self) -> SensorKind:
        """Record of its kind."""
        return SENSOR_KINDS[self.kind]

    @property
    def places(self) -> tuple[str, ...]:
        """Points that it measures."""
        named = self.kind_value
        return {0: (), 1: (named,), 2: named}[self.record.places]

    @property
    def place(self) -> str | None:
        """Single point that it measures relative to the ground; None for other kinds."""
        return self.places[0] if len(self.places) == 1 else None

    def option(self, key: str, otherwise: Any = None) -> Any:
        """Return the value of a further key of its kind, or `otherwise` if it is not given."""
        found = (self.__pydantic_extra__ or {}).get(key)
        return otherwise if found is None else found

    @property
    def order(self) -> int:
        """0 for a measure itself, 1 for its rate, 2 for its second rate."""
        return int(self.option("order", self.record.order))

    @property
    def own_axes(self) -> bool:
        """Whether components are in the axes of the measured frame."""
        return bool(self.option("axes", "world") == "body")

    def outputs(self, plane: str | None) -> Mapping[str, Row]:
        """Return suffix of the sensor's name -> measured row; empty for joint coordinates and internal forces."""
        kind = self.record
        if self.axis is not None:
            if plane and any(term.turns for row in kind.axis.values() for term in row):
                raise InputError("axis is not allowed in the plane, where it is the normal", hint="remove axis")
            return kind.axis
        if kind.axis and not (kind.plane if plane else kind.space):
            raise InputError("the sensor needs an axis", hint="add the direction or rotation axis, such as axis: z")
        return {in_plane(name, plane): row for name, row in (kind.plane if plane else kind.space).items()}

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        kinds = self._kinds()
        if len(kinds) != 1:
            raise ValueError(f"a sensor needs exactly one of {', '.join(SENSOR_KINDS)}")
        if self.axis is not None and not SENSOR_KINDS[kinds[0]].axis:
            with_axis = ", ".join(name for name, kind in SENSOR_KINDS.items() if kind.axis)
            raise ValueError(f"a {kinds[0]} sensor has no axis; sensors with an axis: {with_axis}")
        return self
