"""Single evaluations of a reduced model in place, with the least overhead a call from Python can have."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from supple.approximation.piecewise.packing import NOWHERE
from supple.array_types import Array
from supple.compilation import compiled
from supple.equations.coefficients import Coefficients
from supple.reduced.single_kernel import row_in_place, single_scratch

if TYPE_CHECKING:
    from supple.reduced.model import ReducedModel


class Evaluator:
    """`evaluator.call(θ, row)` fills a row in place and returns 0, or 1 outside the region (the row is then nan).

    θ is (s,), contiguous, or η = (θ, δ), (n,): M and Γ are then those there; `row` comes from `new_row()`. Its first
    `width` numbers are the coefficients, in the order of `places`; workspace follows, so that threads only need rows of
    their own. Nothing is checked and nothing allocated.
    `split(θ, row)` gives views of the row by name, which follow it.
    """

    def __init__(self, model: ReducedModel):
        self.labels, self.places = model.labels, model.row
        self.width = self.places.width
        self._length = self.width + 1 + int(single_scratch(model.arrays.integers))
        self.call = partial(compiled(row_in_place), model.memory)

    def new_row(self) -> Array:
        """A row for results."""
        row = np.zeros(self._length)
        row[: self.width], row[self.width] = np.nan, NOWHERE
        return row

    def split(self, theta: Array, row: Array) -> Coefficients:
        """Views of a row by name."""
        return Coefficients(theta, self.labels, self.places, row[: self.width])

    def __call__(self, theta: Array, row: Array) -> int:
        return int(self.call(theta, row))
