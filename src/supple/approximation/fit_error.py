"""Error of a fit: errors of families on check points, and jumps where boxes meet.

e(x) = ‖f(x) - f̂(x)‖ / max(‖f(x)‖, median ‖f‖, floor),   ‖.‖ over the entries of one family, the median over the region

The median keeps a family from appearing wrong where it merely passes through zero. It is that of the region, by volume:
samples concentrate where a function is difficult, and their median would flatter the fit there. During a refinement it
is taken from the fit itself on evenly scattered points, which costs no evaluation; as soon as uniform check points are
known (`confidence`), it is that of the function there. The floor excludes a family that is nothing but rounding.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

import numpy as np

from supple.approximation.evaluated import Derived, FamilyError
from supple.approximation.fits.scattered_fit import halton_points
from supple.approximation.piecewise.piecewise import NOWHERE, Piecewise
from supple.array_types import Array

Families = Mapping[str, Array]


def norms(family: Array) -> Array:
    """Return ‖f‖ at each point: (N, k) to (N,)."""
    return np.sqrt(np.einsum("nk,nk->n", family, family))


def median_norms(families: Families, floors: Mapping[str, float]) -> dict[str, float]:
    """Return the median of ‖f‖, never below the family's floor."""
    return {name: max(float(np.median(norms(family))), floors[name]) for name, family in families.items()}


def rounding_floors(values: Array, half: Array, derived: Derived) -> dict[str, float]:
    """Return the norms below which a family is nothing but rounding.

    A family may vanish (the Christoffel symbols of a constant mass matrix) while the outputs it follows from do not.
    Its error is then relative to 1e-9 of the family of outputs of that size that change wholly over the region.

    values : (N, t) known outputs
    half   : (s,) half widths of the region
    """
    scale = np.abs(values).max(axis=0, initial=0.0)
    signs = np.random.default_rng(0).choice((-1.0, 1.0), size=(8, len(scale), 1 + len(half)))
    size = derived(signs[:, :, 0] * scale, signs[:, :, 1:] * scale[:, None] / half)
    tiny = float(np.finfo(float).tiny)
    return {name: max(1e-9 * float(norms(family).max()), tiny) for name, family in size.items()}


def point_errors(exact: Families, fitted: Families, medians: Mapping[str, float]) -> dict[str, Array]:
    """Return e(x) of every family at every point: (N,) each."""
    return {
        name: norms(fitted[name] - family) / np.maximum(norms(family), medians[name]) for name, family in exact.items()
    }


def worst_errors(errors: Families, points: Array, medians: Mapping[str, float]) -> dict[str, FamilyError]:
    """Return the largest error of every family and where it is."""
    stated = {}
    for name, error in errors.items():
        if len(error) == 0:
            stated[name] = FamilyError(float("nan"), np.full(points.shape[1], np.nan), medians[name], medians[name])
        else:
            n = int(np.argmax(error))
            stated[name] = FamilyError(float(error[n]), points[n].copy(), medians[name], medians[name])
    return stated


def largest(errors: Families) -> Array:
    """Return the largest error over the families at every point: (N,)."""
    return np.max(list(errors.values()), axis=0)


# Jumps of a piecewise function where its boxes meet.


_TOGETHER = 16384  # points evaluated in one batch


def face_points(dimension: int, scattered_on_each: int = 8) -> Array:
    """Return points of the faces of [-1, 1]^s, (2s faces times points, s).

    They are corners of each face and some points scattered on it.
    """
    if dimension == 1:
        return np.array([[-1.0], [1.0]])
    corners = np.array(list(product((-1.0, 1.0), repeat=dimension - 1)))[:64]
    inner = np.vstack([corners, halton_points(dimension - 1, scattered_on_each, seed=0)])
    return np.vstack([np.insert(inner, axis, side, axis=1) for axis in range(dimension) for side in (-1.0, 1.0)])


def face_jumps(piecewise: Piecewise, derived: Derived, medians: Mapping[str, float]) -> dict[str, float]:
    """Return the largest ‖f̂⁺ - f̂⁻‖ / max(‖f̂‖, median ‖f‖) over points of all faces between boxes.

    Both sides are found by a step of rounding size: the jump of a continuous function is rounding.
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
    """Return the largest jumps over the faces of some boxes."""
    jumps, s = dict.fromkeys(medians, 0.0), piecewise.dimension
    axes = np.repeat(np.arange(s), len(unit) // s)
    sides = unit[np.arange(len(unit)), axes]
    centers, inverse = piecewise.arrays.leaves_f[leaves, 0], piecewise.arrays.leaves_f[leaves, 1]
    on_face = (centers[:, None] + unit / inverse[:, None]).reshape(-1, s)
    axes, sides = np.tile(axes, len(centers)), np.tile(sides, len(centers))
    n = np.arange(len(on_face))
    reach = 1e-14 * np.abs(piecewise.arrays.roots_f).max()  # the face itself is known to rounding only
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
