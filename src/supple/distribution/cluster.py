"""Work on a cluster of dask.distributed: batches out, results in as they are done.

The work goes once to each worker; a task is a batch of rows, as many as their cost so far says. A worker that comes
late is given the next batches; one that dies costs the batches it held, which the scheduler gives to others. Batches of
a worker that does not answer are sent to others as well (`late_tasks`), and the first result counts.
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

# How many rows make a task, from what rows have cost so far.
#
# A task costs the scheduler and the network some milliseconds, so that one shall take LEAST at least; one that takes
# LONGEST is lost with its worker. In between, tasks shrink with what is left, so that workers end together.


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


_AHEAD = 2  # tasks that a worker is given at a time: one runs, one waits
_LOOK = 1.0  # s between two looks at who is there
_SILENCE = 5.0  # s without any worker before that is said
_CALL = 30.0  # s in which a scheduler answers a question
_SPREAD = 10.0  # s in which a work reaches all workers that answer
_TRIES = 2  # times that a batch may end as many workers as the scheduler allows
_SAME = "give all machines, the scheduler's too, the same environment, with supple in it"
_LOST = (CancelledError, OSError, TimeoutError)  # what dask says where its scheduler is gone


class _Known(NamedTuple):
    """A work that the cluster knows; itself, so that its id stays its own."""

    name: str
    work: Work
    size: BatchSize


class _WorkFailed(Exception):
    """The work itself raised something on a worker, of whatever kind; the cluster is well."""

    def __init__(self, error: Exception):
        super().__init__(str(error))
        self.error = error


class Cluster:
    """Workers behind a Client of dask.distributed. A context: at its end, workers that go on forget the work.

    lasting : whether they do
    """

    def __init__(self, client: Client, *, lasting: bool = True):
        self.client, self.lasting = client, lasting
        self._works: dict[int, _Known] = {}
        self._sent: set[str] = set()
        self._late = LateTasks(client)
        self._processors: set[str] = {installation().processor}

    def results(self, work: Work, *arrays: NDArray[Any], together: int) -> Iterator[PartialResult]:
        """As they are done. What is less than a task is computed here."""
        known = self._works.setdefault(id(work), _Known(f"supple-{uuid.uuid4().hex}", work, BatchSize()))
        total, size, first = len(arrays[0]), known.size, 0
        while together > 1 and first < total and not size.settled:
            rows = slice(first, min(first + min(size.trial, together), total))
            start = perf_counter()
            found = work(*(item[rows] for item in arrays))
            size.tried(rows.stop - first, perf_counter() - start)
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
        crowd, late = _Crowd(self.client), self._late
        try:
            self._carry(known)
            while first < total or running:
                free = crowd.workers() - late.avoided
                while first < total and len(running) < _AHEAD * max(1, len(free)):
                    rows = slice(first, first + min(known.size.next(total - first, len(free)), total - first))
                    first = rows.stop
                    if late.avoided and not free:  # whoever is there does not answer
                        yield PartialResult(rows, known.work(*(item[rows] for item in arrays)))
                        continue
                    self._submit(known, arrays, rows, running, free if late.avoided else None)
                for future in self._done(list(running)):
                    if future not in running:  # a copy of it was sooner
                        continue
                    rows = running[future].rows
                    done = self._result(future, arrays, rows, killed)
                    self._forget(running, rows)
                    if done is None:
                        self._submit(known, arrays, rows, running)
                        continue
                    late.answered(done.worker)
                    if not done.first:
                        known.size.learn(rows.stop - rows.start, done.seconds)
                    yield PartialResult(rows, done.found)
                for task in late.look(running):
                    free = crowd.workers() - late.avoided
                    if free:
                        self._submit(known, arrays, task.rows, running, free, task.copies + 1)
                    else:
                        self._forget(running, task.rows)
                        yield PartialResult(task.rows, known.work(*(item[task.rows] for item in arrays)))
        except _WorkFailed as failed:
            raise failed.error from None
        except _LOST:
            raise ClusterError(
                "the connection to its scheduler was lost", part=f"cluster {self._address()}",
                hint="start it again; samples in a store are not computed again",
            ) from None  # fmt: skip
        finally:
            with suppress(*_LOST):
                self.client.cancel(list(running), force=True)

    def _submit(
        self, known: _Known, arrays: tuple[NDArray[Any], ...], rows: slice, running: dict[Future, OutstandingTask],
        workers: set[str] | None = None, copies: int = 0,
    ) -> None:  # fmt: skip
        """Send a batch to any worker, or to one of these."""
        pieces = [item[rows] for item in arrays]
        key = f"{known.name}-{rows.start}-{rows.stop}-{uuid.uuid4().hex[:8]}"
        where = None if workers is None else sorted(workers)
        future = self.client.submit(run_rows, known.name, *pieces, key=key, pure=False, workers=where)
        cost = known.size.cost
        expected = None if cost is None else _AHEAD * cost * (rows.stop - rows.start)
        running[future] = OutstandingTask(rows, monotonic(), copies, expected)

    def _forget(self, running: dict[Future, OutstandingTask], rows: slice) -> None:
        """A batch and its copies; those that are not over yet are cancelled."""
        copies = [future for future, task in running.items() if task.rows == rows]
        for future in copies:
            del running[future]
        self.client.cancel([future for future in copies if not future.done()], force=True)

    def _done(self, running: list[Future]) -> list[Future]:
        """Those that are over; after a while, whether or not there are any."""
        try:
            with self.client.as_current():
                return list(wait(running, timeout=_LOOK, return_when="FIRST_COMPLETED").done)
        except TimeoutError:
            return []

    def _result(
        self, future: Future, arrays: tuple[NDArray[Any], ...], rows: slice, killed: dict[int, int]
    ) -> Done | None:
        """What a task found; None where it shall be tried again."""
        try:
            done: Done = future.result(timeout=_CALL)
        except TimeoutError:  # its worker was stopped before anybody had the result
            return None
        except KilledWorker as error:
            killed[rows.start] = killed.get(rows.start, 0) + 1
            if killed[rows.start] < _TRIES:
                return None
            ended = _TRIES * (error.allowed_failures + 1)
            raise ClusterError(
                f"a batch of {_named(arrays[0][rows])} ended {ended} workers one after another",
                part=f"cluster {self._address()}", hint="look into the workers' logs: memory, or a crash of a library",
            ) from None  # fmt: skip
        except Exception as error:
            if future.status != "error":
                raise
            if isinstance(error, RuntimeError) and "deserialization" in str(error):
                error = InputError("its scheduler cannot read the tasks", part=f"cluster {self._address()}", hint=_SAME)
            raise _WorkFailed(error) from None
        if done.processor not in self._processors:
            self._processors.add(done.processor)
            warnings.warn(
                f"worker {done.worker} has another kind of processor ({done.processor} there, "
                f"{installation().processor} here): its results are those of this machine up to rounding; "
                "machines of one kind give the same bits",
                SuppleWarning,
                stacklevel=2,
            )
        return done

    def _carry(self, known: _Known) -> None:
        """Give the work to every worker, also to those that come later; once."""
        if known.name in self._sent:
            return
        carried = CarriedWork(known.name, known.work, installation())
        try:
            _within(_SPREAD, partial(self.client.register_plugin, carried, name=known.name))
        except (*_LOST, SuppleError):
            raise
        except Exception as error:  # noqa: BLE001 - of a worker, of whatever kind
            raise InputError(
                f"a worker cannot take the work ({type(error).__name__}: {error})", part=f"cluster {self._address()}",
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
                    seconds = _LOOK if self._late.avoided else _SPREAD
                    _within(seconds, partial(self.client.unregister_worker_plugin, name))


def _within(seconds: float, call: Callable[[], object]) -> None:
    """Call something that waits for all workers; go on after a while, since one of them may not answer."""
    raised: list[Exception] = []

    def called() -> None:
        try:
            call()
        except Exception as error:  # noqa: BLE001 - raised where it was asked for, if that still waits
            raised.append(error)

    thread = threading.Thread(target=called, daemon=True)
    thread.start()
    thread.join(seconds)
    if raised:
        raise raised[0]


class _Crowd:
    """Which workers there are, looked at now and then; nobody there is said once."""

    def __init__(self, client: Client):
        self._client = client
        self._there: set[str] = set()
        self._since = monotonic()
        self._next = 0.0
        self._said = False

    def workers(self) -> set[str]:
        """Their addresses."""
        if monotonic() >= self._next:
            self._there = set(self._client.nthreads(callback_timeout=_CALL))
            self._next = monotonic() + _LOOK
            if not self._there and not self._said and monotonic() - self._since > _SILENCE:
                self._said = True
                warnings.warn("the cluster has no workers yet: waiting for them", SuppleNote, stacklevel=2)
        return self._there


def _named(rows: NDArray[Any]) -> str:
    """`3 rows, (0.1, 0.2) to (0.3, 0.2)`"""
    first, last = (", ".join(f"{value:.9g}" for value in row.ravel()) for row in (rows[0], rows[-1]))
    return f"one row, ({first})" if len(rows) == 1 else f"{len(rows)} rows, ({first}) to ({last}),"


# Work on a worker of a cluster: it arrives once, as a rule before any of its tasks.


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


def run_rows(name: str, *rows: NDArray[Any]) -> Done:
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


# What a process computes with: bits are the same only where all of it is.


_PACKAGES = ("numpy", "scipy", "numba", "llvmlite")


class Installation(NamedTuple):
    """versions : of supple and of what its numbers depend on
    source    : a digest of supple's files, which tells two checkouts of one version apart
    processor : for which kind of processor linear algebra is chosen
    """

    versions: tuple[tuple[str, str], ...]
    source: str
    processor: str

    def difference(self, other: Installation) -> str | None:
        """Why the same work gives other numbers there: what is here, what is there; None if it does not."""
        for (name, here), (_, there) in zip(self.versions, other.versions, strict=True):
            if here != there:
                return f"{name} is {there} there and {here} here"
        if self.source != other.source:
            return f"supple's files differ ({other.source[:8]} there, {self.source[:8]} here)"
        return None


@cache
def installation() -> Installation:
    """Of this process."""
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
    """As numpy's and scipy's OpenBLAS name it, which has other kernels, and other last digits, for each kind. Other
    packages may have loaded libraries of their own, which compute nothing here."""
    import numpy.linalg  # noqa: F401 - so that its library is loaded
    import scipy.linalg  # noqa: F401
    from threadpoolctl import threadpool_info

    algebra = [item for item in threadpool_info() if item["user_api"] == "blas"]
    ours = [item for item in algebra if any(name in item["filepath"] for name in ("numpy", "scipy"))] or algebra
    known = {item.get("architecture", "unknown") for item in ours}
    return ", ".join(sorted(known)) or "unknown"
