"""The slope of an analytic function at a point, from its values at Chebyshev's points around it.

    f'(x) = Σ_k w_k f(x + h c_k) / h,    c_k = cos((2k - 1) π / 2n),  w : of the polynomial through all of them

The polynomial through n points, symmetric about x, has the derivative there to O(hⁿ). With h a hundredth of what f
changes over and n = 6, (h/2)⁶ is below 1e-13, and rounding of f is multiplied by 4/h; with h a five-hundredth and n = 4
both are 1e-12. So the slope is known to about 1e-12 of f / |x|. The last coefficient of the polynomial says whether f
is as smooth as that. [Trefethen 2000, chapters 5 and 6]
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.polynomial import chebyshev

from supple.array_types import Array

_ROUNDING = 1e-12  # of f: what its values are known to
_SMOOTH = 1e-4  # the last coefficient over the largest; where f is analytic over ten times h it is (h/2)^(n - 2)
_KINK = 0.03  # and the one before, of which a kink has a tenth or more
_BEND = 1e-5  # of f: what that may be in any case, where f has its largest or smallest value


class Reach(NamedTuple):
    """How many points, and h as a share of what f changes over."""

    number: int
    step: float


WIDE = Reach(6, 0.01)  # of values that carry the errors of a long computation
NOISE = 1e-11  # of the largest of such values
NEAR = Reach(4, 0.002)  # of values that are right to rounding


class Stencil(NamedTuple):
    """Points x + h c_k (n,) around x, and the half width h."""

    points: Array
    half_width: float


def stencil(x: float, size: float | None = None, reach: Reach = WIDE) -> Stencil:
    """Points around x. size : what a change is counted in, |x| if left out, 1 at zero"""
    h = reach.step * (size if size is not None else abs(x) or 1.0)
    return Stencil(x + h * _places(reach.number), h)


def stencil_slope(found: Stencil, values: Sequence[Array] | Array) -> Array:
    """The derivative of an array at the middle of its stencil, from the array at each point."""
    given = np.asarray(values)
    return np.tensordot(_weights(len(given)), given - given[0], axes=1) / found.half_width  # 0 of what is constant


def smooth(values: Sequence[Array] | Array, noise: float = 0.0) -> bool:
    """Whether the values at the points of a stencil are those of a smooth function: kinks and jumps are not.

    noise : of the largest value, what all may be wrong by where they carry the errors of a long computation
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
    """Of the polynomial in Chebyshev's, from its values: (n, n)."""
    return np.asarray(np.linalg.inv(chebyshev.chebvander(_places(count), count - 1)))


@lru_cache
def _weights(count: int) -> Array:
    """Of the derivative in the middle."""
    change = np.array([chebyshev.chebval(0.0, chebyshev.chebder(item)) for item in np.eye(count)])
    return np.asarray(change @ _coefficients(count))
