"""Beams of an elastic body: from where to where, of what section and material."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from supple.description.quantities.quantity import Count, Direction, Length, Part, Place

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
