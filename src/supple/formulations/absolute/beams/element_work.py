"""What one beam element after another is computed in."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.compilation import kernel

Array = NDArray[np.float64]

STRAIN_ENERGY, HEIGHT_ENERGY, POWER_LOST = range(3)


class ElementWork(NamedTuple):
    """Of one element; numbers are complex where derivatives are taken by complex steps.

    E        : (3, 3) rows are the element's axes, in the world
    S        : (2, 3, 3) node axes to element axes, Eᵀ R
    relative : (2, 3, 3) Eᵀ R A: the rotations of both ends against the element
    hold     : (2, 3) how the element's twist follows the rotations of its ends, before it is divided by their sum
    theta, rate, moment : (2, 3) local rotations, their rates and the moments that work on them
    factor   : (2,) κ of both local rotations
    w, dw    : (2d,) velocities of the ends and their rates, in element axes
    momentum : (2d,) M w; ends : (2d,) what the nodes do to the ends, in element axes
    energies : (3,) strain energy, potential of gravity, power lost
    """

    E: Array
    S: Array
    relative: Array
    hold: Array
    theta: Array
    rate: Array
    moment: Array
    factor: Array
    w: Array
    dw: Array
    momentum: Array
    ends: Array
    energies: Array


@kernel
def element_work(X, width):
    """For elements with `width` velocities at their two ends; of the kind of numbers that the poses X are."""
    kind = X.dtype
    return ElementWork(
        np.empty((3, 3), kind),
        np.empty((2, 3, 3), kind),
        np.empty((2, 3, 3), kind),
        np.empty((2, 3), kind),
        np.empty((2, 3), kind),
        np.empty((2, 3), kind),
        np.empty((2, 3), kind),
        np.empty(2, kind),
        np.empty(width, kind),
        np.empty(width, kind),
        np.empty(width, kind),
        np.empty(width, kind),
        np.empty(3, kind),
    )


@kernel(inline=True)
def coupled_product(coupled, rows, n, x, y):
    """y = A x of element n, whose matrix has four entries a row (`BeamArrays.coupled`)."""
    for r in range(y.shape[0]):
        y[r] = (
            rows[n, r, 0] * x[coupled[r, 0]]
            + rows[n, r, 1] * x[coupled[r, 1]]
            + rows[n, r, 2] * x[coupled[r, 2]]
            + rows[n, r, 3] * x[coupled[r, 3]]
        )
