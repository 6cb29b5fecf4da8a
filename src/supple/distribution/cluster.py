"""Work on a cluster of dask.distributed: batches are sent out, and results returned as they are finished.

The work is sent once to each worker; a task is a batch of rows, whose number depends on their cost so far. A worker
that joins late gets the next batches. If a worker dies, only the batches it held are lost, and the scheduler gives them
to others. Batches of a worker that does not answer are sent to others as well (`late_tasks`), and the first result is
used.
"""

from __future__ import annotations

import hashlib
import math
import platform
import sys
import threading
import time
import uuid
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import suppress
from functools import cache, partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import monotonic, perf_counter
from typing import Any, NamedTuple, Self

from distributed import Client, Future, KilledWorker, WorkerPlugin, get_worker, wait
from numpy.typing import NDArray

from supple.compilation.threads import at_most_cores, single_blas_thread
from supple.diagnostics import ClusterError, InputError, SuppleError, SuppleNote, SuppleWarning
from supple.distribution.late_tasks import LateTasks, OutstandingTask
from supple.distribution.work import PartialResult, Work
from supple.distribution.workplace import Here

# Number of rows in a task, from the cost of rows so far.
#
# A task costs the scheduler and the network some milliseconds, so it should take at least LEAST; at most LONGEST is
# lost with a worker. In between, tasks shrink with the remaining work, so that workers finish together.


LEAST = 0.2  # s of a task, at least: twice what the overhead requires, since costs are estimates
LONGEST = 1.0  # s of a task, while much work remains
_SETTLED = 0.02  # s: least duration of a reliable timing
_WEIGHT = 0.3  # of the latest timing
_GROWTH = 4  # of pieces that are timed in this process


class BatchSize:
    """Number of rows in a batch, from the measured time per row.

    cost    : seconds per row, updated by every batch; None at first
    settled : whether the cost is reliable
    trial   : rows of the next piece to time in this process until the cost is reliable
    """

    def __init__(self) -> None:
        self.cost: float | None = None
        self.settled = False
        self.trial = 1
        self._warm = False

    def record_piece(self, rows: int, seconds: float) -> None:
        """Record a piece that was timed in this process.

        The first one is ignored, because it may compile or load kernels.
        """
        if self._warm:
            self.cost, self.settled, self.trial = seconds / rows, seconds >= _SETTLED, _GROWTH * rows
        self._warm = True

    def learn(self, rows: int, seconds: float) -> None:
        """Record the time that a worker took for a batch."""
        measured = max(seconds, 1e-9) / rows
        self.cost = measured if self.cost is None else (1.0 - _WEIGHT) * self.cost + _WEIGHT * measured
        self.settled = True

    def worth_sending(self, rows: int) -> bool:
        """Return whether so many rows are large enough for a task."""
        return self.cost is not None and rows * self.cost >= LEAST

    def next(self, left: int, workers: int) -> int:
        """Return the rows of the next task, of those that are left; the rest is never too small for a task."""
        if self.cost is None:
            return 1
        least = math.ceil(LEAST / self.cost)
        fair = math.ceil(left / (2 * max(1, workers)))
        rows = max(least, min(math.ceil(LONGEST / self.cost), fair))
        return left if left - rows < least else rows


_AHEAD = 2  # tasks of a worker at a time: one runs, one waits
_LOOK = 1.0  # s between two checks of the workers
_SILENCE = 5.0  # s without any worker before a note is given
_CALL = 30.0  # s to wait for the answer of a scheduler
_SPREAD = 10.0  # s in which a work reaches all workers that answer
_TRIES = 2  # times that a batch may end as many workers as the scheduler allows
_SAME = "install the same environment with supple on all machines, including the scheduler's"
_LOST = (CancelledError, OSError, TimeoutError)  # errors of dask if its scheduler is gone


class _Known(NamedTuple):
    """Work that the cluster has, with the object itself, so that its id stays unique."""

    name: str
    work: Work
    size: BatchSize


class _WorkFailed(Exception):
    """Error that the work itself raised on a worker; the cluster is intact."""

    def __init__(self, error: Exception):
        super().__init__(str(error))
        self.error = error


class Cluster:
    """Workers behind a Client of dask.distributed. As a context, it removes the work from lasting workers at its end.

    lasting : whether the workers continue after the end
    """

    def __init__(self, client: Client, *, lasting: bool = True):
        self.client, self.lasting = client, lasting
        self._works: dict[int, _Known] = {}
        self._sent: set[str] = set()
        self._late = LateTasks(client)
        self._processors: set[str] = {installation().processor}

    def results(self, work: Work, *arrays: NDArray[Any], together: int) -> Iterator[PartialResult]:
        """Yield results as they are finished. Less than a task is computed in this process."""
        known = self._works.setdefault(id(work), _Known(f"supple-{uuid.uuid4().hex}", work, BatchSize()))
        total, size, first = len(arrays[0]), known.size, 0
        while together > 1 and first < total and not size.settled:
            rows = slice(first, min(first + min(size.trial, together), total))
            start = perf_counter()
            found = work(*(item[rows] for item in arrays))
            size.record_piece(rows.stop - first, perf_counter() - start)
            first = rows.stop
            yield PartialResult(rows, found)
        left = tuple(item[first:] for item in arrays)
        if together > 1 and not size.worth_sending(total - first):
            found_here = Here().results(work, *left, together=together) if first < total else iter(())
        else:
            found_here = self._sent_out(known, left)
        for rows, found in found_here:
            yield PartialResult(slice(first + rows.start, first + rows.stop), found)

    def _sent_out(self, known: _Known, arrays: tuple[NDArray[Any], ...]) -> Iterator[PartialResult]:
        total, first, killed = len(arrays[0]), 0, dict[int, int]()
        running: dict[Future, OutstandingTask] = {}
        crowd, late = _Workers(self.client), self._late
        try:
            self._send_work(known)
            while first < total or running:
                free = crowd.workers() - late.avoided_workers
                while first < total and len(running) < _AHEAD * max(1, len(free)):
                    rows = slice(first, first + min(known.size.next(total - first, len(free)), total - first))
                    first = rows.stop
                    if late.avoided_workers and not free:  # no present worker answers
                        yield PartialResult(rows, known.work(*(item[rows] for item in arrays)))
                        continue
                    self._submit(known, arrays, rows, running, free if late.avoided_workers else None)
                for future in self._done(list(running)):
                    if future not in running:  # a copy of it finished first
                        continue
                    rows = running[future].rows
                    done = self._result(future, arrays, rows, killed)
                    self._forget(running, rows)
                    if done is None:
                        self._submit(known, arrays, rows, running)
                        continue
                    late.note_result(done.worker)
                    if not done.first:
                        known.size.learn(rows.stop - rows.start, done.seconds)
                    yield PartialResult(rows, done.found)
                for task in late.look(running):
                    free = crowd.workers() - late.avoided_workers
                    if free:
                        self._submit(known, arrays, task.rows, running, free, task.copies + 1)
                    else:
                        self._forget(running, task.rows)
                        yield PartialResult(task.rows, known.work(*(item[task.rows] for item in arrays)))
        except _WorkFailed as failed:
            raise failed.error from None
        except _LOST:
            raise ClusterError(
                "the connection to the scheduler was lost", part=f"cluster {self._address()}",
                hint="restart the cluster and run again; samples in a store are not computed again",
            ) from None  # fmt: skip
        finally:
            with suppress(*_LOST):
                self.client.cancel(list(running), force=True)

    def _submit(
        self, known: _Known, arrays: tuple[NDArray[Any], ...], rows: slice, running: dict[Future, OutstandingTask],
        workers: set[str] | None = None, copies: int = 0,
    ) -> None:  # fmt: skip
        """Send a batch to any worker, or to one of the given workers."""
        pieces = [item[rows] for item in arrays]
        key = f"{known.name}-{rows.start}-{rows.stop}-{uuid.uuid4().hex[:8]}"
        where = None if workers is None else sorted(workers)
        future = self.client.submit(run_rows, known.name, *pieces, key=key, pure=False, workers=where)
        cost = known.size.cost
        expected = None if cost is None else _AHEAD * cost * (rows.stop - rows.start)
        running[future] = OutstandingTask(rows, monotonic(), copies, expected)

    def _forget(self, running: dict[Future, OutstandingTask], rows: slice) -> None:
        """Remove a batch and its copies; unfinished ones are cancelled."""
        copies = [future for future, task in running.items() if task.rows == rows]
        for future in copies:
            del running[future]
        self.client.cancel([future for future in copies if not future.done()], force=True)

    def _done(self, running: list[Future]) -> list[Future]:
        """Return the finished tasks; after a while also if there are none."""
        try:
            with self.client.as_current():
                return list(wait(running, timeout=_LOOK, return_when="FIRST_COMPLETED").done)
        except TimeoutError:
            return []

    def _result(
        self, future: Future, arrays: tuple[NDArray[Any], ...], rows: slice, killed: dict[int, int]
    ) -> Done | None:
        """Return the result of a task; None if it shall be tried again."""
        try:
            done: Done = future.result(timeout=_CALL)
        except TimeoutError:  # the worker was stopped before the result was transferred
            return None
        except KilledWorker as error:
            killed[rows.start] = killed.get(rows.start, 0) + 1
            if killed[rows.start] < _TRIES:
                return None
            ended = _TRIES * (error.allowed_failures + 1)
            raise ClusterError(
                f"a batch of {_rows_text(arrays[0][rows])} ended {ended} workers one after another",
                part=f"cluster {self._address()}",
                hint="check the workers' logs for lack of memory or a crash of a library",
            ) from None  # fmt: skip
        except Exception as error:
            if future.status != "error":
                raise
            if isinstance(error, RuntimeError) and "deserialization" in str(error):
                error = InputError("the scheduler cannot read the tasks", part=f"cluster {self._address()}", hint=_SAME)
            raise _WorkFailed(error) from None
        if done.processor not in self._processors:
            self._processors.add(done.processor)
            warnings.warn(
                f"worker {done.worker} has another kind of processor ({done.processor} there, "
                f"{installation().processor} here), so its results equal those of this machine only up to rounding; "
                "use processors of one kind for equal bits",
                SuppleWarning,
                stacklevel=2,
            )
        return done

    def _send_work(self, known: _Known) -> None:
        """Send the work once to every worker, and to those that join later."""
        if known.name in self._sent:
            return
        carried = CarriedWork(known.name, known.work, installation())
        try:
            _within(_SPREAD, partial(self.client.register_plugin, carried, name=known.name))
        except (*_LOST, SuppleError):
            raise
        except Exception as error:  # noqa: BLE001 - any error of a worker
            raise InputError(
                f"a worker cannot load the work ({type(error).__name__}: {error})", part=f"cluster {self._address()}",
                hint=_SAME,
            ) from None  # fmt: skip
        self._sent.add(known.name)

    def _address(self) -> str:
        scheduler = self.client.scheduler
        return str(scheduler.address) if scheduler is not None else ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        with suppress(*_LOST, ValueError):
            for name in self._sent:
                if self.lasting and self.client.status == "running":
                    seconds = _LOOK if self._late.avoided_workers else _SPREAD
                    _within(seconds, partial(self.client.unregister_worker_plugin, name))


def _within(seconds: float, call: Callable[[], object]) -> None:
    """Call a function that waits for all workers; continue after a while, since one of them may not answer."""
    raised: list[Exception] = []

    def run_call() -> None:
        try:
            call()
        except Exception as error:  # noqa: BLE001 - raised in the calling thread, if that still waits
            raised.append(error)

    thread = threading.Thread(target=run_call, daemon=True)
    thread.start()
    thread.join(seconds)
    if raised:
        raise raised[0]


class _Workers:
    """Present workers, checked from time to time; a note is given once if there are none."""

    def __init__(self, client: Client):
        self._client = client
        self._there: set[str] = set()
        self._since = monotonic()
        self._next = 0.0
        self._reported = False

    def workers(self) -> set[str]:
        """Return the addresses of the workers."""
        if monotonic() >= self._next:
            self._there = set(self._client.nthreads(callback_timeout=_CALL))
            self._next = monotonic() + _LOOK
            if not self._there and not self._reported and monotonic() - self._since > _SILENCE:
                self._reported = True
                warnings.warn("the cluster has no workers yet; waiting for workers", SuppleNote, stacklevel=2)
        return self._there


def _rows_text(rows: NDArray[Any]) -> str:
    """Return rows as text, `3 rows, (0.1, 0.2) to (0.3, 0.2)`."""
    first, last = (", ".join(f"{value:.9g}" for value in row.ravel()) for row in (rows[0], rows[-1]))
    return f"one row, ({first})" if len(rows) == 1 else f"{len(rows)} rows, ({first}) to ({last}),"


# Work on a worker of a cluster: it arrives once, normally before any of its tasks.


_carried: dict[str, CarriedWork] = {}
_one_at_a_time = threading.Lock()
_ARRIVAL = 60.0  # s to wait for a work after its first task, on a worker that has just started


class Done(NamedTuple):
    """Result of a task.

    seconds   : time of the work alone
    first     : whether it was the worker's first task of this work, whose time is not representative
    processor : processor of the worker
    """

    found: Any
    seconds: float
    first: bool
    worker: str
    processor: str


class CarriedWork(WorkerPlugin):
    """Plugin with a work, sent by the scheduler to every worker, and to those that join later.

    requested_from : installation of the requesting process, which the numbers shall agree with
    """

    def __init__(self, name: str, work: Work, requested_from: Installation):
        self.name, self.work, self.requested_from = name, work, requested_from
        self.begun = False

    def setup(self, worker: Any) -> None:
        """Register the work on the worker."""
        _carried[self.name] = self

    def teardown(self, worker: Any) -> None:
        """Remove the work from the worker."""
        _carried.pop(self.name, None)


def run_rows(name: str, *rows: NDArray[Any]) -> Done:
    """Run the task: some rows of the work of this name, on as many cores as the worker has threads."""
    worker = get_worker()
    with _one_at_a_time, at_most_cores(worker.state.nthreads), single_blas_thread():
        end = time.monotonic() + _ARRIVAL
        while name not in _carried and time.monotonic() < end:
            time.sleep(0.05)
        carried = _carried[name]
        first = not carried.begun
        if first:
            other = carried.requested_from.difference(installation())
            if other is not None:
                raise InputError(
                    f"its results would differ from those of this machine: {other}", part=f"worker {worker.address}",
                    hint="install the same environment on all machines",
                )  # fmt: skip
            carried.begun = True
        start = time.perf_counter()
        found = carried.work(*rows)
        return Done(found, time.perf_counter() - start, first, worker.address, installation().processor)


# Software and processor of a process: results are equal bit for bit only if all of these are equal.


_PACKAGES = ("numpy", "scipy", "numba", "llvmlite")


class Installation(NamedTuple):
    """Software and processor that the results of a process depend on.

    versions  : versions of supple and of its numerical dependencies
    source    : digest of supple's files, which distinguishes two checkouts of one version
    processor : kind of processor that linear algebra is optimized for
    """

    versions: tuple[tuple[str, str], ...]
    source: str
    processor: str

    def difference(self, other: Installation) -> str | None:
        """Return why the same work gives other numbers there, or None."""
        for (name, here), (_, there) in zip(self.versions, other.versions, strict=True):
            if here != there:
                return f"{name} is {there} there and {here} here"
        if self.source != other.source:
            return f"supple's files differ ({other.source[:8]} there, {self.source[:8]} here)"
        return None


@cache
def installation() -> Installation:
    """Return the installation of this process."""
    found = [(name, _version(name)) for name in ("supple", *_PACKAGES)]
    found += [("Python", platform.python_version()), ("the machine", f"{platform.machine()} {sys.byteorder}")]
    return Installation(tuple(found), _source(), _processor())


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:  # run from its source
        return "unknown"


def _source() -> str:
    root = Path(__file__).parents[1]
    total = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        total.update(path.relative_to(root).as_posix().encode() + b"\0")
        total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()


def _processor() -> str:
    """Return the processor as named by the OpenBLAS of numpy and scipy, whose kernels and last digits depend on it.

    Libraries loaded by other packages are ignored, because they compute nothing here.
    """
    import numpy.linalg  # noqa: F401 - so that its library is loaded
    import scipy.linalg  # noqa: F401
    from threadpoolctl import threadpool_info

    algebra = [item for item in threadpool_info() if item["user_api"] == "blas"]
    ours = [item for item in algebra if any(name in item["filepath"] for name in ("numpy", "scipy"))] or algebra
    known = {item.get("architecture", "unknown") for item in ours}
    return ", ".join(sorted(known)) or "unknown"
