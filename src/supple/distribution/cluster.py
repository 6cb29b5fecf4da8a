"""Work on a cluster of dask.distributed: batches out, results in as they are done.

The work goes once to each worker; a task is a batch of rows, as many as their cost so far says. A worker that comes
late is given the next batches; one that dies costs the batches it held, which the scheduler gives to others.
"""

from __future__ import annotations

import uuid
import warnings
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import suppress
from time import monotonic, perf_counter
from types import TracebackType
from typing import Any, NamedTuple, Self

from distributed import Client, Future, KilledWorker, wait
from numpy.typing import NDArray

from supple.diagnostics import ClusterError, InputError, SuppleError, SuppleNote, SuppleWarning
from supple.distribution.batch_size import BatchSize
from supple.distribution.carried_work import CarriedWork, Done, run
from supple.distribution.installation import installation
from supple.distribution.work import Part, Work
from supple.distribution.workplace import Here

_AHEAD = 2  # tasks that a worker is given at a time: one runs, one waits
_LOOK = 1.0  # s between two looks at who is there
_SILENCE = 5.0  # s without any worker before that is said
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
        self._processors: set[str] = {installation().processor}

    def results(self, work: Work, *arrays: NDArray[Any], together: int) -> Iterator[Part]:
        """As they are done. What is less than a task is computed here."""
        known = self._works.setdefault(id(work), _Known(f"supple-{uuid.uuid4().hex}", work, BatchSize()))
        total, size, first = len(arrays[0]), known.size, 0
        while together > 1 and first < total and not size.settled:
            rows = slice(first, min(first + min(size.trial, together), total))
            start = perf_counter()
            found = work(*(item[rows] for item in arrays))
            size.tried(rows.stop - first, perf_counter() - start)
            first = rows.stop
            yield Part(rows, found)
        left = tuple(item[first:] for item in arrays)
        if together > 1 and not size.worth_sending(total - first):
            found_here = Here().results(work, *left, together=together) if first < total else iter(())
        else:
            found_here = self._sent_out(known, left)
        for rows, found in found_here:
            yield Part(slice(first + rows.start, first + rows.stop), found)

    def _sent_out(self, known: _Known, arrays: tuple[NDArray[Any], ...]) -> Iterator[Part]:
        total, first, killed = len(arrays[0]), 0, dict[int, int]()
        running: dict[Future, slice] = {}
        crowd = _Crowd(self.client)
        try:
            self._carry(known)
            while first < total or running:
                while first < total and len(running) < _AHEAD * max(1, crowd.workers()):
                    rows = slice(first, first + min(known.size.next(total - first, crowd.workers()), total - first))
                    running[self._submit(known, arrays, rows)] = rows
                    first = rows.stop
                for future in self._done(list(running)):
                    rows = running.pop(future)
                    done = self._result(future, arrays, rows, killed)
                    if done is None:
                        running[self._submit(known, arrays, rows)] = rows
                        continue
                    if not done.first:
                        known.size.learn(rows.stop - rows.start, done.seconds)
                    yield Part(rows, done.found)
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

    def _submit(self, known: _Known, arrays: tuple[NDArray[Any], ...], rows: slice) -> Future:
        pieces = [item[rows] for item in arrays]
        key = f"{known.name}-{rows.start}-{rows.stop}-{uuid.uuid4().hex[:8]}"
        return self.client.submit(run, known.name, *pieces, key=key, pure=False)

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
            done: Done = future.result()
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
        try:
            self.client.register_plugin(CarriedWork(known.name, known.work, installation()), name=known.name)
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

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(*_LOST, ValueError):
            for name in self._sent:
                if self.lasting and self.client.status == "running":
                    self.client.unregister_worker_plugin(name)


class _Crowd:
    """How many workers there are, looked at now and then; nobody there is said once."""

    def __init__(self, client: Client):
        self._client = client
        self._count = 0
        self._since = monotonic()
        self._next = 0.0
        self._said = False

    def workers(self) -> int:
        if monotonic() >= self._next:
            self._count = len(self._client.nthreads())
            self._next = monotonic() + _LOOK
            if not self._count and not self._said and monotonic() - self._since > _SILENCE:
                self._said = True
                warnings.warn("the cluster has no workers yet: waiting for them", SuppleNote, stacklevel=2)
        return self._count


def _named(rows: NDArray[Any]) -> str:
    """`3 rows, (0.1, 0.2) to (0.3, 0.2)`"""
    first, last = (", ".join(f"{value:.9g}" for value in row.ravel()) for row in (rows[0], rows[-1]))
    return f"one row, ({first})" if len(rows) == 1 else f"{len(rows)} rows, ({first}) to ({last}),"
