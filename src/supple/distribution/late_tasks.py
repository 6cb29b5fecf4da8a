"""Tasks that take far longer than expected, and the workers that hold them.

A worker that is stopped (SIGSTOP, a suspended virtual machine, a machine that swaps) keeps its connection, and dask
waits for it for minutes. Unlike a busy worker, it sends no heartbeats. A worker that sends them but does not finish its
task within a large multiple of the expected time is treated the same way.
"""

from __future__ import annotations

import warnings
from time import monotonic, time
from typing import Any, NamedTuple

from distributed import Client, Future

from supple.diagnostics import SuppleWarning

MULTIPLE = 10.0  # of the expected time, after which a task of a worker without heartbeats is late
LEAST = 10.0  # s, at least
UNKNOWN = 60.0  # s, if no task of this work has finished yet
BUSY = 6.0  # times as long for a worker that sends heartbeats: it may compile kernels, or have other work to do
SILENCE = 10.0  # s without a heartbeat; up to 50 workers send one each second, 1000 workers one every 10 s
LOOK = 1.0  # s between two checks


class OutstandingTask(NamedTuple):
    """Task that was sent to a worker.

    rows     : rows of the task
    since    : start (monotonic, s)
    copies   : number of copies sent before
    expected : expected time, s; None: unknown
    """

    rows: slice
    since: float
    copies: int
    expected: float | None

    def patience(self) -> float:
        """Return the age (s) from which it is late on a worker without heartbeats; each copy has twice the time."""
        known = UNKNOWN if self.expected is None else max(LEAST, MULTIPLE * self.expected)
        return known * 2.0**self.copies


class LateTasks:
    """Late tasks, and the workers that get no more tasks.

    avoided : addresses of those workers
    """

    def __init__(self, client: Client):
        self._client = client
        self._silent: set[str] = set()
        self._stuck: set[str] = set()
        self._next = 0.0

    @property
    def avoided_workers(self) -> set[str]:
        return self._silent | self._stuck

    def note_result(self, worker: str) -> None:
        """Note a result from this worker, which makes it reliable again."""
        self._silent.discard(worker)
        self._stuck.discard(worker)

    def look(self, running: dict[Future, OutstandingTask]) -> list[OutstandingTask]:
        """Return the tasks to send again: all tasks of a worker that has a late one.

        Each such worker is reported once.
        """
        now = monotonic()
        old = {future.key: task for future, task in running.items() if now - task.since > task.patience()}
        if now < self._next or not (old or self._silent):
            return []
        self._next = now + LOOK
        silences = self._client.run_on_scheduler(heartbeat_ages)
        self._silent = {worker for worker in self._silent if silences.get(worker, 0.0) > SILENCE}
        held = self._client.processing() if old else {}
        for worker, keys in held.items():
            late = [old[key] for key in keys if key in old]
            silent = silences.get(worker, 0.0) > SILENCE
            stuck = any(task.expected is not None and now - task.since > BUSY * task.patience() for task in late)
            if not late or not (silent or stuck):
                continue
            if worker not in self.avoided_workers:
                first = min(late, key=lambda task: task.since)
                self._report(worker, first, now - first.since, silences[worker] if silent else None)
            (self._silent if silent else self._stuck).add(worker)
        stuck_keys = {key for worker in self.avoided_workers for key in held.get(worker, ())}
        elsewhere = {
            (task.rows.start, task.rows.stop) for future, task in running.items() if future.key not in stuck_keys
        }
        due = {(task.rows.start, task.rows.stop): task for future, task in running.items() if future.key in stuck_keys}
        return [task for rows, task in due.items() if rows not in elsewhere]

    def _report(self, worker: str, task: OutstandingTask, age: float, silence: float | None) -> None:
        expected = "" if task.expected is None else f", expected {task.expected:.2g} s"
        sign = "it sends heartbeats" if silence is None else f"no heartbeat for {silence:.0f} s"
        warnings.warn(
            f"worker {worker} has not finished a task after {age:.0f} s{expected} ({sign}); its tasks are sent to "
            "other workers; check whether it is stopped, or end it",
            SuppleWarning, stacklevel=2,
        )  # fmt: skip


def heartbeat_ages(dask_scheduler: Any = None) -> dict[str, float]:
    """Return the seconds since the last heartbeat of each worker, by the scheduler's clock."""
    now = time()
    return {address: now - state.last_seen for address, state in dask_scheduler.workers.items()}
