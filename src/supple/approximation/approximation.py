"""Result of the approximation of a function on a region: piecewise polynomial, stated error, and cost.

A box that contains points where the function does not exist cannot be fitted. It is halved (`halve_invalid`) until its
parts either can be fitted or are so small that they are discarded (`Limits`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.approximation.confidence import Confirmation, Stated
from supple.approximation.evaluated import Derived, Evaluated, FamilyError
from supple.approximation.fit_error import (
    face_jumps,
    largest,
    median_norms,
    norms,
    point_errors,
    rounding_floors,
    worst_errors,
)
from supple.approximation.fits.scattered_fit import halton_points
from supple.approximation.piecewise.piecewise import NOWHERE, Piecewise
from supple.approximation.refinement.box import Box
from supple.approximation.refinement.box_tree import BoxNode, Forest
from supple.array_types import Array, Flags
from supple.diagnostics import InputError, NumericalError

MEDIAN_POINTS = 1024
_ASIDE = 2e-14  # of the largest bound: a step across a face, which is known to rounding only


class Progress(NamedTuple):
    """State of a refinement: points evaluated, boxes, open boxes, and the largest error of fitted boxes."""

    evaluated: int
    boxes: int
    open: int
    error: float


Report = Callable[[Progress], None]


@dataclass(frozen=True, eq=False)
class Approximation:
    """Piecewise polynomial with its cost and errors.

    error    : stated error of each family: from fresh check points if `stated` is given, else the largest over all
               known points
    samples  : number of distinct points fitted
    checks   : number of distinct further points, evaluated only to check the error
    held_out : number of those by which refinement decided
    boxes    : number of leaves
    depth    : comparisons on the longest path to a leaf
    jumps    : largest jump of each family across faces between boxes, measured like the error
    dropped  : number of discarded boxes, where the function does not exist
    stagnant : a box whose error no longer fell, so that refinement ended
    stated   : confidence of the errors
    needed   : predicted evaluations for the tolerance if refinement ended early; otherwise 0
    """

    piecewise: Piecewise
    error: dict[str, FamilyError]
    samples: int
    checks: int
    boxes: int
    depth: int
    jumps: dict[str, float]
    dropped: int
    stagnant: Box | None = None
    stated: Stated | None = None
    needed: float = 0.0
    held_out: int = 0

    @property
    def worst(self) -> float:
        """Largest stated error of all families."""
        return max((item.worst for item in self.error.values()), default=0.0)


# Scales of the families: their medians over the region, and the floors below which they are rounding.


def bounding_half(region: Sequence[Box]) -> Array:
    """Return the half widths of the smallest box around the region."""
    lower = np.min([box.lower for box in region], axis=0)
    upper = np.max([box.upper for box in region], axis=0)
    return 0.5 * (upper - lower)


def scatter_points(region: Sequence[Box], count: int, seed: int) -> Array:
    """Return about `count` evenly scattered points of the region, distributed over the boxes by volume."""
    volumes = np.array([np.prod(box.half) for box in region])
    shares = np.maximum(1, np.round(count * volumes / volumes.sum())).astype(int)
    parts = [
        box.from_unit(halton_points(box.dimension, int(n), seed + k))
        for k, (box, n) in enumerate(zip(region, shares, strict=True))
    ]
    return np.vstack(parts)


def region_medians(region: Sequence[Box], forest: Forest, evaluated: Evaluated, derived: Derived) -> dict[str, float]:
    """Return the median of ‖f‖ of every family over the fitted part of the region.

    It is nearly zero for families that are judged by their own size.
    """
    known = evaluated.known_samples
    own = dict.fromkeys(known.relative, float(np.finfo(float).tiny))
    floors = family_floors(region, evaluated, derived)
    if any(leaf.coefficients is not None for root in forest.roots for leaf in root.leaves()):
        found = fitted_medians(region, forest.piecewise(), floors, known.relative, derived)
        if found:
            return found
    medians = {
        name: max(float(np.median(norms(family[known.valid]))), floors[name]) for name, family in known.families.items()
    }
    return medians | own


def family_floors(region: Sequence[Box], evaluated: Evaluated, derived: Derived) -> dict[str, float]:
    """Return the norm of each family below which it is rounding, or is not judged."""
    known = evaluated.known_samples
    floors = rounding_floors(known.values[known.valid], bounding_half(region), derived)
    return {name: max(floor, evaluated.floors.get(name, 0.0)) for name, floor in floors.items()}


def fitted_medians(
    region: Sequence[Box], piecewise: Piecewise, floors: Mapping[str, float], relative: Iterable[str], derived: Derived
) -> dict[str, float]:
    """Return the medians from the fit alone; empty if none of the scattered points is fitted."""
    points = scatter_points(region, MEDIAN_POINTS, seed=0)
    points = points[piecewise.locate(points) != NOWHERE]
    if len(points) == 0:
        return {}
    own = dict.fromkeys(relative, float(np.finfo(float).tiny))
    return median_norms(derived(*piecewise.with_gradient(points)), floors) | own


# Errors at all known points, and the stated errors that conclude a fit.


def roots_of(forest: Forest) -> NDArray[np.int64]:
    """Return the number of the box of the region that each fitted leaf belongs to."""
    fitted = [sum(leaf.coefficients is not None for leaf in root.leaves()) for root in forest.roots]
    return np.repeat(np.arange(len(fitted)), fitted)


def points_on_all_sides(
    root_of: NDArray[np.int64], piecewise: Piecewise, points: Array
) -> tuple[Array, NDArray[np.int64], NDArray[np.int64]]:
    """Return points (N, s) once for every box that has them on a face.

    A face belongs to one of its boxes, but close to it on the other side the polynomial is that of the other box. So
    points on faces are repeated, moved across by a tiny step. Faces between boxes of the region are not crossed: there
    the function itself may jump.

    root_of : (leaves,) as `roots_of` returns

    Returns points (K, s), the row of each among the given ones, and its box.
    """
    own = piecewise.locate(points)
    inside = np.flatnonzero(own != NOWHERE)
    copies, rows, leaves = [points[inside]], [inside], [own[inside]]
    step = _ASIDE * np.abs(piecewise.arrays.roots_f).max(axis=(0, 1))
    for axis in range(points.shape[1]):
        for sign in (-1.0, 1.0):
            moved = points.copy()
            moved[:, axis] += sign * step[axis]
            there = piecewise.locate(moved)
            other = np.flatnonzero((there != own) & (there != NOWHERE) & (own != NOWHERE))
            other = other[root_of[there[other]] == root_of[own[other]]]
            copies.append(moved[other])
            rows.append(other)
            leaves.append(there[other])
    return np.vstack(copies), np.concatenate(rows), np.concatenate(leaves)


def worst_by_leaf(
    forest: Forest, evaluated: Evaluated, derived: Derived, medians: dict[str, float]
) -> tuple[list[BoxNode], Array, list[NDArray[np.int64]]]:
    """Return the fitted leaves, the largest error of each over all known points, and the rows of its valid points."""
    leaves = [leaf for root in forest.roots for leaf in root.leaves() if leaf.coefficients is not None]
    worst = np.zeros(len(leaves))
    if not leaves:
        return leaves, worst, []
    piecewise = forest.piecewise()
    known = np.flatnonzero(evaluated.known_samples.valid)
    points, rows, leaf_of = points_on_all_sides(roots_of(forest), piecewise, evaluated.points[known])
    rows = known[rows]
    fitted = derived(*piecewise.with_gradient(points))
    np.maximum.at(worst, leaf_of, largest(point_errors(evaluated.families(rows), fitted, medians)))
    order = np.argsort(leaf_of, kind="stable")
    parts = np.split(rows[order], np.searchsorted(leaf_of[order], np.arange(1, len(leaves))))
    return leaves, worst, [np.unique(part) for part in parts]


def known_errors(
    forest: Forest, piecewise: Piecewise, evaluated: Evaluated, derived: Derived, medians: dict[str, float]
) -> tuple[dict[str, Array], Array]:
    """Return errors (K,) of every family at all known points, on faces for all sides, and the points (K, s)."""
    known = np.flatnonzero(evaluated.known_samples.valid)
    points, rows, _ = points_on_all_sides(roots_of(forest), piecewise, evaluated.points[known])
    fitted = derived(*piecewise.with_gradient(points))
    return point_errors(evaluated.families(known[rows]), fitted, medians), evaluated.points[known[rows]]


def conclude(
    region: Sequence[Box],
    forest: Forest,
    evaluated: Evaluated,
    derived: Derived,
    confirmation: Confirmation | None = None,
) -> Approximation:
    """Assemble the result, with the error stated on fresh check points.

    Without `confirmation` the error is stated over every known point.
    """
    leaves = [leaf for root in forest.roots for leaf in root.leaves()]
    dropped = sum(leaf.coefficients is None for leaf in leaves)
    require_fitted(len(leaves) - dropped, len(leaves))
    piecewise = forest.piecewise()
    stated, further = None, int((~evaluated.fitted).sum())
    if confirmation is None:
        medians = region_medians(region, forest, evaluated, derived)
        errors, points = known_errors(forest, piecewise, evaluated, derived, medians)
        found = worst_errors(errors, points, medians)
    else:
        if not confirmation.current:
            confirmation.look(forest, family_floors(region, evaluated, derived), evaluated.known_samples.relative)
        assert confirmation.checked is not None
        medians, found = confirmation.checked.scales, confirmation.checked.family_errors()
        stated, further = confirmation.state_confidence(), further + confirmation.evaluations
    return Approximation(
        piecewise,
        found,
        int(evaluated.fitted.sum()),
        further,
        len(leaves) - dropped,
        piecewise.depth,
        face_jumps(piecewise, derived, medians),
        dropped,
        forest.stagnant,
        stated,
        forest.needed,
        int((~evaluated.fitted).sum()),
    )


def require_fitted(fitted: int, boxes: int) -> None:
    """Require at least one fitted box."""
    if not fitted:
        raise NumericalError(
            f"none of {boxes} boxes could be fitted: each contains points where the function does not exist",
            hint="choose a region that avoids them",
        )


def require_boxes(region: Sequence[Box]) -> list[Box]:
    """Return the boxes of a region: at least one, all of one dimension."""
    boxes = list(region)
    if not boxes:
        raise InputError("the region has no box", hint="give at least one box")
    if len({box.dimension for box in boxes}) != 1:
        raise InputError("the boxes of the region differ in dimension", hint="give every box the same coordinates")
    return boxes


# Boxes that cannot be fitted because the function does not exist everywhere in them.


HOPELESS = 1 / 8  # boxes without any valid point are halved only down to this width
FINEST = 2.0**-30  # boxes are halved for accuracy down to this width


@dataclass(frozen=True)
class Limits:
    """Limits of a refinement.

    samples  : largest number of points evaluated
    shortest : width relative to the region's below which a box with invalid points is discarded
    """

    samples: int
    shortest: float

    def divisible(self, box: Box, region: Sequence[Box], *, for_accuracy: bool) -> Flags:
        """Return the axes along which a box may be halved."""
        shortest = FINEST if for_accuracy else self.shortest
        return box.half / bounding_half(region) > shortest * (1.0 + 1e-9)


def halve_invalid(box: Box, region: Sequence[Box], xi: Array, valid: Flags, limits: Limits) -> int | None:
    """Return the axis along which to halve a box with invalid points ξ (N, s), or None to discard the box.

    The halves should differ most in their share of valid points; ties go to the relatively longest axis.
    """
    width = box.half / bounding_half(region)
    allowed = limits.divisible(box, region, for_accuracy=False)
    if not valid.any():
        allowed &= width > HOPELESS * (1.0 + 1e-9)
    if not allowed.any():
        return None
    contrast = np.zeros(box.dimension)
    for axis in range(box.dimension):
        below, above = xi[:, axis] < 0.0, xi[:, axis] > 0.0
        if below.any() and above.any():
            contrast[axis] = abs(valid[below].mean() - valid[above].mean())
    # Cutting a thin slab repeatedly along one axis gains nothing: only axes of similar length are allowed.
    allowed &= width > 0.2 * width[allowed].max()
    score = np.where(allowed, contrast + 1e-3 * width / width.max(), -1.0)
    return int(np.argmax(score))
