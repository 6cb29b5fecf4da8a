"""Bodies: rods between two points, solids, mass with centre and inertia; elastic ones of beams, or a superelement."""

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

# Beams of an elastic body: from where to where, of what section and material.


Theory = Literal["euler-bernoulli", "timoshenko"]
SectionNames = str | tuple[str, str]

ELEMENTS = 4  # a beam, if the user does not say


class Beam(Part):
    """One straight beam of a body of several; beams that share a place are welded there."""

    model_config = ConfigDict(populate_by_name=True)

    start: Annotated[Place, Field(alias="from")]
    """Where it begins: a point, a frame of this body, or coordinates as drawn."""
    to: Place
    """Where it ends."""
    section: SectionNames
    """Of `sections`; two names: tapered, with stiffness and mass changing linearly from the first end to the second."""
    material: str
    """Of `materials`."""
    elements: Count = ELEMENTS
    """Finite elements; places on it that something touches divide it further."""
    theory: Theory = "euler-bernoulli"
    """`euler-bernoulli` (slender), or `timoshenko` (with shear and rotary inertia)."""
    up: Direction | None = None
    """Where the section's z axis (height) points, as drawn. Left out: in the plane of a planar mechanism, at right
    angles to the beam; in space as a rod's z axis."""
    offset: tuple[Length, Length] | None = None
    """How far the beam's axis is shifted along the section's y and z from the line of its two places, on rigid arms."""

    @property
    def sections(self) -> tuple[str, str]:
        """Names of the sections at both ends."""
        return self.section if isinstance(self.section, tuple) else (self.section, self.section)

    @model_validator(mode="after")
    def _two_places(self) -> Self:
        if self.start == self.to:
            raise ValueError("a beam needs two different places")
        return self


# Bodies.


Reason = Annotated[str, StringConstraints(strip_whitespace=True, min_length=3, max_length=500)]


def _distance_or_place(value: Any) -> Any:
    """A string is a distance if it is a parameter or an expression, and the name of a place otherwise."""
    if isinstance(value, str) and (value in current_parameters() or not value.replace(".", "_").isidentifier()):
        try:
            return require(number(value), LENGTH)
        except InputError as error:
            raise ValueError(str(error)) from error
    return value


class Rotation(Part):
    """A turn from the axes of the drawing: `{about: z, angle: 30*deg}`; in the plane the angle is enough."""

    about: Direction | None = None
    """Axis of the turn, in the drawing's axes; left out in the plane."""
    angle: Annotated[Number, of(ANGLE)]
    """rad."""


# By position radii, by name diameters or radii: a solid keeps the positional form.
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
    _CylinderLengths = NamedLengths("solid", "cylinder", ("radius", "length"), _ROUND).ordered
    _TubeLengths = NamedLengths(
        "solid",
        "tube",
        ("outer_radius", "inner_radius", "length"),
        _RING,
        (PositiveLength, NotNegativeLength, PositiveLength),
    ).ordered
    _SphereLengths = NamedLengths("solid", "sphere", ("radius",), _ROUND).ordered


class Solid(Part):
    """A homogeneous solid: its shape, and its mass or its density."""

    box: tuple[PositiveLength, PositiveLength, PositiveLength] | None = None
    """Lengths along x, y, z of the body's axes."""
    cylinder: _CylinderLengths | None = None
    """`[radius, length]`, or by name: `radius` or `diameter`, and `length`."""
    tube: _TubeLengths | None = None
    """`[outer radius, inner radius, length]` (radii, where a section has diameters), or by name: `outer` and `inner`
    diameter or the thickness of the `wall`, as of a section, or `outer_radius` and `inner_radius`; and `length`."""
    sphere: _SphereLengths | None = None
    """Radius; or `{radius: ...}` or `{diameter: ...}`."""
    density: Annotated[NotNegative, of(DENSITY)] | None = None
    """kg/m³."""
    mass: Mass | None = None
    """kg."""
    center: Place | None = None
    """In the drawing; the body's own origin if left out."""
    axis: Direction | None = None
    """Axis of a cylinder or tube, in the body's axes; z if left out."""

    @model_validator(mode="after")
    def _one_of_each(self) -> Self:
        if len(self.chosen("box", "cylinder", "tube", "sphere")) != 1:
            raise ValueError("a solid has exactly one shape: box, cylinder, tube or sphere")
        if len(self.chosen("density", "mass")) != 1:
            raise ValueError("a solid has either a density or a mass")
        if self.tube is not None and self.tube[1] >= self.tube[0]:
            raise ValueError(f"the inner radius {self.tube[1]:g} must be below the outer {self.tube[0]:g}")
        if self.axis is not None and (self.box is not None or self.sphere is not None):
            raise ValueError("only a cylinder or a tube has an axis")
        return self


class Inertia(Part):
    """The six entries of an inertia matrix about the centre of mass, in the body's axes, kg m²."""

    xx: MomentOfInertia
    yy: MomentOfInertia
    zz: MomentOfInertia
    xy: MomentOfInertia = 0.0
    xz: MomentOfInertia = 0.0
    yz: MomentOfInertia = 0.0

    @property
    def matrix(self) -> NDArray[np.float64]:
        """The symmetric matrix (3, 3)."""
        return np.array([[self.xx, self.xy, self.xz], [self.xy, self.yy, self.yz], [self.xz, self.yz, self.zz]])


class Allowed(Part):
    """What is unusual about a body and is meant so, each with the reason; `supple check` repeats them."""

    inertia: Reason | None = None
    """An inertia that no real body has: the two smaller principal moments add up to less than the largest."""
    section: Reason | None = None
    """A beam that is shorter than its section is large: a short, stiff connector."""


class Body(Part):
    """A rigid body, or an elastic one: a beam, several beams, or a superelement.

    Its axes are those of the drawing at rest (origin included), so that everything on it is written
    where it is drawn; the origin of a rod or beam is its first point and its x axis points to the second.
    """

    rod: tuple[str, str] | None = None
    """A slender rod between two points."""
    beam: tuple[str, str] | None = None
    """An elastic beam between two points; its mass follows from `section` and `material`."""
    beams: Annotated[tuple[Beam, ...], Field(min_length=1)] | None = None
    """Several beams, welded where they share a place."""
    superelement: Superelement | None = None
    """An elastic body by its matrices of mass and stiffness; `mass` and `center` are then only checked against them."""
    length: PositiveLength | None = None
    """Length of the rod or beam; the distance of its points as drawn if left out."""
    line_mass: Annotated[NotNegative, of(LINE_MASS)] | None = None
    """Mass of the rod for a metre of length, kg/m."""
    mass: Mass | None = None
    """kg; 0 is legal where the joints determine the motion."""
    center: Annotated[Length | Place | None, BeforeValidator(_distance_or_place)] = None
    """Centre of mass: in the drawing, or for a rod the distance from its first point."""
    inertia: MomentOfInertia | tuple[MomentOfInertia, MomentOfInertia, MomentOfInertia] | Inertia | None = None
    """About the centre, in the body's axes, kg m²; one number in the plane."""
    solid: Solid | tuple[Solid, ...] | None = None
    """One solid or a list of them, in place of mass, centre and inertia."""
    at: Place | None = None
    """Where the body's origin is drawn; the drawing's origin if left out."""
    rotation: Rotation | None = None
    """How the body's axes are turned in the drawing."""

    section: SectionNames | None = None
    """Of the beam: a name of `sections`, or two for one that tapers from the first end to the second."""
    material: str | None = None
    """Of the beam: a name of `materials`."""
    elements: Count | None = None
    """Of the beam: finite elements, 4 if left out."""
    theory: Theory | None = None
    """Of the beam: `euler-bernoulli` if left out, or `timoshenko`."""
    up: Direction | None = None
    """Of the beam: where the section's z axis (height) points, as drawn."""
    allow: Allowed | None = None
    """Checks to pass over, each with the reason: `{inertia: "as published, Table 3"}`."""
    attach: dict[str, Place] | None = None
    """Places of an elastic body that lie off its beams: each held by a rigid arm from a place on one of them."""

    @property
    def ends(self) -> tuple[str, str] | None:
        """The two points of a rod or beam."""
        return self.rod if self.rod is not None else self.beam

    @property
    def elastic(self) -> bool:
        """Whether it bends; everything rigid takes it as a rigid body of the same mass."""
        return bool(self.chosen("beam", "beams", "superelement"))

    @property
    def all_beams(self) -> tuple[Beam, ...]:
        """The beams of an elastic body, one or several, with all that is said of each."""
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
            raise ValueError(f"a body is one of rod, beam, beams and superelement, not {' and '.join(kinds)}")
        if self.ends is not None and self.ends[0] == self.ends[1]:
            raise ValueError(f'a {kinds[0]} needs two different points, not "{self.ends[0]}" twice')
        if self.ends is not None and self.chosen("at", "rotation"):
            raise ValueError(f"a {kinds[0]} lies between its two points; at and rotation are for other bodies")
        if self.ends is None and self.length is not None:
            raise ValueError("length belongs to a rod or a beam")
        of_beam = self.chosen("section", "material", "elements", "theory", "up")
        if of_beam and self.beam is None:
            said = "each of its beams has its own" if self.beams else "only a beam has one"
            raise ValueError(f"{of_beam[0]} does not belong here: {said}")
        if self.allow is not None and self.allow.inertia is not None and self.inertia is None:
            raise ValueError("allow: inertia is about an inertia that is given, and there is none")
        if self.allow is not None and self.allow.section is not None and not (self.beam or self.beams):
            raise ValueError("allow: section is about beams, and there are none")
        if self.attach is not None and not (self.beam or self.beams):
            raise ValueError("attach is for bodies of beams")
        return self._complete_elastic() if self.elastic else self._complete_rigid()

    def _complete_elastic(self) -> Self:
        given = self.chosen("line_mass", "solid", "inertia", *(() if self.superelement else ("mass", "center")))
        if given:
            raise ValueError(
                f"{given[0]} does not belong to an elastic body, whose mass follows from its beams or matrices; put a "
                "rigid part on it with point_masses, or as a body with a weld joint"
            )
        if self.beam is not None:
            missing = [name for name in ("section", "material") if getattr(self, name) is None]
            if missing:
                raise ValueError(f"a beam needs a section and a material; {' and '.join(missing)} is missing")
        return self

    def _complete_rigid(self) -> Self:
        if len(self.chosen("mass", "line_mass", "solid")) != 1:
            raise ValueError("a body needs exactly one of mass, line_mass (rods) and solid; mass: 0 is massless")
        if self.rod is None and self.line_mass is not None:
            raise ValueError("line_mass belongs to a rod")
        if self.rod is None and self.mass and self.inertia is None and self.center is None:
            raise ValueError("a body with mass needs a center (and an inertia, if it turns)")
        if self.rod is None and isinstance(self.center, float):
            raise ValueError("center is a point or coordinates; a single number is a distance along a rod")
        if self.solid is not None and self.chosen("center", "inertia"):
            raise ValueError("a solid brings its own centre and inertia")
        return self


def _inertia_form(value: Any) -> str:
    if isinstance(value, Mapping | Inertia):
        return "entries"
    if not isinstance(value, list | tuple):
        return "one"
    return "matrix" if value and all(isinstance(row, list | tuple) for row in value) else "three"


def _entries(rows: tuple[tuple[float, ...], ...]) -> Inertia:
    """Return the six numbers of an inertia matrix. It must be symmetric up to the rounding of its digits."""
    largest = max(abs(value) for row in rows for value in row)
    for i, j in ((0, 1), (0, 2), (1, 2)):
        if abs(rows[i][j] - rows[j][i]) > 1e-9 * largest:
            name = "xyz"[i] + "xyz"[j]
            raise ValueError(f"it is not symmetric: {name} is {rows[i][j]:g}, and {name[::-1]} is {rows[j][i]:g}")
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
    """A small rigid part on a body: a mass at a place, with an inertia of its own where that counts."""

    at: str
    """A frame, a point of a joint, or `body.point`."""
    mass: Mass
    """kg."""
    inertia: _PointInertia | None = None
    """About its own centre, kg m²: one number, the same about every axis; `[xx, yy, zz]`; the matrix, three rows of
    three numbers; or its six entries `{xx: ..., yy: ..., zz: ..., xy: ..., xz: ..., yz: ...}`. Axes are those of the
    frame it sits at, otherwise those of its body. In the plane one number; none if left out."""


class Frame(Part):
    """A named place on a body, with axes."""

    on: str
    """The body, or ground."""
    at: Place | None = None
    """Where it is drawn."""
    local: Position | None = None
    """Or its coordinates in the body's axes."""
    rotation: Rotation | None = None
    """Turn of its axes: from the drawing's with `at`, from the body's with `local`."""

    @model_validator(mode="after")
    def _placed_once(self) -> Self:
        if len(self.chosen("at", "local")) > 1:
            raise ValueError("a frame is placed by at (in the drawing) or by local (in body axes), not both")
        return self
