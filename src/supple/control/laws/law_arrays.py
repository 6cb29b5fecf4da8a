"""An affine law as one array of numbers, for its kernel.

It is laid out as a reduced model is (`supple.reduced.arrays`): the fitted function, if there is one, then what leads
from it to a row, here the numbers of A, B, b, C, D, d one after another:

    row = template, with row[varying] = f̂(σ)

The places of σ in z stand where a reduced model has the offsets of its row, the bounds of σ where it has dry forces.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.approximation.piecewise.packing import HEADER, LINE, aligned
from supple.approximation.piecewise.piecewise import Piecewise
from supple.array_types import Array, Integers
from supple.reduced.arrays import (
    DRY,
    DRY_F,
    INPUTS,
    NUMBERS,
    OFFSETS,
    OUTPUTS,
    ROW,
    ROW_HEADER,
    SLOPES_FROM,
    SLOPES_TO,
    TEMPLATE,
    VALUES,
    VALUES_FROM,
    VALUES_TO,
    WIDTH,
    N,
    S,
)

# The same header under the names it has here.
STATES, KNOWN, COMMANDS, SIGMA_PLACES, BOUNDS = N, INPUTS, OUTPUTS, OFFSETS, DRY_F
SWEPT, RATES, PRODUCTS = DRY, SLOPES_FROM, SLOPES_TO  # how many rates of the motion have products, where both are in z


class LawSizes(NamedTuple):
    """n, m, a; and how many rates of the motion have their products in z, where the rates and the products begin."""

    states: int
    known: int
    commands: int
    swept: int
    rates: int
    products: int


def law_array(sizes: LawSizes, template: Array, varying: Integers, fitted: Piecewise | None, places: Integers) -> Array:
    """The law in one array.

    template : (width,) what does not change, zero elsewhere
    varying  : places in the row of the fitted columns; places : of σ in z
    """
    Z, F = (np.zeros(HEADER, dtype=np.int64), np.zeros(0)) if fitted is None else fitted.packed
    base = len(Z)
    parts_i = (places, np.arange(len(varying)), varying)
    bounds = np.zeros(0) if fitted is None else clamped_between(fitted).ravel()
    header = np.zeros(ROW_HEADER, dtype=np.int64)
    header[[STATES, KNOWN, COMMANDS, SWEPT, RATES, PRODUCTS]] = sizes
    header[[S, WIDTH, VALUES]] = len(places), len(template), len(varying)
    header[[SIGMA_PLACES, VALUES_FROM, VALUES_TO]] = np.cumsum(
        [base + ROW_HEADER, *(len(part) for part in parts_i[:-1])]
    )
    header[[TEMPLATE, BOUNDS]] = len(F), len(F) + len(template)
    used = base + len(header) + sum(len(part) for part in parts_i)
    integers = np.concatenate([Z, header, *parts_i, np.zeros(-used % LINE, dtype=np.int64)]).astype(np.int64)
    integers[ROW], integers[NUMBERS] = base, len(integers)
    return aligned([integers.view(np.float64), F, template, bounds])


def clamped_between(fitted: Piecewise) -> Array:
    """Lower and upper bounds of σ (2, s)."""
    roots = fitted.arrays.roots_f
    return np.stack([roots[:, 0].min(axis=0), roots[:, 1].max(axis=0)])
