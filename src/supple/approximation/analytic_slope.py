"""The slope of an analytic function at a point, from its values at Chebyshev's points around it.

    f'(x) = Σ_k w_k f(x + h c_k) / h,    c_k = cos((2k - 1) π / 2n),  w : of the polynomial through all of them

The polynomial through n = 6 points, symmetric about x, has the derivative there to O(h⁶): with h a hundredth of what f
changes over, (h/2)⁶ is below 1e-13, and rounding of f is multiplied by 4/h. So the slope is known to about 1e-12 of
f / |x|. The last coefficient of the polynomial says whether f is as smooth as that. [Trefethen 2000, chapters 5 and 6]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

Array = NDArray[np.float64]

COUNT = 6
STEP = 0.01  # of the value itself: h
_ROUNDING = 1e-12  # of f: what its values are known to
_SMOOTH = 1e-6  # the last odd coefficient over the first, of a function that is analytic over more than h


class Stencil(NamedTuple):
    """Points x + h c_k (n,) around x, and the half width h."""

    points: Array
    half_width: float


def stencil(x: float, size: float | None = None) -> Stencil:
    """Points around x. size : what a change is counted in, |x| if left out, 1 at zero"""
    h = STEP * (size if size is not None else abs(x) or 1.0)
    return Stencil(x + h * _places(), h)


def slope(found: Stencil, values: Sequence[Array] | Array) -> Array:
    """The derivative of an array at the middle of its stencil, from the array at each point."""
    given = np.asarray(values)
    return np.tensordot(_weights(), given - given[0], axes=1) / found.half_width  # what is constant has none at all


def smooth(values: Sequence[Array] | Array) -> bool:
    """Whether the values at the points of a stencil are those of a smooth function: kinks and jumps are not."""
    given = np.asarray(values, dtype=float).reshape(COUNT, -1)
    first, last = (np.abs(np.tensordot(_coefficients()[k], given, axes=1)) for k in (1, COUNT - 1))
    size = max(float(np.abs(given).max(initial=0.0)), 1e-300)
    return bool(np.all(last <= _SMOOTH * first + _ROUNDING * np.maximum(np.abs(given).max(axis=0), 1e-3 * size)))


def _places() -> Array:
    return np.cos((2 * np.arange(1, COUNT + 1) - 1) * np.pi / (2 * COUNT))


def _coefficients() -> Array:
    """Of the polynomial in Chebyshev's, from its values: (n, n)."""
    return np.asarray(np.linalg.inv(chebyshev.chebvander(_places(), COUNT - 1)))


def _weights() -> Array:
    """Of the derivative in the middle."""
    change = np.array([chebyshev.chebval(0.0, chebyshev.chebder(item)) for item in np.eye(COUNT)])
    return np.asarray(change @ _coefficients())
