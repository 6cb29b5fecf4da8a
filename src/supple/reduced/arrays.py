"""A reduced model as two flat arrays, for kernels.

One array of integers and one of numbers cost a call from Python a fraction of what twenty arrays do. Kernels make views
of the parts once a call.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.approximation.piecewise import Piecewise
from supple.compilation import kernel
from supple.reduced.layout import CoefficientLayout
from supple.reduced.row import RowMap

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

N_SIZES = 8  # n, s, inputs, outputs, joints with dry friction, t, width of a row, highest degree
_INTEGERS = 12  # parts of the integers, and of the numbers
_NUMBERS = 7


class ModelArrays(NamedTuple):
    """integers: where each part starts, then the parts; numbers: the parts."""

    integers: Integers
    numbers: Array


def model_arrays(layout: CoefficientLayout, fitted: Piecewise, row: RowMap) -> ModelArrays:
    """The parts in the order that `parts` gives them back."""
    pieces = fitted.arrays
    degree = int(pieces.leaves_i[:, 2].max(initial=0))
    sizes = [
        layout.size,
        layout.theta,
        len(layout.inputs),
        len(layout.outputs),
        len(layout.dry_forces),
        fitted.outputs,
        len(row.template),
        degree,
    ]
    integers = [
        np.array(sizes, dtype=np.int64),
        pieces.roots_i,
        pieces.nodes_i,
        pieces.leaves_i,
        pieces.indices,
        row.offsets,
        row.values_from,
        row.values_to,
        row.slopes_from,
        row.slopes_to,
        np.concatenate([row.copies_from, row.copies_to]),
        row.ranges,
    ]
    numbers = [
        pieces.roots_f,
        pieces.nodes_f,
        pieces.leaves_f,
        pieces.coefficients,
        row.template,
        row.slopes_factor,
        np.array(list(layout.dry_forces.values()), dtype=float),
    ]
    assert (len(integers), len(numbers)) == (_INTEGERS, _NUMBERS)
    head = _INTEGERS + 1 + _NUMBERS + 1
    ends_i = np.cumsum([head, *(part.size for part in integers)])
    ends_f = np.cumsum([0, *(part.size for part in numbers)])
    flat = np.concatenate([ends_i, ends_f, *(part.ravel() for part in integers)]).astype(np.int64)
    return ModelArrays(flat, np.concatenate([part.ravel() for part in numbers]))


@kernel
def integer_part(integers, k):
    """Part k of the integers."""
    return integers[integers[k] : integers[k + 1]]


@kernel
def number_part(integers, numbers, k):
    """Part k of the numbers."""
    at = _INTEGERS + 1 + k
    return numbers[integers[at] : integers[at + 1]]


@kernel
def sizes_of(integers):
    """n, s, inputs, outputs, joints with dry friction, t, width of a row, highest degree."""
    return integers[integers[0] : integers[1]]


@kernel
def parts(integers, numbers):
    """The piecewise function as its kernels take it, and the map to rows."""
    sizes = sizes_of(integers)
    s, t = sizes[1], sizes[5]
    pieces = (
        number_part(integers, numbers, 0).reshape((-1, 2, s)),
        integer_part(integers, 1),
        integer_part(integers, 2).reshape((-1, 3)),
        number_part(integers, numbers, 1),
        integer_part(integers, 3).reshape((-1, 3)),
        number_part(integers, numbers, 2).reshape((-1, 2, s)),
        integer_part(integers, 4).reshape((-1, s)),
        number_part(integers, numbers, 3).reshape((-1, t)),
    )
    row = (
        number_part(integers, numbers, 4),
        integer_part(integers, 6),
        integer_part(integers, 7),
        integer_part(integers, 8),
        integer_part(integers, 9),
        number_part(integers, numbers, 5),
        integer_part(integers, 10),
        integer_part(integers, 11).reshape((-1, 2)),
    )
    return pieces, row
