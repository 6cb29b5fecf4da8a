"""Approximation on a grid of equal boxes with the same kind of polynomial on each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from supple.approximation.approximation import (
    Approximation,
    Progress,
    Report,
    bounding_half,
    conclude,
    require_boxes,
    require_fitted,
)
from supple.approximation.confidence import Confirmation
from supple.approximation.evaluated import Derived, Evaluated, Sampler
from supple.approximation.fit_error import face_jumps, rounding_floors
from supple.approximation.fits.fits import FITS, Polynomials
from supple.approximation.piecewise.piecewise import Piecewise
from supple.approximation.refinement.box import Box
from supple.approximation.refinement.box_tree import BoxNode, Forest, grid_tree
from supple.approximation.refinement.leaf import fit_leaves
from supple.array_types import Array
from supple.diagnostics import InputError, NumericalError


def uniform(
    region: Sequence[Box],
    counts: Sequence[int],
    sampler: Sampler,
    derived: Derived,
    *,
    fit: str = "quadratic",
    degree: int | None = None,
    confirmation: Confirmation | None = None,
    seed: int = 0,
    floors: Mapping[str, float] | None = None,
    progress: Report | None = None,
) -> Approximation:
    """Approximate on counts[i] equal boxes along axis i of every box of the region [Brüls 2004, 4].

    A box with a sample where the function does not exist is discarded.

    fit          : name of one of `FITS`, of `degree` or its default degree
    confirmation : fresh points on which the error is stated; default: as many as `confidence` requires
    """
    boxes = require_boxes(region)
    s = boxes[0].dimension
    if len(counts) != s or min(counts) < 1:
        raise InputError(
            f"expected {s} positive numbers of boxes (got {list(counts)})", hint="give one number, 1 or more, per axis"
        )
    chosen = FITS[fit].polynomials(s, degree)
    forest = Forest([grid_tree(box, grid_edges(box, counts)) for box in boxes], chosen.indices)
    leaves = [leaf for root in forest.roots for leaf in root.leaves()]
    confirmation = confirmation or Confirmation(sampler, derived, None, seed)
    if len(leaves) * len(chosen.design) > TOGETHER:
        return fit_in_groups(
            boxes, forest, chosen, sampler, derived, confirmation=confirmation, floors=floors, progress=progress
        )
    evaluated = Evaluated(sampler, s, floors)
    fit_leaves(leaves, chosen, evaluated)
    evaluated.require_some()
    result = conclude(boxes, forest, evaluated, derived, confirmation)
    if progress is not None:
        progress(Progress(result.samples + result.checks, result.boxes, 0, result.worst))
    return result


def grid_edges(box: Box, counts: Sequence[int]) -> list[Array]:
    """Return the coordinates of equally spaced cuts along every axis, ends included."""
    return [np.linspace(a, b, n + 1) for a, b, n in zip(box.lower, box.upper, counts, strict=True)]


# A grid of so many boxes that their samples are not kept in memory.
#
# Boxes are fitted a group at a time. The samples of a group are deleted once its coefficients are known. Only the
# result, a few numbers of each box and the points of the samples are kept.


TOGETHER = 8192  # samples in memory at a time


def fit_in_groups(
    region: Sequence[Box],
    forest: Forest,
    chosen: Polynomials,
    sampler: Sampler,
    derived: Derived,
    *,
    confirmation: Confirmation,
    floors: Mapping[str, float] | None,
    progress: Report | None,
) -> Approximation:
    """Fit all leaves of a forest, and state the error on fresh points, as `uniform` does."""
    leaves = [leaf for root in forest.roots for leaf in root.leaves()]
    each = max(1, TOGETHER // len(chosen.design))
    groups = [leaves[start : start + each] for start in range(0, len(leaves), each)]
    samples, scale, relative = _fit_groups(groups, region, chosen, sampler)
    boxes = sum(leaf.coefficients is not None for leaf in leaves)
    require_fitted(boxes, len(leaves))
    piecewise = forest.piecewise()
    least = rounding_floors(scale[None], bounding_half(region), derived)
    least = {name: max(floor, (floors or {}).get(name, 0.0)) for name, floor in least.items()}
    checked = confirmation.look(forest, least, relative)
    result = Approximation(
        Piecewise(piecewise.arrays),  # without the packed copy for kernels
        checked.family_errors(),
        samples,
        confirmation.evaluations,
        boxes,
        piecewise.depth,
        face_jumps(piecewise, derived, checked.scales),
        len(leaves) - boxes,
        forest.stagnant,
        confirmation.state_confidence(),
    )
    if progress is not None:
        progress(Progress(result.samples + result.checks, result.boxes, 0, result.worst))
    return result


def _fit_groups(
    groups: Sequence[Sequence[BoxNode]], region: Sequence[Box], chosen: Polynomials, sampler: Sampler
) -> tuple[int, Array, frozenset[str]]:
    """Fit every leaf; return the number of samples, the largest outputs (t,), and families judged by their own size."""
    places, scale, some, relative = [], np.zeros(0), False, frozenset[str]()
    terms = len(chosen.indices) * sum(len(group) for group in groups)
    together, used = np.zeros((0, 0)), 0
    for group in groups:
        known = Evaluated(sampler, region[0].dimension)
        fit_leaves(group, chosen, known)
        for leaf in group:  # into one array, which becomes that of the result without a copy
            if leaf.coefficients is not None:
                if used == 0:
                    together = np.empty((terms, leaf.coefficients.shape[1]))
                own = together[used : used + len(leaf.coefficients)]
                own[:] = leaf.coefficients
                leaf.coefficients = own
                used += len(own)
        places.append(known.points)
        here = np.abs(known.known_samples.values[known.known_samples.valid]).max(axis=0, initial=0.0)
        scale = np.maximum(scale, here) if scale.size else here
        some, relative = some or bool(known.known_samples.valid.any()), known.known_samples.relative
    points = np.unique(np.vstack(places), axis=0)
    if not some:
        raise NumericalError(
            f"the function exists at none of {len(points)} points of the region", hint="choose another region"
        )
    return len(points), scale, relative
