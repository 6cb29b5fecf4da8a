"""A grid of so many boxes that their samples do not stay in memory.

Boxes are fitted a group at a time. The samples of a group are forgotten once its coefficients are there, and asked for
once more when the error is stated; a sampler that keeps them in a file computes nothing twice. What stays is the
result, a few numbers of each box and the places of the samples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from supple.approximation.approximation import (
    Approximation,
    Progress,
    Report,
    bounding_half,
    fitted_medians,
    from_all_sides,
    roots_of,
    scattered_in,
)
from supple.approximation.evaluated import Evaluated
from supple.approximation.face_jumps import face_jumps
from supple.approximation.fit_error import largest, point_errors, rounding_floors, worst_errors
from supple.approximation.fits.polynomials import Polynomials
from supple.approximation.piecewise.piecewise import Piecewise
from supple.approximation.refinement.box import Box
from supple.approximation.refinement.box_tree import Forest, Node
from supple.approximation.refinement.leaf_fit import fit_leaves, suspected
from supple.approximation.samples import Derived, FamilyError, Placed, Sampler
from supple.diagnostics import NumericalError

Array = NDArray[np.float64]

TOGETHER = 8192  # samples in memory at a time


def streamed(
    region: Sequence[Box],
    forest: Forest,
    chosen: Polynomials,
    sampler: Sampler,
    derived: Derived,
    *,
    checks: int,
    seed: int,
    floors: Mapping[str, float] | None,
    progress: Report | None,
    placed: Placed | None = None,
) -> Approximation:
    """Fit all leaves of a forest, and state the error over all samples and `checks` more; as `uniform` does."""
    leaves = [leaf for root in forest.roots for leaf in root.leaves()]
    each = max(1, TOGETHER // len(chosen.design))
    groups = [leaves[start : start + each] for start in range(0, len(leaves), each)]
    fitted, scale, relative = _fitted(groups, region, chosen, sampler)
    kept = [leaf for leaf in leaves if leaf.coefficients is not None]
    if not kept:
        raise NumericalError(
            f"none of {len(leaves)} boxes could be fitted: each holds points where the function does not exist",
            hint="choose a region that keeps away from them",
        )
    piecewise = forest.piecewise()
    least = rounding_floors(scale[None], bounding_half(region), derived)
    least = {name: max(floor, (floors or {}).get(name, 0.0)) for name, floor in least.items()}
    medians = fitted_medians(region, piecewise, least, relative, derived)
    if not medians:  # next to nothing of the region is fitted
        medians = fitted_medians([leaf.box for leaf in kept[:TOGETHER]], piecewise, least, relative, derived)
    errors = _Errors(forest, piecewise, derived, medians)
    for group in groups:
        errors.add(_known(group, chosen, sampler, region[0].dimension))
    boxes = [leaf.box for leaf in kept]
    looked = np.vstack(
        [scattered_in(region, checks - checks // 2, seed), suspected(boxes, errors.of_leaves, checks // 2, seed)]
    )
    held_out = Evaluated(sampler, region[0].dimension)
    held_out.rows(looked if placed is None else placed(looked))
    errors.add(held_out)
    both = np.unique(np.vstack([fitted, held_out.points]), axis=0)
    result = Approximation(
        Piecewise(piecewise.arrays),  # without the copy that kernels took
        errors.stated,
        len(fitted),
        len(both) - len(fitted),
        len(kept),
        piecewise.depth,
        face_jumps(piecewise, derived, medians),
        len(leaves) - len(kept),
        forest.stagnant,
    )
    if progress is not None:
        progress(Progress(len(both), result.boxes, 0, result.worst))
    return result


def _fitted(
    groups: Sequence[Sequence[Node]], region: Sequence[Box], chosen: Polynomials, sampler: Sampler
) -> tuple[Array, Array, frozenset[str]]:
    """Coefficients of every leaf; the places of the samples (N, s), the largest outputs (t,), and families judged by
    their own size."""
    places, scale, some, relative = [], np.zeros(0), False, frozenset[str]()
    terms = len(chosen.indices) * sum(len(group) for group in groups)
    together, used = np.zeros((0, 0)), 0
    for group in groups:
        known = Evaluated(sampler, region[0].dimension)
        fit_leaves(group, chosen, known)
        for leaf in group:  # into one array, which becomes the result's as it is
            if leaf.coefficients is not None:
                if used == 0:
                    together = np.empty((terms, leaf.coefficients.shape[1]))
                own = together[used : used + len(leaf.coefficients)]
                own[:] = leaf.coefficients
                leaf.coefficients = own
                used += len(own)
        places.append(known.points)
        here = np.abs(known.known.values[known.known.valid]).max(axis=0, initial=0.0)
        scale = np.maximum(scale, here) if scale.size else here
        some, relative = some or bool(known.known.valid.any()), known.known.relative
    points = np.unique(np.vstack(places), axis=0)
    if not some:
        raise NumericalError(
            f"the function exists at none of {len(points)} points of the region", hint="choose another region"
        )
    return points, scale, relative


def _known(group: Sequence[Node], chosen: Polynomials, sampler: Sampler, dimension: int) -> Evaluated:
    known = Evaluated(sampler, dimension)
    known.rows(np.vstack([leaf.box.from_unit(chosen.design) for leaf in group]))
    return known


class _Errors:
    """The largest error so far: of every family with its place, and of every leaf."""

    def __init__(self, forest: Forest, piecewise: Piecewise, derived: Derived, medians: dict[str, float]):
        self._piecewise, self._derived, self._medians = piecewise, derived, medians
        self._roots = roots_of(forest)
        self.of_leaves = np.zeros(len(self._roots))
        self.stated: dict[str, FamilyError] = {}

    def add(self, evaluated: Evaluated) -> None:
        """Those at all points of these, faces seen from all sides."""
        known = np.flatnonzero(evaluated.known.valid)
        if len(known) == 0:
            return
        points, rows, leaf_of = from_all_sides(self._roots, self._piecewise, evaluated.points[known])
        fitted = self._derived(*self._piecewise.with_gradient(points))
        errors = point_errors(evaluated.families(known[rows]), fitted, self._medians)
        if len(points) == 0:
            return
        np.maximum.at(self.of_leaves, leaf_of, largest(errors))
        for name, found in worst_errors(errors, evaluated.points[known[rows]], self._medians).items():
            if name not in self.stated or found.worst > self.stated[name].worst:
                self.stated[name] = found
