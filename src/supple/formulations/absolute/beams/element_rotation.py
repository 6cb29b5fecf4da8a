"""Roots and angles of real numbers, and of complex ones to first order in their imaginary part.

A derivative by a complex step, ∂f/∂x = Im f(x + iε)/ε with ε² below every rounding, then takes the very kernel that
computes f. Local rotations are taken by way of t = n tan(θ/2), which the entries of a rotation matrix give directly:

    θ = g t,   g(t²) = 2 atan|t| / |t|
    θ̇ = T⁻¹(θ) ω,   T⁻¹ v = v - ½ θ × v + κ θ × (θ × v),   κ = (1 - ½|θ| cot ½|θ|) / |θ|²
"""

from __future__ import annotations

from math import atan, atan2, sqrt

from supple.compilation import kernel
from supple.geometry.vectors import cross, plus, times

SMALL = 0.01  # of tan²(θ/2): below it series are exact to rounding


@kernel(inline=True)
def root(y):
    """√y"""
    r = sqrt(y.real)
    return r + (y - y.real) * (0.5 / r)


@kernel(inline=True)
def angle_of(sine, cosine):
    """The angle of this sine and cosine."""
    s, c = sine.real, cosine.real
    return atan2(s, c) + c * (sine - s) - s * (cosine - c)


@kernel(inline=True)
def turn_factor(y):
    """g of y = tan²(θ/2)."""
    if y.real < SMALL:
        tail = 1 / 9 + y * (-1 / 11 + y * (1 / 13 + y * (-1 / 15 + y / 17)))
        return 2.0 * (1.0 + y * (-1 / 3 + y * (1 / 5 + y * (-1 / 7 + y * tail))))
    x = y.real
    g = 2.0 * atan(sqrt(x)) / sqrt(x)
    return g + (y - x) * (1.0 / (1.0 + x) - 0.5 * g) / x


@kernel(inline=True)
def rate_factor(y, g):
    """κ of y = tan²(θ/2) and its g."""
    x = y * g * g
    if y.real < SMALL:
        return 1 / 12 + x * (1 / 720 + x * (1 / 30240 + x * (1 / 1209600 + x / 47900160)))
    return (1.0 - 0.5 * g) / x


@kernel(inline=True)
def rotation_rate(theta, factor, spin):
    """T⁻¹(θ) ω: the rate of θ for an angular velocity in the axes that θ is counted from."""
    turn = cross(theta, spin)
    return plus(plus(spin, times(-0.5, turn)), times(factor, cross(theta, turn)))


@kernel(inline=True)
def rotation_moment(theta, factor, moment):
    """T⁻ᵀ(θ) n: the moment that does the work of n on θ."""
    turn = cross(theta, moment)
    return plus(plus(moment, times(0.5, turn)), times(factor, cross(theta, turn)))
