"""Batches divided among the machine's cores."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np

from supple.compilation.threads import single_blas_thread


def in_parts(work: Callable[[int, int], None], count: int, least: int = 32) -> None:
    """Call work(start, stop) on pieces of a batch, side by side on the machine's cores (kernels free the GIL).

    The first item goes alone: it shows whether the rest is worth compiling for, and compiles once, not in every thread.
    """
    workers = min(
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1, count // least
    )
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
