"""Where one beam element after another is computed: places in one array.

It holds complex numbers where derivatives are taken by complex steps.
"""

from __future__ import annotations

import numpy as np

from supple.compilation import kernel

ENDS = 0  # what the nodes do to the two ends, in element axes: (f, m) twice, in the plane (f_x, f_y, m) twice
STRAIN_ENERGY = 12
HEIGHT_ENERGY = 13  # potential of gravity
POWER_LOST = 14
W = 15  # velocities of both ends in element axes, as in ENDS
RATES = 27  # their rates
MOMENTUM = 39  # M w
E = 51  # rows are the element's axes, in the world
OF_END = 60  # then twice, END_WIDTH apart:
S = 60  # node axes to element axes, Eᵀ R
RELATIVE = 69  # the rotation of the end section against the element, Eᵀ R A
HOLD = 78  # how the element's twist follows the rotation of the end, before it is divided by the sum
ARM = 81  # from the node to the end, in element axes
THETA = 84  # the local rotation; its rate, the moment that works on it, and its factor κ
THETA_RATE = 87
MOMENT = 90
KAPPA = 93
END_WIDTH = 34
SIZE = 128


@kernel
def element_work(X):
    """Of the kind of numbers that the poses X are."""
    return np.zeros(SIZE, X.dtype)


@kernel(inline=True)
def vector_at(x, at):
    """Three numbers of x (n,)."""
    return (x[at], x[at + 1], x[at + 2])


@kernel(inline=True)
def put_at(x, at, v):
    """x (n,) = v at three places."""
    x[at], x[at + 1], x[at + 2] = v[0], v[1], v[2]


@kernel(inline=True)
def add_at(x, at, v):
    """x (n,) += v at three places."""
    x[at] += v[0]
    x[at + 1] += v[1]
    x[at + 2] += v[2]


@kernel(inline=True)
def in_rows(x, at, v):
    """A v, A (3, 3) row by row in x."""
    return (
        x[at] * v[0] + x[at + 1] * v[1] + x[at + 2] * v[2],
        x[at + 3] * v[0] + x[at + 4] * v[1] + x[at + 5] * v[2],
        x[at + 6] * v[0] + x[at + 7] * v[1] + x[at + 8] * v[2],
    )


@kernel(inline=True)
def in_columns(x, at, v):
    """Aᵀ v, A (3, 3) row by row in x."""
    return (
        x[at] * v[0] + x[at + 3] * v[1] + x[at + 6] * v[2],
        x[at + 1] * v[0] + x[at + 4] * v[1] + x[at + 7] * v[2],
        x[at + 2] * v[0] + x[at + 5] * v[1] + x[at + 8] * v[2],
    )
