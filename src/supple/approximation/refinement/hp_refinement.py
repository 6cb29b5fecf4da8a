"""Refinement that decides, box by box, between a higher degree and two halves, whichever needs fewer samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import NamedTuple

import numpy as np

from supple.approximation.approximation import halve_invalid, known_errors, worst_by_leaf
from supple.approximation.check_points import candidates, cloud, fill_gaps, peaks
from supple.approximation.evaluated import Derived, Evaluated, Rows
from supple.approximation.fit_error import largest, point_errors
from supple.approximation.fits.chebyshev_products import Indices
from supple.approximation.fits.scattered_fit import fit_rows, fitted_families, halton_points, leverage
from supple.approximation.influence import Influence, influence
from supple.approximation.refinement.bases import Bases, Weight, bases_of
from supple.approximation.refinement.box import Box
from supple.approximation.refinement.box_tree import BoxNode, Forest
from supple.approximation.refinement.decay import Decay, axis_shares, cost, decay
from supple.approximation.refinement.leaf import NO_ROWS, Leaf, check_count
from supple.approximation.refinement.problem import FitProblem, stagnates
from supple.array_types import Array

_LOOKS, _MOST_LOOKS = 2, 6  # searches for the largest errors, once all boxes are good
_GROWTH = 1.02  # growth of a stated error in a search below which there is no further search
MARGIN = {"fit": 0.8, "verify": 0.9}  # of the tolerance: a fit that barely passes seldom passes a later, costly check


class Refinement:
    """State of one refinement: the forest, its open leaves, and all evaluated points."""

    def __init__(self, problem: FitProblem, highest: int | None):
        s, seed = problem.dimension, problem.seed
        self.problem, self.evaluated, self.derived = problem, problem.evaluated, problem.derived
        self.bases = bases_of(s, highest)
        self.suspicion = ErrorPrediction(self.evaluated, self.derived, self.bases)
        self.forest = Forest([BoxNode(box) for box in problem.region], self.bases.indices)
        self.leaves = [Leaf(root, seed + n, level=self.bases.first) for n, root in enumerate(self.forest.roots)]
        self._seed = seed + len(self.leaves)
        self.medians: dict[str, float] = {}

    @cached_property
    def influence(self) -> Influence:
        """Influence of the outputs on the families; available after the first sample."""
        return influence(self.derived, self.evaluated.known_samples, self.problem.dimension)

    def run(self) -> Forest:
        """Refine until every family of every box is below the tolerance, also on fresh points."""
        while True:
            work = [leaf for leaf in self.leaves if leaf.stage in ("fit", "verify")]
            if not work:
                if self._validate():
                    continue
                if not (self._search_again() if self.problem.confirmation is None else self._confirm()):
                    return self.forest
            elif self._should_stop(work) or not self._round(work):
                for root in self.forest.roots:
                    root.undo_division([leaf.node for leaf in self.leaves if leaf.node.coefficients is None])
                if self.problem.confirmation is None:
                    self._search(_LOOKS)  # the tolerance is missed: measure the error
                else:
                    self.problem.confirmation.current = False
                return self.forest

    def _should_stop(self, work: list[Leaf]) -> bool:
        """Return whether refinement ends early."""
        errors = [(leaf.ancestors[-1], leaf.box) for leaf in work if leaf.ancestors]
        return self.forest.stagnant is not None or self.problem.give_up(self.forest, errors)

    def _round(self, work: list[Leaf]) -> bool:
        """Evaluate the points of all open leaves in one batch; fit, measure and decide each.

        Return False if that exceeds the limit of samples.
        """
        requested = [self._requested_points(leaf) for leaf in work]
        points = np.vstack([part for pair in requested for part in pair])
        half = np.vstack([
            np.tile(leaf.box.half, (len(part), 1)) for leaf, pair in zip(work, requested, strict=True) for part in pair
        ])  # fmt: skip
        most = self.problem.limits.samples
        if len(self.evaluated) and len(self.evaluated) + self.evaluated.count_missing(points, half) > most:
            return False
        rows, at = self.evaluated.rows(points, half), 0
        for leaf, (samples, checks) in zip(work, requested, strict=True):
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
            error = self._error(leaf, leaf.node)
            worst = max(worst, error * self.problem.tolerance)
            self._decide(leaf, error)
        self.problem.report_progress(
            len(self.leaves), sum(leaf.stage in ("fit", "verify") for leaf in self.leaves), worst
        )
        return True

    def _requested_points(self, leaf: Leaf) -> tuple[Array, Array]:
        """Return the points to fit and the points to check that a leaf still lacks."""
        s = leaf.box.dimension
        none = np.zeros((0, s))
        if leaf.stage == "verify":
            return none, leaf.box.from_unit(self.suspicion.of_leaf(leaf, self.medians, self._weight))
        slopes = s if self.evaluated.samples is None else self.evaluated.slopes
        known = leaf.box.to_unit(self.evaluated.points[leaf.fitted])
        samples = leaf.box.from_unit(self.bases.choose_points(leaf, known, slopes))
        if leaf.errors:
            return samples, none
        if s <= 3:  # errors are largest near corners, so corners are fitted from the start
            samples = np.vstack([samples, leaf.box.from_unit(np.array(list(product((-1.0, 1.0), repeat=s))))])
        lacking = max(0, check_count(s) - len(leaf.checks))
        known = leaf.box.to_unit(np.vstack([self.evaluated.points[leaf.checks], samples]))
        return samples, leaf.box.from_unit(fill_gaps(known, lacking, leaf.seed))

    def _fit(self, leaf: Leaf) -> None:
        """Fit the polynomials that the samples allow, and keep the best one on all points of the box."""
        best, kept = np.inf, leaf.node
        for indices, terms in self.bases.propose_terms(leaf, self.evaluated, self._weight):
            own = None if indices is self.bases.indices else indices
            found = BoxNode(leaf.box, None, None, fit_rows(leaf.box, leaf.fitted, self.evaluated, indices[:terms]), own)
            error = self._error(leaf, found)
            if kept is leaf.node or error < best:
                best, kept = error, found
        leaf.node.coefficients, leaf.node.indices = kept.coefficients, kept.indices

    def _error(self, leaf: Leaf, found: BoxNode) -> float:
        """Return the largest error of a fit over the known points of a leaf, in units of the tolerance."""
        rows = np.concatenate([leaf.fitted, leaf.checks])
        assert found.coefficients is not None
        xi = leaf.box.to_unit(self.evaluated.points[rows])
        fitted = fitted_families(leaf.box, xi, found.coefficients, found.terms(self.bases.indices), self.derived)
        errors = point_errors(self.evaluated.families(rows), fitted, self.medians)
        return float(largest(errors).max()) / self.problem.tolerance

    def _decide(self, leaf: Leaf, error: float) -> None:
        if error <= MARGIN.get(leaf.stage, 1.0):
            leaf.stage = "done" if leaf.stage == "verify" else "verify"
            return
        leaf.stage, leaf.validated = "fit", False
        if not leaf.errors and self.bases.short(leaf, self.evaluated.slopes):
            return  # the design counted on slopes that are unknown
        if not leaf.errors or leaf.errors[-1][0] < leaf.level:
            leaf.errors.append((leaf.level, error))
        else:
            leaf.errors[-1] = (leaf.level, max(error, leaf.errors[-1][1]))
        axis, start = self._axis_to_halve(leaf, error)
        if axis is not None:
            if stagnates((*leaf.ancestors, error), leaf.box.dimension):
                leaf.stage, self.forest.stagnant = "stuck", leaf.box
            else:
                self._halve(leaf, axis, start, error)
        elif leaf.level < self.bases.highest:
            leaf.level += 1
        else:
            leaf.stage = "stuck"  # the stated error includes it

    def _axis_to_halve(self, leaf: Leaf, error: float) -> tuple[int | None, int]:
        """Return the axis along which halving pays, or None if a higher level takes fewer samples; and a first level.

        Halves begin with the level that the better one needs: a level that is too low is raised at no loss, one that is
        too high wastes samples.
        """
        s, errors, bases = leaf.box.dimension, leaf.errors, self.bases
        allowed = self.problem.limits.divisible(leaf.box, self.problem.region, for_accuracy=True)
        if not allowed.any():
            return None, leaf.level
        back = min(bases.looked_back, len(errors) - 1)
        gained = bases.degree(errors[-1][0]) - bases.degree(errors[-1 - back][0])
        rate = (errors[-1][1] / errors[-1 - back][1]) ** (1.0 / gained) if back else None
        expected = self._decay(leaf, error, rate)
        axis = int(np.argmax(np.where(allowed, expected.error, -1.0)))
        near, far = expected.halve(axis)
        below = bases.below(leaf.level)
        start = next((n for n in range(bases.first, below) if far.at(bases.degree(n)) <= 1.0), below)
        if leaf.level >= bases.highest:
            return axis, start
        if len(errors) < bases.looked_back:
            return None, start
        if rate is not None and rate > bases.slowest:
            return axis, start
        extra = 2 * check_count(s)  # held-out, suspected and fresh points
        ladder = [
            (bases.degree(n), bases.samples(n, self.evaluated.slopes) + extra)
            for n in range(bases.cheapest, bases.highest + 1)
        ]
        known = len(leaf.fitted) + len(leaf.checks)
        higher = cost(expected, ladder, 0) - known
        depth = min(2 * s, 6)
        halves = cost(near, ladder, depth) + cost(far, ladder, depth)
        halves -= 0.5 * known  # points of the whole box suit its halves less well
        return (None if higher <= halves else axis), start

    def _weight(self, box: Box, degree: int) -> Array:
        """Return the weight of each output in a polynomial of that degree."""
        return self.influence.weights(box.half, degree, self.medians)

    def _decay(self, leaf: Leaf, error: float, rate: float | None) -> Decay:
        """Return the expected decay of the error of a leaf."""
        assert leaf.node.coefficients is not None
        used = leaf.node.terms(self.bases.indices)
        weight = self._weight(leaf.box, int(used.sum(axis=1).max()))
        if leaf.node.indices is None:
            return decay(leaf.node.coefficients, used, weight, error, rate)
        better = self.suspicion.better(leaf.node, np.union1d(leaf.fitted, leaf.checks), self._weight)
        share = axis_shares(used, leaf.node.coefficients * weight, better.indices, better.coefficients * weight)
        degree = self.bases.degree(leaf.level)
        return decay(leaf.node.coefficients, used, weight, error, rate, degree=degree, share=share)

    def _split_invalid(self, leaf: Leaf) -> None:
        """Halve a box where the function does not exist everywhere, or discard it if it is small."""
        rows = np.union1d(leaf.fitted, leaf.checks)
        leaf.node.coefficients = None
        points, valid = leaf.box.to_unit(self.evaluated.points[rows]), self.evaluated.valid(rows)
        axis = halve_invalid(leaf.box, self.problem.region, points, valid, self.problem.limits)
        if axis is None:
            self.leaves.remove(leaf)
        else:
            self._halve(leaf, axis, self.bases.below(leaf.level))

    def _halve(self, leaf: Leaf, axis: int, level: int, error: float | None = None) -> None:
        """Replace a leaf by its halves, fitted with this level first; each takes the known points in it."""
        lower, upper = leaf.box.split(axis)
        own = leaf.node.indices
        leaf.node.axis, leaf.node.children = axis, (BoxNode(lower, indices=own), BoxNode(upper, indices=own))
        at = self.leaves.index(leaf)
        halves = []
        for child in leaf.node.children:
            self._seed += 1
            half = Leaf(child, self._seed, level=min(max(self.bases.first, level), self.bases.highest))
            half.ancestors = leaf.ancestors if error is None else (*leaf.ancestors, error)
            half.fitted = leaf.fitted[child.box.contains(self.evaluated.points[leaf.fitted])]
            half.checks = leaf.checks[child.box.contains(self.evaluated.points[leaf.checks])]
            halves.append(half)
        self.leaves[at : at + 1] = halves

    def _validate(self) -> bool:
        """Evaluate fresh points of every new leaf, most in the largest; return whether some leaf is open again."""
        s = self.problem.dimension
        work = [leaf for leaf in self.leaves if not leaf.validated]
        if work:
            volume = np.array([np.prod(leaf.box.half) for leaf in work])
            volume /= sum(np.prod(leaf.box.half) for leaf in self.leaves)
            total = self.bases.fresh(int(self.evaluated.fitted.sum()))
            share = np.maximum(np.ceil(total * volume), [2 * leaf.level if s == 1 else 4 for leaf in work]).astype(int)
            # Check points of a leaf from earlier evaluations count.
            present = [max(0, len(leaf.checks) - 2 * check_count(s)) for leaf in work]
            self._check_fresh(work, np.maximum(share - present, 4))
        return self._reopen()

    def _search_again(self) -> bool:
        """Search for larger errors than the known ones; return whether some leaf is open again."""
        self._search(_MOST_LOOKS)
        return self._reopen()

    def _confirm(self) -> bool:
        """Check the fit on a fresh set of points; return whether some leaf is open again, or was fitted again."""
        confirmation = self.problem.confirmation
        assert confirmation is not None
        self._polish()
        rows = self.problem.find_unconfirmed_rows(self.forest)
        if not len(rows):
            return False
        broken = rows[~self.evaluated.valid(rows)]
        fine = np.setdiff1d(rows, broken)
        for leaf in list(self.leaves):
            inside = leaf.box.contains(self.evaluated.points[broken]) if len(broken) else np.zeros(0, dtype=bool)
            leaf.checks = np.union1d(leaf.checks, broken[inside])
            if inside.any():
                self._split_invalid(leaf)
                confirmation.current = False
            else:
                mine = fine[leaf.box.contains(self.evaluated.points[fine])]
                leaf.checks = np.setdiff1d(np.union1d(leaf.checks, mine), leaf.fitted)
        # A fit to the new points with the same terms may suffice: the next set decides.
        self.medians = self.problem.medians(self.forest)
        fitted = self._polish()
        opened = self._reopen()
        confirmation.current = confirmation.current and not opened and not fitted
        return opened or fitted

    def _polish(self) -> bool:
        """Fit every leaf once more, with the same terms, to all known points in it; return whether one has changed.

        Points that were held out while degrees were chosen lie where fits are worst, near faces; fresh points will
        judge the result.
        """
        changed = False
        for leaf in self.leaves:
            if leaf.stage != "done" or not len(leaf.checks):
                continue
            rows = np.union1d(leaf.fitted, leaf.checks)
            terms = leaf.node.terms(self.bases.indices)
            found = BoxNode(leaf.box, None, None, fit_rows(leaf.box, rows, self.evaluated, terms), leaf.node.indices)
            if self._error(leaf, found) <= self._error(leaf, leaf.node):
                leaf.node.coefficients = found.coefficients
                leaf.fitted, leaf.checks = rows, NO_ROWS.copy()
                self.evaluated.fitted[rows] = True
                changed = True
        return changed

    def _search(self, most: int) -> None:
        """Evaluate the highest expected peaks of each family until the largest errors hardly grow.

        This keeps the stated errors from being too small.
        """
        stated: dict[str, float] = {}
        for n in range(most):
            nodes, worst, rows_of = worst_by_leaf(self.forest, self.evaluated, self.derived, self.medians)
            if not nodes:
                return
            before, stated = stated, self._state_errors()
            grew = max((stated[name] / max(before.get(name, 0.0), 1e-300) for name in stated), default=1.0)
            if n >= _LOOKS and grew <= _GROWTH:
                return
            self.evaluated.rows(self.suspicion.of_all(nodes, worst, rows_of, self.medians, self._weight))

    def _state_errors(self) -> dict[str, float]:
        """Return the error of each family over all known points."""
        errors, _ = known_errors(self.forest, self.forest.piecewise(), self.evaluated, self.derived, self.medians)
        return {name: float(error.max(initial=0.0)) for name, error in errors.items()}

    def _reopen(self) -> bool:
        """Open the leaves with known points above the tolerance; return whether there is one."""
        self.medians = self.problem.medians(self.forest)
        by_node = {leaf.node: leaf for leaf in self.leaves}
        nodes, worst, rows_of = worst_by_leaf(self.forest, self.evaluated, self.derived, self.medians)
        for n, node in enumerate(nodes):
            leaf = by_node[node]
            if worst[n] > self.problem.tolerance and leaf.stage == "done":
                leaf.checks = np.setdiff1d(np.union1d(leaf.checks, rows_of[n]), leaf.fitted)
                self._decide(leaf, self._error(leaf, leaf.node))
        return any(leaf.stage in ("fit", "verify") for leaf in self.leaves)

    def _check_fresh(self, work: Sequence[Leaf], share: Rows) -> None:
        parts = []
        for leaf, n in zip(work, share.tolist(), strict=True):
            self._seed += 1
            known = leaf.box.to_unit(self.evaluated.points[np.union1d(leaf.fitted, leaf.checks)])
            # Half in gaps, half evenly: errors of values peak inside, those of gradients on faces.
            fresh = np.vstack(
                [fill_gaps(known, n - n // 2, self._seed), halton_points(leaf.box.dimension, n // 2, self._seed)]
            )
            parts.append(leaf.box.from_unit(fresh))
        rows, at = self.evaluated.rows(np.vstack(parts)), 0
        for leaf, n in zip(work, share.tolist(), strict=True):
            mine, at = rows[at : at + n], at + n
            leaf.checks, leaf.validated = np.union1d(leaf.checks, np.setdiff1d(mine, leaf.fitted)), True
            if not self.evaluated.valid(mine).all():
                self._split_invalid(leaf)


# Points at which a fit is expected to be worst, before the function is evaluated there.
#
# A fit of higher degree to all known points of a box replaces the function: where the two differ most, the error is
# expected to be largest. The function evaluated there either confirms it, or improves the better fit; repeated, this
# climbs to the largest errors with a few evaluations each time.


_SEARCHED = 64  # boxes, those that appear worst, searched for the largest errors


class Better(NamedTuple):
    """Coefficients (terms, t) of a better fit that replaces the function, and its terms (terms, s)."""

    coefficients: Array
    indices: Indices


@dataclass(frozen=True, eq=False)
class ErrorPrediction:
    """Prediction of the points where a fit is worst.

    bases : the fitted polynomials
    """

    evaluated: Evaluated
    derived: Derived
    bases: Bases

    @property
    def _dimension(self) -> int:
        return self.bases.indices.shape[1]

    def of_leaf(self, leaf: Leaf, medians: dict[str, float], weight: Weight) -> Array:
        """Return points ξ where the fit is expected to be worst, for each family.

        They include the widest gaps between its samples.
        """
        xi = candidates(self._dimension)
        each = 1 + self._dimension
        better = self.better(leaf.node, np.union1d(leaf.fitted, leaf.checks), weight)
        expected = self.errors(leaf.node, better, xi, medians)
        loose = leverage(leaf.box, leaf.fitted, self.evaluated, leaf.node.terms(self.bases.indices), xi)
        return np.vstack([peaks(xi, height, each) for height in [*expected.values(), loose]])

    def of_all(
        self, nodes: list[BoxNode], worst: Array, rows_of: list[Rows], medians: dict[str, float], weight: Weight
    ) -> Array:
        """Return the highest expected peaks of each family over all boxes: (N, s).

        worst   : (boxes,) errors so far
        rows_of : known points of each box
        """
        xi = candidates(self._dimension)
        places: dict[str, list[tuple[float, Array]]] = {name: [] for name in medians}
        for n in np.argsort(-worst, kind="stable")[:_SEARCHED]:
            better = self.better(nodes[n], rows_of[n], weight)
            coarse = self.errors(nodes[n], better, xi, medians)
            fine = np.vstack([cloud(peaks(xi, height, 3)) for height in coarse.values()])
            for name, height in self.errors(nodes[n], better, fine, medians).items():
                for point in peaks(fine, height, 3):
                    high = float(height[(fine == point).all(axis=1)].max())
                    places[name].append((high, nodes[n].box.from_unit(point)))
        each = 2 * (1 + self._dimension)
        ordered = (sorted(peaks_of, key=lambda item: -item[0])[:each] for peaks_of in places.values())
        return np.array([point for peaks_of in ordered for _, point in peaks_of]).reshape(-1, self._dimension)

    def better(self, node: BoxNode, rows: Rows, weight: Weight) -> Better:
        """Return a larger polynomial than that of a node, fitted to all known points `rows` of its box."""
        indices = self.bases.better(node, rows, self.evaluated, weight)
        return Better(fit_rows(node.box, rows, self.evaluated, indices), indices)

    def errors(self, node: BoxNode, better: Better, xi: Array, medians: dict[str, float]) -> dict[str, Array]:
        """Return the errors of a fit at points ξ, estimated by a better one."""
        assert node.coefficients is not None
        exact = fitted_families(node.box, xi, better.coefficients, better.indices, self.derived)
        fitted = fitted_families(node.box, xi, node.coefficients, node.terms(self.bases.indices), self.derived)
        return point_errors(exact, fitted, medians)
