"""Couplings: coordinates of joints that move together, as gears, belts, or a rack and its pinion make them."""

from __future__ import annotations

from pydantic import Field, field_validator

from supple.description.quantities.quantity import OfCoordinate, Part


class Coupling(Part):
    """The sum of factor times coordinate stays constant.

    A pair of wheels with z₁ and z₂ teeth has factors z₁ and z₂, a belt r₁ and -r₂, a rack and its pinion 1 and r.
    """

    coordinates: dict[str, OfCoordinate] = Field(min_length=2)
    """Factor of each joint, or `joint.coordinate` where it has several."""
    value: OfCoordinate | None = None
    """What the sum stays at; as drawn if left out."""

    @field_validator("coordinates")
    @classmethod
    def _every_one_counts(cls, coordinates: dict[str, float]) -> dict[str, float]:
        for name, factor in coordinates.items():
            if factor == 0.0:
                raise ValueError(f"the factor of {name} is 0; leave it out")
        return coordinates
