"""How many threads linear algebra may use inside supple: one.

Its matrices are small, and batches are divided among the cores already: threads of BLAS on top of that only get in each
other's way, and cost up to ten times the time. A library that is loaded no longer reads the environment, so it is told
through threadpoolctl; what the user had set is put back at the end.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController


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
