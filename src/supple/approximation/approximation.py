"""The result of approximating a function on a region: the piecewise polynomial, the error it states, and what it cost.

A box that holds points where the function does not exist cannot be fitted. It is halved (`halve_invalid`) until its
parts either can be fitted or are so small that they are left out (`Limits`).
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
_ASIDE = 2e-14  # of the largest bound: across a face, which is only known to rounding, and nowhere else


class Progress(NamedTuple):
    """How far a refinement is: points evaluated, boxes so far, how many of them are not done, largest error of those
    that are fitted."""

    evaluated: int
    boxes: int
    open: int
    error: float


Report = Callable[[Progress], None]


@dataclass(frozen=True, eq=False)
class Approximation:
    """A piecewise polynomial, what it cost and how good it is.

    error   : stated error of each family: from fresh check points where `stated` says so, else the largest over all
              known points
    samples : distinct points fitted
    checks  : distinct further points, evaluated only to check the error; held_out : those of them that refinement
              decided by
    boxes   : leaves; depth : comparisons on the longest way to one
    jumps   : largest jump of each family across faces between boxes, measured like the error
    dropped : boxes left out because the function does not exist there
    stagnant : a box in which the error did not fall any more, for which refinement ended
    stated  : how far the errors can be trusted
    needed  : evaluations that the tolerance was expected to take when refinement ended early; 0: it did not
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
        """The largest stated error of all families."""
        return max((item.worst for item in self.error.values()), default=0.0)


# Scales of the families: their medians over the region, and the floors below which they are rounding.


def bounding_half(region: Sequence[Box]) -> Array:
    """Half widths of the smallest box around the region."""
    lower = np.min([box.lower for box in region], axis=0)
    upper = np.max([box.upper for box in region], axis=0)
    return 0.5 * (upper - lower)


def scattered_in(region: Sequence[Box], count: int, seed: int) -> Array:
    """About `count` evenly scattered points of the region, every box its share by volume."""
    volumes = np.array([np.prod(box.half) for box in region])
    shares = np.maximum(1, np.round(count * volumes / volumes.sum())).astype(int)
    parts = [
        box.from_unit(halton_points(box.dimension, int(n), seed + k))
        for k, (box, n) in enumerate(zip(region, shares, strict=True))
    ]
    return np.vstack(parts)


def region_medians(region: Sequence[Box], forest: Forest, evaluated: Evaluated, derived: Derived) -> dict[str, float]:
    """The median of ‖f‖ of every family over the part of the region that is fitted; next to nothing for families that
    are judged by their own size."""
    known = evaluated.known
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
    """The norm of each family below which it is rounding, or does not count."""
    known = evaluated.known
    floors = rounding_floors(known.values[known.valid], bounding_half(region), derived)
    return {name: max(floor, evaluated.floors.get(name, 0.0)) for name, floor in floors.items()}


def fitted_medians(
    region: Sequence[Box], piecewise: Piecewise, floors: Mapping[str, float], relative: Iterable[str], derived: Derived
) -> dict[str, float]:
    """The same from the fit alone; empty where none of the points that are scattered over the region is fitted."""
    points = scattered_in(region, MEDIAN_POINTS, seed=0)
    points = points[piecewise.locate(points) != NOWHERE]
    if len(points) == 0:
        return {}
    own = dict.fromkeys(relative, float(np.finfo(float).tiny))
    return median_norms(derived(*piecewise.with_gradient(points)), floors) | own


# Errors at all known points, and the statement that concludes a fit.


def roots_of(forest: Forest) -> NDArray[np.int64]:
    """The number of the box of the region that each fitted leaf is a part of."""
    fitted = [sum(leaf.coefficients is not None for leaf in root.leaves()) for root in forest.roots]
    return np.repeat(np.arange(len(fitted)), fitted)


def from_all_sides(
    root_of: NDArray[np.int64], piecewise: Piecewise, points: Array
) -> tuple[Array, NDArray[np.int64], NDArray[np.int64]]:
    """Points (N, s) as every box sees them that has them on a face.

    A face belongs to one of its boxes, but points close to it on the other side see the polynomial of the other; so
    points on faces are taken a second time, moved across by next to nothing. Not across faces between boxes of the
    region: there the function itself may jump.
    root_of : (leaves,) as `roots_of` says
    Returns points (K, s), the row of each among those given, and its box.
    """
    own = piecewise.locate(points)
    inside = np.flatnonzero(own != NOWHERE)
    seen, rows, leaves = [points[inside]], [inside], [own[inside]]
    step = _ASIDE * np.abs(piecewise.arrays.roots_f).max(axis=(0, 1))
    for axis in range(points.shape[1]):
        for sign in (-1.0, 1.0):
            moved = points.copy()
            moved[:, axis] += sign * step[axis]
            there = piecewise.locate(moved)
            other = np.flatnonzero((there != own) & (there != NOWHERE) & (own != NOWHERE))
            other = other[root_of[there[other]] == root_of[own[other]]]
            seen.append(moved[other])
            rows.append(other)
            leaves.append(there[other])
    return np.vstack(seen), np.concatenate(rows), np.concatenate(leaves)


def worst_by_leaf(
    forest: Forest, evaluated: Evaluated, derived: Derived, medians: dict[str, float]
) -> tuple[list[BoxNode], Array, list[NDArray[np.int64]]]:
    """The fitted leaves, the largest error of each over all known points, and the rows of the valid points of each."""
    leaves = [leaf for root in forest.roots for leaf in root.leaves() if leaf.coefficients is not None]
    worst = np.zeros(len(leaves))
    if not leaves:
        return leaves, worst, []
    piecewise = forest.piecewise()
    known = np.flatnonzero(evaluated.known.valid)
    points, rows, leaf_of = from_all_sides(roots_of(forest), piecewise, evaluated.points[known])
    rows = known[rows]
    fitted = derived(*piecewise.with_gradient(points))
    np.maximum.at(worst, leaf_of, largest(point_errors(evaluated.families(rows), fitted, medians)))
    order = np.argsort(leaf_of, kind="stable")
    parts = np.split(rows[order], np.searchsorted(leaf_of[order], np.arange(1, len(leaves))))
    return leaves, worst, [np.unique(part) for part in parts]


def known_errors(
    forest: Forest, piecewise: Piecewise, evaluated: Evaluated, derived: Derived, medians: dict[str, float]
) -> tuple[dict[str, Array], Array]:
    """Errors of every family at all known points, faces seen from all sides: (K,) each, and the points (K, s)."""
    known = np.flatnonzero(evaluated.known.valid)
    points, rows, _ = from_all_sides(roots_of(forest), piecewise, evaluated.points[known])
    fitted = derived(*piecewise.with_gradient(points))
    return point_errors(evaluated.families(known[rows]), fitted, medians), evaluated.points[known[rows]]


def conclude(
    region: Sequence[Box],
    forest: Forest,
    evaluated: Evaluated,
    derived: Derived,
    confirmation: Confirmation | None = None,
) -> Approximation:
    """State the error on fresh check points, or over every known point without `confirmation`, and count."""
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
            confirmation.look(forest, family_floors(region, evaluated, derived), evaluated.known.relative)
        assert confirmation.checked is not None
        medians, found = confirmation.checked.scales, confirmation.checked.family_errors()
        stated, further = confirmation.stated(), further + confirmation.evaluations
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
    """At least one box is needed to have a model."""
    if not fitted:
        raise NumericalError(
            f"none of {boxes} boxes could be fitted: each holds points where the function does not exist",
            hint="choose a region that keeps away from them",
        )


def checked_region(region: Sequence[Box]) -> list[Box]:
    """The boxes of a region: at least one, all of one dimension."""
    boxes = list(region)
    if not boxes:
        raise InputError("the region has no box", hint="give at least one")
    if len({box.dimension for box in boxes}) != 1:
        raise InputError("the boxes of the region differ in dimension", hint="give every box the same coordinates")
    return boxes


# Boxes that cannot be fitted because the function does not exist everywhere in them.


HOPELESS = 1 / 8  # boxes with no valid point at all are halved only down to this width
FINEST = 2.0**-30  # boxes are halved for accuracy down to this width


@dataclass(frozen=True)
class Limits:
    """Where refinement stops: points evaluated, and the width, relative to the region's, below which a box that holds
    invalid points is left out."""

    samples: int
    shortest: float

    def divisible(self, box: Box, region: Sequence[Box], *, for_accuracy: bool) -> Flags:
        """Axes along which a box may be halved."""
        shortest = FINEST if for_accuracy else self.shortest
        return box.half / bounding_half(region) > shortest * (1.0 + 1e-9)


def halve_invalid(box: Box, region: Sequence[Box], xi: Array, valid: Flags, limits: Limits) -> int | None:
    """The axis along which to halve a box with invalid points ξ (N, s), or None to leave it out.

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
    # A thin slab would be cut again and again along one axis: nothing is gained where another is four times as long.
    allowed &= width > 0.2 * width[allowed].max()
    score = np.where(allowed, contrast + 1e-3 * width / width.max(), -1.0)
    return int(np.argmax(score))
