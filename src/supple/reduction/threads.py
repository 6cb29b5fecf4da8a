"""How many threads linear algebra may use while a region is sampled and fitted.

Fits are small, and samples run in parallel already: threads of BLAS on top of that only get in each other's way.
"""

from __future__ import annotations

import os
import sys
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from importlib.util import find_spec
from typing import Any

_SETTINGS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


def single_blas_thread() -> AbstractContextManager[Any]:
    """Inside, linear algebra keeps to one thread.

    A library that is loaded already only listens to threadpoolctl; where that is not installed, nothing changes. The
    command line calls `before_numpy` and does not need it.
    """
    if find_spec("threadpoolctl") is None:
        return nullcontext()
    limits: AbstractContextManager[Any] = import_module("threadpoolctl").threadpool_limits(limits=1, user_api="blas")
    return limits


def before_numpy() -> bool:
    """Tell BLAS to use one thread, unless the user said otherwise. False if it is too late: numpy is loaded."""
    if "numpy" in sys.modules:
        return False
    for name in _SETTINGS:
        os.environ.setdefault(name, "1")
    return True
