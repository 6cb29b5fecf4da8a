"""Lagrange interpolation of degree 2 along each axis."""

from __future__ import annotations

from supple.approximation.fits.designs import full_factorial
from supple.approximation.fits.fit import Fit
from supple.approximation.fits.multi_index import tensor

# Degree 2 along each axis through 3^s points, [Brüls 2007, 5.1].
LAGRANGE = Fit(
    name="lagrange",
    says="every coefficient by itself, three points along each axis (Brüls 2007)",
    design=lambda dimension, degree: full_factorial(dimension, degree + 1),
    indices=tensor,
    degree=2,
    degrees=range(2, 3),
    continuous=True,
)
