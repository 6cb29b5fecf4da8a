"""Protocols of distributed work: a computation at each of many points, and its partial results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray


class Work(Protocol):
    """Function of rows: arrays (n, ...) to a result with n rows, each of which depends on its own row alone.

    It is sent to other processes, so it must be picklable and its class defined in a module, from which it is loaded
    there.
    """

    def __call__(self, *rows: NDArray[Any]) -> Any: ...


class PartialResult(NamedTuple):
    """Result for some of the rows."""

    rows: slice
    found: Any


class Workplace(Protocol):
    """Place where work is done."""

    def results(self, work: Work, *arrays: NDArray[Any], together: int) -> Iterator[PartialResult]:
        """Yield the results of all rows of some arrays, part by part, in any order.

        together : largest number of rows in a part that is computed in this process, where cores share it
        """
        ...


def in_order_of_rows(found: Iterable[PartialResult]) -> Any:
    """Join partial results that are tuples of arrays, in the order of the rows."""
    parts = sorted(found, key=lambda part: part.rows.start)
    return tuple(np.concatenate(items) for items in zip(*(part.found for part in parts), strict=True))
