"""Reduced model as two flat arrays for kernels, integers Z and numbers F.

They begin with the fitted function as `supple.approximation.piecewise.packing` packs it. The map from it to the rows of
coefficients follows; Z[ROW] is the place of the header of that second part.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.approximation.piecewise.packing import (
    COEFFICIENTS,
    HEADER,
    LINE,
    STRIDE,
    groups_of_four,
    join_aligned,
    packed_arrays,
)
from supple.approximation.piecewise.piecewise import Piecewise
from supple.array_types import Array, Integers
from supple.compilation import kernel
from supple.equations.forces import CoefficientRow, Friction
from supple.equations.row import COEFFICIENTS as BLOCKS
from supple.reduced.layout import CoefficientLayout
from supple.reduced.row_map import RowMap

ROW, NUMBERS = 20, 21  # in the header of the fitted function, which leaves them free
assert COEFFICIENTS < ROW < NUMBERS < HEADER

# Places in the header of the row: sizes, numbers of entries, then the beginnings of the parts.
N, S, INPUTS, OUTPUTS, DRY, WIDTH, VALUES, SLOPES, COPIES, RANGES = range(10)
OFFSETS, VALUES_FROM, VALUES_TO, SLOPES_FROM, SLOPES_TO, COPIES_FROM, COPIES_TO, RANGES_I = range(10, 18)
TEMPLATE, FACTOR, DRY_F = 18, 19, 20
ROW_HEADER = 21
_LARGE = 2**24  # bytes of coefficients above which the packed copy is not kept


class ModelArrays(NamedTuple):
    """First arguments of the kernels."""

    integers: Integers
    numbers: Array


def model_arrays(layout: CoefficientLayout, fitted: Piecewise, row: RowMap) -> ModelArrays:
    """Return Z and F of a model."""
    large = fitted.arrays.coefficients.nbytes > _LARGE
    Z, F = packed_arrays(*fitted.arrays) if large else fitted.kernel_arrays  # the latter stays in memory
    base, stride = len(Z), int(Z[STRIDE])
    along, column = np.divmod(row.slopes_from, max(layout.fitted, 1))
    ranges = _in_groups(row.ranges)
    parts_i = (
        row.offsets,
        row.values_from,
        row.values_to,
        (along * stride + column).ravel(),
        row.slopes_to,
        row.copies_from,
        row.copies_to,
        ranges.ravel(),
    )
    parts_f = (row.template, row.slopes_factor.ravel(), np.array(list(layout.dry_forces.values()), dtype=float))
    header = np.zeros(ROW_HEADER, dtype=np.int64)
    header[:OFFSETS] = (
        layout.size,
        layout.theta,
        len(layout.inputs),
        len(layout.measures),
        len(layout.dry_forces),
        len(row.template),
        len(row.values_from),
        len(row.slopes_to),
        len(row.copies_from),
        len(ranges),
    )
    header[OFFSETS : RANGES_I + 1] = np.cumsum([base + ROW_HEADER, *(part.size for part in parts_i[:-1])])
    header[TEMPLATE : DRY_F + 1] = np.cumsum([len(F), *(part.size for part in parts_f[:-1])])
    used = base + len(header) + sum(part.size for part in parts_i)
    space = np.zeros(-used % LINE, dtype=np.int64)  # keeps the alignment of the numbers behind the integers
    integers = np.concatenate([Z, header, *parts_i, space])
    integers[ROW], integers[NUMBERS] = base, len(integers)
    return ModelArrays(integers, join_aligned([F, *parts_f]))


def _in_groups(ranges: Integers) -> Integers:
    """Return ranges of columns as (first column, groups of four); ranges that share a group are merged."""
    found: list[list[int]] = []
    for low, high in ranges.tolist():
        first, stop = low // 4, groups_of_four(high)
        if found and first <= found[-1][1]:
            found[-1][1] = stop
        else:
            found.append([first, stop])
    return np.array([[4 * first, stop - first] for first, stop in found], dtype=np.int64).reshape(-1, 2)


def one_array(arrays: ModelArrays) -> Array:
    """Return Z and F in one array, the integers by their bits; the numbers begin at Z[NUMBERS]."""
    return join_aligned([arrays.integers.view(np.float64), arrays.numbers])


@kernel
def coefficient_row(Z, values):
    """Return the row (width,) of coefficients with access by name."""
    header = Z[ROW]
    at = Z[header + OFFSETS]
    return CoefficientRow(Z[header + N], Z[header + S], Z[header + INPUTS], Z[at : at + BLOCKS + 1], values)


@kernel
def row_width(Z):
    """Return the number of numbers in a row."""
    return Z[Z[ROW] + WIDTH]


@kernel
def friction_of(Z, F, speed):
    """Return the joints with dry friction; speed : v₀."""
    at = Z[Z[ROW] + DRY_F]
    return Friction(F[at : at + Z[Z[ROW] + DRY]], speed)
