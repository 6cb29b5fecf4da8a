"""Sine and cosine of angles side by side, without a branch, so that several are taken in one instruction.

The angle is reduced to y = x - k π/2, |y| <= π/4, with π/2 in three parts of which the first two multiply k exactly;
then sin y = y + y³ s(y²) and cos y = 1 - y²/2 + y⁴ c(y²), with polynomials s and c that interpolate at Chebyshev points
(errors below 3e-17). Both are within one unit in the last place or so of the exact value up to `LARGEST`.
"""

from __future__ import annotations

from math import cos, sin

from supple.compilation import kernel
from supple.formulations.recursive.node import lane_count

LARGEST = 1.0e5
"""rad; beyond it the products with k are no longer exact, and the library's functions are called."""
_ROUND = 6755399441055744.0  # 1.5 2⁵²: adding and taking it away rounds to the nearest integer
_PER_QUARTER = 0.6366197723675814  # 2/π
_QUARTER_1, _QUARTER_2, _QUARTER_3 = 1.5707963267341256, 6.077100506303966e-11, 2.0222662487959506e-21


@kernel
def sine_and_cosine(x):
    """Both, for |x| <= LARGEST."""
    k = (x * _PER_QUARTER + _ROUND) - _ROUND
    y = ((x - k * _QUARTER_1) - k * _QUARTER_2) - k * _QUARTER_3
    z = y * y
    s = y + (y * z) * (
        -0.16666666666666666
        + z
        * (
            0.008333333333330936
            + z
            * (
                -0.00019841269836740527
                + z * (2.7557316093196066e-06 + z * (-2.5051129895962803e-08 + z * 1.5917988944318488e-10))
            )
        )
    )
    c = (1.0 - 0.5 * z) + (z * z) * (
        0.041666666666666664
        + z
        * (
            -0.0013888888888887389
            + z
            * (
                2.48015872987544e-05
                + z * (-2.7557317265876615e-07 + z * (2.087614504910828e-09 + z * -1.1382544623404147e-11))
            )
        )
    )
    turn = k - 4.0 * ((k * 0.25 + _ROUND) - _ROUND)  # quarter turns: -2, -1, 0, 1 or 2
    odd = turn * turn == 1.0
    first, second = (c if odd else s), (s if odd else c)
    sine = -first if turn < 0.0 or turn > 1.5 else first
    cosine = -second if turn > 0.0 or turn < -1.5 else second
    return sine, cosine


@kernel
def replace_angles(side, blocks, x):
    """x : the angle, and a free place; becomes sine and cosine."""
    W, lanes = len(side), lane_count(side, blocks)
    largest = 0.0
    for lane in range(lanes):
        size = abs(x[lane])
        largest = largest if size <= largest else size
    if largest <= LARGEST:
        for lane in range(lanes):
            s, c = sine_and_cosine(x[lane])
            x[lane] = s
            x[W + lane] = c
    else:
        for lane in range(lanes):
            angle = x[lane]
            x[lane] = sin(angle)
            x[W + lane] = cos(angle)
