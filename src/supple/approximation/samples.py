"""What is known of a function at sample points, and what a family of its outputs is."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array


class Samples(NamedTuple):
    """A function f : R^s -> R^t at N points.

    values    : (N, t)
    gradients : (N, t, k) with respect to the first k of x, those along which slopes are known; None if none are
    families  : name -> (N, k): the quantities whose error counts; they may be outputs of f, or follow from f and its
                gradient
    valid     : (N,) False where the function does not exist; the other entries are then nan
    relative  : families that are judged against their own size at every point, and need not be linear in the outputs
    """

    values: Array
    gradients: Array | None
    families: dict[str, Array]
    valid: NDArray[np.bool_]
    relative: frozenset[str] = frozenset()


Sampler = Callable[[Array], Samples]
"""Points (N, s) to samples. Must depend on each point alone; it may be called with any number of points."""

Derived = Callable[[Array, Array], dict[str, Array]]
"""Families of a fit, from its values (N, t) and gradients (N, t, s), linear in both but for those `relative`."""


Placed = Callable[[Array], Array]
"""Points (N, s) to those that are evaluated in their place."""


class FamilyError(NamedTuple):
    """Error of one family, ‖f - f̂‖ / max(‖f‖, scale), and where the largest one was found.

    median_norm : median of ‖f‖ over the region
    scale       : the larger of the median and the floor
    floor       : norm below which the family is rounding, or does not count
    seen        : the largest error of uniform check points; `worst` is larger where a search found more, see
                  `confidence`; 0 if there were none
    """

    worst: float
    at: Array
    median_norm: float
    scale: float
    floor: float = 0.0
    seen: float = 0.0
