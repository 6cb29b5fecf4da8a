"""The equilibrium that a law over a region keeps exactly, whatever the error of its matrices.

    x⁺ = x_e + A (x - x_e) + B (z - z_e),   u = u_e + C (x - x_e) + D (z - z_e),   x₀ = x_e + A₀ (z - z_e)

x_e, z_e and u_e are the state of the law, what it knows, and its answer where the machine rests at σ and is wanted
there. They are functions of σ of their own, resolved to nearly rounding (`approximation/chebyshev_series.py`), whereas
A, B, C and D are fitted to the tolerance of the law: gains may be approximate, equilibria may not.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.approximation.approximation import scattered_in
from supple.approximation.chebyshev_series import Function, resolved
from supple.approximation.evaluated import Samples
from supple.approximation.piecewise.packing import NOWHERE
from supple.approximation.piecewise.piecewise import Piecewise
from supple.approximation.refinement.box import Box
from supple.approximation.refinement.refinement import adaptive
from supple.array_types import Array, Integers
from supple.control.laws.affine_matrices import AffineMatrices
from supple.diagnostics import InputError, SuppleNote, SuppleWarning, user_level

TOLERANCE = 1e-10  # of the size of a number: error of an equilibrium
MOST = 300_000  # evaluations, in batches
_SERIES = 4  # dimensions up to which Chebyshev series on tensor grids can be afforded
_SCATTERED, _SAMPLES = 1e-5, 5_000  # tolerance and evaluations in more dimensions
_PROBES = 64  # points that tell what changes, and the size of each number
_CONSTANT = 1e-13  # of its size: changes of a number that are none
_REST = 1e-6  # of the sizes of what is summed: what may be left of a fixed point


class Equilibria(NamedTuple):
    """At N points: states x_e (N, n), known z_e (N, m), answers u_e (N, a)."""

    states: Array
    known: Array
    answers: Array

    def rows(self) -> Array:
        """One behind the other, (N, n + m + a)."""
        return np.hstack(self)


EquilibriaOf = Callable[[Array], Equilibria]
"""Points (N, s) of the region to the equilibria there."""


class FittedRow(NamedTuple):
    """A row of numbers (width,) over σ: what does not change, which places do, and their function (None: none does).

    error : of what changes, relative to the size of each number
    """

    template: Array
    varying: Integers
    fitted: Piecewise | None
    error: float = 0.0

    def at(self, sigma: Array) -> Array:
        """The row at σ (s,)."""
        row = self.template.copy()
        if self.fitted is not None:
            row[self.varying] = self.fitted.evaluate(sigma)
        return row


def fitted_equilibrium(equilibria: EquilibriaOf, region: Piecewise | Sequence[Box], name: str) -> FittedRow:
    """x_e, z_e, u_e over a region, one behind the other.

    region : the fit of the model that they are computed from, on whose boxes they are smooth; or boxes
    """
    boxes = boxes_of(region)
    probes = scattered_in(boxes, _PROBES, seed=11)
    probes = probes[_inside(region, probes)]
    rows = equilibria(probes).rows()
    size = np.abs(rows).max(axis=0)
    varying = np.flatnonzero(np.ptp(rows, axis=0) > _CONSTANT * size)
    template = rows[0].copy()
    if not len(varying):
        return FittedRow(template, varying, None)
    template[varying] = 0.0
    scale = size[varying]

    def function(points: Array) -> Array:
        return np.asarray(equilibria(points).rows()[:, varying] / scale)

    if boxes[0].dimension > _SERIES:
        row = _of_samples(function, boxes, region, FittedRow(template, varying, None), scale)
        warnings.warn(
            f'law "{name}": its equilibrium over {boxes[0].dimension} coordinates is fitted to {row.error:.2g} of each '
            f"number; it stands that much off its goal. A law at one configuration (at=) stands on it",
            SuppleNote, stacklevel=user_level(),
        )  # fmt: skip
        return row
    found = resolved(region, function, TOLERANCE, largest=MOST)
    if found.error > TOLERANCE:
        warnings.warn(
            f'law "{name}": its equilibrium is known to {found.error:.2g} only, not to {TOLERANCE:g}, after '
            f"{found.points} evaluations; it stands that much off its goal. Make the region smaller",
            SuppleWarning, stacklevel=user_level(),
        )  # fmt: skip
    return FittedRow(template, varying, scaled_fit(found.piecewise, scale), found.error)


def boxes_of(region: Piecewise | Sequence[Box]) -> Sequence[Box]:
    """The boxes of a region, or those that a fit began with."""
    if isinstance(region, Piecewise):
        return [Box(tuple(low), tuple(high)) for low, high in region.arrays.roots_f.tolist()]
    return region


def _inside(region: Piecewise | Sequence[Box], points: Array) -> NDArray[np.bool_]:
    """Which points (N, s) of the boxes are fitted."""
    return region.locate(points) != NOWHERE if isinstance(region, Piecewise) else np.ones(len(points), dtype=bool)


def _of_samples(
    function: Function, boxes: Sequence[Box], region: Piecewise | Sequence[Box], row: FittedRow, scale: Array
) -> FittedRow:
    """By scattered samples, to a lower accuracy, which `adaptive` reports where it is not reached."""

    def sampler(points: Array) -> Samples:
        valid = _inside(region, points)
        values = np.full((len(points), len(scale)), np.nan)
        values[valid] = function(points[valid])
        return Samples(values, None, {"equilibrium": values}, valid)

    found = adaptive(boxes, _SCATTERED, sampler, lambda values, _: {"equilibrium": values}, largest_samples=_SAMPLES)
    return row._replace(fitted=scaled_fit(found.piecewise, scale), error=found.worst)


def scaled_fit(found: Piecewise, scale: Array) -> Piecewise:
    """A fit of numbers that were divided by their sizes, as the numbers themselves."""
    return Piecewise(found.arrays._replace(coefficients=found.arrays.coefficients * scale))


def parted(row: Array, n: int, m: int) -> tuple[Array, Array, Array]:
    """x_e, z_e, u_e of a row."""
    return row[:n], row[n : n + m], row[n + m :]


def about(matrices: AffineMatrices, row: Array) -> AffineMatrices:
    """The same law with b, d and a₀ such that it keeps an equilibrium."""
    A, B, _, C, D, _, A0, _ = matrices
    x, z, u = parted(row, *B.shape)
    return matrices._replace(b=x - A @ x - B @ z, d=u - C @ x - D @ z, a0=x - A0 @ z)


def deviations(matrices: AffineMatrices, row: Array, where: str) -> AffineMatrices:
    """The law in deviations from an equilibrium, b = d = a₀ = 0; refused if the law does not keep it."""
    kept = about(matrices, row)
    A, B, _, C, D, _, _, _ = matrices
    x, z, u = (np.abs(part) for part in parted(row, *B.shape))
    for what, left, size in (
        ("state", matrices.b - kept.b, x + np.abs(A) @ x + np.abs(B) @ z),
        ("answer", matrices.d - kept.d, u + np.abs(C) @ x + np.abs(D) @ z),
    ):
        largest = float(size.max(initial=0.0))
        worst = float(np.abs(left).max(initial=0.0))
        if worst > _REST * largest:
            raise InputError(
                f"its {what} is off the equilibrium by {worst:.3g}, of sums of {largest:.3g}", part=f"law{where}",
                hint="give the equilibrium that the matrices keep, or leave it out",
            )  # fmt: skip
    return matrices._replace(b=np.zeros_like(kept.b), d=np.zeros_like(kept.d), a0=np.zeros_like(kept.a0))
