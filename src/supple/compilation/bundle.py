"""Arrays as arguments of kernels: many arrays bundled in one, copies inside kernels, and the expected memory layout.

Every array argument adds to the cost of a call into native code. Arrays in tuples cost far more, since their types are
looked up at each call. A bundle is one array of numbers, with integers stored by their bits, and kernels extract its
parts at no cost. It begins with the position and the shape of every part.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.array_types import Array
from supple.compilation.kernel import kernel

# Many arrays in one, for kernels that are called at every sample of a loop.


SLOT, MOST = 4, 3  # numbers per slot: position of a part, and its sizes along at most three axes
AT, FIRST, SECOND, THIRD = 0, 1, 2, 3


class Bundle:
    """An array whose slots 0, 1, ... hold the parts.

    memory : the whole array; parts : views of the parts, through which Python sees the changes of kernels
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
    """Return a part with one axis."""
    Z = bundle.view(np.int64)
    at = Z[SLOT * slot]
    return bundle[at : at + Z[SLOT * slot + FIRST]]


@kernel(inline=True)
def table(bundle, slot):
    """Return a part with two axes."""
    Z = bundle.view(np.int64)
    at, rows, columns = Z[SLOT * slot], Z[SLOT * slot + FIRST], Z[SLOT * slot + SECOND]
    return bundle[at : at + rows * columns].reshape(rows, columns)


@kernel(inline=True)
def block(bundle, slot):
    """Return a part with three axes."""
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
    """Return a part of integers with one axis."""
    return line(bundle, slot).view(np.int64)


@kernel(inline=True)
def whole_table(bundle, slot):
    """Return a part of integers with two axes."""
    Z = bundle.view(np.int64)
    at, rows, columns = Z[SLOT * slot], Z[SLOT * slot + FIRST], Z[SLOT * slot + SECOND]
    return Z[at : at + rows * columns].reshape(rows, columns)


# Copies of arrays inside kernels.
#
# `target[:] = source` also compiles the message of an error that cannot happen, with Python's string functions. This
# takes seconds in every kernel that contains it.


@kernel
def copy_row(source, target):
    """Copy the first n elements of source to target (n,)."""
    for i in range(target.shape[0]):
        target[i] = source[i]


@kernel
def copy_table(source, target):
    """Copy source (n, m) to target (n, m)."""
    for i in range(source.shape[0]):
        for j in range(source.shape[1]):
            target[i, j] = source[i, j]


# Sums of small tables inside kernels: each expression with arrays, such as `x - y`, takes a third of a second to
# compile in every kernel that contains it, and these functions take a tenth of that.


@kernel
def subtract_table(x, y):
    """Subtract y (n, m) from x (n, m), in place."""
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            x[i, j] -= y[i, j]


@kernel
def add_table(x, y):
    """Add y (n, m) to x (n, m), in place."""
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            x[i, j] += y[i, j]


@kernel
def scale_columns(x, factors):
    """Return x (n, m) with each column multiplied by its factor (m,)."""
    found = np.empty(x.shape)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            found[i, j] = x[i, j] * factors[j]
    return found


@kernel
def make_symmetric(x):
    """Replace x (n, n) by the mean of itself and its transpose, in place."""
    for i in range(x.shape[0]):
        for j in range(i):
            x[i, j] = x[j, i] = 0.5 * (x[i, j] + x[j, i])


# Memory layout that kernels are compiled for.


def native_array(values: ArrayLike) -> NDArray[np.float64]:
    """Return the values as a writable array in row-major order, copied only if necessary.

    A kernel is compiled for the type, order and writability of its arrays. A read-only array (such as a broadcast one)
    or another order would compile the kernel once more, which takes seconds.
    """
    found = np.ascontiguousarray(values, dtype=np.float64)
    return found if found.flags.writeable else found.copy()
