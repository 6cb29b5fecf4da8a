"""What is computed at each of many points, and how it comes back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray


class Work(Protocol):
    """A function of rows: arrays (n, ...) in, anything with n rows out; each row depends on its own alone.

    It travels to other processes, so that it can be pickled, and its class stands in a module. There it is read once.
    """

    def __call__(self, *rows: NDArray[Any]) -> Any: ...


class PartialResult(NamedTuple):
    """What was found for some of the rows."""

    rows: slice
    found: Any


class Workplace(Protocol):
    """Where work is done."""

    def results(self, work: Work, *arrays: NDArray[Any], together: int) -> Iterator[PartialResult]:
        """All rows of some arrays, part by part, in whatever order they are done.

        together : most rows in a part that is computed in this process, where cores share it
        """
        ...


def in_order_of_rows(found: Iterable[PartialResult]) -> Any:
    """Parts whose findings are tuples of arrays, put together as if they were one."""
    parts = sorted(found, key=lambda part: part.rows.start)
    return tuple(np.concatenate(items) for items in zip(*(part.found for part in parts), strict=True))
