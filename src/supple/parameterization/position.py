"""A configuration with its rigid modes: what coefficients and linear models of rigid mechanisms are computed from."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.compilation import kernel
from supple.kinematics.row_arrays import row_sizes


class Position(NamedTuple):
    """A configuration and its rigid modes.

    X : (bodies + 1, 12) poses; w : (measures,) values of all measures, angles beyond a turn
    Psi, dPsi       : (bodies + 1, d, s), (bodies + 1, d, s s) Ψ and ∂_kΨ_j at j s + k, in body axes
    twists, dtwists : (bodies + 1, s, 6), (bodies + 1, s s, 6) the same in world axes
    """

    X: np.ndarray
    w: np.ndarray
    Psi: np.ndarray
    dPsi: np.ndarray
    twists: np.ndarray
    dtwists: np.ndarray


@kernel
def position_workspace(rows, X, w):
    """Arrays for the rigid modes of one configuration after another, at X and w."""
    n = row_sizes(rows)
    nb, d, s = n.bodies, n.width, n.coordinates
    return Position(
        X,
        w,
        np.zeros((nb + 1, d, s)),
        np.zeros((nb + 1, d, s * s)),
        np.zeros((nb + 1, s, 6)),
        np.zeros((nb + 1, s * s, 6)),
    )


@kernel(inline=True)
def moved_to(here, X, w):
    """The same arrays, for another configuration."""
    return Position(X, w, here.Psi, here.dPsi, here.twists, here.dtwists)
