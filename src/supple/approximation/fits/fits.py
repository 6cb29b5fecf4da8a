"""All fits, by name: supple's own, and those that are registered."""

from __future__ import annotations

from supple.approximation.fits.auto import AUTO
from supple.approximation.fits.chebyshev import CHEBYSHEV
from supple.approximation.fits.fit import Fit
from supple.approximation.fits.lagrange import LAGRANGE
from supple.approximation.fits.quadratic import QUADRATIC
from supple.diagnostics import InputError
from supple.kinds import Registry

FITS = Registry("fit", Fit, AUTO, CHEBYSHEV, QUADRATIC, LAGRANGE)


def require_continuous(fit: Fit) -> None:
    """Refuse a fit that jumps where boxes meet."""
    if not fit.continuous:
        others = " or ".join(f'"{name}"' for name, other in FITS.items() if other.continuous)
        raise InputError(f"{fit.name} fits are not continuous across faces", part="fit", hint=f"take {others}")
