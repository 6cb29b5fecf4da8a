"""Choice between interpreting and compiling a kernel.

A kernel that computes one configuration takes milliseconds interpreted and seconds to compile. A patient process
interprets it while its total time, including the expected time of the next call, stays below a limit that is shorter
than compiling. The time for one item is measured from its own calls.
"""

from __future__ import annotations

import os
import time
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from supple.diagnostics import InputError

CHOICES = ("patient", "compiled", "interpreted")
PATIENCE = 4.0  # s, largest time of an interpreted kernel in one process; compiling takes 2 to 15 s
FIRST_GUESS = 0.004  # s per item, before the first call of a kernel

_spent: dict[types.FunctionType, tuple[float, int]] = {}
_patient: list[bool] = []
_natively: list[bool] = []


@contextmanager
def natively() -> Iterator[None]:
    """Compile all kernels inside this context, so that measured times are those of native code."""
    _natively.append(True)
    try:
        yield
    finally:
        _natively.pop()


def patiently() -> None:
    """Allow short tasks to run interpreted from now on, unless the user has chosen otherwise."""
    _patient[:] = [True]


def bears(function: types.FunctionType, count: int, at_hand: Callable[[], bool]) -> bool:
    """Return whether to interpret the next `count` items: by choice, or because compiling would take longer."""
    chosen = choice() or ("patient" if _patient else "compiled")
    if _natively or chosen == "compiled":
        return False
    if chosen == "interpreted":
        return True
    if at_hand():
        return False
    seconds, items = _spent.get(function, (0.0, 0))
    each = seconds / items if items else FIRST_GUESS
    return seconds + count * each <= PATIENCE


@cache
def choice() -> str:
    """Return SUPPLE_KERNELS of the environment, read once.

    `patient` interprets short tasks and is the default of the command line. `compiled` is the default of Python
    scripts, which mostly call a function more than once. `interpreted` never compiles.
    """
    chosen = os.environ.get("SUPPLE_KERNELS", "")
    if chosen and chosen not in CHOICES:
        raise InputError(f'unknown value "{chosen}"', part="SUPPLE_KERNELS", hint=f"choose one of {', '.join(CHOICES)}")
    return chosen


def interpret_kernel(function: types.FunctionType, count: int) -> Callable:
    """Return the interpreted kernel, which records its time."""

    def run(*arguments: Any) -> Any:
        import numpy as np

        start = time.perf_counter()
        try:
            with np.errstate(all="ignore"):  # as in native code: a division by zero gives inf, silently
                return function(*arguments)
        finally:
            seconds, items = _spent.get(function, (0.0, 0))
            _spent[function] = seconds + time.perf_counter() - start, items + count

    return run
