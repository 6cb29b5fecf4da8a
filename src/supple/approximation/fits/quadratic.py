"""Quadratic polynomials as the papers fit them."""

from __future__ import annotations

from supple.approximation.fits.designs import central_composite
from supple.approximation.fits.fit import Fit
from supple.approximation.fits.multi_index import total_degree

# Total degree 2 on the central composite design, [Brüls 2004, 4.2].
QUADRATIC = Fit(
    name="quadratic",
    says="every coefficient by itself, quadratics by least squares (Brüls 2004)",
    design=lambda dimension, _: central_composite(dimension),
    indices=total_degree,
    degree=2,
    degrees=range(2, 3),
)
