"""How far a piecewise function jumps where its boxes meet."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

import numpy as np

from supple.approximation.fit_error import norms
from supple.approximation.fits.scattered_designs import halton_points
from supple.approximation.piecewise.piecewise import NOWHERE, Piecewise
from supple.approximation.samples import Derived
from supple.array_types import Array

_TOGETHER = 16384  # points looked at in one batch


def face_points(dimension: int, scattered_on_each: int = 8) -> Array:
    """Points of the faces of [-1, 1]^s: corners of each face and some scattered on it. (2s faces times points, s)."""
    if dimension == 1:
        return np.array([[-1.0], [1.0]])
    corners = np.array(list(product((-1.0, 1.0), repeat=dimension - 1)))[:64]
    inner = np.vstack([corners, halton_points(dimension - 1, scattered_on_each, seed=0)])
    return np.vstack([np.insert(inner, axis, side, axis=1) for axis in range(dimension) for side in (-1.0, 1.0)])


def face_jumps(piecewise: Piecewise, derived: Derived, medians: Mapping[str, float]) -> dict[str, float]:
    """The largest ‖f̂⁺ - f̂⁻‖ / max(‖f̂‖, median ‖f‖) over points of all faces between boxes.

    Both sides are found by stepping to the next representable number: the jump of a continuous function is rounding.
    """
    jumps = dict.fromkeys(medians, 0.0)
    unit, leaves = face_points(piecewise.dimension), len(piecewise.arrays.leaves_f)
    if leaves < 2:
        return jumps
    each = max(1, _TOGETHER // len(unit))
    for start in range(0, leaves, each):
        for name, jump in _jumps_of(piecewise, slice(start, start + each), unit, derived, medians).items():
            jumps[name] = max(jumps[name], jump)
    return jumps


def _jumps_of(
    piecewise: Piecewise, leaves: slice, unit: Array, derived: Derived, medians: Mapping[str, float]
) -> dict[str, float]:
    """The same over the faces of some boxes."""
    jumps, s = dict.fromkeys(medians, 0.0), piecewise.dimension
    axes = np.repeat(np.arange(s), len(unit) // s)
    sides = unit[np.arange(len(unit)), axes]
    centers, inverse = piecewise.arrays.leaves_f[leaves, 0], piecewise.arrays.leaves_f[leaves, 1]
    on_face = (centers[:, None] + unit / inverse[:, None]).reshape(-1, s)
    axes, sides = np.tile(axes, len(centers)), np.tile(sides, len(centers))
    n = np.arange(len(on_face))
    reach = 1e-14 * np.abs(piecewise.arrays.roots_f).max()  # the face itself is only known to rounding
    inside, outside = on_face.copy(), on_face.copy()
    inside[n, axes] -= sides * reach
    outside[n, axes] += sides * reach
    both = (piecewise.locate(inside) != NOWHERE) & (piecewise.locate(outside) != NOWHERE)
    if not both.any():
        return jumps
    here, there = derived(*piecewise.with_gradient(inside[both])), derived(*piecewise.with_gradient(outside[both]))
    for name, median in medians.items():
        size = np.maximum(norms(here[name]), median)
        jumps[name] = float((norms(here[name] - there[name]) / size).max())
    return jumps
