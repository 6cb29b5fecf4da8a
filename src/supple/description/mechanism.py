"""The mechanism: everything the user says of it, by name; and which of its elastic parts are taken as rigid."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any, Literal, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, PrivateAttr, field_validator, model_validator

from supple.description.actuator import Actuator
from supple.description.body import Body, Frame, PointMass
from supple.description.copies.copies import Copies
from supple.description.coupling import Coupling
from supple.description.elastic.cross_section import CrossSection
from supple.description.elastic.material import Damping, Material
from supple.description.joints.joint import Joint
from supple.description.load import Damper, Force, Spring
from supple.description.motion import Motion
from supple.description.quantities.expression import resolve_parameters, use_parameters
from supple.description.quantities.quantity import (
    Acceleration,
    Name,
    OfCoordinate,
    Part,
    PoseOfPlace,
    Position,
    Quantity,
)
from supple.description.scenario import Scenario
from supple.description.sensor import Sensor
from supple.diagnostics import InputError, SuppleWarning, require_known
from supple.diagnostics.arguments import require_arguments
from supple.results.result import facts_html, picture
from supple.results.text import listed

GROUND = "ground"
SCHEMA_VERSION = 1

T = TypeVar("T")
Plane = Literal["xy", "xz", "yz", "yx", "zx", "zy"]


class Mechanism(Part):
    """A mechanism as the user describes it: frozen, complete, without algorithms.

    Built from the mechanism file or in Python with the same names:

        Mechanism(name="pendulum", plane="xz", gravity=[0, -9.81],
                  points={"O": [0, 0], "P": [1, 0]},
                  bodies={"bar": Body(rod=("O", "P"), mass=1)},
                  joints={"O": Joint(revolute=("ground", "bar"))},
                  actuators={"motor": Actuator(joint="O")})
    """

    supple: Literal[1] = 1
    """Version of the schema."""
    name: str = "mechanism"
    description: str | None = None
    plane: Plane | None = None
    """Planar mechanisms: the two axes of the plane. Angles turn from the first to the second."""
    gravity: Acceleration | None = None
    """m/s², in the drawing's axes; none if left out."""
    parameters: dict[Name, Quantity] = {}
    """Values (or arithmetic expressions) that every number in the description may use."""
    points: dict[Name, Position] = {}
    """Where things are at rest, roughly; closure completes them."""
    materials: dict[Name, Material] = {}
    """What beams are made of."""
    sections: dict[Name, CrossSection] = {}
    """Cross-sections of beams."""
    bodies: dict[Name, Body] = Field(min_length=1)
    frames: dict[Name, Frame] = {}
    joints: dict[Name, Joint] = {}
    couplings: dict[Name, Coupling] = {}
    """Gears, belts, racks: coordinates of joints, or what sensors measure, that move together."""
    point_masses: dict[Name, PointMass] = {}
    damping: Damping | None = None
    """Damping of what is elastic; none if left out."""
    springs: dict[Name, Spring] = {}
    dampers: dict[Name, Damper] = {}
    forces: dict[Name, Force] = {}
    actuators: dict[Name, Actuator] = {}
    sensors: dict[Name, Sensor] = {}
    coordinates: tuple[str, ...] | None = None
    """θ: actuators, joints or `joint.coordinate`; the actuators if left out."""
    rest: dict[str, OfCoordinate] = {}
    """Values of some coordinates at rest, where the drawing is only rough. Joints that are not coordinates may stand
    here as well: they come near their value, which tells the branch that is meant."""
    configurations: dict[Name, dict[str, OfCoordinate | PoseOfPlace]] = {}
    """Named configurations: coordinate: value, place: position or pose, or place.x: value."""
    motions: dict[Name, Motion] = {}
    """Named motions of coordinates or of a tool."""
    scenarios: dict[Name, Scenario] = {}
    """Named runs in time: a start, a motion or inputs, and for how long."""

    copies: dict[Name, Copies] = {}
    """Groups of parts that are drawn once and repeated; they stand in the other sections once the file is read."""

    _memory: dict[str, Any] = PrivateAttr(default_factory=dict)

    @model_validator(mode="wrap")
    @classmethod
    def _with_parameters(cls, data: Any, handler: Callable[[Any], Self]) -> Self:
        """Numbers are evaluated with the mechanism's own parameters; copies take their places among the parts."""
        if not isinstance(data, Mapping) or not isinstance(data.get("parameters"), Mapping):
            return handler(data)._with_copies()
        try:
            values = resolve_parameters(data["parameters"])
        except InputError as error:
            raise error from None
        with use_parameters(values):
            made = handler({**data, "parameters": values})._with_copies()
        made.remembered("written", lambda: data)
        return made

    def _with_copies(self) -> Self:
        """The same mechanism, not yet in anybody's hands, with its copies written out."""
        if self.copies:
            from supple.description.copies.copied_parts import with_copies  # it draws, and drawings are of mechanisms

            sections, origins = with_copies(self)
            self.__dict__.update(sections)
            self.remembered("copied", lambda: origins)
        return self

    @field_validator("bodies")
    @classmethod
    def _ground_is_not_a_body(cls, bodies: dict[str, Body]) -> dict[str, Body]:
        if GROUND in bodies:
            raise ValueError("ground is always there and is not listed among the bodies")
        return bodies

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        if self is other:  # by far the usual case
            return True
        if not isinstance(other, Mechanism):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in type(self).model_fields)

    def __repr__(self) -> str:
        parts = f"{len(self.bodies)} bodies, {len(self.joints)} joints, {len(self.actuators)} actuators"
        return f'<mechanism "{self.name}": {parts}>'

    def _repr_html_(self) -> str:
        parts = ("bodies", "joints", "couplings", "springs", "dampers", "forces", "actuators", "sensors",
                 "configurations", "motions", "scenarios")  # fmt: skip
        facts = [(part, listed(getattr(self, part), 12)) for part in parts if getattr(self, part)]
        kind = f"planar ({self.plane})" if self.plane else "spatial"
        return facts_html("Mechanism", f"{self.name}, {kind}", [("description", self.description or ""), *facts])

    def remembered(self, key: str, make: Callable[[], T]) -> T:
        """What `make` gave the first time: a description is frozen, so what follows from it stays true."""
        assert self.__pydantic_private__ is not None
        memory = self.__pydantic_private__["_memory"]  # pydantic's own way to it takes microseconds, at every call
        if key not in memory:
            memory[key] = make()
        return memory[key]

    def known(self, key: str) -> Any:
        """What is remembered under a name; None if nothing is."""
        assert self.__pydantic_private__ is not None
        return self.__pydantic_private__["_memory"].get(key)

    def replace(self, **changes: Any) -> Mechanism:
        """Another mechanism with some parts changed, checked anew."""
        return type(self)(**{**{name: getattr(self, name) for name in type(self).model_fields}, **changes})

    @property
    def planar(self) -> bool:
        return self.plane is not None

    @property
    def elastic(self) -> bool:
        """Whether a body, a joint, a drive or a coupling yields."""
        return bool(self.elastic_names)

    @property
    def elastic_names(self) -> tuple[str, ...]:
        """What yields, by name: bodies that bend, joints (with their drives), couplings, in the order of the file."""
        bodies = (name for name, body in self.bodies.items() if body.elastic)
        joints = (name for name, joint in self.joints.items() if joint.yields)
        couplings = (name for name, coupling in self.couplings.items() if coupling.stiffness is not None)
        return tuple(dict.fromkeys((*bodies, *joints, *couplings)))

    def view(self, **options: Any) -> Any:
        """Look at it: inline at the end of a notebook's cell, in the browser elsewhere; `save` keeps the page.

        at : the posture to begin with; runs : simulations to play back; test : measured modes; see `view_page`
        """
        return picture("view.view_page.view_page")(self, **options)

    def plane_axes(self) -> NDArray[np.float64]:
        """P (3, 3): its columns are the drawing's axes and the normal, in the world; the identity in space."""
        if self.plane is None:
            return np.eye(3)
        first, second = (np.eye(3)["xyz".index(letter)] for letter in self.plane)
        return np.column_stack([first, second, np.cross(first, second)])

    def body(self, name: str) -> Body:
        return self._named("bodies", "body", name)

    def joint(self, name: str) -> Joint:
        return self._named("joints", "joint", name)

    def actuator(self, name: str) -> Actuator:
        return self._named("actuators", "actuator", name)

    def frame(self, name: str) -> Frame:
        return self._named("frames", "frame", name)

    def material(self, name: str) -> Material:
        return self._named("materials", "material", name)

    def section(self, name: str) -> CrossSection:
        return self._named("sections", "section", name)

    def _named(self, section: str, kind: str, name: str) -> Any:
        require_arguments(Mechanism._named, locals())
        parts = getattr(self, section)
        require_known(kind, name, parts)
        return parts[name]

    def coordinate_names(self) -> tuple[str, ...]:
        """The names of θ: `coordinates`, or the actuators."""
        return self.coordinates if self.coordinates is not None else tuple(self.actuators)

    def joint_coordinate(self, reference: str) -> tuple[str, str] | None:
        """`joint` or `joint.coordinate` as (joint, coordinate), or None if it is neither."""
        name, _, coordinate = reference.partition(".")
        if name not in self.joints:
            return None
        names = self.joints[name].coordinates(self.plane)
        if not coordinate and len(names) == 1:
            return name, names[0]
        return (name, coordinate) if coordinate in names else None

    def coupled_coordinate(self, reference: str) -> tuple[str, str] | None:
        """The coordinate of a joint that a coupling names, itself or by a sensor of it; None if it is another sensor's
        output."""
        found = self.joint_coordinate(reference)
        if found is None and reference in self.sensors and self.sensors[reference].kind == "joint":
            return self.joint_coordinate(self.sensors[reference].said)
        return found


# Elastic parts that a computation takes as rigid: the user is warned, unless that was asked for.


def taken_as_rigid(
    mechanism: Mechanism, meant: bool, instead: str, *, names: tuple[str, ...] | None = None, stacklevel: int = 3
) -> tuple[str, ...]:
    """The names of elastic parts that do not deform in what follows; unless that is meant, a SuppleWarning.

    instead    : what lets them deform, the next step of one who did not mean it
    names      : which; all of them if left out
    stacklevel : as `warnings.warn` counts; 3 is the line that called who calls this
    """
    names = mechanism.elastic_names if names is None else names
    if names and not meant:
        listed = ", ".join(f'"{name}"' for name in names[:12]) + (", ..." if len(names) > 12 else "")
        subject = f"its elastic parts {listed} are" if len(names) > 1 else f"its elastic part {listed} is"
        warnings.warn(
            f'mechanism "{mechanism.name}": {subject} taken as rigid; {instead}, '
            "or say rigid=True (--rigid) if that is meant",
            SuppleWarning,
            stacklevel=stacklevel,
        )
    return names


def require_rigid_alone(rigid: bool, modes: bool) -> None:
    """Refuse modes of deformation where everything is asked to be rigid."""
    if rigid and modes:
        raise InputError(
            "constraint or internal modes are asked for as well, and they deform", part="rigid", hint="leave one out"
        )
