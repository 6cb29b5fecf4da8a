"""How a configuration moves with a parameter μ of the mechanism's file, θ held.

    Φ(X, μ) = 0, A(X, μ) = θ:    [Φ_q; A] ξ = -(∂Φ/∂μ; ∂A/∂μ)              how poses move: twists ξ      (parameters, 3)
    [Φ_q; A] ∂_μΨ = -(d[Φ_q; A]/dμ) Ψ                                      how rigid modes change                  (4)

The first is the implicit function theorem. Rows may be redundant: both are consistent, and of least squares.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.compilation.threads import single_blas_thread
from supple.kinematics.complex_terms import STEP, ComplexRows, moved_poses, rows_of
from supple.kinematics.numbering import Numbering
from supple.kinematics.primitives import SCALE

Array = NDArray[Any]

_RANK = 1e-11  # of the largest singular value: redundant rows have less


class Moved(NamedTuple):
    """Configurations with a complex step along a parameter.

    X (N, bodies + 1, 12), Psi (N, bodies, 6, s) in body axes, rows : all of the mechanism, at X
    """

    X: Array
    Psi: Array
    rows: ComplexRows


class _Scaled(NamedTuple):
    """[Φ_q; A] in scaled rows and velocities, (N, rows, n), from gradients; twists back from scaled velocities."""

    numbering: Numbering
    scale: Array
    units: Array

    def matrix(self, gradients: Array) -> Array:
        own = gradients[:, : len(self.scale), :, self.numbering.arrays.column] * self.units
        return np.asarray(own.reshape(len(own), len(self.scale), -1) / self.scale[:, None])

    def twists(self, scaled: Array) -> Array:
        """(N, bodies, 6, k) in body axes, from (N, n, k)."""
        sizes, N = self.numbering.sizes, len(scaled)
        found = np.zeros((N, sizes.bodies, 6, scaled.shape[-1]))
        found[:, :, self.numbering.arrays.column] = (
            scaled.reshape(N, sizes.bodies, sizes.width, -1) * self.units[:, None]
        )
        return found


def moved_twists(numbering: Numbering, rows_f: Array, X: Array) -> Array:
    """ξ (N, bodies + 1, 6), in body axes, at poses X (N, bodies + 1, 12); rows_f : ∂/∂μ of the rows' numbers."""
    return _solved(numbering, rows_f, X)[2]


@single_blas_thread()
def _solved(numbering: Numbering, rows_f: Array, X: Array) -> tuple[_Scaled, Array, Array]:
    arrays, sizes = numbering.arrays, numbering.sizes
    count = sizes.joint_rows + sizes.coordinates
    scaled = _Scaled(numbering, arrays.rows_f[:count, SCALE], np.where(arrays.column < 3, arrays.extent, 1.0))
    held = rows_of(arrays.rows_i, arrays.rows_f + 1j * STEP * rows_f, X, count)  # numbers change, poses do not
    inverse = np.linalg.pinv(scaled.matrix(held.gradients.real), rcond=_RANK)
    xi = scaled.twists(-inverse @ (held.values.imag / STEP / scaled.scale)[..., None])[..., 0]
    return scaled, inverse, np.concatenate([xi, np.zeros((len(X), 1, 6))], axis=1)


@single_blas_thread()
def moved_along(numbering: Numbering, rows_f: Array, X: Array) -> Moved:
    """Poses, rigid modes and rows with a complex step along the parameter, joints and θ held."""
    arrays, sizes = numbering.arrays, numbering.sizes
    scaled, inverse, xi = _solved(numbering, rows_f, X)
    moving = moved_poses(X, xi)
    rows = rows_of(arrays.rows_i, arrays.rows_f + 1j * STEP * rows_f, moving, sizes.rows)
    unit = np.zeros((len(scaled.scale), sizes.coordinates))
    unit[sizes.joint_rows :] = np.diag(1.0 / scaled.scale[sizes.joint_rows :])
    modes = inverse @ unit
    change = -inverse @ (scaled.matrix(rows.gradients.imag / STEP) @ modes)
    return Moved(moving, scaled.twists(modes) + 1j * STEP * scaled.twists(change), rows)
