"""Motion of a configuration with a parameter μ of the mechanism's file, at constant θ.

    Φ(X, μ) = 0, A(X, μ) = θ:    [Φ_q; A] ξ = -(∂Φ/∂μ; ∂A/∂μ)              motion of the poses: twists ξ
    (parameters, 3) [Φ_q; A] ∂_μΨ = -(d[Φ_q; A]/dμ) Ψ                                      change of the rigid modes
               (4)

The first is the implicit function theorem. Rows may be redundant: both systems are consistent, solved by least squares.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Integers
from supple.compilation.threads import single_blas_thread
from supple.kinematics.numbering import Numbering
from supple.kinematics.primitives import (
    ALONG,
    ANGLE,
    DISTANCE,
    DOT,
    FACTOR,
    KIND,
    NONE,
    OFFSET,
    PA,
    PB,
    SCALE,
    THEN,
    A,
    B,
    U,
    V,
    W,
)

# Values and gradients of all terms of rows at once, for numbers that may be complex: derivatives by complex steps.
#
# These are the measures of `primitives`, written for arrays of configurations. Along any change of poses and of the
# rows' own numbers the derivative is the imaginary part of the result, exact to rounding [Squire 1998, eq. 2].


STEP = 1e-40  # size of a complex step; its error is below rounding


class ComplexRows(NamedTuple):
    """Rows at N configurations: values (N, rows) within a turn, gradients (N, rows, bodies, 6) in body axes."""

    values: Array
    gradients: Array


def moved_poses(X: Array, twists: Array) -> Array:
    """Return X (N, bodies + 1, 12) with a complex step along twists (N, bodies + 1, 6) in body axes."""
    R = X[..., 3:].reshape(*X.shape[:-1], 3, 3)
    found = X.astype(complex)
    found[..., :3] += 1j * STEP * np.einsum("...ij,...j->...i", R, twists[..., :3])
    spin = np.einsum("...ij,...jk->...ik", R, _skew(twists[..., 3:]))
    found[..., 3:] += 1j * STEP * spin.reshape(*X.shape[:-1], 9)
    return found


def rows_of(rows_i: Integers, rows_f: Array, X: Array, count: int) -> ComplexRows:
    """Return the first `count` rows, sums of their terms, at poses X (N, bodies + 1, 12).

    X or rows_f may be complex.
    """
    owner = _owners(rows_i, count)
    used = np.flatnonzero(owner >= 0)
    values, on_a, on_b = _terms(rows_i[used], rows_f[used], X)
    found = np.zeros((len(X), count), dtype=values.dtype)
    gradients = np.zeros((len(X), count, X.shape[1], 6), dtype=values.dtype)
    for term, row in enumerate(owner[used]):
        found[:, row] += values[:, term]
        gradients[:, row, rows_i[used[term], A]] += on_a[:, term]
        gradients[:, row, rows_i[used[term], B]] += on_b[:, term]
    return ComplexRows(found, gradients[:, :, :-1])


def _owners(rows_i: Integers, count: int) -> Integers:
    """Return the row that each term belongs to; -1 for terms of rows beyond `count`."""
    owner = np.full(len(rows_i), -1, dtype=np.int64)
    for row in range(count):
        term = row
        while term != NONE:
            owner[term] = row
            term = int(rows_i[term, THEN])
    return owner


def _terms(rows_i: Integers, rows_f: Array, X: Array) -> tuple[Array, Array, Array]:
    """Return values (N, terms) and gradients (N, terms, 6) on both sides."""
    R = X[..., 3:].reshape(*X.shape[:-1], 3, 3)
    kind, a, b, f = rows_i[:, KIND], rows_i[:, A], rows_i[:, B], rows_f
    Ra, Rb = R[:, a], R[:, b]
    (lu, lv, lw, pa, pb) = (f[:, at : at + 3] for at in (U, V, W, PA, PB))
    u, v, here = _turn(Ra, lu), _turn(Ra, lv), X[:, a, :3] + _turn(Ra, pa)
    w, there = _turn(Rb, lw), X[:, b, :3] + _turn(Rb, pb)
    d = there - here
    shape, dtype = (len(X), len(kind)), np.result_type(X, rows_f)
    phi, on_a, on_b = np.zeros(shape, dtype), np.zeros((*shape, 6), dtype), np.zeros((*shape, 6), dtype)
    known = {ALONG: _along, DOT: _right_angle, DISTANCE: _distance, ANGLE: _angle}
    assert set(kind.tolist()) <= set(known), "a measure without an implementation for complex numbers"
    for which, one in known.items():
        k = np.flatnonzero(kind == which)
        if len(k):
            vectors = (u[:, k], v[:, k], w[:, k], d[:, k])
            phi[:, k], on_a[:, k], on_b[:, k] = one(vectors, (Ra[:, k], Rb[:, k]), (lu[k], pa[k], pb[k]))
    factor = f[:, FACTOR]
    return factor * phi + f[:, OFFSET], factor[:, None] * on_a, factor[:, None] * on_b


def _along(vectors: Any, turns: Any, local: Any) -> tuple[Array, Array, Array]:
    (u, _, _, d), (Ra, Rb), (lu, pa, pb) = vectors, turns, local
    force, direction = _back(Rb, u), np.broadcast_to(lu, u.shape)
    arm = pa + _back(Ra, d)
    return _dot(u, d), _pair(-direction, np.cross(direction, arm)), _pair(force, np.cross(pb, force))


def _right_angle(vectors: Any, turns: Any, local: Any) -> tuple[Array, Array, Array]:
    (u, _, w, _), (Ra, Rb) = vectors, turns
    n = np.cross(u, w)
    return _dot(u, w), _pair(0.0 * n, _back(Ra, n)), _pair(0.0 * n, -_back(Rb, n))


def _distance(vectors: Any, turns: Any, local: Any) -> tuple[Array, Array, Array]:
    (_, _, _, d), (Ra, Rb), (_, pa, pb) = vectors, turns, local
    length = np.sqrt(_dot(d, d))
    n = d / length[..., None]
    fa, fb = -_back(Ra, n), _back(Rb, n)
    return length, _pair(fa, np.cross(pa, fa)), _pair(fb, np.cross(pb, fb))


def _angle(vectors: Any, turns: Any, local: Any) -> tuple[Array, Array, Array]:
    (u, v, w, _), (Ra, Rb) = vectors, turns
    c, t = _dot(u, w), _dot(v, w)
    square = c * c + t * t
    n = (c[..., None] * np.cross(v, w) - t[..., None] * np.cross(u, w)) / square[..., None]
    phi = np.arctan2(t.real, c.real)
    if np.iscomplexobj(c):  # derivative of the arc tangent
        phi = phi + 1j * (c.real * t.imag - t.real * c.imag) / square.real
    return phi, _pair(0.0 * n, _back(Ra, n)), _pair(0.0 * n, -_back(Rb, n))


def _turn(R: Array, x: Array) -> Array:
    return np.einsum("ntij,tj->nti", R, x)


def _back(R: Array, x: Array) -> Array:
    return np.einsum("ntji,ntj->nti", R, x)


def _dot(x: Array, y: Array) -> Array:
    return np.einsum("nti,nti->nt", x, y)


def _pair(force: Array, moment: Array) -> Array:
    return np.concatenate([force, moment], axis=-1)


def _skew(w: Array) -> Array:
    found = np.zeros((*w.shape[:-1], 3, 3), dtype=w.dtype)
    found[..., 0, 1], found[..., 0, 2], found[..., 1, 2] = -w[..., 2], w[..., 1], -w[..., 0]
    found[..., 1, 0], found[..., 2, 0], found[..., 2, 1] = w[..., 2], -w[..., 1], w[..., 0]
    return found


# Poses, rigid modes and rows along the parameter.


Array = NDArray[Any]

_RANK = 1e-11  # fraction of the largest singular value, below which rows are redundant


class Moved(NamedTuple):
    """Configurations with a complex step along a parameter.

    X    : (N, bodies + 1, 12)
    Psi  : (N, bodies, 6, s) in body axes
    rows : all rows of the mechanism, at X
    """

    X: Array
    Psi: Array
    rows: ComplexRows


class _Scaled(NamedTuple):
    """Conversion from gradients to the scaled matrix [Φ_q; A] (N, rows, n), and from scaled velocities to twists."""

    numbering: Numbering
    scale: Array
    units: Array

    def matrix(self, gradients: Array) -> Array:
        own = gradients[:, : len(self.scale), :, self.numbering.arrays.column] * self.units
        return np.asarray(own.reshape(len(own), len(self.scale), -1) / self.scale[:, None])

    def twists(self, scaled: Array) -> Array:
        """Return twists (N, bodies, 6, k) in body axes, from scaled velocities (N, n, k)."""
        sizes, N = self.numbering.sizes, len(scaled)
        found = np.zeros((N, sizes.bodies, 6, scaled.shape[-1]))
        found[:, :, self.numbering.arrays.column] = (
            scaled.reshape(N, sizes.bodies, sizes.width, -1) * self.units[:, None]
        )
        return found


def moved_twists(numbering: Numbering, rows_f: Array, X: Array) -> Array:
    """Return ξ (N, bodies + 1, 6) in body axes, at poses X (N, bodies + 1, 12).

    rows_f : ∂/∂μ of the rows' numbers
    """
    return _solve_motion(numbering, rows_f, X)[2]


@single_blas_thread()
def _solve_motion(numbering: Numbering, rows_f: Array, X: Array) -> tuple[_Scaled, Array, Array]:
    arrays, sizes = numbering.arrays, numbering.sizes
    count = sizes.joint_rows + sizes.coordinates
    scaled = _Scaled(numbering, arrays.rows_f[:count, SCALE], np.where(arrays.column < 3, arrays.extent, 1.0))
    held = rows_of(arrays.rows_i, arrays.rows_f + 1j * STEP * rows_f, X, count)  # numbers change, poses do not
    inverse = np.linalg.pinv(scaled.matrix(held.gradients.real), rcond=_RANK)
    xi = scaled.twists(-inverse @ (held.values.imag / STEP / scaled.scale)[..., None])[..., 0]
    return scaled, inverse, np.concatenate([xi, np.zeros((len(X), 1, 6))], axis=1)


@single_blas_thread()
def step_along(numbering: Numbering, rows_f: Array, X: Array) -> Moved:
    """Return poses, rigid modes and rows with a complex step along the parameter, joints and θ held constant."""
    arrays, sizes = numbering.arrays, numbering.sizes
    scaled, inverse, xi = _solve_motion(numbering, rows_f, X)
    moving = moved_poses(X, xi)
    rows = rows_of(arrays.rows_i, arrays.rows_f + 1j * STEP * rows_f, moving, sizes.rows)
    unit = np.zeros((len(scaled.scale), sizes.coordinates))
    unit[sizes.joint_rows :] = np.diag(1.0 / scaled.scale[sizes.joint_rows :])
    modes = inverse @ unit
    change = -inverse @ (scaled.matrix(rows.gradients.imag / STEP) @ modes)
    return Moved(moving, scaled.twists(modes) + 1j * STEP * scaled.twists(change), rows)
