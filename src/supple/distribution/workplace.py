"""Workplaces of this machine, and the selection of a workplace."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numpy.typing import NDArray

from supple.diagnostics import InputError
from supple.diagnostics.limits import require_within
from supple.distribution.work import PartialResult, Work, Workplace

_PIECE = 63  # rows sent to a process at a time; with fewer than 64 a local model uses one core


class Here:
    """Workplace in this process, whose kernels share the cores."""

    def results(self, work: Work, *arrays: NDArray[Any], together: int) -> Iterator[PartialResult]:
        for rows in batch_slices(len(arrays[0]), together):
            yield PartialResult(rows, work(*(item[rows] for item in arrays)))


class Processes:
    """Workplace in several processes of this machine."""

    def __init__(self, count: int):
        self.count = count

    def results(self, work: Work, *arrays: NDArray[Any], together: int) -> Iterator[PartialResult]:
        total = len(arrays[0])
        if total <= _PIECE:
            yield from Here().results(work, *arrays, together=together)
            return
        from joblib import Parallel, delayed, parallel_config

        pieces = list(batch_slices(total, min(_PIECE, together)))
        with parallel_config(backend="loky", inner_max_num_threads=1):  # as many threads of BLAS as processes
            run = Parallel(n_jobs=self.count, return_as="generator")
            results = run(delayed(work)(*(item[rows] for item in arrays)) for rows in pieces)
        for rows, found in zip(pieces, results, strict=True):
            yield PartialResult(rows, found)


@contextmanager
def workplace(*, workers: int | None = None, cluster: Any = None) -> Iterator[Workplace]:
    """Return a context with the workplace.

    workers : processes of this machine; None or 1: this one
    cluster : an address (`tcp://host:8786`, `tls://...`), `local:4`, or a Client of dask.distributed
    """
    if cluster is None:
        require_within("workers", workers or 1, part="workers")
        yield Here() if workers is None or workers < 2 else Processes(workers)
        return
    if workers is not None:
        raise InputError("workers and cluster exclude each other", hint="give one of them")
    from supple.distribution.connection import cluster_connection

    with cluster_connection(cluster) as place:
        yield place


def batch_slices(total: int, together: int, first: int = 0) -> Iterator[slice]:
    """Yield slices of at most `together` rows."""
    for start in range(first, total, together):
        yield slice(start, min(start + together, total))
