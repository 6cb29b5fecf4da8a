"""Functions with known derivatives to approximate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from supple.approximation.evaluated import Samples
from supple.approximation.fit_error import norms, point_errors
from supple.approximation.fits.chebyshev_products import Indices, basis, basis_gradient
from supple.approximation.refinement.box import Box

Array = NDArray[np.float64]


@dataclass
class Known:
    """A function as a sampler that remembers its calls; its families are its values and its gradient."""

    value: Callable[[Array], Array]
    gradient: Callable[[Array], Array] | None
    valid: Callable[[Array], NDArray[np.bool_]] | None = None
    calls: list[Array] = field(default_factory=list)

    def __call__(self, x: Array) -> Samples:
        self.calls.append(x.copy())
        return self.at(x)

    def at(self, x: Array) -> Samples:
        ok = np.ones(len(x), dtype=bool) if self.valid is None else self.valid(x)
        values = np.full((len(x), self.value(x[:1]).shape[1]), np.nan)
        values[ok] = self.value(x[ok])
        gradients = None
        families = {"value": values}
        if self.gradient is not None:
            gradients = np.full((*values.shape, x.shape[1]), np.nan)
            gradients[ok] = self.gradient(x[ok])
            families["slope"] = gradients.reshape(len(x), -1)
        return Samples(values, gradients, families, ok)

    def derived(self, values: Array, gradients: Array) -> dict[str, Array]:
        families = {"value": values}
        if self.gradient is not None:
            families["slope"] = gradients.reshape(len(values), -1)
        return families

    @property
    def evaluations(self) -> int:
        return sum(len(call) for call in self.calls)

    def never_twice(self) -> bool:
        points = np.vstack(self.calls)
        return len(np.unique(points, axis=0)) == len(points)


def unit_box(s: int) -> Box:
    return Box((-1.0,) * s, (1.0,) * s)


def pole(*center: float) -> Known:
    """1/|x - c|² and a wave: ceases to be analytic at c, just outside the box."""
    c = np.array(center)

    def value(x: Array) -> Array:
        return np.stack([1.0 / ((x - c) ** 2).sum(axis=1), np.sin(2.0 * x.sum(axis=1))], axis=1)

    def gradient(x: Array) -> Array:
        r = ((x - c) ** 2).sum(axis=1)[:, None]
        return np.stack([-2.0 * (x - c) / r**2, np.repeat(2.0 * np.cos(2.0 * x.sum(axis=1))[:, None], len(c), 1)], 1)

    return Known(value, gradient)


def wave(s: int) -> Known:
    """A plane wave, oblique to all s axes."""
    a = np.linspace(0.4, 1.2, s)
    return Known(lambda x: np.sin(x @ a)[:, None], lambda x: (np.cos(x @ a)[:, None] * a)[:, None, :])


def growth(s: int) -> Known:
    """Π (1 + 0.3 x_i): every mixed term up to degree s."""

    def value(x: Array) -> Array:
        return np.prod(1.0 + 0.3 * x, axis=1)[:, None]

    return Known(value, lambda x: (value(x) * 0.3 / (1.0 + 0.3 * x))[:, None, :])


def ridge(s: int) -> Known:
    """Steep along two of s axes, the same along all others."""

    def value(x: Array) -> Array:
        return 1.0 / (1.0 + 4.0 * (x[:, :1] - 0.5) ** 2 + x[:, 1:2] ** 2)

    def gradient(x: Array) -> Array:
        found = np.zeros((len(x), 1, s))
        found[:, 0, 0] = -8.0 * (x[:, 0] - 0.5) * value(x)[:, 0] ** 2
        found[:, 0, 1] = -2.0 * x[:, 1] * value(x)[:, 0] ** 2
        return found

    return Known(value, gradient)


def dome() -> Known:
    """√(1.69 - |x|²), said to exist only within |x|² < 1.2."""
    height = lambda x: np.sqrt(1.69 - (x**2).sum(axis=1))[:, None]  # noqa: E731
    return Known(height, lambda x: (-x / height(x))[:, None, :], lambda x: (x**2).sum(axis=1) < 1.2)


def polynomial(indices: Indices, outputs: int, box: Box, seed: int) -> Known:
    """Random coefficients on a box."""
    c = np.random.default_rng(seed).normal(size=(len(indices), outputs))
    return Known(
        lambda x: basis(box.to_unit(x), indices) @ c,
        lambda x: np.einsum("nsk,kt->nts", basis_gradient(box.to_unit(x), indices), c) / box.half,
    )


def without_gradients(function: Known) -> Known:
    return Known(function.value, None, function.valid)


def fresh_errors(function: Known, result, region: list[Box], count: int = 10_000) -> dict[str, Array]:
    """Errors on random points of the region that the result covers, measured against their own median."""
    rng = np.random.default_rng(20)
    x = np.vstack([rng.uniform(box.lower, box.upper, (count // len(region), box.dimension)) for box in region])
    exact = function.at(x)
    inside = exact.valid & (result.piecewise.locate(x) >= 0)
    families = {name: family[inside] for name, family in exact.families.items()}
    medians = {name: float(np.median(norms(family))) for name, family in families.items()}
    return point_errors(families, function.derived(*result.piecewise.with_gradient(x[inside])), medians)


def honest(function: Known, result, region: list[Box]) -> bool:
    """At most one point in a thousand exceeds the stated error by more than a tenth."""
    errors = fresh_errors(function, result, region)
    return all((error > 1.1 * result.error[name].worst).mean() <= 1e-3 for name, error in errors.items())
