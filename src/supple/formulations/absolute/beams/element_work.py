"""Working memory of the kernels of one beam element, and their roots, angles and rotations.

All elements use the same array one after another. It holds complex numbers for derivatives by complex steps.
"""

from __future__ import annotations

from math import atan, atan2, sqrt

import numpy as np

from supple.compilation import kernel
from supple.geometry.vectors import cross, plus, times

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
    """Return a work array with the number type of the poses X."""
    return np.zeros(SIZE, X.dtype)


@kernel(inline=True)
def vector_at(x, at):
    """Return three numbers of x (n,)."""
    return (x[at], x[at + 1], x[at + 2])


@kernel(inline=True)
def put_at(x, at, v):
    """Set three numbers of x (n,) to v."""
    x[at], x[at + 1], x[at + 2] = v[0], v[1], v[2]


@kernel(inline=True)
def add_at(x, at, v):
    """Add v to three numbers of x (n,)."""
    x[at] += v[0]
    x[at + 1] += v[1]
    x[at + 2] += v[2]


@kernel(inline=True)
def in_rows(x, at, v):
    """Return A v for A (3, 3), row by row in x."""
    return (
        x[at] * v[0] + x[at + 1] * v[1] + x[at + 2] * v[2],
        x[at + 3] * v[0] + x[at + 4] * v[1] + x[at + 5] * v[2],
        x[at + 6] * v[0] + x[at + 7] * v[1] + x[at + 8] * v[2],
    )


@kernel(inline=True)
def in_columns(x, at, v):
    """Return Aᵀ v for A (3, 3), row by row in x."""
    return (
        x[at] * v[0] + x[at + 3] * v[1] + x[at + 6] * v[2],
        x[at + 1] * v[0] + x[at + 4] * v[1] + x[at + 7] * v[2],
        x[at + 2] * v[0] + x[at + 5] * v[1] + x[at + 8] * v[2],
    )


# Roots and angles of real numbers, and of complex ones to first order in their imaginary part.
#
# A derivative by a complex step, ∂f/∂x = Im f(x + iε)/ε with ε² below every rounding, then takes the very kernel that
# computes f. Local rotations are taken by way of t = n tan(θ/2), which the entries of a rotation matrix give directly:
#
#     θ = g t,   g(t²) = 2 atan|t| / |t|
#     θ̇ = T⁻¹(θ) ω,   T⁻¹ v = v - ½ θ × v + κ θ × (θ × v),   κ = (1 - ½|θ| cot ½|θ|) / |θ|²


SMALL = 0.01  # of tan²(θ/2): below it series are exact to rounding


@kernel(inline=True)
def root(y):
    """Return √y."""
    r = sqrt(y.real)
    return r + (y - y.real) * (0.5 / r)


@kernel(inline=True)
def angle_of(sine, cosine):
    """Return the angle of this sine and cosine."""
    s, c = sine.real, cosine.real
    return atan2(s, c) + c * (sine - s) - s * (cosine - c)


@kernel(inline=True)
def turn_factor(y):
    """Return G of y = tan²(θ/2)."""
    if y.real < SMALL:
        tail = 1 / 9 + y * (-1 / 11 + y * (1 / 13 + y * (-1 / 15 + y / 17)))
        return 2.0 * (1.0 + y * (-1 / 3 + y * (1 / 5 + y * (-1 / 7 + y * tail))))
    x = y.real
    g = 2.0 * atan(sqrt(x)) / sqrt(x)
    return g + (y - x) * (1.0 / (1.0 + x) - 0.5 * g) / x


@kernel(inline=True)
def rate_factor(y, g):
    """Return κ of y = tan²(θ/2) and its g."""
    x = y * g * g
    if y.real < SMALL:
        return 1 / 12 + x * (1 / 720 + x * (1 / 30240 + x * (1 / 1209600 + x / 47900160)))
    return (1.0 - 0.5 * g) / x


@kernel(inline=True)
def rotation_rate(theta, factor, spin):
    """Return T⁻¹(θ) ω, the rate of θ for an angular velocity in the reference axes of θ."""
    turn = cross(theta, spin)
    return plus(plus(spin, times(-0.5, turn)), times(factor, cross(theta, turn)))


@kernel(inline=True)
def rotation_moment(theta, factor, moment):
    """Return T⁻ᵀ(θ) n, the moment on θ with the same work as n."""
    turn = cross(theta, moment)
    return plus(plus(moment, times(0.5, turn)), times(factor, cross(theta, turn)))
