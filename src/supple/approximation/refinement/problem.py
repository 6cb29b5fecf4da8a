"""What a refinement has to solve."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from supple.approximation.approximation import Progress, Report, region_medians
from supple.approximation.evaluated import Evaluated
from supple.approximation.refinement.box import Box
from supple.approximation.refinement.box_tree import Forest
from supple.approximation.samples import Derived
from supple.approximation.validity import Limits


class Problem(NamedTuple):
    """A function, known as far as it was `evaluated`, on a region, to a tolerance.

    seed : of the points that are scattered; report : is told of the progress
    """

    region: Sequence[Box]
    evaluated: Evaluated
    derived: Derived
    tolerance: float
    limits: Limits
    seed: int = 0
    report: Report | None = None

    @property
    def dimension(self) -> int:
        return self.region[0].dimension

    def medians(self, forest: Forest) -> dict[str, float]:
        """Of each family over the region, as far as it is fitted."""
        return region_medians(self.region, forest, self.evaluated, self.derived)

    def tell(self, boxes: int, open: int, error: float) -> None:
        """Report the boxes there are, those that are not done, and the largest error."""
        if self.report is not None:
            self.report(Progress(len(self.evaluated), boxes, open, error))
