"""Influence of each output of a function on the errors of the families that follow from it.

Families are linear in the outputs and their gradients. A term c T_n(ξ) of output t has values up to c and slopes up to
about n c / h_i, so it changes the error of a family f by up to c w_t, with

w_t = max_f (‖∂f/∂y_t‖ + n ‖(∂f/∂(∂_i y_t) / h_i)_i‖) / median ‖f‖

Outputs differ in unit and size by orders of magnitude, and some are zero to rounding. Weighted like this, an output
counts as much as it matters; relative to its own size, an output that is rounding would appear as the worst of all.

Families that are judged by their own size need not be linear: ∂f/∂y_t is then that of a small change of a sample, over
‖f‖ there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from supple.approximation.evaluated import Derived, Samples
from supple.approximation.fit_error import norms
from supple.array_types import Array

_ROWS = 256  # outputs processed together: bounds the memory
_SMALL = 1e-4  # of the largest value of an output: a small change


@dataclass(frozen=True, eq=False)
class Influence:
    """Influence of each output on each family.

    value    : family -> (t,), ‖∂f/∂y_t‖
    slope    : family -> (t, s), ‖∂f/∂(∂_i y_t)‖
    relative : family that is judged by its own size -> (t,), ‖∂f/∂y_t‖/‖f‖
    """

    value: dict[str, Array]
    slope: dict[str, Array]
    relative: dict[str, Array]

    def weights(self, half: Array, degree: int, medians: Mapping[str, float]) -> Array:
        """Return w (t,) for a polynomial of that degree on a box of half widths h."""
        each = [
            (value + degree * np.linalg.norm(self.slope[name] / half, axis=1)) / medians[name]
            for name, value in self.value.items()
        ]
        return np.asarray(np.max([*each, *self.relative.values()], axis=0))


def influence(derived: Derived, known: Samples, dimension: int) -> Influence:
    """Return the influence of each output, by evaluating the families for one output at a time."""
    outputs = known.values.shape[1]
    value: dict[str, list[Array]] = {}
    slope: dict[str, list[Array]] = {}
    for first in range(0, outputs, _ROWS):
        one = np.eye(outputs)[first : first + _ROWS]
        none, still = np.zeros_like(one), np.zeros((*one.shape, dimension))
        for name, family in _linear(derived(one, still), known).items():
            value.setdefault(name, []).append(norms(family))
        along = []
        for i in range(dimension):
            moving = still.copy()
            moving[:, :, i] = one
            along.append({name: norms(family) for name, family in _linear(derived(none, moving), known).items()})
        for name in along[0]:
            slope.setdefault(name, []).append(np.stack([item[name] for item in along], axis=1))
    return Influence(
        {name: np.concatenate(parts) for name, parts in value.items()},
        {name: np.concatenate(parts) for name, parts in slope.items()},
        _relative(derived, known, dimension) if known.relative else {},
    )


def _linear(families: dict[str, Array], known: Samples) -> dict[str, Array]:
    return {name: family for name, family in families.items() if name not in known.relative}


def _relative(derived: Derived, known: Samples, dimension: int) -> dict[str, Array]:
    """Return ‖f(y + h e_t) - f(y)‖ / (h ‖f(y)‖) at the first sample y, with h a small part of the largest y_t."""
    values = known.values[known.valid]
    step = _SMALL * np.abs(values).max(axis=0)
    moved = np.vstack([values[:1], values[0] + np.diag(step)])
    families = derived(moved, np.zeros((*moved.shape, dimension)))
    counted = {}
    for name in known.relative:
        change = norms(families[name][1:] - families[name][:1]) / norms(families[name][:1])
        counted[name] = np.where(step > 0.0, change / np.where(step > 0.0, step, 1.0), 0.0)
    return counted
