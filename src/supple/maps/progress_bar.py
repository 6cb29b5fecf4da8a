"""How far a map has come: a bar on standard error while it runs, where somebody watches."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn


class ProgressBar(AbstractContextManager["ProgressBar"]):
    """`done of total` things, with the time that is left; gone when it ends.

    shown : True or False; left out, where standard error is a terminal
    """

    def __init__(self, total: int, what: str, *, shown: bool | None = None):
        self._progress: Progress | None = None
        if sys.stderr.isatty() if shown is None else shown:
            words = TextColumn(f"{{task.completed:.0f}} of {{task.total:.0f}} {what}", style="dim")
            columns = (words, BarColumn(), TimeRemainingColumn())
            console = Console(stderr=True, force_terminal=True if shown else None)
            self._progress = Progress(*columns, console=console, auto_refresh=False, transient=True)
            self._task = self._progress.add_task(what, total=total)

    def __enter__(self) -> Self:
        if self._progress is not None:
            self._progress.start()
        return self

    def advance(self, count: int) -> None:
        """So many more are done."""
        if self._progress is not None:
            self._progress.update(self._task, advance=count, refresh=True)

    def __exit__(self, *error: object) -> None:
        if self._progress is not None:
            self._progress.stop()
