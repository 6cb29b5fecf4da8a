"""Batches divided among the machine's cores, or among as many as this process may use."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import pairwise

import numpy as np

from supple.compilation.threads import single_blas_thread

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
