"""Linear models on a grid of θ with the same states everywhere: a linear parameter-varying (LPV) system.

    ẋ = A(θ) (x - x₀(θ)) + B(θ) (u - u₀(θ)),   y = y₀(θ) + C(θ) (x - x₀(θ)) + D(θ) (u - u₀(θ))

Between grid points every matrix is interpolated linearly along each coordinate, as LPV blocks of other programs do.
Each model is a linearization at rest (zero rates of θ) in the basis of one germ, so that a state means the same
everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.array_types import Array
from supple.diagnostics import InputError
from supple.results.basis import CoordinateBasis
from supple.results.linear_model import LinearModel
from supple.results.result import Result
from supple.results.table import Table, batch_table
from supple.results.text import list_names
from supple.results.units import UNKNOWN, Units

MATRICES = ("A", "B", "C", "D")
POINTS = ("states", "inputs", "outputs")


class Names(NamedTuple):
    """Names of states, inputs and outputs."""

    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


@dataclass(frozen=True, eq=False, repr=False)
class LinearFamily(Result):
    """Linear models on a grid of postures.

    Attributes
    ----------
    grid : dict of str to ndarray
        Grid values of each coordinate, (g_i,), increasing.
    A, B, C, D : ndarray, shape (g₁, g₂, ..., rows, columns)
        Matrices of the linear models.
    at : dict of str to ndarray
        States, inputs and outputs at rest at each point, (g₁, g₂, ..., k).
    gap : float
        Largest difference between grid points of its responses to those of the reduced model, each relative to the
        largest value of the channel in the band; see `supple.reduced.linear_model_grid`.
    """

    name: str
    grid: dict[str, Array]
    A: Array
    B: Array
    C: Array
    D: Array
    at: dict[str, Array]
    names: Names
    gap: float
    basis: CoordinateBasis | None = None
    units: Units = UNKNOWN

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(values) for values in self.grid.values())

    def summary(self) -> str:
        over = ", ".join(f"{name} {x[0]:.4g} to {x[-1]:.4g} ({len(x)})" for name, x in self.grid.items())
        states = f"{len(self.names.states)} states ({list_names(self.names.states)})"
        return f'of "{self.name}" over {over}: {states}, gap {self.gap:.2g}'

    def table(self) -> Table:
        """Return the grid points and the frequencies of the poles at each of them, Hz, increasing."""
        mesh = np.meshgrid(*self.grid.values(), indexing="ij")
        poles = np.sort(np.abs(np.linalg.eigvals(self.A)), axis=-1).reshape(-1, self.A.shape[-1]) / (2.0 * np.pi)
        return batch_table(
            {name: values.ravel() for name, values in zip(self.grid, mesh, strict=True)},
            {f"pole {i + 1}": values for i, values in enumerate(poles.T)},
            "Hz",
            self.units.coordinates,
        )

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return arrays as in Matlab model arrays: A (x, x, g₁, g₂, ...), offsets x0 (x, 1, g₁, ...), and the grid."""
        s = len(self.grid)
        matrices = {name: np.moveaxis(getattr(self, name), range(s), range(2, 2 + s)) for name in MATRICES}
        rests = {
            key: np.moveaxis(self.at[name], range(s), range(1, 1 + s))[:, None]
            for key, name in (("x0", "states"), ("u0", "inputs"), ("y0", "outputs"))
        }
        texts = {name: np.array(getattr(self.names, name), dtype=str) for name in POINTS}
        texts["scheduling"] = np.array(list(self.grid), dtype=str)
        values = {f"grid_{i + 1}": values for i, values in enumerate(self.grid.values())}
        return {**matrices, **rests, **values, **texts, "gap": np.array(self.gap)}

    def model_at(self, theta: ArrayLike) -> LinearModel:
        """Return the linear model at a posture, interpolated linearly along each coordinate.

        Parameters
        ----------
        theta : array_like
            Posture inside the grid, one value per coordinate.

        Returns
        -------
        LinearModel
            Interpolated model.

        Raises
        ------
        InputError
            If the number of values is wrong or the posture is outside the grid.
        """
        point = self._inside(theta)
        weights = [_weights(values, x) for values, x in zip(self.grid.values(), point, strict=True)]
        A, B, C, D = (_between(getattr(self, name), weights) for name in MATRICES)
        rest = {name: _between(self.at[name], weights) for name in POINTS}
        at = {name: dict(zip(getattr(self.names, name), rest[name].tolist(), strict=True)) for name in POINTS}
        return LinearModel(A, B, C, D, *self.names, at, basis=self.basis, units=self.units)

    def _inside(self, theta: ArrayLike) -> Array:
        point = np.asarray(theta, float)
        if point.shape != (len(self.grid),):
            raise InputError(
                f"θ has the shape {point.shape}", hint=f"give {len(self.grid)} values: {', '.join(self.grid)}"
            )
        for (name, values), x in zip(self.grid.items(), point, strict=True):
            if not values[0] <= x <= values[-1]:
                raise InputError(
                    f"{name}={x:.6g} lies outside {values[0]:.6g} to {values[-1]:.6g}",
                    hint="give a point inside the grid",
                )
        return point

    def to_control(self) -> NDArray[Any]:
        """Return python-control StateSpaces as an array of objects over the grid (extra `control`)."""
        found = np.empty(self.shape, dtype=object)
        for place in np.ndindex(self.shape):
            theta = [values[i] for values, i in zip(self.grid.values(), place, strict=True)]
            found[place] = self.model_at(theta).to_control()
        return found

    def affine(self) -> AffineFamily:
        """Return the closest family that is affine in θ: A₀ + Σ_i ψ_i A_i, by least squares over the grid."""
        lower, upper = (np.array([values[i] for values in self.grid.values()]) for i in (0, -1))
        mesh = np.stack(np.meshgrid(*self.grid.values(), indexing="ij"), axis=-1).reshape(-1, len(self.grid))
        psi = np.hstack([np.ones((len(mesh), 1)), normalized_coordinates(mesh, lower, upper)])
        shaped = {name: getattr(self, name).reshape(len(mesh), *getattr(self, name).shape[-2:]) for name in MATRICES}
        found = {
            name: np.linalg.lstsq(psi, values.reshape(len(mesh), -1), rcond=None)[0].reshape(-1, *values.shape[1:])
            for name, values in shaped.items()
        }
        return AffineFamily(self.name, tuple(self.grid), lower, upper, **found, names=self.names, units=self.units)


@dataclass(frozen=True, eq=False, repr=False)
class AffineFamily(Result):
    """Linear models that are affine in the posture, as a polytopic LPV system.

    A(θ) = A₀ + Σ_i ψ_i A_i, ψ_i = (2 θ_i - lower_i - upper_i) / (upper_i - lower_i); B, C, D likewise.

    Attributes
    ----------
    A, B, C, D : ndarray, shape (1 + s, rows, columns)
        Matrices, the constant part first.
    """

    name: str
    coordinates: tuple[str, ...]
    lower: Array
    upper: Array
    A: Array
    B: Array
    C: Array
    D: Array
    names: Names
    units: Units = UNKNOWN

    def summary(self) -> str:
        return f'of "{self.name}", affine in {list_names(self.coordinates)}: {len(self.names.states)} states'

    def table(self) -> Table:
        """Return the corners of the region and the frequencies of their poles, Hz, increasing."""
        corners = self.corners
        poles = [np.sort(np.abs(np.linalg.eigvals(self.model_at(corner).A))) / (2.0 * np.pi) for corner in corners]
        return batch_table(
            dict(zip(self.coordinates, corners.T, strict=True)),
            {f"pole {i + 1}": values for i, values in enumerate(np.array(poles).T)},
            "Hz",
            self.units.coordinates,
        )

    def arrays(self) -> dict[str, NDArray[Any]]:
        texts = {name: np.array(getattr(self.names, name), dtype=str) for name in POINTS}
        matrices = {name: getattr(self, name) for name in MATRICES}
        return {**matrices, "lower": self.lower, "upper": self.upper, **texts}

    @property
    def corners(self) -> Array:
        """Return the corners of the region, (2^s, s).

        All models of the family lie in the convex hull of the models at the corners.
        """
        return np.array(list(product(*zip(self.lower, self.upper, strict=True))))

    @property
    def vertices(self) -> list[LinearModel]:
        """Return the models at the corners, the vertices of the polytope of all models."""
        return [self.model_at(corner) for corner in self.corners]

    def model_at(self, theta: ArrayLike) -> LinearModel:
        psi = np.concatenate([[1.0], normalized_coordinates(np.asarray(theta, float), self.lower, self.upper)])
        A, B, C, D = (np.tensordot(psi, getattr(self, name), axes=1) for name in MATRICES)
        return LinearModel(A, B, C, D, *self.names, {name: {} for name in POINTS}, units=self.units)


def normalized_coordinates(theta: Array, lower: Array, upper: Array) -> Array:
    """Return the normalized coordinates ψ, from -1 to 1 over the region."""
    return np.asarray((2.0 * theta - lower - upper) / (upper - lower))


def _weights(values: Array, x: float) -> tuple[int, float]:
    """Return the index of the grid point below x, and the interpolation weight of the next one."""
    if len(values) == 1:
        return 0, 0.0
    below = int(np.clip(np.searchsorted(values, x, side="right") - 1, 0, len(values) - 2))
    return below, float((x - values[below]) / (values[below + 1] - values[below]))


def _between(values: Array, weights: list[tuple[int, float]]) -> Array:
    for below, above in weights:
        values = values[below] if above == 0.0 else (1.0 - above) * values[below] + above * values[below + 1]
    return values
