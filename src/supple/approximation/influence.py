"""How much each output of a function counts in the errors of the families that follow from it.

Families are linear in the outputs and their gradients. A term c T_n(ξ) of output t has values up to c and slopes up to
about n c / h_i, so it moves the error of a family f by up to c w_t, with

w_t = max_f (‖∂f/∂y_t‖ + n ‖(∂f/∂(∂_i y_t) / h_i)_i‖) / median ‖f‖

Outputs differ in unit and size by orders of magnitude, and some are zero but for rounding. Compared by their weights,
an output counts as much as it matters; by its own size, one of nothing but rounding would look like the worst of all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from supple.approximation.fit_error import norms
from supple.approximation.samples import Derived

Array = NDArray[np.float64]

_ROWS = 256  # outputs looked at together: bounds the memory


@dataclass(frozen=True, eq=False)
class Influence:
    """value : family -> (t,), ‖∂f/∂y_t‖; slope : family -> (t, s), ‖∂f/∂(∂_i y_t)‖."""

    value: dict[str, Array]
    slope: dict[str, Array]

    def weights(self, half: Array, degree: int, medians: Mapping[str, float]) -> Array:
        """w (t,), as above, of a polynomial of that degree on a box of half widths h."""
        each = [
            (value + degree * np.linalg.norm(self.slope[name] / half, axis=1)) / medians[name]
            for name, value in self.value.items()
        ]
        return np.asarray(np.max(each, axis=0))


def influence(derived: Derived, outputs: int, dimension: int) -> Influence:
    """Of each of so many outputs, by asking for the families of one output at a time."""
    value: dict[str, list[Array]] = {}
    slope: dict[str, list[Array]] = {}
    for first in range(0, outputs, _ROWS):
        one = np.eye(outputs)[first : first + _ROWS]
        none, still = np.zeros_like(one), np.zeros((*one.shape, dimension))
        for name, family in derived(one, still).items():
            value.setdefault(name, []).append(norms(family))
        along = []
        for i in range(dimension):
            moving = still.copy()
            moving[:, :, i] = one
            along.append({name: norms(family) for name, family in derived(none, moving).items()})
        for name in along[0]:
            slope.setdefault(name, []).append(np.stack([item[name] for item in along], axis=1))
    return Influence(
        {name: np.concatenate(parts) for name, parts in value.items()},
        {name: np.concatenate(parts) for name, parts in slope.items()},
    )
