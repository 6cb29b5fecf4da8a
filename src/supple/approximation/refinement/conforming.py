"""Continuous approximation: one grid of planes for the whole region, one tensor degree, shared points on every face.

On a face both neighbours interpolate the same (n + 1)^(s-1) values with the same polynomial of degree n along each
axis, so the traces agree and f̂ is continuous. A tree with hanging faces cannot promise that: the trace of a large box
would have to be repeated exactly by its small neighbours, which takes from them what they were made small for.
A plane goes through the whole region, also through boxes that did not ask for it; that is the price.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from supple.approximation.approximation import bounding_half, worst_by_leaf
from supple.approximation.check_points import filling
from supple.approximation.evaluated import Evaluated, Rows
from supple.approximation.fits.fit import Fit
from supple.approximation.fits.fits import require_continuous
from supple.approximation.fits.polynomials import Polynomials
from supple.approximation.influence import Influence, influence
from supple.approximation.refinement.box import Box
from supple.approximation.refinement.box_tree import Forest, Node, gridded
from supple.approximation.refinement.decay import Decay, decay
from supple.approximation.refinement.leaf import check_count
from supple.approximation.refinement.leaf_fit import fit_leaves
from supple.approximation.refinement.problem import Problem
from supple.array_types import Array

Cuts = list[set[float]]
Weights = Callable[[Array], Array]  # of half widths: what each output counts

HIGHEST = {1: 24, 2: 12, 3: 8}  # along each axis; above three axes the terms grow too fast
HIGHEST_OTHERWISE = 4


def conform(problem: Problem, fit: Fit, degree: int | None) -> Forest:
    """Add planes, and with a fit that raises it the common degree, until every cell is below the tolerance."""
    require_continuous(fit)
    region, evaluated, limits, s = problem.region, problem.evaluated, problem.limits, problem.dimension
    highest = degree or HIGHEST.get(s, HIGHEST_OTHERWISE) if fit.raises_degree else fit.settled(degree)
    n = min(2, highest) if fit.raises_degree else highest
    # Neighbouring boxes of the region must be cut by the same planes, so every bound is one from the start.
    cuts: Cuts = [{bound for box in region for bound in (box.lower[i], box.upper[i])} for i in range(s)]
    before: float | None = None
    kept: Forest | None = None
    counted: Influence | None = None
    while True:
        chosen = Polynomials(fit.design(s, n), fit.indices(s, n), n)
        forest = Forest([gridded(box, _edges(box, cuts)) for box in region], chosen.indices)
        leaves = [leaf for root in forest.roots for leaf in root.leaves()]
        points = np.vstack([leaf.box.from_unit(chosen.design) for leaf in leaves])
        if kept is not None and len(evaluated) + evaluated.lacking(points) > limits.samples:
            return kept
        kept = forest
        fit_leaves(leaves, chosen, evaluated)
        evaluated.require_some()
        bad = _bad_cells(problem, forest, check_count(s), fresh=False)
        if not bad:
            bad = _bad_cells(problem, forest, max(check_count(s) // 2, 2 * n), fresh=True)
        worst = max((error for _, error in bad), default=0.0)
        problem.tell(len(leaves), len(bad), worst * problem.tolerance)
        if len(evaluated) > limits.samples or (
            bad and problem.given_up(forest, [(error, leaf.box) for leaf, error in bad])
        ):
            return forest
        counted = counted or influence(problem.derived, evaluated.known, s)
        weights = partial(counted.weights, degree=n, medians=problem.medians(forest))
        wanted = _planes(problem, bad, leaves, chosen, weights)
        if not bad and not any(wanted):
            rows = problem.unconfirmed(forest)
            if not len(rows):
                return forest
            _spoil(leaves, evaluated, rows)
            bad = _bad_cells(problem, forest, 0, fresh=False)
            worst = max((error for _, error in bad), default=0.0)
            wanted = _planes(problem, bad, leaves, chosen, weights)
        if problem.confirmation is not None:
            problem.confirmation.current = False
        rate = None if before is None or worst == 0.0 else worst / before
        before = None
        if n < highest and bad and _raising_pays(cuts, wanted, bad, chosen, weights, rate):
            n, before = n + 1, worst
        elif any(wanted):
            cuts = [have | more for have, more in zip(cuts, wanted, strict=True)]
        elif n < highest and bad:
            n, before = n + 1, worst
        else:
            return forest


def _edges(box: Box, cuts: Cuts) -> list[Array]:
    return [
        np.array(sorted(cut for cut in axis if a <= cut <= b))
        for axis, a, b in zip(cuts, box.lower, box.upper, strict=True)
    ]


def _bad_cells(problem: Problem, forest: Forest, checks: int, *, fresh: bool) -> list[tuple[Node, float]]:
    """Cells whose error, in units of the tolerance, is above one at a known point.

    Before that each cell gets so many check points, or so many fresh ones on top of those it has.
    """
    evaluated, seed = problem.evaluated, problem.seed + fresh
    fitted = [leaf for root in forest.roots for leaf in root.leaves() if leaf.coefficients is not None]
    if not fitted:
        return []
    leaf_of = forest.piecewise().locate(evaluated.points)
    parts = []
    for k, leaf in enumerate(fitted):
        rows = np.flatnonzero(leaf_of == k)
        lacking = checks - (0 if fresh else int((~evaluated.fitted[rows]).sum()))
        if lacking > 0:
            parts.append(leaf.box.from_unit(filling(leaf.box.to_unit(evaluated.points[rows]), lacking, seed + k)))
    if parts:
        _spoil(fitted, evaluated, evaluated.rows(np.vstack(parts)))
    left, worst, _ = worst_by_leaf(forest, evaluated, problem.derived, problem.medians(forest))
    return [(leaf, float(e)) for leaf, e in zip(left, worst / problem.tolerance, strict=True) if e > 1.0]


def _spoil(leaves: Sequence[Node], evaluated: Evaluated, rows: Rows) -> None:
    """An invalid check point spoils its cell."""
    for row in rows[~evaluated.valid(rows)]:
        for leaf in leaves:
            if leaf.box.contains(evaluated.points[row]):
                leaf.coefficients = None


def _cell_decay(leaf: Node, error: float, chosen: Polynomials, weight: Array, rate: float | None) -> Decay:
    assert leaf.coefficients is not None
    along = np.array([index for index in chosen.indices if index.max() == index.sum()])  # T_m(ξ_i) alone
    rows = [n for n, index in enumerate(chosen.indices) if index.max() == index.sum()]
    return decay(leaf.coefficients[rows], along, weight, error, rate)


def _planes(
    problem: Problem,
    bad: Sequence[tuple[Node, float]],
    leaves: Sequence[Node],
    chosen: Polynomials,
    weights: Weights,
) -> Cuts:
    """Where bad cells, and cells with invalid points that are not yet small, want to be cut."""
    region, limits = problem.region, problem.limits
    wanted: Cuts = [set() for _ in range(problem.dimension)]
    for leaf, error in bad:
        allowed = limits.divisible(leaf.box, region, for_accuracy=True)
        if allowed.any():
            share = _cell_decay(leaf, error, chosen, weights(leaf.box.half), None).error
            axis = int(np.argmax(np.where(allowed, share, -1.0)))
            wanted[axis].add(float(leaf.box.center[axis]))
    for leaf in leaves:
        allowed = limits.divisible(leaf.box, region, for_accuracy=False)
        if leaf.coefficients is None and allowed.any():
            axis = int(np.argmax(np.where(allowed, leaf.box.half / bounding_half(region), -1.0)))
            wanted[axis].add(float(leaf.box.center[axis]))
    return wanted


def _raising_pays(
    cuts: Cuts,
    wanted: Cuts,
    bad: Sequence[tuple[Node, float]],
    chosen: Polynomials,
    weights: Weights,
    rate: float | None,
) -> bool:
    """Whether a degree more gains more for its samples than the planes asked for: compare log gain / log growth."""
    if not any(wanted):
        return True
    n, s = chosen.degree, len(cuts)
    leaf, error = max(bad, key=lambda item: item[1])
    expected = _cell_decay(leaf, error, chosen, weights(leaf.box.half), rate)
    raised = -np.log(expected.at(n + 1) / error) / (s * np.log((n + 2) / (n + 1)))
    planes = [len(have) for have in cuts]
    growth = float(
        sum(np.log((len(more) + count - 1) / (count - 1)) for more, count in zip(wanted, planes, strict=True))
    )
    halves = expected
    for axis in range(s):
        if wanted[axis]:
            halves = halves.halved(axis)[0]
    return bool(raised >= -np.log(halves.at(n) / error) / growth)
