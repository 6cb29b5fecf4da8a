"""Single evaluations of a reduced model in place, with the least overhead a call from Python can have."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from supple.compilation import compiled
from supple.reduced.coefficients import Coefficients, coefficients_of
from supple.reduced.kernels import coefficients_in_place, scratch_size

if TYPE_CHECKING:
    from supple.reduced.model import ReducedModel

Array = NDArray[np.float64]


class Evaluator:
    """`evaluator.call(θ, row)` fills a row in place and returns 0, or 1 outside the region (the row is then nan).

    θ (s,) and row (width,) are contiguous arrays of numbers, `row` once made by `new_row()`; nothing is checked and
    nothing allocated. `split(θ, row)` gives views of the row by name, which follow it. An evaluator has a workspace of
    its own: take one for each thread.
    """

    def __init__(self, model: ReducedModel):
        self.layout, self.places = model.layout, model.row
        integers, numbers = model.arrays
        terms = model.fitted.arrays.indices.shape[0]
        leaves, work = np.empty(1, dtype=np.int64), np.empty(int(scratch_size(integers, terms, 1)))
        self.call = partial(compiled(coefficients_in_place), integers, numbers, leaves, work)

    def new_row(self) -> Array:
        """A row for results."""
        return np.full(self.places.width, np.nan)

    def split(self, theta: Array, row: Array) -> Coefficients:
        """Views of a row by name."""
        return coefficients_of(self.layout, self.places, theta, row)

    def __call__(self, theta: Array, row: Array) -> int:
        return int(self.call(theta, row))
