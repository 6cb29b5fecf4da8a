"""Threads: batches are divided among the machine's cores, and linear algebra inside supple keeps to one thread.

Matrices here are small, and batches are divided among the cores already: threads of BLAS on top of that only get in
each other's way, and cost up to ten times the time. A library that is loaded no longer reads the environment, so it is
told through threadpoolctl; what the user had set is put back at the end.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController


# Threads of linear algebra.


@contextmanager
def single_blas_thread() -> Iterator[None]:
    """`with single_blas_thread():` or `@single_blas_thread()`: inside, linear algebra keeps to one thread.

    The limit belongs to the process. Where several threads of the user ask, the first one's holds and the others change
    nothing (threadpoolctl 3.8).
    """
    with _libraries().limit(limits=1, user_api="blas"):
        yield


@cache
def _libraries() -> ThreadpoolController:
    """Every BLAS of this process. numpy and scipy carry one each, and finding them takes a millisecond: once."""
    import numpy.linalg  # noqa: F401
    import scipy.linalg  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


# Batches divided among the cores, or among as many as this process may use.


_most: list[int] = []  # cores that callers further out have set, the innermost last


def cores() -> int:
    """How many this process may use."""
    here = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min([here, *_most[-1:]])


@contextmanager
def at_most_cores(count: int) -> Iterator[None]:
    """Inside, batches of this process are divided among so many: where other processes have the rest."""
    _most.append(count)
    try:
        yield
    finally:
        _most.pop()


def in_parts(work: Callable[[int, int], None], count: int, least: int = 32) -> None:
    """Call work(start, stop) on pieces of a batch, side by side on the machine's cores (kernels free the GIL).

    The first item goes alone: it shows whether the rest is worth compiling for, and compiles once, not in every thread.
    """
    workers = min(cores(), count // least)
    first = min(count, 1)
    work(0, first)
    if workers < 2:
        if count > first:
            work(first, count)
        return
    bounds = np.linspace(first, count, workers + 1).astype(int)
    with single_blas_thread(), ThreadPoolExecutor(workers) as pool:
        for done in [pool.submit(work, int(a), int(b)) for a, b in pairwise(bounds)]:
            done.result()
