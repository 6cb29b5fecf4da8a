"""Threads: batches are divided among the cores, and linear algebra inside supple uses one thread.

Matrices are small, and batches use all cores already. Additional BLAS threads would compete with them and take up to
ten times longer. A loaded library no longer reads the environment, so threadpoolctl sets the limit, and restores the
user's setting at the end.
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
    """Limit linear algebra to one thread, as a context manager or a decorator.

    The limit applies to the process. If several threads of the user set it, the first one decides (threadpoolctl 3.8).
    """
    with _libraries().limit(limits=1, user_api="blas"):
        yield


@cache
def _libraries() -> ThreadpoolController:
    """Return the controller of all BLAS libraries of this process, found once, since this takes a millisecond."""
    import numpy.linalg  # noqa: F401
    import scipy.linalg  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


# Batches divided among the cores, or among as many as this process may use.


_most: list[int] = []  # limits set by enclosing contexts, the innermost last


def cores() -> int:
    """Return the number of cores that this process may use."""
    here = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min([here, *_most[-1:]])


@contextmanager
def at_most_cores(count: int) -> Iterator[None]:
    """Divide batches among at most `count` cores inside this context, while other processes use the rest."""
    _most.append(count)
    try:
        yield
    finally:
        _most.pop()


def in_parts(work: Callable[[int, int], None], count: int, least: int = 32) -> None:
    """Call work(start, stop) on parts of a batch in parallel (kernels release the GIL).

    The first item is computed alone: it decides whether compiling pays, and compiles once instead of in every thread.
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
