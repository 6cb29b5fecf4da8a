"""Calls of a model for one state from Python: arguments in one array, one compiled call.

Only valid arrays (k,) are accepted. Everything else (names, batches, wrong shapes, values that are not finite, points
outside) gives None, and the general call handles it or raises the error.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from supple.approximation.piecewise.packing import NOWHERE
from supple.array_types import Array
from supple.compilation import compile_kernel
from supple.equations.equations_of_motion import Coefficients, Labels
from supple.equations.row import RowLayout
from supple.reduced.dynamics_kernel import forward_in_place, inverse_in_place, state_size
from supple.reduced.kernels import INSIDE, row_in_place, single_scratch
from supple.reduced.layout import CoefficientLayout
from supple.reduced.state_arguments import Values


class SingleCalls:
    """Coefficients, forward and inverse dynamics at one state; thread-safe, since every call has its own memory.

    memory : `supple.reduced.arrays.one_array` of the model
    """

    def __init__(self, layout: CoefficientLayout, labels: Labels, row: RowLayout, memory: Array):
        Z = memory.view(np.int64)
        n, s = layout.size, layout.theta
        self._layout, self._labels, self._row, self._memory = layout, labels, row, memory
        self._in_place = compile_kernel(row_in_place)
        self._forward, self._inverse = compile_kernel(forward_in_place), compile_kernel(inverse_in_place)
        self._size, self._row_size = int(state_size(Z)), row.width + 1 + int(single_scratch(Z))
        self._theta, self._delta, self._rates = slice(n, n + s), slice(n + s, 2 * n), slice(2 * n, 3 * n)
        self._inputs, self._accelerations = slice(3 * n, 3 * n + len(layout.inputs)), slice(3 * n, 4 * n)

    def evaluate(self, theta: Values, delta: ArrayLike | None) -> Coefficients | None:
        """Return all coefficients at θ and δ, or None."""
        row = np.empty(self._row_size)
        row[self._row.width] = NOWHERE
        s = self._layout.theta
        point = np.empty(s if delta is None else self._layout.size)
        if not _put(point[:s], theta) or not (delta is None or _put(point[s:], delta)):
            return None
        if self._in_place(self._memory, point, row) != INSIDE:
            return None
        return Coefficients(point[:s], self._labels, self._row, row[: self._row.width])

    def forward(
        self, theta: Values, delta: ArrayLike | None, rates: Values | None, inputs: Values | None, speed: float
    ) -> Array | None:
        """Return η̈ (n,), or None."""
        return self._call(self._forward, theta, delta, rates, inputs, self._inputs, speed)

    def inverse(
        self, theta: Values, delta: ArrayLike | None, rates: Values | None, accelerations: Values | None, speed: float
    ) -> Array | None:
        """Return the generalized forces (n,), or None."""
        return self._call(self._inverse, theta, delta, rates, accelerations, self._accelerations, speed)

    def _call(
        self,
        in_place: Callable,
        theta: Values,
        delta: ArrayLike | None,
        rates: Values | None,
        last: Values | None,
        place: slice,
        speed: float,
    ) -> Array | None:
        state = np.empty(self._size)
        for at, values in ((self._theta, theta), (self._delta, delta), (self._rates, rates), (place, last)):
            if values is None and at is not self._theta:
                state[at] = 0.0
            elif not _put(state[at], values):
                return None
        if type(speed) not in (float, int) or in_place(self._memory, float(speed), state) != INSIDE:
            return None
        return state[: self._layout.size].copy()


def _put(place: Array, values: Values | None) -> bool:
    """Copy values to their place; return False if they are not an array of its shape."""
    try:
        given = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        return False
    if given.shape != place.shape:
        return False
    place[:] = given
    return True
