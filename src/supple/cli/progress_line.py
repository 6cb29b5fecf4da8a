"""Progress of long jobs: one line on standard error that is overwritten, if it is a terminal."""

from __future__ import annotations

import re
import sys
import time
from contextlib import AbstractContextManager
from typing import Self

from supple.cli.answer import Answer


class ProgressText(AbstractContextManager["ProgressText"]):
    """A progress line, called with texts such as `start 3 of 8: misfit 0.1`.

    It shows the text, the elapsed time and an estimate of the remaining time. It shows nothing with --json, or if
    standard error is not a terminal.
    """

    def __init__(self, answer: Answer):
        self._shown = sys.stderr.isatty() and not answer.as_json
        self._start = time.monotonic()

    def __call__(self, text: str) -> None:
        if self._shown:
            print(f"\r\x1b[K{text}{timing(text, time.monotonic() - self._start)}", end="", file=sys.stderr, flush=True)

    def __exit__(self, *error: object) -> None:
        if self._shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    def __enter__(self) -> Self:
        return self


def timing(text: str, elapsed: float) -> str:
    """Return elapsed and remaining time, `, 12 s, about 20 s remaining`, for a text that contains `3 of 8`."""
    times = f", {elapsed:.0f} s"
    counted = re.search(r"\b(\d+) of (\d+)\b", text)
    if counted is not None and 0 < int(counted[1]) < int(counted[2]):
        done, total = int(counted[1]), int(counted[2])
        times += f", about {elapsed * (total - done) / done:.0f} s remaining"
    return times
