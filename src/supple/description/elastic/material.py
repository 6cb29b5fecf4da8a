"""Materials: what an elastic body is made of."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, WithJsonSchema, model_validator

from supple.description.elastic.damping import Damping
from supple.description.quantities.dimension import DENSITY, PRESSURE, RATIO
from supple.description.quantities.quantity import NotNegative, Part, Positive, of

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

    damping: Damping | None = None
    """Of what is made of it: `{structural: η}`, `{modal: ζ}` as far as a mode's deformation is in it, or
    `{rayleigh: [α, β]}`; beside the mechanism's own damping. None if left out."""

    @model_validator(mode="after")
    def _one_ratio(self) -> Self:
        if self.damping is not None and not isinstance(self.damping.modal, float | None):
            raise ValueError("of a material, modal damping is one number: modes belong to the mechanism")
        return self

    @property
    def G(self) -> float:
        """The shear modulus, Pa."""
        return self.shear_modulus or self.youngs_modulus / (2.0 * (1.0 + self.poisson))
