"""Damping of what is elastic, for the mechanism as a whole."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import model_validator

from supple.description.dimension import PER_TIME, RATIO, TIME
from supple.description.quantity import NotNegative, Part, of

Share = Annotated[NotNegative, of(RATIO)]


class Damping(Part):
    """One law of damping: of each mode, of the material, or proportional to mass and stiffness."""

    modal: Share | None = None
    """Damping ratio ζ of every mode: 0.01 is one per cent of critical."""
    structural: Share | None = None
    """Loss factor η: the stiffness becomes K (1 + i η)."""
    rayleigh: tuple[Annotated[NotNegative, of(PER_TIME)], Annotated[NotNegative, of(TIME)]] | None = None
    """α (1/s) and β (s): D = α M + β K."""

    @model_validator(mode="after")
    def _one_law(self) -> Self:
        if len(self.chosen("modal", "structural", "rayleigh")) != 1:
            raise ValueError("damping has exactly one law: modal, structural or rayleigh")
        return self
