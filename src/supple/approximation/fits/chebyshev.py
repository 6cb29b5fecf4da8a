"""Interpolation on tensor grids of Chebyshev points."""

from __future__ import annotations

from supple.approximation.fits.designs import chebyshev_grid
from supple.approximation.fits.fit import DEGREES, Fit
from supple.approximation.fits.multi_index import tensor

CHEBYSHEV = Fit(
    name="chebyshev",
    says="mass matrix and potential, the rest from their gradients; one degree along all axes",
    design=chebyshev_grid,
    indices=tensor,
    degree=4,
    degrees=DEGREES,
    structured=True,
    continuous=True,
)
