"""A grid of equal boxes with the same kind of polynomial on each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from supple.approximation.approximation import (
    Approximation,
    Progress,
    Report,
    checked_region,
    conclude,
)
from supple.approximation.confidence import Confirmation
from supple.approximation.evaluated import Evaluated
from supple.approximation.fits.fits import FITS
from supple.approximation.refinement.box import Box
from supple.approximation.refinement.box_tree import Forest, gridded
from supple.approximation.refinement.leaf_fit import fit_leaves
from supple.approximation.refinement.streamed_grid import TOGETHER, streamed
from supple.approximation.samples import Derived, Sampler
from supple.array_types import Array
from supple.diagnostics import InputError


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
    """Approximate on counts[i] equal boxes along axis i of every box of the region.               [Brüls 2004, 4]

    fit    : name of one of `FITS`, of `degree` or its own
    confirmation : fresh points on which the error is stated, as many as `confidence` wants if left out. A box with a
             sample where the function does not exist is left out.
    """
    boxes = checked_region(region)
    s = boxes[0].dimension
    if len(counts) != s or min(counts) < 1:
        raise InputError(f"{list(counts)} boxes along {s} axes", hint="give one number, 1 or more, for each axis")
    chosen = FITS[fit].polynomials(s, degree)
    forest = Forest([gridded(box, grid_edges(box, counts)) for box in boxes], chosen.indices)
    leaves = [leaf for root in forest.roots for leaf in root.leaves()]
    confirmation = confirmation or Confirmation(sampler, derived, None, seed)
    if len(leaves) * len(chosen.design) > TOGETHER:
        return streamed(
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
    """The coordinates of equally spaced cuts along every axis, ends included."""
    return [np.linspace(a, b, n + 1) for a, b, n in zip(box.lower, box.upper, counts, strict=True)]
