"""Refinement that decides, box by box, between a higher degree and two halves, whichever needs fewer samples."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

from supple.approximation.approximation import known_errors, worst_by_leaf
from supple.approximation.check_points import filling
from supple.approximation.evaluated import Rows
from supple.approximation.fit_error import largest, point_errors
from supple.approximation.fits.multi_index import Indices, count, total_degree
from supple.approximation.fits.scattered_designs import scattered
from supple.approximation.fits.scattered_fit import (
    LEAST_OVERSAMPLING,
    fit_rows,
    fitted_families,
    highest_degree,
    missing,
    samples_for,
)
from supple.approximation.influence import Influence, influence
from supple.approximation.refinement.box_tree import Forest, Node
from supple.approximation.refinement.decay import cost, decay
from supple.approximation.refinement.leaf import FIRST_DEGREE, Leaf, check_count
from supple.approximation.refinement.problem import Problem
from supple.approximation.refinement.stagnation import stagnates
from supple.approximation.refinement.suspects import Suspicion
from supple.approximation.validity import halve_invalid

Array = NDArray[np.float64]

_LOOKS, _MOST_LOOKS = 2, 6  # for the largest errors, once all boxes are good
_GROWTH = 1.02  # of a stated error, at a look: less is no reason for another
MARGIN = {"fit": 0.8, "verify": 0.9}  # of the tolerance: what barely passes seldom survives a closer, costly look


class Refinement:
    """The state of one refinement: the forest, its open leaves, and all that has been evaluated."""

    def __init__(self, problem: Problem, highest: int | None):
        s, seed = problem.dimension, problem.seed
        self.problem, self.evaluated, self.derived = problem, problem.evaluated, problem.derived
        self.highest = highest_degree(s) if highest is None else highest
        self.indices: Indices = total_degree(s, self.highest)
        self.suspicion = Suspicion(self.evaluated, self.derived, self.indices, self.highest)
        self.forest = Forest([Node(box) for box in problem.region], self.indices)
        self.leaves = [Leaf(root, seed + n) for n, root in enumerate(self.forest.roots)]
        for leaf in self.leaves:
            leaf.degree = min(FIRST_DEGREE, self.highest)
        self._seed = seed + len(self.leaves)
        self.medians: dict[str, float] = {}

    @cached_property
    def influence(self) -> Influence:
        """Of the outputs on the families; known when the first sample is."""
        return influence(self.derived, self.evaluated.known, self.problem.dimension)

    def run(self) -> Forest:
        """Refine until every family of every box is below the tolerance, also on fresh points."""
        while True:
            work = [leaf for leaf in self.leaves if leaf.stage in ("fit", "verify")]
            if not work:
                if not self._validate() and not self._look_again():
                    return self.forest
            elif self.forest.stagnant is not None or not self._round(work):
                for root in self.forest.roots:
                    root.joined([leaf.node for leaf in self.leaves if leaf.node.coefficients is None])
                self._search(_LOOKS)  # it is not good enough: say truly how bad it is
                return self.forest

    def _round(self, work: list[Leaf]) -> bool:
        """Evaluate what all open leaves want in one batch; fit, measure and decide each. False if that is too much."""
        wanted = [self._wanted(leaf) for leaf in work]
        points = np.vstack([part for pair in wanted for part in pair])
        if len(self.evaluated) and len(self.evaluated) + self.evaluated.lacking(points) > self.problem.limits.samples:
            return False
        rows, at = self.evaluated.rows(points), 0
        for leaf, (samples, checks) in zip(work, wanted, strict=True):
            new = rows[at : at + len(samples)]
            held = rows[at + len(samples) : at + len(samples) + len(checks)]
            at += len(samples) + len(checks)
            leaf.fitted = np.union1d(leaf.fitted, new)
            leaf.checks = np.setdiff1d(np.union1d(leaf.checks, held), leaf.fitted)
            self.evaluated.fitted[leaf.fitted] = True
        self.evaluated.require_some()
        whole = []
        for leaf in work:
            if self.evaluated.valid(np.union1d(leaf.fitted, leaf.checks)).all():
                whole.append(leaf)
            else:
                self._split_invalid(leaf)
        if not self.medians:
            self.medians = self.problem.medians(self.forest)
        for leaf in whole:
            if leaf.stage == "fit":
                self._fit(leaf)
        self.medians = self.problem.medians(self.forest)
        worst = 0.0
        for leaf in whole:
            error = self._error(leaf)
            worst = max(worst, error * self.problem.tolerance)
            self._decide(leaf, error)
        self.problem.tell(len(self.leaves), sum(leaf.stage in ("fit", "verify") for leaf in self.leaves), worst)
        return True

    def _wanted(self, leaf: Leaf) -> tuple[Array, Array]:
        """Points to fit and points to check that a leaf still lacks."""
        s = leaf.box.dimension
        none = np.zeros((0, s))
        if leaf.stage == "verify":
            return none, leaf.box.from_unit(self.suspicion.of_leaf(leaf, self.medians))
        slopes = s if self.evaluated.samples is None else self.evaluated.slopes
        known = leaf.box.to_unit(self.evaluated.points[leaf.fitted])
        samples = leaf.box.from_unit(missing(known, samples_for(s, leaf.degree, slopes)))
        if leaf.errors:
            return samples, none
        if s <= 3:  # errors are largest near corners: better to fit them than to find that out
            samples = np.vstack([samples, leaf.box.from_unit(np.array(list(product((-1.0, 1.0), repeat=s))))])
        lacking = max(0, check_count(s) - len(leaf.checks))
        known = leaf.box.to_unit(np.vstack([self.evaluated.points[leaf.checks], samples]))
        return samples, leaf.box.from_unit(filling(known, lacking, leaf.seed))

    def _fit(self, leaf: Leaf) -> None:
        """Try every degree the samples allow and keep the one that does best on all points of the box."""
        s = leaf.box.dimension
        equations = len(leaf.fitted) * (1 + self.evaluated.slopes)
        degrees = [n for n in range(1, self.highest + 1) if LEAST_OVERSAMPLING * count(s, n) <= equations]
        tried: list[tuple[float, Array]] = []
        for n in [n for n in degrees if n >= leaf.degree - 1][:4] or degrees[-1:]:
            leaf.node.coefficients = fit_rows(leaf.box, leaf.fitted, self.evaluated, self.indices[: count(s, n)])
            tried.append((self._error(leaf), leaf.node.coefficients))
        leaf.node.coefficients = min(tried, key=lambda item: item[0])[1]

    def _error(self, leaf: Leaf) -> float:
        """The largest error over the known points of the box, in units of the tolerance."""
        rows = np.concatenate([leaf.fitted, leaf.checks])
        assert leaf.node.coefficients is not None
        xi = leaf.box.to_unit(self.evaluated.points[rows])
        fitted = fitted_families(leaf.box, xi, leaf.node.coefficients, self.indices, self.derived)
        errors = point_errors(self.evaluated.families(rows), fitted, self.medians)
        return float(largest(errors).max()) / self.problem.tolerance

    def _decide(self, leaf: Leaf, error: float) -> None:
        if error <= MARGIN.get(leaf.stage, 1.0):
            leaf.stage = "done" if leaf.stage == "verify" else "verify"
            return
        leaf.stage, leaf.validated = "fit", False
        if not leaf.errors or leaf.errors[-1][0] < leaf.degree:
            leaf.errors.append((leaf.degree, error))
        else:
            leaf.errors[-1] = (leaf.degree, max(error, leaf.errors[-1][1]))
        axis, start = self._axis_to_halve(leaf, error)
        if axis is not None:
            if stagnates((*leaf.ancestors, error), leaf.box.dimension):
                leaf.stage, self.forest.stagnant = "stuck", leaf.box
            else:
                self._halve(leaf, axis, start, error)
        elif leaf.degree < self.highest:
            leaf.degree += 1
        else:
            leaf.stage = "stuck"  # the stated error says so

    def _axis_to_halve(self, leaf: Leaf, error: float) -> tuple[int | None, int]:
        """The axis along which halving pays, or None where a higher degree takes fewer samples; and a first degree.

        Halves begin with what the better one needs: a degree that is too low is raised and nothing is lost, one that is
        too high is paid for.
        """
        s, errors = leaf.box.dimension, leaf.errors
        allowed = self.problem.limits.divisible(leaf.box, self.problem.region, for_accuracy=True)
        if not allowed.any():
            return None, leaf.degree
        back = min(3, len(errors) - 1)
        rate = (errors[-1][1] / errors[-1 - back][1]) ** (1.0 / back) if back else None
        assert leaf.node.coefficients is not None
        used = self.indices[: len(leaf.node.coefficients)]
        weight = self.influence.weights(leaf.box.half, int(used.sum(axis=1).max()), self.medians)
        expected = decay(leaf.node.coefficients, used, weight, error, rate)
        axis = int(np.argmax(np.where(allowed, expected.error, -1.0)))
        near, far = expected.halved(axis)
        start = next((n for n in range(FIRST_DEGREE, leaf.degree - 2) if far.at(n) <= 1.0), leaf.degree - 2)
        if leaf.degree >= self.highest:
            return axis, start
        if len(errors) < 3:
            return None, start
        if rate is not None and rate > 0.9:
            return axis, start
        extra = 2 * check_count(s)  # held out, suspected and fresh ones

        def samples(n: int) -> int:
            return samples_for(s, n, self.evaluated.slopes) + extra

        known = len(leaf.fitted) + len(leaf.checks)
        higher = cost(expected, samples, self.highest, 0) - known
        depth = min(2 * s, 6)
        halves = cost(near, samples, self.highest, depth) + cost(far, samples, self.highest, depth)
        halves -= 0.5 * known  # points laid out for the whole box serve its halves less well
        return (None if higher <= halves else axis), start

    def _split_invalid(self, leaf: Leaf) -> None:
        """Halve a box where the function does not exist everywhere, or leave it out when it is small."""
        rows = np.union1d(leaf.fitted, leaf.checks)
        leaf.node.coefficients = None
        points, valid = leaf.box.to_unit(self.evaluated.points[rows]), self.evaluated.valid(rows)
        axis = halve_invalid(leaf.box, self.problem.region, points, valid, self.problem.limits)
        if axis is None:
            self.leaves.remove(leaf)
        else:
            self._halve(leaf, axis, leaf.degree - 2)

    def _halve(self, leaf: Leaf, axis: int, degree: int, error: float | None = None) -> None:
        """Replace a leaf by its halves, fitted with this degree first; each takes the known points in it."""
        lower, upper = leaf.box.split(axis)
        leaf.node.axis, leaf.node.children = axis, (Node(lower), Node(upper))
        at = self.leaves.index(leaf)
        halves = []
        for child in leaf.node.children:
            self._seed += 1
            half = Leaf(child, self._seed, degree=min(max(FIRST_DEGREE, degree), self.highest))
            half.ancestors = leaf.ancestors if error is None else (*leaf.ancestors, error)
            half.fitted = leaf.fitted[child.box.contains(self.evaluated.points[leaf.fitted])]
            half.checks = leaf.checks[child.box.contains(self.evaluated.points[leaf.checks])]
            halves.append(half)
        self.leaves[at : at + 1] = halves

    def _validate(self) -> bool:
        """Look at fresh points of every new leaf, most in the largest; whether some leaf is open again."""
        s = self.problem.dimension
        work = [leaf for leaf in self.leaves if not leaf.validated]
        if work:
            volume = np.array([np.prod(leaf.box.half) for leaf in work])
            volume /= sum(np.prod(leaf.box.half) for leaf in self.leaves)
            total = max(10 * (1 + s), int(self.evaluated.fitted.sum()))
            share = np.maximum(np.ceil(total * volume), [2 * leaf.degree if s == 1 else 4 for leaf in work]).astype(int)
            # What an earlier look has left in a leaf counts.
            seen = [max(0, len(leaf.checks) - 2 * check_count(s)) for leaf in work]
            self._look_at_fresh(work, np.maximum(share - seen, 4))
        return self._reopen()

    def _look_again(self) -> bool:
        """Look for larger errors than those known; whether some leaf is open again."""
        self._search(_MOST_LOOKS)
        return self._reopen()

    def _search(self, most: int) -> None:
        """Evaluate the highest expected peaks of each family until the stated errors hardly grow any more, so that what
        is stated is no less than what is there."""
        stated: dict[str, float] = {}
        for n in range(most):
            nodes, worst, rows_of = worst_by_leaf(self.forest, self.evaluated, self.derived, self.medians)
            if not nodes:
                return
            before, stated = stated, self._stated()
            grew = max((stated[name] / max(before.get(name, 0.0), 1e-300) for name in stated), default=1.0)
            if n >= _LOOKS and grew <= _GROWTH:
                return
            self.evaluated.rows(self.suspicion.of_all(nodes, worst, rows_of, self.medians))

    def _stated(self) -> dict[str, float]:
        """The error of each family over all known points."""
        errors, _ = known_errors(self.forest, self.forest.piecewise(), self.evaluated, self.derived, self.medians)
        return {name: float(error.max(initial=0.0)) for name, error in errors.items()}

    def _reopen(self) -> bool:
        """Open the leaves that some known point finds above the tolerance; whether there is one."""
        self.medians = self.problem.medians(self.forest)
        by_node = {leaf.node: leaf for leaf in self.leaves}
        nodes, worst, rows_of = worst_by_leaf(self.forest, self.evaluated, self.derived, self.medians)
        for n, node in enumerate(nodes):
            leaf = by_node[node]
            if worst[n] > self.problem.tolerance and leaf.stage == "done":
                leaf.checks = np.setdiff1d(np.union1d(leaf.checks, rows_of[n]), leaf.fitted)
                self._decide(leaf, self._error(leaf))
        return any(leaf.stage in ("fit", "verify") for leaf in self.leaves)

    def _look_at_fresh(self, work: Sequence[Leaf], share: Rows) -> None:
        parts = []
        for leaf, n in zip(work, share.tolist(), strict=True):
            self._seed += 1
            known = leaf.box.to_unit(self.evaluated.points[np.union1d(leaf.fitted, leaf.checks)])
            # Half where nothing is known, half evenly: errors of values peak inside, those of gradients on faces.
            fresh = np.vstack(
                [filling(known, n - n // 2, self._seed), scattered(leaf.box.dimension, n // 2, self._seed)]
            )
            parts.append(leaf.box.from_unit(fresh))
        rows, at = self.evaluated.rows(np.vstack(parts)), 0
        for leaf, n in zip(work, share.tolist(), strict=True):
            mine, at = rows[at : at + n], at + n
            leaf.checks, leaf.validated = np.union1d(leaf.checks, np.setdiff1d(mine, leaf.fitted)), True
            if not self.evaluated.valid(mine).all():
                self._split_invalid(leaf)
