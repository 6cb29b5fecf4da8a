"""Bodies: rods, solids, masses with centre and inertia, and elastic bodies from beams or a superelement."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    StringConstraints,
    Tag,
    model_validator,
)

from supple.description.elastic.superelement import Superelement
from supple.description.quantities.dimension import ANGLE, DENSITY, INERTIA, LENGTH, LINE_MASS, require
from supple.description.quantities.expression import current_parameters, number
from supple.description.quantities.named_lengths import Alternative, NamedLengths
from supple.description.quantities.quantity import (
    Count,
    Direction,
    Length,
    Mass,
    MomentOfInertia,
    NotNegative,
    NotNegativeLength,
    Number,
    Part,
    Place,
    Position,
    PositiveLength,
    of,
)
from supple.diagnostics import InputError

# Beams of an elastic body: end points, section and material.


Theory = Literal["euler-bernoulli", "timoshenko"]
SectionNames = str | tuple[str, str]

ELEMENTS = 4  # default number of finite elements per beam


class Beam(Part):
    """Straight beam of an elastic body; beams that share a point are welded there."""

    model_config = ConfigDict(populate_by_name=True)

    start: Annotated[Place, Field(alias="from")]
    """First end: a point, a frame of this body, or coordinates in the drawing."""
    to: Place
    """Second end."""
    section: SectionNames
    """Name in `sections`, or two names for a tapered beam, whose stiffness and mass vary linearly between its ends."""
    material: str
    """Name in `materials`."""
    elements: Count = ELEMENTS
    """Number of finite elements. Connection points along the beam divide it further."""
    theory: Theory = "euler-bernoulli"
    """Beam theory: `euler-bernoulli` (slender), or `timoshenko` (with shear and rotary inertia)."""
    up: Direction | None = None
    """Direction of the section's z axis (height) in the drawing. Default: in the plane of a planar mechanism,
    perpendicular to the beam; in space, like the z axis of a rod."""
    offset: tuple[Length, Length] | None = None
    """Offset of the beam axis from the line between its two points, along the section's y and z, m. Rigid arms connect
    them."""

    @property
    def sections(self) -> tuple[str, str]:
        """Section names at both ends."""
        return self.section if isinstance(self.section, tuple) else (self.section, self.section)

    @model_validator(mode="after")
    def _two_places(self) -> Self:
        if self.start == self.to:
            raise ValueError("a beam needs two different end points")
        return self


# Bodies.


Reason = Annotated[str, StringConstraints(strip_whitespace=True, min_length=3, max_length=500)]


def _distance_or_place(value: Any) -> Any:
    """Evaluate a string that is a parameter or an expression as a distance; leave the name of a point unchanged."""
    if isinstance(value, str) and (value in current_parameters() or not value.replace(".", "_").isidentifier()):
        try:
            return require(number(value), LENGTH)
        except InputError as error:
            raise ValueError(str(error)) from error
    return value


class Rotation(Part):
    """Rotation relative to the axes of the drawing: `{about: z, angle: 30*deg}`; in the plane the angle is enough."""

    about: Direction | None = None
    """Rotation axis, in the axes of the drawing. Not given in the plane."""
    angle: Annotated[Number, of(ANGLE)]
    """Rotation angle, rad."""


# The positional form has radii, the named form diameters or radii; a solid stores the positional form.
_ROUND = {"diameter": Alternative("radius", lambda of: 0.5 * of["diameter"])}
_RING = {
    "outer": Alternative("outer_radius", lambda of: 0.5 * of["outer"]),
    "inner": Alternative("inner_radius", lambda of: 0.5 * of["inner"]),
    "wall": Alternative("inner_radius", lambda of: of["outer_radius"] - of["wall"]),
}
if TYPE_CHECKING:
    _CylinderLengths = tuple[float, float]
    _TubeLengths = tuple[float, float, float]
    _SphereLengths = float
else:
    _CylinderLengths = NamedLengths("solid", "cylinder", ("radius", "length"), _ROUND).positional_type
    _TubeLengths = NamedLengths(
        "solid",
        "tube",
        ("outer_radius", "inner_radius", "length"),
        _RING,
        (PositiveLength, NotNegativeLength, PositiveLength),
    ).positional_type
    _SphereLengths = NamedLengths("solid", "sphere", ("radius",), _ROUND).positional_type


class Solid(Part):
    """Homogeneous solid: its shape, and its mass or its density."""

    box: tuple[PositiveLength, PositiveLength, PositiveLength] | None = None
    """Box: lengths along x, y and z of the body's axes, m."""
    cylinder: _CylinderLengths | None = None
    """Cylinder: `[radius, length]`, or by name: `radius` or `diameter`, and `length`."""
    tube: _TubeLengths | None = None
    """Tube: `[outer radius, inner radius, length]` (radii, unlike the diameters of a section), or by name. Names:
    diameters `outer` and `inner` or the thickness `wall`, as for a section, or `outer_radius` and `inner_radius`; and
    `length`."""
    sphere: _SphereLengths | None = None
    """Sphere: radius, or `{radius: ...}` or `{diameter: ...}`."""
    density: Annotated[NotNegative, of(DENSITY)] | None = None
    """Density, kg/m³."""
    mass: Mass | None = None
    """Mass, kg."""
    center: Place | None = None
    """Centre of the solid in the drawing. Default: the origin of the body."""
    axis: Direction | None = None
    """Axis of a cylinder or tube, in the body's axes. Default: z."""

    @model_validator(mode="after")
    def _one_of_each(self) -> Self:
        if len(self.chosen("box", "cylinder", "tube", "sphere")) != 1:
            raise ValueError("a solid needs exactly one shape: box, cylinder, tube or sphere")
        if len(self.chosen("density", "mass")) != 1:
            raise ValueError("a solid needs either a density or a mass")
        if self.tube is not None and self.tube[1] >= self.tube[0]:
            raise ValueError(
                f"the inner radius {self.tube[1]:g} must be smaller than the outer radius {self.tube[0]:g}"
            )
        if self.axis is not None and (self.box is not None or self.sphere is not None):
            raise ValueError("only a cylinder or a tube has an axis")
        return self


class Inertia(Part):
    """Entries of the inertia matrix about the centre of mass, in the body's axes, kg m²."""

    xx: MomentOfInertia
    yy: MomentOfInertia
    zz: MomentOfInertia
    xy: MomentOfInertia = 0.0
    xz: MomentOfInertia = 0.0
    yz: MomentOfInertia = 0.0

    @property
    def matrix(self) -> NDArray[np.float64]:
        """Symmetric inertia matrix (3, 3)."""
        return np.array([[self.xx, self.xy, self.xz], [self.xy, self.yy, self.yz], [self.xz, self.yz, self.zz]])


class Allowed(Part):
    """Unusual properties of a body that are intended, each with a reason, which `supple check` reports."""

    inertia: Reason | None = None
    """Reason for an inertia that no real body has: the two smaller principal moments add up to less than the largest.
    """
    section: Reason | None = None
    """Reason for a beam that is shorter than its section is large, such as a short, stiff connector."""


class Body(Part):
    """Rigid body, or elastic body: a beam, several beams, or a superelement.

    The axes and the origin of a body are those of the drawing at rest, so that everything on the body is written where
    it is drawn. A rod or a beam has its origin at its first point and its x axis towards the second.

    Examples
    --------
    >>> import supple
    >>> supple.Body(rod=("A", "B"), mass=1.5).ends
    ('A', 'B')
    >>> supple.Body(beam=("A", "B"), section="tube", material="steel").elastic
    True
    """

    rod: tuple[str, str] | None = None
    """Slender rod between two points."""
    beam: tuple[str, str] | None = None
    """Elastic beam between two points; its mass follows from `section` and `material`."""
    beams: Annotated[tuple[Beam, ...], Field(min_length=1)] | None = None
    """Several elastic beams, welded where they share a point."""
    superelement: Superelement | None = None
    """Elastic body given by mass and stiffness matrices; `mass` and `center` are then only checked against them."""
    length: PositiveLength | None = None
    """Length of the rod or beam, m. Default: distance of its points as drawn."""
    line_mass: Annotated[NotNegative, of(LINE_MASS)] | None = None
    """Mass per length of the rod, kg/m."""
    mass: Mass | None = None
    """Mass, kg; 0 is allowed where the joints determine the motion."""
    center: Annotated[Length | Place | None, BeforeValidator(_distance_or_place)] = None
    """Centre of mass: a point or coordinates in the drawing, or for a rod the distance from its first point, m."""
    inertia: MomentOfInertia | tuple[MomentOfInertia, MomentOfInertia, MomentOfInertia] | Inertia | None = None
    """Inertia about the centre of mass, in the body's axes, kg m²: `[xx, yy, zz]` or named entries; in the plane one
    number."""
    solid: Solid | tuple[Solid, ...] | None = None
    """One solid or a list of solids, instead of mass, centre and inertia."""
    at: Place | None = None
    """Origin of the body in the drawing. Default: the origin of the drawing."""
    rotation: Rotation | None = None
    """Rotation of the body's axes in the drawing."""

    section: SectionNames | None = None
    """Section of the beam: a name in `sections`, or two names for a beam that tapers between its ends."""
    material: str | None = None
    """Material of the beam: a name in `materials`."""
    elements: Count | None = None
    """Number of finite elements of the beam. Default: 4."""
    theory: Theory | None = None
    """Theory of the beam: `euler-bernoulli` (default) or `timoshenko`."""
    up: Direction | None = None
    """Direction of the z axis (height) of the beam's section in the drawing."""
    allow: Allowed | None = None
    """Checks to skip, each with its reason: `{inertia: "as published, Table 3"}`."""
    attach: dict[str, Place] | None = None
    """Points of an elastic body that lie off its beams, each connected by a rigid arm to a point on one of them."""

    @property
    def ends(self) -> tuple[str, str] | None:
        """End points of a rod or beam."""
        return self.rod if self.rod is not None else self.beam

    @property
    def elastic(self) -> bool:
        """Whether the body is elastic; rigid computations treat it as a rigid body of the same mass."""
        return bool(self.chosen("beam", "beams", "superelement"))

    @property
    def all_beams(self) -> tuple[Beam, ...]:
        """Beams of an elastic body, one or several, each with all its properties."""
        if self.beam is None:
            return self.beams or ()
        assert self.section is not None
        assert self.material is not None
        return (
            Beam(
                start=self.beam[0],
                to=self.beam[1],
                section=self.section,
                material=self.material,
                elements=self.elements or ELEMENTS,
                theory=self.theory or "euler-bernoulli",
                up=self.up,
            ),
        )

    @property
    def solids(self) -> tuple[Solid, ...]:
        if self.solid is None:
            return ()
        return self.solid if isinstance(self.solid, tuple) else (self.solid,)

    @model_validator(mode="after")
    def _complete(self) -> Self:
        kinds = self.chosen("rod", "beam", "beams", "superelement")
        if len(kinds) > 1:
            raise ValueError(f"a body can be only one of rod, beam, beams and superelement, not {' and '.join(kinds)}")
        if self.ends is not None and self.ends[0] == self.ends[1]:
            raise ValueError(f'a {kinds[0]} needs two different points (got "{self.ends[0]}" twice)')
        if self.ends is not None and self.chosen("at", "rotation"):
            raise ValueError(f"at and rotation are not allowed for a {kinds[0]}, which is placed by its two points")
        if self.ends is None and self.length is not None:
            raise ValueError("length is only allowed for a rod or a beam")
        of_beam = self.chosen("section", "material", "elements", "theory", "up")
        if of_beam and self.beam is None:
            reason = "set it in each entry of beams" if self.beams else "only a beam has it"
            raise ValueError(f"{of_beam[0]} is not allowed here: {reason}")
        if self.allow is not None and self.allow.inertia is not None and self.inertia is None:
            raise ValueError("allow: inertia has no effect, since no inertia is given")
        if self.allow is not None and self.allow.section is not None and not (self.beam or self.beams):
            raise ValueError("allow: section has no effect, since the body has no beams")
        if self.attach is not None and not (self.beam or self.beams):
            raise ValueError("attach is only allowed for bodies made of beams")
        return self._complete_elastic() if self.elastic else self._complete_rigid()

    def _complete_elastic(self) -> Self:
        given = self.chosen("line_mass", "solid", "inertia", *(() if self.superelement else ("mass", "center")))
        if given:
            raise ValueError(
                f"{given[0]} is not allowed for an elastic body, whose mass follows from its beams or matrices; add a "
                "rigid part with point_masses, or as a body with a weld joint"
            )
        if self.beam is not None:
            missing = [name for name in ("section", "material") if getattr(self, name) is None]
            if missing:
                raise ValueError(f"a beam needs a section and a material; {' and '.join(missing)} is missing")
        return self

    def _complete_rigid(self) -> Self:
        if len(self.chosen("mass", "line_mass", "solid")) != 1:
            raise ValueError(
                "a body needs exactly one of mass, line_mass (rods) and solid; write mass: 0 if it is massless"
            )
        if self.rod is None and self.line_mass is not None:
            raise ValueError("line_mass is only allowed for a rod")
        if self.rod is None and self.mass and self.inertia is None and self.center is None:
            raise ValueError("a body with mass needs a center (and an inertia, if it rotates)")
        if self.rod is None and isinstance(self.center, float):
            raise ValueError("center must be a point or coordinates; a single number is a distance along a rod")
        if self.solid is not None and self.chosen("center", "inertia"):
            raise ValueError("center and inertia are not allowed with solid, which determines them")
        return self


def _inertia_form(value: Any) -> str:
    if isinstance(value, Mapping | Inertia):
        return "entries"
    if not isinstance(value, list | tuple):
        return "one"
    return "matrix" if value and all(isinstance(row, list | tuple) for row in value) else "three"


def _entries(rows: tuple[tuple[float, ...], ...]) -> Inertia:
    """Return the six entries of an inertia matrix, which must be symmetric up to the rounding of its digits."""
    largest = max(abs(value) for row in rows for value in row)
    for i, j in ((0, 1), (0, 2), (1, 2)):
        if abs(rows[i][j] - rows[j][i]) > 1e-9 * largest:
            name = "xyz"[i] + "xyz"[j]
            raise ValueError(
                f"the inertia matrix is not symmetric: {name} is {rows[i][j]:g}, and {name[::-1]} is {rows[j][i]:g}"
            )
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = rows
    return Inertia(xx=xx, yy=yy, zz=zz, xy=xy, xz=xz, yz=yz)


_Row = tuple[MomentOfInertia, MomentOfInertia, MomentOfInertia]
_Moment = Annotated[NotNegative, of(INERTIA)]
_PointInertia = Annotated[
    Annotated[_Moment, Tag("one")]
    | Annotated[tuple[_Moment, _Moment, _Moment], Tag("three")]
    | Annotated[tuple[_Row, _Row, _Row], AfterValidator(_entries), Tag("matrix")]
    | Annotated[Inertia, Tag("entries")],
    Discriminator(_inertia_form),
]


class PointMass(Part):
    """Small rigid part fixed to a body: a mass at a point, optionally with an inertia of its own."""

    at: str
    """Location: a frame, a point of a joint, or `body.point`."""
    mass: Mass
    """Mass, kg."""
    inertia: _PointInertia | None = None
    """Inertia about its own centre, kg m². Default: none. One number (the same about every axis, or in the plane),
    `[xx, yy, zz]`, a matrix of three rows, or named entries `{xx: ..., yy: ..., zz: ..., xy: ..., xz: ..., yz: ...}`.
    The axes are those of the frame at which it sits, otherwise those of its body."""


class Frame(Part):
    """Named point with axes, fixed on a body."""

    on: str
    """Body that carries the frame, or ground."""
    at: Place | None = None
    """Position of the frame in the drawing."""
    local: Position | None = None
    """Position of the frame in the body's axes, instead of `at`."""
    rotation: Rotation | None = None
    """Rotation of the frame's axes: relative to the drawing with `at`, relative to the body with `local`."""

    @model_validator(mode="after")
    def _check_placement(self) -> Self:
        if len(self.chosen("at", "local")) > 1:
            raise ValueError("a frame takes either at (in the drawing) or local (in body axes), not both")
        return self
