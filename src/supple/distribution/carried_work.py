"""Work on a worker of a cluster: it arrives once, as a rule before any of its tasks."""

from __future__ import annotations

import threading
import time
from typing import Any, NamedTuple

from distributed import WorkerPlugin, get_worker
from numpy.typing import NDArray

from supple.compilation.parts import at_most_cores
from supple.compilation.threads import single_blas_thread
from supple.diagnostics import InputError
from supple.distribution.installation import Installation, installation
from supple.distribution.work import Work

_carried: dict[str, CarriedWork] = {}
_one_at_a_time = threading.Lock()
_ARRIVAL = 60.0  # s in which a work follows its first task, on a worker that has just begun


class Done(NamedTuple):
    """What a task brings back.

    seconds   : of the work alone
    first     : whether it was the worker's first of this work, so that its time tells nothing
    processor : of the worker
    """

    found: Any
    seconds: float
    first: bool
    worker: str
    processor: str


class CarriedWork(WorkerPlugin):
    """Sent by the scheduler to every worker, also to those that come later.

    asked_from : what the numbers shall be the same as
    """

    def __init__(self, name: str, work: Work, asked_from: Installation):
        self.name, self.work, self.asked_from = name, work, asked_from
        self.begun = False

    def setup(self, worker: Any) -> None:
        """The worker knows it from now on."""
        _carried[self.name] = self

    def teardown(self, worker: Any) -> None:
        """And no more."""
        _carried.pop(self.name, None)


def run(name: str, *rows: NDArray[Any]) -> Done:
    """The task: some rows of the work of this name, on as many cores as the worker was given threads."""
    worker = get_worker()
    with _one_at_a_time, at_most_cores(worker.state.nthreads), single_blas_thread():
        end = time.monotonic() + _ARRIVAL
        while name not in _carried and time.monotonic() < end:
            time.sleep(0.05)
        carried = _carried[name]
        first = not carried.begun
        if first:
            other = carried.asked_from.difference(installation())
            if other is not None:
                raise InputError(
                    f"its numbers would not be those of this machine: {other}", part=f"worker {worker.address}",
                    hint="give all machines the same environment",
                )  # fmt: skip
            carried.begun = True
        start = time.perf_counter()
        found = carried.work(*rows)
        return Done(found, time.perf_counter() - start, first, worker.address, installation().processor)
