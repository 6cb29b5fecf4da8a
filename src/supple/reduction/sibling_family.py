"""Many siblings between a few: what a reduced model is made of, as polynomials of the parameters that differ.

    c(p) = Σ_k c_k T_k(p),   T_k products of Chebyshev polynomials over the ranges of p, from siblings at a few p

Coefficients, and constants, of the models change smoothly with a mass, a modulus or a length, as long as the modes keep
their order. One more sibling, which took no part, tells whether they do: where the columns of its own model are missed
by more than the error that models are allowed, there is no family, and each plant is found by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.stats import qmc

from supple.approximation.fits.chebyshev_products import basis
from supple.approximation.fits.multi_index import total_degree
from supple.approximation.piecewise.piecewise import Piecewise
from supple.array_types import Array
from supple.description.mechanism import Mechanism
from supple.reduced.model import ReducedModel
from supple.reduction.sibling import Siblings

_DEGREES = {1: 4, 2: 3}  # of the polynomials, by the number of parameters
_CLOSE = 1e-4  # of a group of columns: what a family may miss the check by


def sibling_family(
    siblings: Siblings, mechanism_of: Callable[[dict[str, float]], Mechanism], ranges: Mapping[str, tuple[float, float]]
) -> SiblingFamily | None:
    """The family over ranges of one or two parameters; None where it is not one."""
    s = len(ranges)
    if s not in _DEGREES or any(low >= high for low, high in ranges.values()):
        return None
    indices = total_degree(s, _DEGREES[s])
    count = _DEGREES[s] + 1
    nodes = np.cos(np.pi * (np.arange(count) + 0.5) / count)
    points = np.array(list(product(nodes, repeat=s)))
    check = 2.0 * qmc.Halton(s, scramble=True, rng=np.random.default_rng(3)).random(1) - 1.0
    low, high = np.array(list(ranges.values()), dtype=float).T
    made = []
    for x in np.vstack([points, check]):
        p = 0.5 * (low + high) + 0.5 * (high - low) * x
        made.append(siblings.of(mechanism_of(dict(zip(ranges, p.tolist(), strict=True)))))
    if any(model.hardware.data() != made[0].hardware.data() for model in made):
        return None  # parameters of drives: each plant has its own
    inverse: Array = np.asarray(np.linalg.pinv(basis(points, indices)), dtype=float)
    found = SiblingFamily(made[0], tuple(ranges), low, high, inverse, _stack(made[:-1]), indices)
    return found if found.agrees(made[-1], check[0]) else None


def _stack(models: list[ReducedModel]) -> Array:
    """Everything that changes, a row a model."""
    return np.array([_row(model) for model in models])


def _row(model: ReducedModel) -> Array:
    return np.concatenate([model.fitted.arrays.coefficients.ravel(), *map(np.ravel, model.layout.constants.values())])


class SiblingFamily:
    """Models at any p within the ranges."""

    def __init__(
        self, first: ReducedModel, names: tuple[str, ...], low: Array, high: Array, inverse: Array, rows: Array,
        indices: NDArray[np.int64],
    ) -> None:  # fmt: skip
        self._first, self._names, self._low, self._high, self._indices = first, names, low, high, indices
        self._terms = inverse @ rows

    def of(self, parameters: Mapping[str, float]) -> ReducedModel:
        """The model at p, by name."""
        p = np.array([parameters[name] for name in self._names])
        return self._at((2.0 * p - self._low - self._high) / (self._high - self._low))

    def _at(self, x: Array) -> ReducedModel:
        row = basis(x[None], self._indices)[0] @ self._terms
        first = self._first
        arrays = first.fitted.arrays
        size = arrays.coefficients.size
        constants, at = {}, size
        for name, value in first.layout.constants.items():
            constants[name] = row[at : at + np.size(value)].reshape(np.shape(value))
            at += np.size(value)
        fitted = Piecewise(arrays._replace(coefficients=row[:size].reshape(arrays.coefficients.shape)))
        return replace(first, layout=replace(first.layout, constants=constants), fitted=fitted)

    def agrees(self, own: ReducedModel, x: Array) -> bool:
        """Whether the family has the columns of a model that took no part."""
        between, errors = self._at(x), [_CLOSE, *own.error.values()]
        for first, stop in own.layout.columns.values():
            true, found = (model.fitted.arrays.coefficients[:, first:stop] for model in (own, between))
            if np.linalg.norm(found - true) > max(errors) * np.linalg.norm(true):
                return False
        return True
