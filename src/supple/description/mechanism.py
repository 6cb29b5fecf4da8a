"""Mechanism: the complete description by named parts, and warnings about elastic parts that are treated as rigid."""

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
from supple.results.text import list_names

GROUND = "ground"
SCHEMA_VERSION = 1

T = TypeVar("T")
Plane = Literal["xy", "xz", "yz", "yx", "zx", "zy"]


class Mechanism(Part):
    """Description of a mechanism: its parts by name, frozen and without algorithms.

    It is read from the mechanism file (`supple.load`), or built in Python with the same names. Units are SI and
    radians.

    Raises
    ------
    InputError, pydantic.ValidationError
        If a part is incomplete or has a wrong value.

    See Also
    --------
    load : Mechanism from a file, with all consistency checks.

    Examples
    --------
    >>> import supple
    >>> from supple import Actuator, Body, Joint
    >>> pendulum = supple.Mechanism(
    ...     name="pendulum", plane="xz", gravity=[0, -9.81],
    ...     points={"O": [0, 0], "P": [1, 0]},
    ...     bodies={"bar": Body(rod=("O", "P"), mass=1)},
    ...     joints={"O": Joint(revolute=("ground", "bar"))},
    ...     actuators={"motor": Actuator(joint="O")},
    ... )
    >>> pendulum
    <mechanism "pendulum": 1 bodies, 1 joints, 1 actuators>
    """

    supple: Literal[1] = 1
    """Version of the schema."""
    name: str = "mechanism"
    description: str | None = None
    plane: Plane | None = None
    """Plane of a planar mechanism: its two axes. Angles turn from the first to the second. Default: spatial mechanism.
    """
    gravity: Acceleration | None = None
    """Gravity, in the drawing's axes, m/s². Default: none."""
    parameters: dict[Name, Quantity] = {}
    """Parameters that every number in the description may use: values or arithmetic expressions."""
    points: dict[Name, Position] = {}
    """Points of the drawing, at approximate rest positions, which the closure of the loops corrects."""
    materials: dict[Name, Material] = {}
    """Materials of beams."""
    sections: dict[Name, CrossSection] = {}
    """Cross-sections of beams."""
    bodies: dict[Name, Body] = Field(min_length=1)
    frames: dict[Name, Frame] = {}
    joints: dict[Name, Joint] = {}
    couplings: dict[Name, Coupling] = {}
    """Gears, belts and racks: couplings of joint coordinates, or of the outputs of sensors."""
    point_masses: dict[Name, PointMass] = {}
    damping: Damping | None = None
    """Damping of the elastic parts. Default: none."""
    springs: dict[Name, Spring] = {}
    dampers: dict[Name, Damper] = {}
    forces: dict[Name, Force] = {}
    actuators: dict[Name, Actuator] = {}
    sensors: dict[Name, Sensor] = {}
    coordinates: tuple[str, ...] | None = None
    """Coordinates θ: actuators, joints or `joint.coordinate`. Default: the actuators."""
    rest: dict[str, OfCoordinate] = {}
    """Values of coordinates at rest, where the drawing is only approximate. Joints that are not coordinates are also
    allowed: the solution nearest to their value selects the assembly branch."""
    configurations: dict[Name, dict[str, OfCoordinate | PoseOfPlace]] = {}
    """Named configurations: `coordinate: value`, `point: position or pose`, or `point.x: value`."""
    motions: dict[Name, Motion] = {}
    """Named motions of coordinates or of a tool."""
    scenarios: dict[Name, Scenario] = {}
    """Named simulations: start, motion or inputs, and duration."""

    copies: dict[Name, Copies] = {}
    """Groups of parts that are drawn once and repeated. Reading the file expands them into the other sections."""

    _memory: dict[str, Any] = PrivateAttr(default_factory=dict)

    @model_validator(mode="wrap")
    @classmethod
    def _with_parameters(cls, data: Any, handler: Callable[[Any], Self]) -> Self:
        """Evaluate numbers with the mechanism's own parameters, and expand copies."""
        if not isinstance(data, Mapping) or not isinstance(data.get("parameters"), Mapping):
            return handler(data)._with_copies()
        try:
            values = resolve_parameters(data["parameters"])
        except InputError as error:
            raise error from None
        with use_parameters(values):
            made = handler({**data, "parameters": values})._with_copies()
        made.compute_once("written", lambda: data)
        return made

    def _with_copies(self) -> Self:
        """Expand the copies of a mechanism under construction, and return it."""
        if self.copies:
            from supple.description.copies.copied_parts import with_copies  # it needs drawings, which need Mechanism

            sections, origins = with_copies(self)
            self.__dict__.update(sections)
            self.compute_once("copied", lambda: origins)
        return self

    @field_validator("bodies")
    @classmethod
    def _refuse_ground(cls, bodies: dict[str, Body]) -> dict[str, Body]:
        if GROUND in bodies:
            raise ValueError('"ground" is predefined; remove it from bodies')
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
        facts = [(part, list_names(getattr(self, part), 12)) for part in parts if getattr(self, part)]
        kind = f"planar ({self.plane})" if self.plane else "spatial"
        return facts_html("Mechanism", f"{self.name}, {kind}", [("description", self.description or ""), *facts])

    def compute_once(self, key: str, make: Callable[[], T]) -> T:
        """Return the value that `make` returned at the first call; a description is frozen, so it stays valid."""
        assert self.__pydantic_private__ is not None
        memory = self.__pydantic_private__["_memory"]  # pydantic's own attribute access takes microseconds per call
        if key not in memory:
            memory[key] = make()
        return memory[key]

    def recall(self, key: str) -> Any:
        """Return the cached value of this key, or None."""
        assert self.__pydantic_private__ is not None
        return self.__pydantic_private__["_memory"].get(key)

    def replace(self, **changes: Any) -> Mechanism:
        """Return a mechanism with some parts changed, after validation.

        Parameters
        ----------
        **changes : Any
            New values of sections, such as ``gravity=[0, 0, -9.81]`` or ``bodies={**m.bodies, "arm": arm}``.

        Returns
        -------
        Mechanism
            The changed mechanism; this one stays as it is.
        """
        return type(self)(**{**{name: getattr(self, name) for name in type(self).model_fields}, **changes})

    @property
    def planar(self) -> bool:
        """Whether the mechanism is planar."""
        return self.plane is not None

    @property
    def elastic(self) -> bool:
        """Whether a body, a joint, a drive or a coupling is elastic."""
        return bool(self.elastic_names)

    @property
    def elastic_names(self) -> tuple[str, ...]:
        """Names of the elastic parts: bodies, joints (with their drives), couplings, in the order of the file."""
        bodies = (name for name, body in self.bodies.items() if body.elastic)
        joints = (name for name, joint in self.joints.items() if joint.yields)
        couplings = (name for name, coupling in self.couplings.items() if coupling.stiffness is not None)
        return tuple(dict.fromkeys((*bodies, *joints, *couplings)))

    def view(self, **options: Any) -> Any:
        """View the mechanism in the browser, or inline at the end of a notebook cell.

        Parameters
        ----------
        **options : Any
            Options of the page, see `view_page`. `at`: initial posture; `runs`: simulations to play back; `test`:
            measured modes.

        Returns
        -------
        object
            Page with a method ``save(path)``.
        """
        return picture("view.view_page.view_page")(self, **options)

    def plane_axes(self) -> NDArray[np.float64]:
        """Return P (3, 3), whose columns are the drawing's axes and its normal in the world; the identity in space."""
        if self.plane is None:
            return np.eye(3)
        first, second = (np.eye(3)["xyz".index(letter)] for letter in self.plane)
        return np.column_stack([first, second, np.cross(first, second)])

    def body(self, name: str) -> Body:
        """Return the body of this name."""
        return self._get_part("bodies", "body", name)

    def joint(self, name: str) -> Joint:
        """Return the joint of this name."""
        return self._get_part("joints", "joint", name)

    def actuator(self, name: str) -> Actuator:
        """Return the actuator of this name."""
        return self._get_part("actuators", "actuator", name)

    def frame(self, name: str) -> Frame:
        """Return the frame of this name."""
        return self._get_part("frames", "frame", name)

    def material(self, name: str) -> Material:
        """Return the material of this name."""
        return self._get_part("materials", "material", name)

    def section(self, name: str) -> CrossSection:
        """Return the cross-section of this name."""
        return self._get_part("sections", "section", name)

    def _get_part(self, section: str, kind: str, name: str) -> Any:
        require_arguments(Mechanism._get_part, locals())
        parts = getattr(self, section)
        require_known(kind, name, parts)
        return parts[name]

    def coordinate_names(self) -> tuple[str, ...]:
        """Return the names of the coordinates θ: `coordinates`, or else the actuators."""
        return self.coordinates if self.coordinates is not None else tuple(self.actuators)

    def joint_coordinate(self, reference: str) -> tuple[str, str] | None:
        """Split `joint` or `joint.coordinate` into (joint, coordinate); None if it names no single coordinate."""
        name, _, coordinate = reference.partition(".")
        if name not in self.joints:
            return None
        names = self.joints[name].coordinates(self.plane)
        if not coordinate and len(names) == 1:
            return name, names[0]
        return (name, coordinate) if coordinate in names else None

    def coupled_coordinate(self, reference: str) -> tuple[str, str] | None:
        """Return the joint coordinate that a coupling names, directly or by a joint sensor; None for other outputs."""
        found = self.joint_coordinate(reference)
        if found is None and reference in self.sensors and self.sensors[reference].kind == "joint":
            return self.joint_coordinate(self.sensors[reference].kind_value)
        return found


# Warnings about elastic parts that a computation treats as rigid.


def treat_as_rigid(
    mechanism: Mechanism, meant: bool, instead: str, *, names: tuple[str, ...] | None = None, stacklevel: int = 3
) -> tuple[str, ...]:
    """Return the names of elastic parts that are treated as rigid, with a SuppleWarning unless that is intended.

    meant      : whether the caller requested rigid parts, so that there is no warning
    instead    : how to include the deformation, as the next step in the warning
    names      : the parts; default: all elastic ones
    stacklevel : as for `warnings.warn`; 3 is the line that called the caller of this function
    """
    names = mechanism.elastic_names if names is None else names
    if names and not meant:
        listed = ", ".join(f'"{name}"' for name in names[:12]) + (", ..." if len(names) > 12 else "")
        subject = f"its elastic parts {listed} are" if len(names) > 1 else f"its elastic part {listed} is"
        warnings.warn(
            f'mechanism "{mechanism.name}": {subject} treated as rigid; {instead}, '
            "or set rigid=True (--rigid) if that is intended",
            SuppleWarning,
            stacklevel=stacklevel,
        )
    return names


def require_rigid_alone(rigid: bool, modes: bool) -> None:
    """Refuse deformation modes together with rigid parts."""
    if rigid and modes:
        raise InputError(
            "rigid=True (--rigid) contradicts the requested constraint or internal modes, which deform",
            part="rigid",
            hint="remove one of them",
        )
