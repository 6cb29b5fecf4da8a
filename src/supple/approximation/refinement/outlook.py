"""Whether a refinement will reach its tolerance, from how its error has fallen so far.

Smooth functions are fitted to an error that falls at least like a power of the number of evaluations, e ~ N^-q, and
mostly faster. Where a function is singular in the region, boxes along it multiply and the largest error stays. So the
power of the last stretch, over which N has grown threefold, tells what the tolerance would take,

    N_needed = N (e/tolerance)^(1/q),     q = ln(e_then/e) / ln(N/N_then)

if nothing became easier. Where that is four times the budget or more, refinement ends at once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

_STRETCH = 3.0  # what N has grown by
_LEAST = 2000  # evaluations before anything is foretold
_BEYOND = 4.0  # times the budget
_SLOWEST = 0.02  # power below which nothing is gained any more


@dataclass
class Outlook:
    """The course of a refinement: evaluations and largest errors, round by round."""

    course: list[tuple[int, float]] = field(default_factory=list)

    def add(self, evaluations: int, error: float) -> None:
        """After a round."""
        if math.isfinite(error) and error > 0.0:
            self.course.append((evaluations, error))

    def needed(self, tolerance: float) -> float:
        """Evaluations that the tolerance is expected to take; 0 where nothing can be foretold."""
        if len(self.course) < 4:
            return 0.0
        now = self.course[-1][0]
        before = [item for item in self.course if item[0] <= now / _STRETCH]
        if now < _LEAST or len(before) < 2:
            return 0.0
        # The larger of two rounds each: boxes that are new have errors that nobody knew of.
        error = max(item[1] for item in self.course[-2:])
        then = max(item[1] for item in before[-2:])
        if error <= tolerance:
            return 0.0
        power = math.log(then / error) / math.log(now / before[-1][0])
        return math.inf if power < _SLOWEST else float(now * (error / tolerance) ** (1.0 / power))

    def hopeless(self, tolerance: float, budget: int) -> bool:
        """Whether the tolerance is out of reach."""
        return self.needed(tolerance) > _BEYOND * budget
