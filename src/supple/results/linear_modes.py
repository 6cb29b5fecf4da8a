"""Modes of a linear model: how fast each decays and turns, and which coordinates take part."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eig

from supple.array_types import Array
from supple.results.result import bundle

_REAL = 1e-9  # imaginary over absolute value, below which an eigenvalue counts as real


class LinearModes(NamedTuple):
    """Of ẋ = A x, one of each conjugate pair, by rising magnitude.

    eigenvalues    : (k,) λ, 1/s
    frequencies_hz : (k,) |λ| / 2π
    damping        : (k,) -Re λ / |λ|; 1 decays without turning, below 0 it grows, 0 where λ is zero
    shapes         : (k, x) the modes' states, the largest entry 1
    participation  : (k, coordinates) share of each coordinate with its rate, and of each other state; rows add up to 1
    coordinates    : their names
    """

    eigenvalues: NDArray[np.complex128]
    frequencies_hz: Array
    damping: Array
    shapes: NDArray[np.complex128]
    participation: Array
    coordinates: tuple[str, ...]

    def __repr__(self) -> str:
        return bundle(self)

    def leading(self, mode: int) -> dict[str, float]:
        """Coordinates of a mode by falling participation."""
        order = np.argsort(-self.participation[mode], kind="stable")
        return {self.coordinates[i]: float(self.participation[mode, i]) for i in order}


def linear_modes(A: Array, names: tuple[str, ...], n: int) -> LinearModes:
    """Modes of A, whose states are n coordinates, then their rates, then others.

    names : of the coordinates and of the other states

    A state's share in a mode is |l_i r_i| / Σ_k |l_k r_k| with left and right eigenvectors l, r: it does not change
    with the units of the states. Where one vector stands for several equal eigenvalues the sum vanishes, and |r_i|²
    stands in.
    """
    values, left, right = eig(A, left=True, right=True)
    size = np.abs(values)
    kept = np.flatnonzero(values.imag >= -_REAL * size)
    digits = values[kept] / max(float(size.max(initial=0.0)), 1e-300)  # the order is not one of rounding errors
    kept = kept[np.lexsort((np.round(digits.real, 10), np.round(np.abs(digits), 10)))]
    values, left, right, size = values[kept], left[:, kept], right[:, kept], size[kept]
    share = np.abs(left * right)
    total = share.sum(axis=0)
    alone = total < 1e-6
    share[:, alone] = np.abs(right[:, alone]) ** 2
    share /= share.sum(axis=0)
    largest = np.argmax(np.abs(right), axis=0)
    shapes = right / right[largest, np.arange(len(values))]
    still = size == 0.0
    damping = np.where(still, 0.0, -values.real / np.where(still, 1.0, size))
    by_name = np.vstack([share[:n] + share[n : 2 * n], share[2 * n :]]).T
    return LinearModes(values, size / (2.0 * np.pi), damping, shapes.T, by_name, names)
