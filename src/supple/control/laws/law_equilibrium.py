"""Equilibrium that a law over a region keeps exactly, regardless of the error of its matrices.

    x⁺ = x_e + A (x - x_e) + B (z - z_e),   u = u_e + C (x - x_e) + D (z - z_e),   x₀ = x_e + A₀ (z - z_e)

x_e, z_e and u_e are the state, the inputs and the outputs of the law where the machine rests at σ and the reference is
this rest. They are functions of σ of their own (`approximation/chebyshev_series.py`). A, B, C and D are only fitted to
the tolerance of the law: gains may be approximate, equilibria may not.

The law keeps whatever x_e, z_e and u_e it is given: x = x_e and z = z_e give x⁺ = x_e and u = u_e. So the machine rests
at its goal if z_e and u_e are those of the machine, which are resolved nearly to rounding. An error of x_e only shifts
the state of the law; it acts while σ moves, and is kept well below that of the matrices.

Many of these numbers are combinations of few functions of σ (σ itself, deformations, holding forces). They share the
functions that span them.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.approximation.approximation import scatter_points
from supple.approximation.chebyshev_series import Function, fit_chebyshev_series
from supple.approximation.evaluated import Samples
from supple.approximation.piecewise.packing import NOWHERE
from supple.approximation.piecewise.piecewise import Piecewise
from supple.approximation.refinement.box import Box
from supple.approximation.refinement.refinement import adaptive
from supple.array_types import Array
from supple.control.laws.affine_matrices import AffineMatrices
from supple.control.laws.fitted_row import FittedRow
from supple.diagnostics import InputError, SuppleNote, SuppleWarning, user_level

TOLERANCE = 1e-10  # relative error of each number of z_e and u_e
STATES_TOLERANCE = 1e-6  # of x_e
MOST = 300_000  # evaluations, in batches
_SERIES = 4  # dimensions up to which Chebyshev series on tensor grids can be afforded
_SCATTERED, _SAMPLES = 1e-5, 5_000  # tolerance and evaluations in more dimensions
_PROBES = 64  # points that show which numbers change, and the size of each
_CONSTANT = 1e-13  # of its size: a number that changes less is constant
_SPAN = 0.1  # of the tolerance: combinations of functions that change less are left out
_REST = 1e-6  # largest residual of a fixed point, of the sizes of its terms


class Equilibria(NamedTuple):
    """Equilibria at N points: states x_e (N, n), inputs z_e (N, m) and outputs u_e (N, a) of a law."""

    states: Array
    known: Array
    answers: Array

    def rows(self) -> Array:
        """Return the numbers of each point side by side, (N, n + m + a)."""
        return np.hstack(self)


EquilibriaOf = Callable[[Array], Equilibria]
"""Function from points (N, s) of the region to the equilibria there."""


def fitted_equilibrium(equilibria: EquilibriaOf, region: Piecewise | Sequence[Box], name: str) -> FittedRow:
    """Fit x_e, z_e, u_e, side by side, over a region.

    region : boxes; or the fit of the model that the equilibria are computed from, on whose boxes they are smooth
    """
    boxes = boxes_of(region)
    probes = scatter_points(boxes, _PROBES, seed=11)
    probes = probes[_inside(region, probes)]
    rows = equilibria(probes).rows()
    size = np.abs(rows).max(axis=0)
    varying = np.flatnonzero(np.ptp(rows, axis=0) > _CONSTANT * size)
    template = rows[0].copy()
    if not len(varying):
        return FittedRow(template)
    scale = size[varying]
    scale[varying < equilibria(probes[:1]).states.shape[1]] *= STATES_TOLERANCE / TOLERANCE
    mean = rows[:, varying].mean(axis=0)
    _, sizes, span = np.linalg.svd((rows[:, varying] - mean) / scale, full_matrices=False)
    span = span[: max(1, int((sizes > _SPAN * TOLERANCE).sum()))]
    template[varying] = mean

    def function(points: Array) -> Array:
        return np.asarray(((equilibria(points).rows()[:, varying] - mean) / scale) @ span.T)

    row = FittedRow(template, varying, factors=np.ascontiguousarray(scale[:, None] * span.T))
    if boxes[0].dimension > _SERIES:
        row = _fit_samples(function, boxes, region, row)
        warnings.warn(
            f'law "{name}": the equilibrium over {boxes[0].dimension} coordinates is fitted with a relative error of '
            f"{row.error:.2g}, and the law rests that far from its goal; a law at one configuration (at=) rests at it",
            SuppleNote, stacklevel=user_level(),
        )  # fmt: skip
        return row
    found = fit_chebyshev_series(region, function, TOLERANCE, largest=MOST)
    if found.error > TOLERANCE:
        warnings.warn(
            f'law "{name}": the equilibrium has a relative error of {found.error:.2g}, above {TOLERANCE:g}, after '
            f"{found.points} evaluations, and the law rests that far from its goal; use a smaller region",
            SuppleWarning, stacklevel=user_level(),
        )  # fmt: skip
    return row._replace(fitted=found.piecewise, error=found.error)


def boxes_of(region: Piecewise | Sequence[Box]) -> Sequence[Box]:
    """Return the boxes of a region, or the initial boxes of a fit."""
    if isinstance(region, Piecewise):
        return [Box(tuple(low), tuple(high)) for low, high in region.arrays.roots_f.tolist()]
    return region


def _inside(region: Piecewise | Sequence[Box], points: Array) -> NDArray[np.bool_]:
    """Return which points (N, s) of the boxes are in the region of the fit."""
    return region.locate(points) != NOWHERE if isinstance(region, Piecewise) else np.ones(len(points), dtype=bool)


def _fit_samples(
    function: Function, boxes: Sequence[Box], region: Piecewise | Sequence[Box], row: FittedRow
) -> FittedRow:
    """Fit by scattered samples with a lower accuracy; `adaptive` reports if it is not reached."""

    def sampler(points: Array) -> Samples:
        valid = _inside(region, points)
        values = np.full((len(points), row.factors.shape[1]), np.nan)
        values[valid] = function(points[valid])
        return Samples(values, None, {"equilibrium": values}, valid)

    found = adaptive(boxes, _SCATTERED, sampler, lambda values, _: {"equilibrium": values}, largest_samples=_SAMPLES)
    return row._replace(fitted=found.piecewise, error=found.worst)


def split_row(row: Array, n: int, m: int) -> tuple[Array, Array, Array]:
    """Return x_e, z_e, u_e of a row."""
    return row[:n], row[n : n + m], row[n + m :]


def keep_equilibrium(matrices: AffineMatrices, row: Array) -> AffineMatrices:
    """Return the law with b, d and a₀ such that it keeps an equilibrium."""
    A, B, _, C, D, _, A0, _ = matrices
    x, z, u = split_row(row, *B.shape)
    return matrices._replace(b=x - A @ x - B @ z, d=u - C @ x - D @ z, a0=x - A0 @ z)


def deviations(matrices: AffineMatrices, row: Array, where: str) -> AffineMatrices:
    """Return the law in deviations from an equilibrium, b = d = a₀ = 0; refuse a law that does not keep it."""
    kept = keep_equilibrium(matrices, row)
    A, B, _, C, D, _, _, _ = matrices
    x, z, u = (np.abs(part) for part in split_row(row, *B.shape))
    for what, residual, size in (
        ("state", matrices.b - kept.b, x + np.abs(A) @ x + np.abs(B) @ z),
        ("output", matrices.d - kept.d, u + np.abs(C) @ x + np.abs(D) @ z),
    ):
        largest = float(size.max(initial=0.0))
        worst = float(np.abs(residual).max(initial=0.0))
        if worst > _REST * largest:
            raise InputError(
                f"the {what} differs from the equilibrium by {worst:.3g}, with terms of {largest:.3g}",
                part=f"law{where}", hint="give the equilibrium that the matrices keep, or leave it out",
            )  # fmt: skip
    return matrices._replace(b=np.zeros_like(kept.b), d=np.zeros_like(kept.d), a0=np.zeros_like(kept.a0))
