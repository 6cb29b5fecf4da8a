"""Arrays on their way into kernels: many bundled in one, copies inside kernels, and arrays as kernels are compiled for.

A call into native code pays for every array it hands over, and far more for arrays in tuples, whose types are looked up
anew at each call. In a bundle they are one array of numbers, integers by their bits, and kernels take them out again at
no cost. It begins with where each part lies, and how large it is along its axes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.array_types import Array
from supple.compilation.kernel import kernel

# Many arrays in one, for what is called at every sample of a loop.


SLOT, MOST = 4, 3  # numbers of a slot: the place of a part, and its sizes along three axes at most
AT, FIRST, SECOND, THIRD = 0, 1, 2, 3


class Bundle:
    """Parts in slots 0, 1, ... of one array.

    memory : the whole; parts : views of them, integers as such, through which Python sees what kernels do
    """

    def __init__(self, *given: Any) -> None:
        arrays = [np.atleast_1d(np.asarray(part)) for part in given]
        arrays = [part if part.dtype == np.int64 else part.astype(np.float64) for part in arrays]
        places = np.cumsum([SLOT * len(arrays), *(part.size for part in arrays)])
        self.memory: Array = np.zeros(int(places[-1]))
        header = self.memory.view(np.int64)
        self.parts: list[NDArray[Any]] = []
        for k, (part, at) in enumerate(zip(arrays, places.tolist(), strict=False)):
            header[SLOT * k : SLOT * k + 1 + part.ndim] = at, *part.shape
            view = self.memory[at : at + part.size].view(part.dtype).reshape(part.shape)
            view[...] = part
            self.parts.append(view)


@kernel(inline=True)
def line(bundle, slot):
    """A part with one axis."""
    Z = bundle.view(np.int64)
    at = Z[SLOT * slot]
    return bundle[at : at + Z[SLOT * slot + FIRST]]


@kernel(inline=True)
def table(bundle, slot):
    """A part with two axes."""
    Z = bundle.view(np.int64)
    at, rows, columns = Z[SLOT * slot], Z[SLOT * slot + FIRST], Z[SLOT * slot + SECOND]
    return bundle[at : at + rows * columns].reshape(rows, columns)


@kernel(inline=True)
def block(bundle, slot):
    """A part with three axes."""
    Z = bundle.view(np.int64)
    at, sheets, rows, columns = (
        Z[SLOT * slot],
        Z[SLOT * slot + FIRST],
        Z[SLOT * slot + SECOND],
        Z[SLOT * slot + THIRD],
    )
    return bundle[at : at + sheets * rows * columns].reshape(sheets, rows, columns)


@kernel(inline=True)
def whole_line(bundle, slot):
    """Integers with one axis."""
    return line(bundle, slot).view(np.int64)


@kernel(inline=True)
def whole_table(bundle, slot):
    """Integers with two axes."""
    Z = bundle.view(np.int64)
    at, rows, columns = Z[SLOT * slot], Z[SLOT * slot + FIRST], Z[SLOT * slot + SECOND]
    return Z[at : at + rows * columns].reshape(rows, columns)


# Copies of arrays inside kernels.
#
# `target[:] = source` compiles the message of an error that cannot happen, with all of Python's strings that it needs:
# that takes seconds, in every kernel that says it.


@kernel
def copy_row(source, target):
    """target (n,) = the first n of source"""
    for i in range(target.shape[0]):
        target[i] = source[i]


@kernel
def copy_table(source, target):
    """target (n, m) = source (n, m)"""
    for i in range(source.shape[0]):
        for j in range(source.shape[1]):
            target[i, j] = source[i, j]


# Arrays as kernels are compiled for.


def native_array(values: ArrayLike) -> NDArray[np.float64]:
    """The same numbers row by row, writable; copied only where they are not.

    A compiled kernel knows its arrays by type, order and whether they may be written to; one that is read-only (as what
    is broadcast) or lies otherwise in memory would be compiled for once more, which takes seconds.
    """
    found = np.ascontiguousarray(values, dtype=np.float64)
    return found if found.flags.writeable else found.copy()
