"""How many rows make a task, from what rows have cost so far.

A task costs the scheduler and the network some milliseconds, so that one shall take LEAST at least; one that takes
LONGEST is lost with its worker. In between, tasks shrink with what is left, so that workers end together.
"""

from __future__ import annotations

import math

LEAST = 0.2  # s of a task, at least: twice what the overhead asks for, since costs are guessed
LONGEST = 1.0  # s of a task, while there is plenty
_SETTLED = 0.02  # s: a timing that is worth something
_WEIGHT = 0.3  # of the latest timing
_GROWTH = 4  # of pieces that are timed in this process


class BatchSize:
    """Seconds a row.

    cost    : learnt from every batch; None before any
    settled : whether it can be relied on
    trial   : rows of the next piece to time in this process, as long as it is not
    """

    def __init__(self) -> None:
        self.cost: float | None = None
        self.settled = False
        self.trial = 1
        self._warm = False

    def tried(self, rows: int, seconds: float) -> None:
        """A piece that was timed here. The first may have compiled kernels, or read them: it tells nothing."""
        if self._warm:
            self.cost, self.settled, self.trial = seconds / rows, seconds >= _SETTLED, _GROWTH * rows
        self._warm = True

    def learn(self, rows: int, seconds: float) -> None:
        """A batch of so many rows took a worker so long."""
        seen = max(seconds, 1e-9) / rows
        self.cost = seen if self.cost is None else (1.0 - _WEIGHT) * self.cost + _WEIGHT * seen
        self.settled = True

    def worth_sending(self, rows: int) -> bool:
        """Whether so many rows are a task at all."""
        return self.cost is not None and rows * self.cost >= LEAST

    def next(self, left: int, workers: int) -> int:
        """Rows of the next task, of those that are left; never so many that the rest is no task."""
        if self.cost is None:
            return 1
        least = math.ceil(LEAST / self.cost)
        fair = math.ceil(left / (2 * max(1, workers)))
        rows = max(least, min(math.ceil(LONGEST / self.cost), fair))
        return left if left - rows < least else rows
