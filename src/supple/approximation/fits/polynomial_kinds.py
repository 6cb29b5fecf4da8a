"""The polynomials a box may carry when their kind is chosen beforehand, and the points that determine them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from supple.approximation.fits.designs import central_composite, chebyshev_grid, full_factorial
from supple.approximation.fits.multi_index import Indices, tensor, total_degree
from supple.approximation.fits.polynomial_fit import fit
from supple.diagnostics import InputError, nearest

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Kind:
    """A design in [-1, 1]^s (N, s) and the multi-indices (terms, s) fitted to it, from values alone."""

    name: str
    design: Array
    indices: Indices
    degree: int

    def coefficients(self, values: Array) -> Array:
        """Coefficients (terms, t) from values (N, t) at the design."""
        return fit(self.design, values, self.indices)


def kind(name: str, dimension: int, degree: int) -> Kind:
    """quadratic : total degree 2 on the central composite design, by least squares    [Brüls 2004, 4.2]
    lagrange  : degree 2 along each axis through 3^s points                            [Brüls 2007, 5.1]
    chebyshev : `degree` along each axis through the tensor grid of Chebyshev points
    """
    if name == "quadratic":
        return Kind(name, central_composite(dimension), total_degree(dimension, 2), 2)
    if name == "lagrange":
        return Kind(name, full_factorial(dimension), tensor(dimension, 2), 2)
    if name == "chebyshev":
        if degree < 1:
            raise InputError(f"a degree of {degree} is too low", hint="give 1 or more")
        return Kind(name, chebyshev_grid(dimension, degree), tensor(dimension, degree), degree)
    known = ("quadratic", "lagrange", "chebyshev")
    raise InputError(f'there is no fit "{name}"', hint=nearest(name, known))
