"""The fit that finds its degree; on a grid of boxes, interpolation at Chebyshev points."""

from __future__ import annotations

from dataclasses import replace

from supple.approximation.fits.chebyshev import CHEBYSHEV

AUTO = replace(
    CHEBYSHEV,
    name="auto",
    says="mass matrix and potential, the rest from their gradients; degrees chosen box by box",
    raises_degree=True,
)
