"""Approximation to a tolerance: boxes are divided, and degrees raised, where the error requires it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import numpy as np

from supple.approximation.approximation import (
    Approximation,
    Limits,
    Report,
    bounding_half,
    conclude,
    halve_invalid,
    points_on_all_sides,
    require_boxes,
    roots_of,
    worst_by_leaf,
)
from supple.approximation.check_points import fill_gaps
from supple.approximation.confidence import Confirmation
from supple.approximation.evaluated import Derived, Evaluated, Placed, Rows, Sampler
from supple.approximation.fit_error import largest, point_errors
from supple.approximation.fits.chebyshev_products import basis_gradient
from supple.approximation.fits.fits import FITS, Fit, Polynomials, fit, require_continuous
from supple.approximation.fits.scattered_fit import fitted_families
from supple.approximation.influence import Influence, influence
from supple.approximation.refinement.box import Box
from supple.approximation.refinement.box_tree import BoxNode, Forest, grid_tree
from supple.approximation.refinement.decay import Decay, decay
from supple.approximation.refinement.hp_refinement import Refinement
from supple.approximation.refinement.leaf import NO_ROWS, check_count, fit_leaves
from supple.approximation.refinement.problem import AIM, FitProblem, stagnates
from supple.array_types import Array
from supple.diagnostics import InputError, SuppleWarning


def adaptive(
    region: Sequence[Box],
    tolerance: float,
    sampler: Sampler,
    derived: Derived,
    *,
    fit: str = "auto",
    degree: int | None = None,
    largest_samples: int = 100_000,
    shortest: float = 1 / 64,
    continuous: bool = False,
    seed: int = 0,
    floors: Mapping[str, float] | None = None,
    progress: Report | None = None,
    placed: Placed | None = None,
    confirmation: Confirmation | None = None,
) -> Approximation:
    """Approximate a function until the error of every family is below `tolerance`.

    fit             : name of one of `FITS`: its polynomials on every box, bisected along the axis that pays most [Brüls
                      2007, algorithm 1]; for one that raises its degree, a box is bisected or its degree raised,
                      whichever is expected to take fewer evaluations of the function
    degree          : of the polynomials; the highest one if degrees are raised
    largest_samples : evaluations after which refinement stops, with a warning and the error reached
    shortest        : width, relative to the region's, below which a box with points where the function does not exist
                      is discarded
    floors          : norms of families; where a family is smaller, errors are relative to the floor
    placed          : map of the requested points to cheaper ones close to them; for fits that raise their degree, which
                      accept any points
    confirmation    : fresh points on which the result is checked and its error stated, see `confidence`; without it,
                      the error is stated over all evaluated points
    continuous      : make the result continuous across faces; boxes are then the cells of one grid
    """
    boxes = require_boxes(region)
    if not tolerance > 0.0:
        raise InputError(f"the tolerance must be positive (got {tolerance:g})", hint="give a tolerance such as 1e-3")
    chosen = FITS[fit]
    chosen.choose_degree(degree)
    limits = Limits(largest_samples, shortest)
    free = chosen.raises_degree and not continuous
    evaluated = Evaluated(sampler, boxes[0].dimension, floors, placed if free else None)
    target = tolerance if confirmation is None else tolerance / AIM
    problem = FitProblem(boxes, evaluated, derived, target, limits, seed, progress, confirmation)
    if continuous:
        forest = fit_conforming(problem, chosen, degree)
    elif chosen.raises_degree:
        forest = Refinement(problem, degree).run()
    else:
        forest = bisect(problem, chosen.polynomials(problem.dimension, degree))
    result = conclude(boxes, forest, evaluated, derived, confirmation)
    if result.worst > tolerance:
        name = max(result.error, key=lambda item: result.error[item].worst)
        warnings.warn(
            f'the error {result.worst:.2g} of "{name}" exceeds the tolerance {tolerance:g} after {len(evaluated)} '
            f"evaluations; {_advice(result, name, largest_samples)}",
            SuppleWarning,
            stacklevel=2,
        )
    return result


def _advice(result: Approximation, name: str, budget: int) -> str:
    """Return why the tolerance is missed, and what to do about it."""
    place = ", ".join(f"{value:.4g}" for value in result.error[name].at)
    if result.stagnant is not None:
        where = ", ".join(f"{value:.4g}" for value in result.stagnant.center)
        return f"dividing boxes no longer reduces the error near ({where}): the function jumps there, or is singular"
    if result.needed:
        why = f"the tolerance would take about {result.needed:.1g} at this rate, so refinement ended early"
    else:
        why = f"the budget is {budget}"
    return f"{why}. The error is largest at ({place}): use a larger tolerance, a smaller region or a larger budget"


# Bisection with one kind of polynomial until the error of every box is below a tolerance. [Brüls 2007, algorithm 1]


@dataclass(eq=False)
class BoxPart:
    """Box with the rows of known points in it, and the errors of the boxes that it is a half of, oldest first."""

    node: BoxNode
    rows: Rows = field(default_factory=NO_ROWS.copy)
    ancestors: tuple[float, ...] = ()


class _Judgement(NamedTuple):
    """Result of judging the parts.

    halves   : halves of the parts that have to be halved
    good     : parts that meet the tolerance
    worst    : largest error
    stagnant : a box that is not worth dividing any more
    """

    halves: list[BoxPart]
    good: list[BoxPart]
    worst: float
    stagnant: Box | None


def bisect(problem: FitProblem, chosen: Polynomials) -> Forest:
    """Halve every box that misses the tolerance, level by level, all points of a level in one batch."""
    s, evaluated, seed = problem.dimension, problem.evaluated, problem.seed
    forest = Forest([BoxNode(box) for box in problem.region], chosen.indices)
    level = [BoxPart(root) for root in forest.roots]
    done: list[BoxPart] = []
    while level:
        points, seed = _points(level, chosen.design, check_count(s), evaluated, seed)
        spent = len(evaluated) + evaluated.count_missing(np.vstack(points)) > problem.limits.samples
        errors = [(part.ancestors[-1], part.node.box) for part in level if part.ancestors]
        if len(evaluated) and (spent or forest.stagnant is not None or problem.give_up(forest, errors)):
            for root in forest.roots:
                root.undo_division([part.node for part in level])
            if problem.confirmation is not None:
                problem.confirmation.current = False
            return forest
        _evaluate(level, points, evaluated)
        evaluated.require_some()
        for part in level:
            mine = evaluated.rows(part.node.box.from_unit(chosen.design))
            evaluated.fitted[mine] = True
            if evaluated.valid(part.rows).all():
                part.node.coefficients = chosen.coefficients(evaluated.known_samples.values[mine])
        done += level
        level, done, worst, forest.stagnant = _judge(done, problem, problem.medians(forest), chosen)
        if not level and done:
            points, seed = _points(done, np.zeros((0, s)), 0, evaluated, seed)
            _evaluate(done, points, evaluated)
            _share(done, forest, evaluated)
            level, done, worst, forest.stagnant = _judge(done, problem, problem.medians(forest), chosen)
        if not level and done and problem.confirmation is not None and forest.stagnant is None:
            rows = problem.find_unconfirmed_rows(forest)
            for part in done if len(rows) else ():
                inside = rows[part.node.box.contains(evaluated.points[rows])]
                part.rows = np.union1d(part.rows, inside)
            if len(rows):
                before = len(done)
                level, done, worst, forest.stagnant = _judge(done, problem, problem.medians(forest), chosen)
                problem.confirmation.current = not level and len(done) == before
        problem.report_progress(len(done) + len(level), len(level), worst)
    return forest


def _points(
    parts: Sequence[BoxPart], design: Array, checks: int, evaluated: Evaluated, seed: int
) -> tuple[list[Array], int]:
    """Return the points that each part lacks: its design, and check points up to `checks`.

    A few check points are always fresh.
    """
    points = []
    for part in parts:
        seed += 1
        box = part.node.box
        known = box.to_unit(np.vstack([evaluated.points[part.rows], box.from_unit(design)]))
        fresh = fill_gaps(known, max(box.dimension + 1, checks - len(part.rows)), seed)
        points.append(box.from_unit(np.vstack([design, fresh])))
    return points, seed


def _evaluate(parts: Sequence[BoxPart], points: Sequence[Array], evaluated: Evaluated) -> None:
    """Evaluate the points of all parts in one batch."""
    rows, at = evaluated.rows(np.vstack(points)), 0
    for part, mine in zip(parts, points, strict=True):
        part.rows = np.union1d(part.rows, rows[at : at + len(mine)])
        at += len(mine)


def _share(parts: Sequence[BoxPart], forest: Forest, evaluated: Evaluated) -> None:
    """Give every part the points that its neighbours evaluated on its faces."""
    leaves = [leaf for root in forest.roots for leaf in root.leaves() if leaf.coefficients is not None]
    _, rows, leaf_of = points_on_all_sides(roots_of(forest), forest.piecewise(), evaluated.points)
    part_of = {leaf: n for n, leaf in enumerate(leaves)}
    for part in parts:
        if part.node in part_of:
            part.rows = np.union1d(part.rows, rows[leaf_of == part_of[part.node]])


def _judge(
    parts: Sequence[BoxPart], problem: FitProblem, medians: Mapping[str, float], chosen: Polynomials
) -> _Judgement:
    """Judge the parts, and divide those that miss the tolerance."""
    region, evaluated, limits = problem.region, problem.evaluated, problem.limits
    halves: list[BoxPart] = []
    good: list[BoxPart] = []
    worst = 0.0
    counted: Influence | None = None
    stagnant: Box | None = None
    for part in parts:
        box = part.node.box
        xi = box.to_unit(evaluated.points[part.rows])
        valid = evaluated.valid(part.rows)
        axis: int | None
        ancestors = part.ancestors
        if not valid.all():
            part.node.coefficients = None
            axis = halve_invalid(box, region, xi, valid, limits)
            if axis is None:
                continue
        else:
            assert part.node.coefficients is not None
            fitted = fitted_families(box, xi, part.node.coefficients, chosen.indices, problem.derived)
            error = float(largest(point_errors(evaluated.families(part.rows), fitted, medians)).max())
            worst = max(worst, error)
            allowed = limits.divisible(box, region, for_accuracy=True)
            ancestors = (*part.ancestors, error)
            if error > problem.tolerance and stagnates(ancestors, box.dimension):
                stagnant = box
            if error <= problem.tolerance or not allowed.any():
                good.append(part)
                continue
            counted = counted or influence(problem.derived, evaluated.known_samples, box.dimension)
            weight = counted.weights(box.half, chosen.degree, medians)
            axis = int(np.argmax(np.where(allowed, misfit_by_axis(part, evaluated, chosen, weight), -1.0)))
        part.node.axis = axis
        below, above = (BoxNode(half) for half in box.split(axis))
        part.node.children = (below, above)
        for child in part.node.children:
            halves.append(BoxPart(child, part.rows[child.box.contains(evaluated.points[part.rows])], ancestors))
    return _Judgement(halves, good, worst, stagnant)


def misfit_by_axis(part: BoxPart, evaluated: Evaluated, chosen: Polynomials, weight: Array) -> Array:
    """Return the share of the error that each axis accounts for: (s,); weight (t,) is that of each output.

    With gradients along all axes, it is the largest |∂f/∂ξ_i - ∂f̂/∂ξ_i|; without, the size of T_{n+1}(ξ_i) in a fit to
    all known points of the box.
    """
    box, known = part.node.box, evaluated.known_samples
    assert part.node.coefficients is not None
    xi = box.to_unit(evaluated.points[part.rows])
    values = known.values[part.rows]
    if known.gradients is not None and evaluated.slopes == box.dimension:
        slopes = np.einsum("nsk,kt->nts", basis_gradient(xi, chosen.indices), part.node.coefficients)
        off = np.abs(known.gradients[part.rows] * box.half - slopes) * weight[:, None]
        return np.asarray(off.max(axis=(0, 1)))
    next_terms = (chosen.degree + 1) * np.eye(box.dimension, dtype=np.int64)
    extended = fit(xi, values * weight, np.vstack([chosen.indices, next_terms]))
    return np.asarray(np.abs(extended[-box.dimension :]).max(axis=1))


# Continuous approximation: one grid of planes for the whole region, one tensor degree, shared points on every face.
#
# On a face both neighbours interpolate the same (n + 1)^(s-1) values with the same polynomial of degree n along each
# axis, so the traces agree and f̂ is continuous. A tree with hanging faces cannot guarantee that: the trace of a large
# box would have to be repeated exactly by its small neighbours, which would cancel the benefit of their size. The price
# is that a plane goes through the whole region, also through boxes that do not need it.


Cuts = list[set[float]]
Weights = Callable[[Array], Array]  # function of the half widths: weight of each output

HIGHEST = {1: 24, 2: 12, 3: 8}  # along each axis; above three axes the terms grow too fast
HIGHEST_OTHERWISE = 4


def fit_conforming(problem: FitProblem, fit: Fit, degree: int | None) -> Forest:
    """Add planes, and raise the common degree if the fit allows it, until every cell is below the tolerance."""
    require_continuous(fit)
    region, evaluated, limits, s = problem.region, problem.evaluated, problem.limits, problem.dimension
    highest = degree or HIGHEST.get(s, HIGHEST_OTHERWISE) if fit.raises_degree else fit.choose_degree(degree)
    n = min(2, highest) if fit.raises_degree else highest
    # Neighbouring boxes of the region must be cut by the same planes, so every bound is a plane from the start.
    cuts: Cuts = [{bound for box in region for bound in (box.lower[i], box.upper[i])} for i in range(s)]
    before: float | None = None
    kept: Forest | None = None
    counted: Influence | None = None
    while True:
        chosen = Polynomials(fit.design(s, n), fit.indices(s, n), n)
        forest = Forest([grid_tree(box, _edges(box, cuts)) for box in region], chosen.indices)
        leaves = [leaf for root in forest.roots for leaf in root.leaves()]
        points = np.vstack([leaf.box.from_unit(chosen.design) for leaf in leaves])
        if kept is not None and len(evaluated) + evaluated.count_missing(points) > limits.samples:
            return kept
        kept = forest
        fit_leaves(leaves, chosen, evaluated)
        evaluated.require_some()
        bad = _bad_cells(problem, forest, check_count(s), fresh=False)
        if not bad:
            bad = _bad_cells(problem, forest, max(check_count(s) // 2, 2 * n), fresh=True)
        worst = max((error for _, error in bad), default=0.0)
        problem.report_progress(len(leaves), len(bad), worst * problem.tolerance)
        if len(evaluated) > limits.samples or (
            bad and problem.give_up(forest, [(error, leaf.box) for leaf, error in bad])
        ):
            return forest
        counted = counted or influence(problem.derived, evaluated.known_samples, s)
        weights = partial(counted.weights, degree=n, medians=problem.medians(forest))
        planes_needed = _planes(problem, bad, leaves, chosen, weights)
        if not bad and not any(planes_needed):
            rows = problem.find_unconfirmed_rows(forest)
            if not len(rows):
                return forest
            _invalidate(leaves, evaluated, rows)
            bad = _bad_cells(problem, forest, 0, fresh=False)
            worst = max((error for _, error in bad), default=0.0)
            planes_needed = _planes(problem, bad, leaves, chosen, weights)
        if problem.confirmation is not None:
            problem.confirmation.current = False
        rate = None if before is None or worst == 0.0 else worst / before
        before = None
        if n < highest and bad and _prefer_higher_degree(cuts, planes_needed, bad, chosen, weights, rate):
            n, before = n + 1, worst
        elif any(planes_needed):
            cuts = [have | more for have, more in zip(cuts, planes_needed, strict=True)]
        elif n < highest and bad:
            n, before = n + 1, worst
        else:
            return forest


def _edges(box: Box, cuts: Cuts) -> list[Array]:
    return [
        np.array(sorted(cut for cut in axis if a <= cut <= b))
        for axis, a, b in zip(cuts, box.lower, box.upper, strict=True)
    ]


def _bad_cells(problem: FitProblem, forest: Forest, checks: int, *, fresh: bool) -> list[tuple[BoxNode, float]]:
    """Return the cells whose error, in units of the tolerance, is above one at a known point.

    Before that each cell gets check points up to `checks`, or so many fresh ones in addition.
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
            parts.append(leaf.box.from_unit(fill_gaps(leaf.box.to_unit(evaluated.points[rows]), lacking, seed + k)))
    if parts:
        _invalidate(fitted, evaluated, evaluated.rows(np.vstack(parts)))
    left, worst, _ = worst_by_leaf(forest, evaluated, problem.derived, problem.medians(forest))
    return [(leaf, float(e)) for leaf, e in zip(left, worst / problem.tolerance, strict=True) if e > 1.0]


def _invalidate(leaves: Sequence[BoxNode], evaluated: Evaluated, rows: Rows) -> None:
    """Remove the coefficients of cells with an invalid check point."""
    for row in rows[~evaluated.valid(rows)]:
        for leaf in leaves:
            if leaf.box.contains(evaluated.points[row]):
                leaf.coefficients = None


def _cell_decay(leaf: BoxNode, error: float, chosen: Polynomials, weight: Array, rate: float | None) -> Decay:
    assert leaf.coefficients is not None
    along = np.array([index for index in chosen.indices if index.max() == index.sum()])  # T_m(ξ_i) alone
    rows = [n for n, index in enumerate(chosen.indices) if index.max() == index.sum()]
    return decay(leaf.coefficients[rows], along, weight, error, rate)


def _planes(
    problem: FitProblem,
    bad: Sequence[tuple[BoxNode, float]],
    leaves: Sequence[BoxNode],
    chosen: Polynomials,
    weights: Weights,
) -> Cuts:
    """Return the planes that cut bad cells, and cells with invalid points that are not small yet."""
    region, limits = problem.region, problem.limits
    planes_needed: Cuts = [set() for _ in range(problem.dimension)]
    for leaf, error in bad:
        allowed = limits.divisible(leaf.box, region, for_accuracy=True)
        if allowed.any():
            share = _cell_decay(leaf, error, chosen, weights(leaf.box.half), None).error
            axis = int(np.argmax(np.where(allowed, share, -1.0)))
            planes_needed[axis].add(float(leaf.box.center[axis]))
    for leaf in leaves:
        allowed = limits.divisible(leaf.box, region, for_accuracy=False)
        if leaf.coefficients is None and allowed.any():
            axis = int(np.argmax(np.where(allowed, leaf.box.half / bounding_half(region), -1.0)))
            planes_needed[axis].add(float(leaf.box.center[axis]))
    return planes_needed


def _prefer_higher_degree(
    cuts: Cuts,
    planes_needed: Cuts,
    bad: Sequence[tuple[BoxNode, float]],
    chosen: Polynomials,
    weights: Weights,
    rate: float | None,
) -> bool:
    """Return whether a higher degree gains more for its samples than the planes: compare log gain / log growth."""
    if not any(planes_needed):
        return True
    n, s = chosen.degree, len(cuts)
    leaf, error = max(bad, key=lambda item: item[1])
    expected = _cell_decay(leaf, error, chosen, weights(leaf.box.half), rate)
    raised = -np.log(expected.at(n + 1) / error) / (s * np.log((n + 2) / (n + 1)))
    planes = [len(have) for have in cuts]
    growth = float(
        sum(np.log((len(more) + count - 1) / (count - 1)) for more, count in zip(planes_needed, planes, strict=True))
    )
    halves = expected
    for axis in range(s):
        if planes_needed[axis]:
            halves = halves.halve(axis)[0]
    return bool(raised >= -np.log(halves.at(n) / error) / growth)
