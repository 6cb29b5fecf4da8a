"""Couplings: coordinates that move together, as through gears, belts, ropes, or a rack and pinion."""

from __future__ import annotations

from typing import Self

from pydantic import Field, field_validator, model_validator

from supple.description.quantities.quantity import NotNegativeOfCoordinate, OfCoordinate, Part, PositiveOfCoordinate


class Coupling(Part):
    """Coupling of coordinates: the sum of factor times coordinate stays constant.

    Factors of common couplings: gear pair, z₁ and z₂ (numbers of teeth); belt, r₁ and -r₂; rack and pinion, 1 and r. A
    joint that follows another, q₂ = m q₁ + c, has factors 1 and -m and the value c.
    """

    coordinates: dict[str, OfCoordinate] = Field(min_length=1)
    """Factor of each joint (`joint.coordinate` if the joint has several), or of each sensor output between bodies: an
    angle, a distance, `sensor.x` of a position."""
    value: OfCoordinate | None = None
    """Constant value of the sum. Default: its value as drawn."""
    stiffness: PositiveOfCoordinate | None = None
    """Stiffness of teeth or belt: force along the sum per unit of the sum. N/m where the sum is a length (factors are
    radii), N m/rad where it is an angle. Default: rigid, so that the sum is constrained exactly."""
    damping: NotNegativeOfCoordinate | None = None
    """Damping parallel to the stiffness, N s/m or N m s/rad."""

    @field_validator("coordinates")
    @classmethod
    def _every_one_counts(cls, coordinates: dict[str, float]) -> dict[str, float]:
        for name, factor in coordinates.items():
            if factor == 0.0:
                raise ValueError(f"the factor of {name} is 0; remove {name} from the coupling")
        return coordinates

    @model_validator(mode="after")
    def _check_damping(self) -> Self:
        if self.damping is not None and self.stiffness is None:
            raise ValueError("damping needs a stiffness: a rigid coupling does not deform")
        return self
