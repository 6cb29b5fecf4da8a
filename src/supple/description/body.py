"""Bodies: rods between two points, solids of a density, or mass, centre and inertia."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import BeforeValidator, model_validator

from supple.description.expression import current_parameters, number
from supple.description.quantity import Direction, NotNegative, Number, Part, Place, Positive, Vector


def _distance_or_place(value: Any) -> Any:
    """A string is a distance if it is a parameter or an expression, and the name of a place otherwise."""
    if isinstance(value, str) and (value in current_parameters() or not value.replace(".", "_").isidentifier()):
        return number(value)
    return value


class Rotation(Part):
    """A turn from the axes of the drawing: `{about: z, angle: 30*deg}`; in the plane the angle is enough."""

    about: Direction | None = None
    """Axis of the turn, in the drawing's axes; left out in the plane."""
    angle: Number
    """rad."""


class Solid(Part):
    """A homogeneous solid: its shape, and its mass or its density."""

    box: tuple[Positive, Positive, Positive] | None = None
    """Lengths along x, y, z of the body's axes."""
    cylinder: tuple[Positive, Positive] | None = None
    """Radius, length."""
    tube: tuple[Positive, NotNegative, Positive] | None = None
    """Outer radius, inner radius, length."""
    sphere: Positive | None = None
    """Radius."""
    density: NotNegative | None = None
    """kg/m³."""
    mass: NotNegative | None = None
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

    xx: Number
    yy: Number
    zz: Number
    xy: Number = 0.0
    xz: Number = 0.0
    yz: Number = 0.0


class Body(Part):
    """A rigid body.

    Its axes are those of the drawing at rest (origin included), so that everything on it is written
    where it is drawn; a rod's origin is its first point and its x axis points to the second.
    """

    rod: tuple[str, str] | None = None
    """A slender rod between two points."""
    length: Positive | None = None
    """Length of the rod; the distance of its points as drawn if left out."""
    line_mass: NotNegative | None = None
    """Mass of the rod for a metre of length, kg/m."""
    mass: NotNegative | None = None
    """kg; 0 is legal where the joints determine the motion."""
    center: Annotated[Number | Place | None, BeforeValidator(_distance_or_place)] = None
    """Centre of mass: in the drawing, or for a rod the distance from its first point."""
    inertia: Number | tuple[Number, Number, Number] | Inertia | None = None
    """About the centre, in the body's axes, kg m²; one number in the plane."""
    solid: Solid | tuple[Solid, ...] | None = None
    """One solid or a list of them, in place of mass, centre and inertia."""
    at: Place | None = None
    """Where the body's origin is drawn; the drawing's origin if left out."""
    rotation: Rotation | None = None
    """How the body's axes are turned in the drawing."""

    @property
    def solids(self) -> tuple[Solid, ...]:
        if self.solid is None:
            return ()
        return self.solid if isinstance(self.solid, tuple) else (self.solid,)

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if len(self.chosen("mass", "line_mass", "solid")) != 1:
            raise ValueError("a body needs exactly one of mass, line_mass (rods) and solid; mass: 0 is massless")
        if self.rod is None and self.chosen("length", "line_mass"):
            raise ValueError("length and line_mass belong to a rod")
        if self.rod is not None and self.chosen("at", "rotation"):
            raise ValueError("a rod lies between its two points; at and rotation are for other bodies")
        if self.rod is not None and self.rod[0] == self.rod[1]:
            raise ValueError(f'a rod needs two different points, not "{self.rod[0]}" twice')
        if self.rod is None and self.mass and self.inertia is None and self.center is None:
            raise ValueError("a body with mass needs a center (and an inertia, if it turns)")
        if self.rod is None and isinstance(self.center, float):
            raise ValueError("center is a point or coordinates; a single number is a distance along a rod")
        if self.solid is not None and self.chosen("center", "inertia"):
            raise ValueError("a solid brings its own centre and inertia")
        return self


class PointMass(Part):
    """A mass on a body, small against its distances."""

    at: str
    """A frame, a point of a joint, or `body.point`."""
    mass: NotNegative
    """kg."""
    inertia: NotNegative | None = None
    """About its own centre (about every axis), kg m²."""


class Frame(Part):
    """A named place on a body, with axes."""

    on: str
    """The body, or ground."""
    at: Place | None = None
    """Where it is drawn."""
    local: Vector | None = None
    """Or its coordinates in the body's axes."""
    rotation: Rotation | None = None
    """Turn of its axes: from the drawing's with `at`, from the body's with `local`."""

    @model_validator(mode="after")
    def _placed_once(self) -> Self:
        if len(self.chosen("at", "local")) > 1:
            raise ValueError("a frame is placed by at (in the drawing) or by local (in body axes), not both")
        return self
