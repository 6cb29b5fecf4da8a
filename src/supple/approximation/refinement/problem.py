"""Problem of a refinement, and the criteria to give up: the cost is out of reach, or errors do not fall."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from supple.approximation.approximation import Limits, Progress, Report, family_floors, region_medians
from supple.approximation.confidence import Confirmation
from supple.approximation.evaluated import Derived, Evaluated, Rows
from supple.approximation.fit_error import largest
from supple.approximation.refinement.box import Box
from supple.approximation.refinement.box_tree import Forest
from supple.approximation.refinement.leaf import NO_ROWS

# Prediction of the cost: whether a refinement will reach its tolerance, from the decrease of its error so far.
#
# The error of a fit of a smooth function falls at least like a power of the number of evaluations, e ~ N^-q, and mostly
# faster. Where a function is singular in the region, boxes along the singularity multiply and the largest error stays.
# So the power of the last stretch, over which N has grown threefold, predicts the evaluations for the tolerance,
#
#     N_needed = N (e/tolerance)^(1/q),     q = ln(e_then/e) / ln(N/N_then)
#
# if the power stays the same. If that is four times the budget or more, refinement ends at once.


_STRETCH = 3.0  # growth of N over which the power is measured
_LEAST = 2000  # evaluations before any prediction
_BEYOND = 4.0  # times the budget
_SLOWEST = 0.02  # power below which nothing is gained


@dataclass
class Outlook:
    """History of a refinement: evaluations and largest errors, round by round."""

    course: list[tuple[int, float]] = field(default_factory=list)

    def add(self, evaluations: int, error: float) -> None:
        """Add the result of a round."""
        if math.isfinite(error) and error > 0.0:
            self.course.append((evaluations, error))

    def predict_evaluations(self, tolerance: float) -> float:
        """Return the predicted evaluations for the tolerance; 0 if nothing can be predicted."""
        if len(self.course) < 4:
            return 0.0
        now = self.course[-1][0]
        before = [item for item in self.course if item[0] <= now / _STRETCH]
        if now < _LEAST or len(before) < 2:
            return 0.0
        # The larger error of two rounds each: new boxes reveal errors that were unknown before.
        error = max(item[1] for item in self.course[-2:])
        then = max(item[1] for item in before[-2:])
        if error <= tolerance:
            return 0.0
        power = math.log(then / error) / math.log(now / before[-1][0])
        return math.inf if power < _SLOWEST else float(now * (error / tolerance) ** (1.0 / power))

    def hopeless(self, tolerance: float, budget: int) -> bool:
        """Return whether the tolerance is out of reach."""
        return self.predict_evaluations(tolerance) > _BEYOND * budget


# The problem.


_WORST = 8  # check points of a box that are added to its known points
AIM = 1.06  # ratio of the tolerance to the target of refinement, because peaks are higher than known points


@dataclass(frozen=True, eq=False)
class FitProblem:
    """Function on a region, known at the `evaluated` points, to be fitted to a tolerance.

    seed         : random seed of scattered points
    report       : called with the progress
    confirmation : fresh points on which a good fit is checked; None: known points are used
    outlook      : history of the error
    """

    region: Sequence[Box]
    evaluated: Evaluated
    derived: Derived
    tolerance: float
    limits: Limits
    seed: int = 0
    report: Report | None = None
    confirmation: Confirmation | None = None
    outlook: Outlook = field(default_factory=Outlook)

    @property
    def dimension(self) -> int:
        return self.region[0].dimension

    def medians(self, forest: Forest) -> dict[str, float]:
        """Return the median norm of each family over the fitted region, at its check points if there are any."""
        if self.confirmation is not None and self.confirmation.checked is not None:
            return self.confirmation.checked.scales
        return region_medians(self.region, forest, self.evaluated, self.derived)

    def find_unconfirmed_rows(self, forest: Forest) -> Rows:
        """Return rows of known points that a fresh set of check points adds; none if the fit is good.

        For every box with points above the tolerance these are the worst ones and those of the search for peaks, and
        the points where the function does not exist. There are none either if no further set may be drawn.
        """
        confirmation = self.confirmation
        if confirmation is None:
            return NO_ROWS.copy()
        floors = family_floors(self.region, self.evaluated, self.derived)
        allowed = AIM * self.tolerance
        checked = confirmation.look(forest, floors, self.evaluated.known_samples.relative, allowed)
        if confirmation.exhausted or (checked.valid.all() and checked.worst <= allowed):
            return NO_ROWS.copy()
        bad = np.full(len(checked.points), np.inf)
        bad[checked.valid] = largest(checked.errors)
        points = np.vstack([checked.points, checked.peaks.points])
        bad = np.concatenate([bad, largest(checked.peaks.errors)])
        order = np.argsort(-bad, kind="stable")
        leaf_of = forest.piecewise().locate(points[order])
        kept = []
        for leaf in np.unique(leaf_of[bad[order] > self.tolerance]):
            mine = order[leaf_of == leaf]
            drawn, searched = mine[mine < len(checked.points)], mine[mine >= len(checked.points)]
            kept += [drawn[bad[drawn] > self.tolerance][:_WORST], searched]
        return self.evaluated.rows(points[np.concatenate(kept)], exact=True)

    def give_up(self, forest: Forest, errors: Iterable[tuple[float, Box]]) -> bool:
        """Return whether refinement shall end because the tolerance is out of reach; recorded in the forest.

        errors : of boxes that miss the tolerance
        """
        if self.outlook.hopeless(self.tolerance, self.limits.samples):
            forest.needed = self.outlook.predict_evaluations(self.tolerance)
            if math.isinf(forest.needed):
                forest.stagnant = max(errors, key=lambda item: item[0], default=(0.0, None))[1]
        return forest.needed > 0.0

    def report_progress(self, boxes: int, open: int, error: float) -> None:
        """Report the number of boxes and of open boxes, and the largest error."""
        self.outlook.add(len(self.evaluated), error)
        if self.report is not None:
            self.report(Progress(len(self.evaluated), boxes, open, error))


# Stagnation: dividing boxes no longer reduces the error.
#
# A smooth function is fitted better in a half than in the whole, by 2^-(n+1) once the box is smaller than the features
# in it. Where a function jumps, every box across the jump has the same error, however small: their number doubles, or
# more, with every halving, and nothing is gained. It may take many halvings to resolve a narrow feature, so a box
# counts as stagnant when its error is still more than half that of an ancestor many halvings ago.


GAINED = 0.5  # of the ancestor's error
_ALONG_A_LINE = 16  # halvings; in one dimension a jump costs two boxes a halving, in more it costs many
_IN_ALL, _PER_AXIS = 8, 3


def generations(dimension: int) -> int:
    """Return the number of halvings within which the error of a box has to fall."""
    return _ALONG_A_LINE if dimension == 1 else max(_IN_ALL, _PER_AXIS * dimension)


def stagnates(errors: tuple[float, ...], dimension: int) -> bool:
    """Return whether the last of the errors of a box and its ancestors, oldest first, has not fallen for long."""
    back = generations(dimension)
    return len(errors) > back and errors[-1] > GAINED * errors[-1 - back]
