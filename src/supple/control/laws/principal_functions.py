"""Principal functions of a piecewise polynomial with many columns.

    z(σ) = z̄ + V g(σ),     g = Vᵀ (z - z̄),   V from the singular values of the coefficients

The coefficients of each box are weighted by the norms of their polynomials and by the volume of the box, so that the
first r functions are those with the least mean square of z - ẑ over the region, nearly.
"""

from __future__ import annotations

import numpy as np

from supple.approximation.piecewise.piecewise import Piecewise
from supple.array_types import Array
from supple.control.laws.fitted_row import rounded


class PrincipalFunctions:
    """Principal functions of a fit, most important first.

    center     : z̄ (t,)
    directions : V (t, t)
    """

    def __init__(self, fitted: Piecewise) -> None:
        arrays = fitted.arrays
        self._fitted, volume = fitted, (1.0 / arrays.leaves_f[:, 1]).prod(axis=1)
        first, terms = arrays.leaves_i[:, 0], arrays.leaves_i[:, 1]
        share = volume / volume.sum()
        self.center: Array = share @ arrays.coefficients[first]  # the constant term comes first
        norms = 2.0 ** (-0.5 * (arrays.indices > 0).sum(axis=1))
        weights = np.zeros(len(arrays.coefficients))
        for start, count, part in zip(first.tolist(), terms.tolist(), share.tolist(), strict=True):
            weights[start : start + count] = norms[:count] * np.sqrt(part)
        self._centered = arrays.coefficients.copy()
        self._centered[first] -= self.center
        _, self.sizes, right = np.linalg.svd(weights[:, None] * self._centered, full_matrices=False)
        self.directions: Array = right.T

    def functions(self, count: int, digits: int) -> tuple[Piecewise, Array]:
        """Return the first functions, each divided by its size, and V times these sizes (t, count).

        digits : decimal digits of the coefficients
        """
        size = np.where(self.sizes[:count] > 0.0, self.sizes[:count], 1.0)
        kept = self.directions[:, :count]
        coefficients = np.ascontiguousarray(rounded(self._centered @ kept / size, digits))
        return Piecewise(self._fitted.arrays._replace(coefficients=coefficients)), kept * size
