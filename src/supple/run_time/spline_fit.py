"""Tensor cubic B-splines on a regular grid, fitted as a whole: forms without jumps of forces between boxes.

    f̂(θ) = Σ_k c_k Π_i B_{k_i}(θ_i),    with B the cubic B-splines on n_i cells and knots beyond both ends

They are continuous with their first and second derivatives. Values and slopes are fitted together. On a tensor grid of
nodes the normal equations are sums of Kronecker products, A ⊗ A + w² (G ⊗ A + A ⊗ G), with A and G the products of
splines and of their slopes along one axis. The generalized eigenvectors of G V = A V Λ diagonalize them:

    c = V diag(1 / (1 + w² Σ_i λ_i)) Vᵀ r                                                                           (1)

Each box then has the polynomials of degree 3 along every axis, 4^s terms, so that the evaluator is the same.
"""

from __future__ import annotations

from math import prod
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh

from supple.approximation.fits.chebyshev_products import Indices, tensor
from supple.approximation.fits.lower_set import sort_terms
from supple.array_types import Array
from supple.run_time.grid_fit import SLOPES, VALUES, Counts, GridFit

DEGREE = 3
MOST_NODES = 10_000_000  # numbers of values at the nodes of a fit
_EACH = 5  # nodes of a cell along an axis
_END = 4.0  # weight of the nodes at both ends


class _Axis(NamedTuple):
    """Nodes along one axis (P,) in [-1, 1] of the region, and splines there.

    values, slopes : weighted splines and their slopes per cell half width, (n + 3, P)
    vectors, roots : eigenvectors V (n + 3, n + 3) and eigenvalues (n + 3,)
    """

    nodes: Array
    values: Array
    slopes: Array
    vectors: Array
    roots: Array


def spline_terms(s: int) -> Indices:
    """Return the terms of a box, α_i <= 3, in the order of evaluation."""
    return sort_terms(set(map(tuple, tensor(s, DEGREE).tolist())))


def spline_nodes(counts: Counts) -> int:
    """Return the number of nodes of a fit."""
    return prod(_EACH * n for n in counts)


def fit_spline(fits: GridFit, counts: Counts) -> Array:
    """Return the coefficients (boxes, 4^s terms, t) of the splines that fit the surrogate of `fits`."""
    axes = [_axis(n) for n in counts]
    half = fits.boxes(counts)[1]
    mesh = np.stack(np.meshgrid(*[axis.nodes for axis in axes], indexing="ij"), axis=-1)
    values, gradients = fits.sample(fits.region.from_unit(mesh.reshape(-1, len(counts))))
    shape = (*mesh.shape[:-1], -1)
    found = np.zeros((*[n + DEGREE for n in counts], values.shape[1]))
    sloped = fits.sloped
    for columns, weight in ((sloped, SLOPES), (~sloped & ~fits.still, VALUES)):
        if not columns.any():
            continue
        right = _along(values[:, columns].reshape(shape), [axis.values for axis in axes])
        for j, h in enumerate(half):
            ways = [axis.slopes if i == j else axis.values for i, axis in enumerate(axes)]
            right += weight**2 * _along((h * gradients[:, columns, j]).reshape(shape), ways)
        right = _along(right, [axis.vectors.T for axis in axes])
        roots = np.ones([n + DEGREE for n in counts])
        for i, axis in enumerate(axes):
            roots = roots + weight**2 * axis.roots.reshape([-1 if k == i else 1 for k in range(len(counts))])
        found[..., columns] = _along(right / roots[..., None], [axis.vectors for axis in axes])
    boxes = _boxes(found, counts)
    boxes[:, 0, fits.still] = fits.constants[fits.still]
    return boxes


def _axis(cells: int) -> _Axis:
    """Return nodes and splines of one axis."""
    inner = np.cos(np.pi * np.arange(_EACH)[::-1] / (_EACH - 1))
    cell = np.repeat(np.arange(cells), _EACH)
    xi = np.tile(inner, cells)
    here, slope = _cubics(xi)
    values, slopes = np.zeros((2, cells + DEGREE, len(cell)))
    for k in range(DEGREE + 1):
        values[cell + k, np.arange(len(cell))] = here[k]
        slopes[cell + k, np.arange(len(cell))] = slope[k]
    weight = np.ones(len(cell))
    weight[[0, -1]] = _END
    A, G = (values * weight) @ values.T, (slopes * weight) @ slopes.T
    roots, vectors = eigh(G, A)
    return _Axis((2.0 * cell + 1.0 + xi) / cells - 1.0, values * weight, slopes * weight, vectors, roots)


def _cubics(xi: Array) -> tuple[Array, Array]:
    """Return the four uniform cubic B-splines of a cell and their slopes at ξ ∈ [-1, 1]: (4, P) each."""
    u = 0.5 * (xi + 1.0)
    values = [(1 - u) ** 3, 3 * u**3 - 6 * u**2 + 4, -3 * u**3 + 3 * u**2 + 3 * u + 1, u**3]
    slopes = [-3 * (1 - u) ** 2, 9 * u**2 - 12 * u, -9 * u**2 + 6 * u + 3, 3 * u**2]
    return np.array(values) / 6.0, np.array(slopes) / 12.0


def _along(values: Array, ways: list[Array]) -> Array:
    """Multiply an array (P_1, ..., P_s, t) by one matrix (m_i, P_i) along each axis."""
    for i, way in enumerate(ways):
        values = np.moveaxis(np.tensordot(way, values, axes=(1, i)), 0, i)
    return values


def _boxes(c: Array, counts: Counts) -> Array:
    """Return Chebyshev coefficients (boxes, terms, t) of each cell from those of the splines (n_1 + 3, ..., t)."""
    s = len(counts)
    nodes = np.cos(np.pi * (np.arange(DEGREE + 1) + 0.5) / (DEGREE + 1))
    table = np.array([np.cos(k * np.arccos(nodes)) for k in range(DEGREE + 1)])  # T_k at the nodes
    way = np.linalg.solve(table.T, _cubics(nodes)[0].T)  # (Chebyshev, splines)
    terms = spline_terms(s)
    found = np.empty((prod(counts), len(terms), c.shape[-1]))
    for place, cell in enumerate(np.ndindex(*counts)):
        part = c[tuple(slice(k, k + DEGREE + 1) for k in cell)]
        found[place] = _along(part, [way] * s)[tuple(terms.T)]
    return found
