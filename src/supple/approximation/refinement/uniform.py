"""A grid of equal boxes with the same kind of polynomial on each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from supple.approximation.approximation import (
    Approximation,
    Progress,
    Report,
    checked_region,
    conclude,
    region_medians,
    scattered_in,
    worst_by_leaf,
)
from supple.approximation.evaluated import Evaluated
from supple.approximation.fits.fits import FITS
from supple.approximation.fits.polynomials import Polynomials
from supple.approximation.fits.scattered_designs import scattered
from supple.approximation.refinement.box import Box
from supple.approximation.refinement.box_tree import Forest, Node, gridded
from supple.approximation.samples import Derived, Placed, Sampler
from supple.diagnostics import InputError

Array = NDArray[np.float64]


def uniform(
    region: Sequence[Box],
    counts: Sequence[int],
    sampler: Sampler,
    derived: Derived,
    *,
    fit: str = "quadratic",
    degree: int | None = None,
    checks: int = 200,
    seed: int = 0,
    floors: Mapping[str, float] | None = None,
    progress: Report | None = None,
    placed: Placed | None = None,
) -> Approximation:
    """Approximate on counts[i] equal boxes along axis i of every box of the region.               [Brüls 2004, 4]

    fit    : name of one of `FITS`, of `degree` or its own
    checks : further points where the error is measured: half of them scattered over the region, half of them in the
             boxes that look worst; moved by `placed`, where some are cheaper. A box with a point where the function
             does not exist is left out.
    """
    boxes = checked_region(region)
    s = boxes[0].dimension
    if len(counts) != s or min(counts) < 1:
        raise InputError(f"{list(counts)} boxes along {s} axes", hint="give one number, 1 or more, for each axis")
    chosen = FITS[fit].polynomials(s, degree)
    forest = Forest([gridded(box, grid_edges(box, counts)) for box in boxes], chosen.indices)
    evaluated = Evaluated(sampler, s, floors)
    leaves = [leaf for root in forest.roots for leaf in root.leaves()]
    fit_leaves(leaves, chosen, evaluated)
    evaluated.require_some()
    further = [
        scattered_in(boxes, checks - checks // 2, seed),
        _suspects(boxes, forest, evaluated, derived, checks, seed),
    ]
    evaluated.rows(np.vstack(further) if placed is None else placed(np.vstack(further)))
    result = conclude(boxes, forest, evaluated, derived)
    if progress is not None:
        progress(Progress(len(evaluated), result.boxes, 0, result.worst))
    return result


def grid_edges(box: Box, counts: Sequence[int]) -> list[Array]:
    """The coordinates of equally spaced cuts along every axis, ends included."""
    return [np.linspace(a, b, n + 1) for a, b, n in zip(box.lower, box.upper, counts, strict=True)]


def fit_leaves(leaves: Sequence[Node], chosen: Polynomials, evaluated: Evaluated) -> None:
    """Fit every leaf to its design, all points in one batch; a leaf with invalid points gets no coefficients."""
    size = len(chosen.design)
    rows = evaluated.rows(np.vstack([leaf.box.from_unit(chosen.design) for leaf in leaves]))
    evaluated.fitted[rows] = True
    for n, leaf in enumerate(leaves):
        mine = rows[n * size : (n + 1) * size]
        valid = bool(evaluated.valid(mine).all())
        leaf.coefficients = chosen.coefficients(evaluated.known.values[mine]) if valid else None


def _suspects(
    region: Sequence[Box], forest: Forest, evaluated: Evaluated, derived: Derived, checks: int, seed: int
) -> Array:
    """Points in the boxes with the largest errors at their own samples.

    Families that follow from gradients are wrong there too, least squares leaves residuals, and errors of a fit are
    largest near corners: the boxes that look worst from their samples are where to look closer.
    """
    wanted, s = checks // 2, region[0].dimension
    medians = region_medians(region, forest, evaluated, derived)
    leaves, worst, _ = worst_by_leaf(forest, evaluated, derived, medians)
    if not leaves or wanted == 0:
        return np.zeros((0, s))
    each = max(4, -(-wanted // 8))
    boxes = [leaves[n].box for n in np.argsort(-worst, kind="stable")[: -(-wanted // each)]]
    outward = np.sin(0.5 * np.pi * scattered(s, each, seed + 1))
    return np.vstack([box.from_unit(outward) for box in boxes])[:wanted]
