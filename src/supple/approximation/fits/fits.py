"""All fits, by name: supple's own, and those that are registered."""

from __future__ import annotations

from dataclasses import replace

from supple.approximation.fits.designs import central_composite, chebyshev_grid, full_factorial
from supple.approximation.fits.fit import DEGREES, Fit
from supple.approximation.fits.multi_index import tensor, total_degree
from supple.diagnostics import InputError
from supple.kinds import Registry

# Lagrange interpolation of degree 2 along each axis.


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


# Interpolation on tensor grids of Chebyshev points.


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


# Quadratic polynomials as the papers fit them.


# Total degree 2 on the central composite design, [Brüls 2004, 4.2].
QUADRATIC = Fit(
    name="quadratic",
    says="every coefficient by itself, quadratics by least squares (Brüls 2004)",
    design=lambda dimension, _: central_composite(dimension),
    indices=total_degree,
    degree=2,
    degrees=range(2, 3),
)


# The fit that finds its degree; on a grid of boxes, interpolation at Chebyshev points.


AUTO = replace(
    CHEBYSHEV,
    name="auto",
    says="mass matrix and potential, the rest from their gradients; degrees chosen box by box",
    raises_degree=True,
)


FITS = Registry("fit", Fit, AUTO, CHEBYSHEV, QUADRATIC, LAGRANGE)


def require_continuous(fit: Fit) -> None:
    """Refuse a fit that jumps where boxes meet."""
    if not fit.continuous:
        others = " or ".join(f'"{name}"' for name, other in FITS.items() if other.continuous)
        raise InputError(f"{fit.name} fits are not continuous across faces", part="fit", hint=f"take {others}")
