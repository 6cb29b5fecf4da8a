"""Rotations in space: matrices R_ab that transform components in frame b to frame a."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Matrix = NDArray[np.float64]

_NEXT, _LAST = [1, 2, 0], [2, 0, 1]


def tilde(v: ArrayLike) -> Matrix:
    """Return the matrix (3, 3) of the cross product: ṽ w = v × w, v (3,)."""
    x, y, z = np.asarray(v, float)
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def cross_arrays(a: Matrix, b: Matrix) -> Matrix:
    """Return a × b along the last axes, (..., 3); ten times as fast as `np.cross` for a few hundred vectors."""
    return np.asarray(a[..., _NEXT] * b[..., _LAST] - a[..., _LAST] * b[..., _NEXT])


def rotation_about(axis: ArrayLike, angle: float) -> Matrix:
    """Return the rotation by `angle` about `axis` (Rodrigues): R = I + sin a ñ + (1 - cos a) ñ².

    axis  : (3,), of any nonzero length
    angle : rad, right-handed
    """
    n = np.asarray(axis, float)
    N = tilde(n / np.linalg.norm(n))
    return np.eye(3) + np.sin(angle) * N + (1.0 - np.cos(angle)) * (N @ N)


def exponential(w: ArrayLike) -> Matrix:
    """Return the rotation by |w| about w, exp(w̃), for w (3,) in rad."""
    vector = np.asarray(w, float)
    angle = float(np.linalg.norm(vector))
    return rotation_about(vector, angle) if angle > 0.0 else np.eye(3)


def rotation_vector(R: ArrayLike) -> NDArray[np.float64]:
    """Return w (3,) of the rotation exp(w̃) = R, |w| <= π."""
    from scipy.spatial.transform import Rotation  # slow to import, and rarely needed

    return Rotation.from_matrix(R).as_rotvec()


def axes_from_x(direction: ArrayLike) -> Matrix:
    """Return a right-handed frame with its x axis along `direction`, and its y axis horizontal where possible.

    Columns are the axes in the frame of `direction`. For the x direction the result is the identity.
    """
    x = np.asarray(direction, float) / np.linalg.norm(direction)
    up = np.array([0.0, 0.0, 1.0]) if abs(x[2]) < 0.9 else np.array([0.0, 1.0, 0.0])
    y = np.cross(up, x) if abs(x[2]) < 0.9 else np.cross(x, up)
    y /= np.linalg.norm(y)
    return np.column_stack([x, y, np.cross(x, y)])


def axes_from_z(axis: ArrayLike) -> Matrix:
    """Return a right-handed frame with its z axis along `axis`; for the z direction the identity."""
    z = np.asarray(axis, float) / np.linalg.norm(axis)
    start = np.zeros(3)
    start[int(np.argmin(np.abs(z)))] = 1.0
    x = start - (start @ z) * z
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])
