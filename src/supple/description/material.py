"""Materials: what an elastic body is made of."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, WithJsonSchema

from supple.description.dimension import DENSITY, PRESSURE, RATIO
from supple.description.quantity import NotNegative, Part, Positive, of

# An isotropic solid is stable for -1 < ν < 1/2; incompressible rubber is at the end.
PoissonRatio = Annotated[
    float,
    of(RATIO),
    Field(gt=-1.0, le=0.5),
    WithJsonSchema(
        {"anyOf": [{"type": "number", "exclusiveMinimum": -1.0, "maximum": 0.5}, {"type": "string"}]},
    ),
]


class Material(Part):
    """A linear elastic material."""

    youngs_modulus: Annotated[Positive, of(PRESSURE)]
    """E, Pa."""
    density: Annotated[NotNegative, of(DENSITY)]
    """ρ, kg/m³."""
    poisson: PoissonRatio = 0.3
    """ν; 0.3 if left out, as of most metals. It only enters the shear modulus."""
    shear_modulus: Annotated[Positive, of(PRESSURE)] | None = None
    """G, Pa; E / (2 (1 + ν)) if left out."""

    @property
    def G(self) -> float:
        """The shear modulus, Pa."""
        return self.shear_modulus or self.youngs_modulus / (2.0 * (1.0 + self.poisson))
