"""Least-squares fit of a surrogate on a regular grid of boxes, to its values and gradients.

    min_c Σ_p ‖f(x_p) - f̂(x_p)‖² + w² Σ_j ‖h_j ∂_j f(x_p) - ∂_{ξ_j} f̂(x_p)‖²,      f̂ = Σ_α c_α T_α(ξ)

The nodes x_p are the same in every box, so one matrix serves all boxes. They are concentrated towards the faces, where
errors of derivatives are largest, and have more weight there. Evaluations of a surrogate cost nothing compared with
those of a mechanism.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from supple.approximation.check_points import boundary_points
from supple.approximation.fits.chebyshev_products import Indices, basis, basis_gradient
from supple.approximation.piecewise.piecewise import NOWHERE, Piecewise
from supple.approximation.refinement.box import Box
from supple.approximation.refinement.box_tree import Forest, grid_tree
from supple.array_types import Array
from supple.diagnostics import InputError

SLOPES, VALUES = 1.0, 0.2  # weights w of columns whose slopes enter forces, and of others
_TENSOR = 1500  # nodes of a full grid in a box; beyond, they are scattered
_EACH = 5  # scattered nodes for each term
_CORNERS = 64  # corners among the scattered nodes, at most
_FACE, _ON_FACE = 4.0, 1.0 - 1e-9  # weight of a node for each face that it lies on
_TOGETHER = 20_000  # points that are evaluated at a time

Counts = tuple[int, ...]
"""Number of boxes along each axis."""


class UnitFit(NamedTuple):
    """Nodes ξ (P, s) of a box, terms and slopes there, and the map from values and slopes there to coefficients.

    terms          : T_α and ∂T_α/∂ξ_j at the nodes, (P (1 + s), terms)
    sloped, plain  : map for columns with slopes in the forces, and for others, (terms, P (1 + s))
    """

    nodes: Array
    terms: Array
    sloped: Array
    plain: Array


def unit_fit(indices: Indices) -> UnitFit:
    """Return the nodes and the maps of a lower set of terms."""
    s, along = indices.shape[1], int(indices.max(initial=0)) + (4 if indices.shape[1] < 3 else 3)
    if float(along) ** s <= _TENSOR:
        nodes = np.array(list(product(np.cos(np.pi * np.arange(along) / (along - 1)), repeat=s)))
    else:
        corners = np.array(list(product((-1.0, 1.0), repeat=s))) if 2**s <= _CORNERS else np.zeros((0, s))
        nodes = np.vstack([corners, boundary_points(s, _EACH * len(indices), seed=2)])
    slopes = np.swapaxes(basis_gradient(nodes, indices), 0, 1).reshape(-1, len(indices))
    terms = np.vstack([basis(nodes, indices), slopes])
    first = _FACE ** (np.abs(nodes) > _ON_FACE).sum(axis=1)
    return UnitFit(nodes, terms, *(_weighted_map(terms, _weights(first, s, weight)) for weight in (SLOPES, VALUES)))


def _weights(at_nodes: Array, s: int, slopes: float) -> Array:
    """Return the weights of values and slopes (P (1 + s),) from those of the nodes (P,)."""
    return np.concatenate([at_nodes, *[slopes**2 * at_nodes] * s])


def _weighted_map(terms: Array, weights: Array) -> Array:
    """Return (AᵀWA)⁻¹AᵀW."""
    root = np.sqrt(weights)
    Q, R = np.linalg.qr(root[:, None] * terms)
    return np.asarray(solve_triangular(R, Q.T * root))


def region_box(fitted: Piecewise, name: str) -> Box:
    """Return the region of a surrogate; InputError if it is not one box that is fitted everywhere."""
    arrays = fitted.arrays
    part = f'model "{name}"'
    if len(arrays.roots_i) != 1:
        raise InputError(
            f"its region consists of {len(arrays.roots_i)} boxes, but a run-time form has one regular grid", part=part,
            hint="reduce over one box of the region",
        )  # fmt: skip
    if (arrays.roots_i == NOWHERE).any() or (arrays.nodes_i[:, 1:] == NOWHERE).any():
        raise InputError(
            "it has no fit in parts of its region, where the mechanism cannot be assembled", part=part,
            hint="reduce over a smaller region, without these parts",
        )  # fmt: skip
    lower, upper = arrays.roots_f[0].tolist()
    return Box(tuple(lower), tuple(upper))


class GridFit:
    """Fits of one surrogate on grids of boxes over its region, with the same terms in every box.

    sloped : columns whose slopes enter forces
    still  : columns that are the same everywhere, and remain so
    """

    def __init__(self, surrogate: Piecewise, region: Box, sloped: tuple[int, ...], still: tuple[int, ...] = ()) -> None:
        self.surrogate, self.region = surrogate, region
        self.sloped = np.zeros(surrogate.outputs, dtype=bool)
        self.sloped[list(sloped)] = True
        self.still = np.zeros(surrogate.outputs, dtype=bool)
        self.still[list(still)] = True
        self.constants = np.where(self.still, surrogate.evaluate(region.center), 0.0)
        self._units: dict[bytes, UnitFit] = {}

    @cached_property
    def _inside(self) -> tuple[Array, Array]:
        """Bounds a little inside the region: its faces are known to rounding only."""
        lower, upper = np.array(self.region.lower), np.array(self.region.upper)
        tiny = 1e-12 * (upper - lower)
        return lower + tiny, upper - tiny

    def sample(self, x: Array) -> tuple[Array, Array]:
        """Return values (N, t) and gradients (N, t, s) of the surrogate."""
        return self.surrogate.with_gradient(np.clip(x, *self._inside))

    def unit(self, indices: Indices) -> UnitFit:
        """Return the unit fit of a set of terms, computed once."""
        key = indices.tobytes()
        if key not in self._units:
            self._units[key] = unit_fit(indices)
        return self._units[key]

    def boxes(self, counts: Counts) -> tuple[Array, Array]:
        """Return the centers (boxes, s) of a grid, last axis fastest, and the half widths (s,) of its boxes."""
        lower, upper = np.array(self.region.lower), np.array(self.region.upper)
        half = 0.5 * (upper - lower) / np.array(counts)
        axes = [low + h * (1.0 + 2.0 * np.arange(n)) for low, h, n in zip(lower, half, counts, strict=True)]
        return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(counts)), half

    def data(self, centers: Array, half: Array, indices: Indices) -> Array:
        """Return values and slopes of the surrogate at the nodes of some boxes, (boxes, P (1 + s), t)."""
        nodes = self.unit(indices).nodes
        values, gradients = self.sample((centers[:, None] + half * nodes).reshape(-1, len(half)))
        shape = (len(centers), len(nodes), -1)
        parts = [values.reshape(shape), *(h * gradients[:, :, j].reshape(shape) for j, h in enumerate(half))]
        return np.concatenate(parts, axis=1)

    def from_data(self, data: Array, indices: Indices, at_nodes: Array | None = None) -> Array:
        """Return coefficients (boxes, terms, t) from values and slopes at the nodes (boxes, P (1 + s), t).

        at_nodes : weights of the nodes (P,); default: more weight on faces
        """
        unit, s = self.unit(indices), indices.shape[1]
        found = np.zeros((len(data), len(indices), data.shape[2]))
        groups = ((self.sloped, unit.sloped, SLOPES), (~self.sloped & ~self.still, unit.plain, VALUES))
        for columns, way, weight in groups:
            if at_nodes is not None and columns.any():
                way = _weighted_map(unit.terms, _weights(at_nodes, s, weight))
            if columns.any():
                found[:, :, columns] = np.einsum("kp,bpt->bkt", way, data[:, :, columns], optimize=True)
        found[:, 0, self.still] = self.constants[self.still]
        return found

    def batches(self, count: int, indices: Indices) -> Iterator[slice]:
        """Yield parts of so many boxes that fit into memory together."""
        each = max(1, _TOGETHER // len(self.unit(indices).nodes))
        for start in range(0, count, each):
            yield slice(start, min(start + each, count))


def grid_piecewise(region: Box, counts: Counts, indices: Indices, coefficients: Array) -> Piecewise:
    """Return a piecewise polynomial from the coefficients (boxes, terms, t) of a grid, last axis fastest."""
    edges = [np.linspace(a, b, n + 1) for a, b, n in zip(region.lower, region.upper, counts, strict=True)]
    root = grid_tree(region, edges)
    lower, width = np.array(region.lower), (np.array(region.upper) - region.lower) / np.array(counts)
    for leaf in root.leaves():
        place = tuple(np.floor((leaf.box.center - lower) / width).astype(int).tolist())
        leaf.coefficients = coefficients[np.ravel_multi_index(place, counts)]
    return Forest([root], indices).piecewise()
