"""How far a fit is from the function: errors of families on check points.

e(x) = ‖f(x) - f̂(x)‖ / max(‖f(x)‖, median ‖f‖, floor),   ‖.‖ over the entries of one family, the median over the region

The median keeps a family from looking wrong where it merely passes through zero. It is that of the region, by volume:
samples crowd where a function is difficult, and their median would flatter the fit there. While a fit is refined, it
is taken from the fit itself on evenly scattered points, which costs no evaluation; as soon as uniform check points are
known (`confidence`), from the function there. The floor keeps a family that is nothing but rounding from counting.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from supple.approximation.samples import Derived, FamilyError
from supple.array_types import Array

Families = Mapping[str, Array]


def norms(family: Array) -> Array:
    """‖f‖ at each point: (N, k) to (N,)."""
    return np.sqrt(np.einsum("nk,nk->n", family, family))


def median_norms(families: Families, floors: Mapping[str, float]) -> dict[str, float]:
    """The median of ‖f‖, never below the family's floor."""
    return {name: max(float(np.median(norms(family))), floors[name]) for name, family in families.items()}


def rounding_floors(values: Array, half: Array, derived: Derived) -> dict[str, float]:
    """Norms below which a family is nothing but rounding.

    A family may vanish (the Christoffel symbols of a constant mass matrix) while the outputs it follows from do not;
    its error is then measured against 1e-9 of what outputs of that size, changing wholly over the region, would give.

    values : (N, t) known outputs; half : (s,) half widths of the region
    """
    scale = np.abs(values).max(axis=0, initial=0.0)
    signs = np.random.default_rng(0).choice((-1.0, 1.0), size=(8, len(scale), 1 + len(half)))
    size = derived(signs[:, :, 0] * scale, signs[:, :, 1:] * scale[:, None] / half)
    tiny = float(np.finfo(float).tiny)
    return {name: max(1e-9 * float(norms(family).max()), tiny) for name, family in size.items()}


def point_errors(exact: Families, fitted: Families, medians: Mapping[str, float]) -> dict[str, Array]:
    """e(x) of every family at every point: (N,) each."""
    return {
        name: norms(fitted[name] - family) / np.maximum(norms(family), medians[name]) for name, family in exact.items()
    }


def worst_errors(errors: Families, points: Array, medians: Mapping[str, float]) -> dict[str, FamilyError]:
    """The largest error of every family and where it is."""
    stated = {}
    for name, error in errors.items():
        if len(error) == 0:
            stated[name] = FamilyError(float("nan"), np.full(points.shape[1], np.nan), medians[name], medians[name])
        else:
            n = int(np.argmax(error))
            stated[name] = FamilyError(float(error[n]), points[n].copy(), medians[name], medians[name])
    return stated


def largest(errors: Families) -> Array:
    """The largest error over the families at every point: (N,)."""
    return np.max(list(errors.values()), axis=0)
