"""Progress line of a reduction: boxes, samples, worst error so far, and estimated time left."""

from __future__ import annotations

import math
import sys
import time
from contextlib import AbstractContextManager
from typing import Self

from rich.console import Console
from rich.live import Live
from rich.text import Text

from supple.approximation.approximation import Progress

_PERIOD = 0.2  # s between two lines


class ProgressLine(AbstractContextManager["ProgressLine"]):
    """Line on standard error that is renewed in place; silent if standard error is not a terminal.

    target   : tolerance to reach, or None for a grid of boxes
    expected : number of samples, or None if unknown
    budget   : largest number of samples
    """

    def __init__(
        self,
        *,
        target: float | None,
        expected: int | None = None,
        budget: int | None = None,
        shown: bool | None = None,
    ):
        self.target, self.expected, self.budget = target, expected, budget
        self.samples = self.checks = 0
        self.state: Progress | None = None
        self._start = self._last = time.monotonic()
        self._first_error = math.nan
        visible = sys.stderr is not None and sys.stderr.isatty() if shown is None else shown
        self._live = Live(console=Console(stderr=True), auto_refresh=False, transient=True) if visible else None

    def __enter__(self) -> Self:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._live is not None:
            self._live.stop()

    def add_samples(self, count: int) -> None:
        """Add samples that were computed and stored."""
        self.samples += count
        self._show()

    def add_checks(self, count: int) -> None:
        """Add check points that were computed."""
        self.checks += count
        self._show()

    def update_state(self, state: Progress) -> None:
        """Update the state of the refinement."""
        if math.isnan(self._first_error) and state.error > 0.0:
            self._first_error = state.error
        self.state = state
        self._show()

    def text(self) -> str:
        """Return the line."""
        most = f" of at most {self.budget}" if self.budget else ""
        parts = [f"{self.samples} samples" + (f" of {self.expected}" if self.expected else most)]
        if self.checks:
            parts.append(f"{self.checks} checks")
        if self.state is not None:
            waiting = f" ({self.state.open} to refine)" if self.state.open else ""
            parts.append(f"{self.state.boxes} boxes{waiting}")
            if math.isfinite(self.state.error):
                goal = "" if self.target is None else f", tolerance {self.target:.2g}"
                parts.append(f"worst error {self.state.error:.2g}{goal}")
        elapsed = time.monotonic() - self._start
        parts.append(f"{elapsed:.0f} s")
        done = self._done()
        if done > 0.02:
            parts.append(f"about {elapsed * (1.0 - done) / done:.0f} s left")
        return ", ".join(parts)

    def _done(self) -> float:
        """Return the finished fraction: of the samples if their number is known, otherwise of the boxes."""
        if self.expected:
            return min(1.0, self.samples / self.expected)
        if self.state is None or self.state.boxes == 0:
            return 0.0
        return 1.0 - min(1.0, self.state.open / self.state.boxes)

    def _show(self) -> None:
        now = time.monotonic()
        if self._live is not None and now - self._last >= _PERIOD:
            self._last = now
            self._live.update(Text(self.text(), style="dim"), refresh=True)
