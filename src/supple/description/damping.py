"""Damping of what is elastic, for the mechanism as a whole."""

from __future__ import annotations

from typing import Self

from pydantic import model_validator

from supple.description.quantity import NotNegative, Part


class Damping(Part):
    """One law of damping: of each mode, of the material, or proportional to mass and stiffness."""

    modal: NotNegative | None = None
    """Damping ratio ζ of every mode: 0.01 is one per cent of critical."""
    structural: NotNegative | None = None
    """Loss factor η: the stiffness becomes K (1 + i η)."""
    rayleigh: tuple[NotNegative, NotNegative] | None = None
    """α (1/s) and β (s): D = α M + β K."""

    @model_validator(mode="after")
    def _one_law(self) -> Self:
        if len(self.chosen("modal", "structural", "rayleigh")) != 1:
            raise ValueError("damping has exactly one law: modal, structural or rayleigh")
        return self
