"""Slope of an analytic function at a point, from its values at Chebyshev points around it.

    f'(x) = Σ_k w_k f(x + h c_k) / h,    c_k = cos((2k - 1) π / 2n),  w : of the polynomial through all of them

The polynomial through n points, symmetric about x, has the derivative there to O(hⁿ). With h a hundredth of the scale
on which f changes and n = 6, (h/2)⁶ is below 1e-13, and the rounding of f is multiplied by 4/h; with h a five-hundredth
and n = 4 both are 1e-12. So the slope is accurate to about 1e-12 of f / |x|. The last coefficient of the polynomial
shows whether f is that smooth. [Trefethen 2000, chapters 5 and 6]
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.polynomial import chebyshev

from supple.array_types import Array

_ROUNDING = 1e-12  # of f: accuracy of its values
_SMOOTH = 1e-4  # limit of the last coefficient over the largest; (h/2)^(n - 2) where f is analytic over ten times h
_KINK = 0.03  # limit of the one before over the largest; a kink gives a tenth or more
_BEND = 1e-5  # of f: allowance for that coefficient where f has an extremum


class Reach(NamedTuple):
    """Number of points, and h relative to the scale on which f changes."""

    number: int
    step: float


WIDE = Reach(6, 0.01)  # for values with the errors of a long computation
NOISE = 1e-11  # error of such values, relative to the largest
NEAR = Reach(4, 0.002)  # for values that are exact to rounding


class Stencil(NamedTuple):
    """Points x + h c_k (n,) around x, and the half width h."""

    points: Array
    half_width: float


def stencil(x: float, size: float | None = None, reach: Reach = WIDE) -> Stencil:
    """Return points around x.

    size : scale of a change; default: |x|, or 1 at zero
    """
    h = reach.step * (size if size is not None else abs(x) or 1.0)
    return Stencil(x + h * _places(reach.number), h)


def stencil_slope(found: Stencil, values: Sequence[Array] | Array) -> Array:
    """Return the derivative of an array at the middle of its stencil, from the array at each point."""
    given = np.asarray(values)
    return np.tensordot(_weights(len(given)), given - given[0], axes=1) / found.half_width  # exactly 0 for constants


def smooth(values: Sequence[Array] | Array, noise: float = 0.0) -> bool:
    """Return whether the values at the points of a stencil are those of a smooth function, without kinks and jumps.

    noise : error of the values relative to the largest, where they result from a long computation
    """
    given = np.asarray(values, dtype=float).reshape(len(values), -1)
    found = np.abs(_coefficients(len(given)) @ (given - given[0]))
    largest, own = found[1:].max(axis=0), np.abs(given).max(axis=0)
    size = max(float(own.max(initial=0.0)), 1e-300)
    rounding = _ROUNDING * np.maximum(own, 1e-3 * size) + noise * size
    odd, even = found[-1] <= _SMOOTH * largest + rounding, found[-2] <= _KINK * largest + _BEND * own + rounding
    return bool(odd.all() and even.all())


@lru_cache
def _places(count: int) -> Array:
    return np.cos((2 * np.arange(1, count + 1) - 1) * np.pi / (2 * count))


@lru_cache
def _coefficients(count: int) -> Array:
    """Return the matrix (n, n) from values to Chebyshev coefficients."""
    return np.asarray(np.linalg.inv(chebyshev.chebvander(_places(count), count - 1)))


@lru_cache
def _weights(count: int) -> Array:
    """Return the weights of the derivative in the middle."""
    change = np.array([chebyshev.chebval(0.0, chebyshev.chebder(item)) for item in np.eye(count)])
    return np.asarray(change @ _coefficients(count))
