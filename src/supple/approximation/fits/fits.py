"""Fits on one box: its sample points, its polynomials, and the registry of all fits.

Polynomials are sums of products T_α(ξ) = Π_i T_{α_i}(ξ_i) of Chebyshev polynomials. Kernels, files and exported code
use no others, and every polynomial can be written so. A fit chooses the points and the α and is one record (`Fit`). The
code that divides boxes, judges errors, saves and exports uses the record and never its name. `FITS` holds the built-in
fits and the registered ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from scipy.linalg import solve_triangular

from supple.approximation.fits.chebyshev_products import Indices, basis, basis_gradient, tensor, total_degree
from supple.array_types import Array
from supple.diagnostics import InputError
from supple.kinds import Registry

# Designs: sample points in a box [-1, 1]^s.


def full_factorial(dimension: int, levels: int = 3) -> Array:
    """Return `levels` equally spaced values along every axis: 3^s points by default."""
    return np.array(list(product(np.linspace(-1.0, 1.0, levels), repeat=dimension)))


def central_composite(dimension: int) -> Array:
    """Return corners, centres of the faces (star points), and the centre: 2^s + 2s + 1 points [Brüls 2004, 4.2]."""
    corners = np.array(list(product((-1.0, 1.0), repeat=dimension)))
    stars = np.vstack([np.eye(dimension), -np.eye(dimension)])
    return np.vstack([corners, stars, np.zeros((1, dimension))])


def chebyshev_grid(dimension: int, degree: int) -> Array:
    """Return the tensor grid of Chebyshev points with the ends, cos(πk/degree): (degree + 1)^s points."""
    nodes = np.cos(np.pi * np.arange(degree, -1, -1) / degree) if degree > 0 else np.zeros(1)
    nodes[np.abs(nodes) < 1e-15] = 0.0
    return np.array(list(product(nodes, repeat=dimension)))


# Least-squares polynomials on a box, from values alone or from values and gradients.


def slope_weights(indices: Indices, slopes: int) -> Array:
    """Return 1/degree along each of the first axes: the weight of an equation for a slope against one for a value."""
    return 1.0 / np.maximum(1, indices[:, :slopes].max(axis=0))


def design_matrix(xi: Array, indices: Indices, slopes: int) -> Array:
    """Return rows T_α(ξ), (N, terms), followed by the weighted rows ∂T_α/∂ξ_i along the first `slopes` axes."""
    A = basis(xi, indices)
    if not slopes:
        return A
    along = basis_gradient(xi, indices)[:, :slopes] * slope_weights(indices, slopes)[:, None]
    return np.vstack([A, along.reshape(-1, len(indices))])


def fit(xi: Array, values: Array, indices: Indices, gradients: Array | None = None) -> Array:
    """Return the coefficients (terms, t) of Σ_α c_α T_α(ξ) closest to the samples.

    xi        : (N, s) in [-1, 1]
    values    : (N, t)
    gradients : (N, t, k) with respect to the first k of ξ; each row then counts as a further sample, weighted by
                1/degree because derivatives of a polynomial are that much larger than its values
    """
    A, y = design_matrix(xi, indices, 0 if gradients is None else gradients.shape[2]), values
    if gradients is not None:
        weighed = gradients * slope_weights(indices, gradients.shape[2])
        y = np.vstack([y, np.swapaxes(weighed, 1, 2).reshape(-1, values.shape[1])])
    Q, R = np.linalg.qr(A)
    pivots = np.abs(np.diag(R))
    if len(A) >= len(indices) and pivots.min() > 1e-10 * pivots.max():
        return np.asarray(solve_triangular(R, Q.T @ y, check_finite=False), dtype=float)
    return np.asarray(np.linalg.lstsq(A, y, rcond=None)[0], dtype=float)  # too few or badly placed points


# The polynomials of a box of known degree, and the points that determine them.


@dataclass(frozen=True, eq=False)
class Polynomials:
    """Design in [-1, 1]^s (N, s) and the multi-indices (terms, s) fitted to it, from values alone."""

    design: Array
    indices: Indices
    degree: int

    def coefficients(self, values: Array) -> Array:
        """Return coefficients (terms, t) from values (N, t) at the design."""
        return fit(self.design, values, self.indices)


# A fit, as one record.


DEGREES = range(1, 21)


@dataclass(frozen=True)
class Fit:
    """Type of fit of a function on a box [-1, 1]^s, by least squares of its values.

    Parameters
    ----------
    name : str
        Name, as in ``reduce(mechanism, fit=name)``.
    description : str
        Summary in one line, for help texts.
    design : callable
        Function of the dimension s and a degree that returns the sample points, shape (N, s).

        There are at least as many points as terms.
    indices : callable
        Function of s and a degree that returns the multi-indices α, shape (terms, s), by rising degree.
    degree : int
        Default degree.
    degrees : range
        Admissible degrees.
    structured : bool, optional
        Fit M and the potential, and derive Γ and the force from them. Default: False, all are fitted separately.
    continuous : bool, optional
        Polynomials of two boxes agree on a face if they agree at its points. Default: False.
    raises_degree : bool, optional
        Choose the total degree box by box, up to the given one. Default: False.

        The polynomials are then fitted to scattered points, with gradients where they are known; `design` and `indices`
        are used for a grid of boxes.

    See Also
    --------
    register : Register a fit.
    reduce : Reduce a mechanism with a fit.

    Examples
    --------
    >>> from supple.approximation.fits.fits import FITS
    >>> fit = FITS["quadratic"]
    >>> fit.degree, fit.polynomials(dimension=2).design.shape
    (2, (9, 2))
    """

    name: str
    description: str
    design: Callable[[int, int], Array]
    indices: Callable[[int, int], Indices]
    degree: int
    degrees: range
    structured: bool = False
    continuous: bool = False
    raises_degree: bool = False

    def choose_degree(self, degree: int | None) -> int:
        """Return the given degree, or the default degree.

        Parameters
        ----------
        degree : int or None
            Requested degree.

        Returns
        -------
        int
            Degree.

        Raises
        ------
        InputError
            If the fit does not support the degree.
        """
        if degree is None:
            return self.degree
        if degree not in self.degrees:
            first, last = self.degrees[0], self.degrees[-1]
            allowed = f"degree {first}" if first == last else f"degrees from {first} to {last}"
            raise InputError(
                f'the fit "{self.name}" supports {allowed} (got {degree})', part="degree",
                hint="omit the degree, or use another fit",
            )  # fmt: skip
        return degree

    def polynomials(self, dimension: int, degree: int | None = None) -> Polynomials:
        """Return the polynomials on boxes of a dimension.

        Parameters
        ----------
        dimension : int
            Dimension s of the boxes.
        degree : int, optional
            Degree. Default: that of the fit.

        Returns
        -------
        Polynomials
            Sample points and multi-indices.
        """
        n = self.choose_degree(degree)
        return Polynomials(self.design(dimension, n), self.indices(dimension, n), n)

    def grid_samples(self, counts: Sequence[int], degree: int | None = None) -> int:
        """Return the number of distinct sample points of a grid of boxes.

        Neighbours share a point on a common face.

        Parameters
        ----------
        counts : sequence of int
            Number of boxes along each axis.
        degree : int, optional
            Degree. Default: that of the fit.

        Returns
        -------
        int
            Number of samples.
        """
        design = np.unique(self.polynomials(len(counts), degree).design, axis=0)
        points = {point.tobytes() for point in design + 0.0}  # -0.0 becomes 0.0
        total = 0
        for point in design:
            cells = 1
            for axis, count in enumerate(counts):
                across = point + 0.0
                across[axis] = -1.0
                cells *= 1 if point[axis] == 1.0 and across.tobytes() in points else count
            total += cells
        return total


# Lagrange interpolation of degree 2 along each axis, through 3^s points [Brüls 2007, 5.1].


LAGRANGE = Fit(
    name="lagrange",
    description="interpolates every coefficient at three points along each axis (Brüls 2007)",
    design=lambda dimension, degree: full_factorial(dimension, degree + 1),
    indices=tensor,
    degree=2,
    degrees=range(2, 3),
    continuous=True,
)


# Interpolation on tensor grids of Chebyshev points.


CHEBYSHEV = Fit(
    name="chebyshev",
    description="like auto, with the same degree along all axes",
    design=chebyshev_grid,
    indices=tensor,
    degree=4,
    degrees=DEGREES,
    structured=True,
    continuous=True,
)


# Quadratic polynomials as the papers fit them: total degree 2 on the central composite design [Brüls 2004, 4.2].


QUADRATIC = Fit(
    name="quadratic",
    description="fits every coefficient by a quadratic polynomial, least squares (Brüls 2004)",
    design=lambda dimension, _: central_composite(dimension),
    indices=total_degree,
    degree=2,
    degrees=range(2, 3),
)


# The fit that chooses its degree; on a grid of boxes, interpolation at Chebyshev points.


AUTO = replace(
    CHEBYSHEV,
    name="auto",
    description="fits the mass matrix and the potential and differentiates them, with a degree per box",
    raises_degree=True,
)


# All fits by name.


FITS = Registry("fit", Fit, AUTO, CHEBYSHEV, QUADRATIC, LAGRANGE)


def require_continuous(fit: Fit) -> None:
    """Refuse a fit that jumps where boxes meet."""
    if not fit.continuous:
        others = " or ".join(f'"{name}"' for name, other in FITS.items() if other.continuous)
        raise InputError(f'the fit "{fit.name}" is not continuous across boxes', part="fit", hint=f"use {others}")
