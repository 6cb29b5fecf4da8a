"""How long a kernel may run interpreted before it is compiled, where one answer is all that is wanted.

A kernel that computes one configuration takes milliseconds interpreted and seconds to compile. It is interpreted while
all it has cost in this process, and what the next call is expected to cost, stays below a limit that is shorter than
compiling; its cost for one item is learned from its own calls.
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
PATIENCE = 4.0  # seconds of a kernel, interpreted, in one process; compiling one takes 2 to 15
FIRST_GUESS = 0.004  # seconds an item, before a kernel has ever run

_spent: dict[types.FunctionType, tuple[float, int]] = {}
_patient: list[bool] = []
_natively: list[bool] = []


@contextmanager
def natively() -> Iterator[None]:
    """Inside, kernels are compiled: what is measured there is the time of native code."""
    _natively.append(True)
    try:
        yield
    finally:
        _natively.pop()


def patiently() -> None:
    """From now on short work may run interpreted, unless the user has chosen: this process answers once and ends."""
    _patient[:] = [True]


def bears(function: types.FunctionType, count: int, at_hand: Callable[[], bool]) -> bool:
    """Whether `count` more items are to be interpreted: asked for, or sooner done and no native code at hand."""
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
    """SUPPLE_KERNELS of the environment, read once: `patient`, as above, which the command line is; `compiled`, which
    holds where nothing is said (a script that calls once mostly calls again); `interpreted` in any case."""
    chosen = os.environ.get("SUPPLE_KERNELS", "")
    if chosen and chosen not in CHOICES:
        raise InputError(
            f'"{chosen}" is not a way to run kernels', part="SUPPLE_KERNELS", hint=f"one of {', '.join(CHOICES)}"
        )
    return chosen


def interpreted(function: types.FunctionType, count: int) -> Callable:
    """The kernel as it is, its cost noted."""

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
