"""The polynomials of a box when their degree is settled, and the points that determine them."""

from __future__ import annotations

from dataclasses import dataclass

from supple.approximation.fits.multi_index import Indices
from supple.approximation.fits.polynomial_fit import fit
from supple.array_types import Array


@dataclass(frozen=True, eq=False)
class Polynomials:
    """A design in [-1, 1]^s (N, s) and the multi-indices (terms, s) fitted to it, from values alone."""

    design: Array
    indices: Indices
    degree: int

    def coefficients(self, values: Array) -> Array:
        """Coefficients (terms, t) from values (N, t) at the design."""
        return fit(self.design, values, self.indices)
