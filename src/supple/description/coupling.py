"""Couplings: coordinates that move together, as gears, belts, ropes, or a rack and its pinion make them."""

from __future__ import annotations

from typing import Self

from pydantic import Field, field_validator, model_validator

from supple.description.quantities.quantity import NotNegativeOfCoordinate, OfCoordinate, Part, PositiveOfCoordinate


class Coupling(Part):
    """The sum of factor times coordinate stays constant.

    A pair of wheels with z₁ and z₂ teeth has factors z₁ and z₂, a belt r₁ and -r₂, a rack and its pinion 1 and r; a
    joint that follows another, q₂ = m q₁ + c, has factors 1 and -m and the value c.
    """

    coordinates: dict[str, OfCoordinate] = Field(min_length=1)
    """Factor of each joint, or `joint.coordinate` where it has several; or of what a sensor measures between bodies (an
    angle, a distance, `sensor.x` of a position)."""
    value: OfCoordinate | None = None
    """What the sum stays at; as drawn if left out."""
    stiffness: PositiveOfCoordinate | None = None
    """Of teeth or a belt that give way: the force along the sum for its unit, N/m where it is a length (factors are
    radii), N m/rad where it is an angle; left out, it is kept exactly."""
    damping: NotNegativeOfCoordinate | None = None
    """Beside the stiffness, N s/m or N m s/rad."""

    @field_validator("coordinates")
    @classmethod
    def _every_one_counts(cls, coordinates: dict[str, float]) -> dict[str, float]:
        for name, factor in coordinates.items():
            if factor == 0.0:
                raise ValueError(f"the factor of {name} is 0; leave it out")
        return coordinates

    @model_validator(mode="after")
    def _damped_where_it_gives(self) -> Self:
        if self.damping is not None and self.stiffness is None:
            raise ValueError("damping stands beside a stiffness: what is kept exactly does not move")
        return self
