"""One term of a row: its factor times a measure, whichever that is. Kinds are checked where rows are numbered.

The gradient is taken with respect to the twists (v, ω) of both bodies, in their own axes. The second derivative along
two rigid motions j and k uses that a vector fixed in a body, and the velocity field of a motion with constant
components in body axes, both turn with the body:  ∂_k(δ_j p) = ω_k × δ_j p. Whoever uses a row adds its terms up.
"""

from __future__ import annotations

from math import pi

import numpy as np

from supple.compilation import kernel
from supple.kinematics.primitives.along import (
    curvature_along,
    gradient_along,
    second_rate_along,
    slope_along,
    value_along,
)
from supple.kinematics.primitives.angle import (
    curvature_angle,
    gradient_angle,
    second_rate_angle,
    slope_angle,
    value_angle,
)
from supple.kinematics.primitives.columns import ALONG, DISTANCE, DOT, FACTOR, KIND, NONE, OFFSET, THEN, TURNS, ZERO
from supple.kinematics.primitives.distance import (
    curvature_distance,
    gradient_distance,
    second_rate_distance,
    slope_distance,
    value_distance,
)
from supple.kinematics.primitives.right_angle import (
    curvature_right_angle,
    gradient_right_angle,
    second_rate_right_angle,
    slope_right_angle,
    value_right_angle,
)


@kernel
def value(rows_i, rows_f, i, X):
    """Value of term i alone, angles within a turn."""
    kind = rows_i[i, KIND]
    if kind == ALONG:
        phi = value_along(rows_i, rows_f, i, X)
    elif kind == DOT:
        phi = value_right_angle(rows_i, rows_f, i, X)
    elif kind == DISTANCE:
        phi = value_distance(rows_i, rows_f, i, X)
    else:
        phi = value_angle(rows_i, rows_f, i, X)
    return rows_f[i, FACTOR] * phi + rows_f[i, OFFSET]


@kernel(inline=True)
def continued(rows_i, rows_f, i, within_turn, w):
    """The value of term i, full turns added: closest to what the followed measures w say of it."""
    followed = rows_i[i, TURNS]
    if followed == NONE:
        return within_turn
    near = rows_f[i, FACTOR] * (w[followed] - rows_f[i, ZERO]) + rows_f[i, OFFSET]
    turn = 2.0 * pi * rows_f[i, FACTOR]
    return within_turn + turn * np.rint((near - within_turn) / turn)


@kernel
def row_value(rows_i, rows_f, i, X, w):
    """Value of row i, its terms together, full turns of angles counted by the followed measures w."""
    total = 0.0
    term = i
    while term != NONE:
        total += continued(rows_i, rows_f, term, value(rows_i, rows_f, term, X), w)
        term = rows_i[term, THEN]
    return total


@kernel(inline=True)
def put_gradient(factor, parts, g):
    """g (13,) = factor times (φ, ∂φ/∂v_a, ∂φ/∂ω_a, ∂φ/∂v_b, ∂φ/∂ω_b)."""
    phi, fa, ma, fb, mb = parts
    g[0] = factor * phi
    for k in range(3):
        g[1 + k] = factor * fa[k]
        g[4 + k] = factor * ma[k]
        g[7 + k] = factor * fb[k]
        g[10 + k] = factor * mb[k]


@kernel
def gradient(rows_i, rows_f, i, X, g):
    """Value and gradient of term i: g = (value, ∂/∂twist_a (6), ∂/∂twist_b (6)), in body axes."""
    kind = rows_i[i, KIND]
    if kind == ALONG:
        parts = gradient_along(rows_i, rows_f, i, X)
    elif kind == DOT:
        parts = gradient_right_angle(rows_i, rows_f, i, X)
    elif kind == DISTANCE:
        parts = gradient_distance(rows_i, rows_f, i, X)
    else:
        parts = gradient_angle(rows_i, rows_f, i, X)
    put_gradient(rows_f[i, FACTOR], parts, g)
    g[0] += rows_f[i, OFFSET]


@kernel
def gradient_slope(rows_i, rows_f, i, X, twist_a, twist_b, dg):
    """dg (13,): change of g of term i along a motion; twists (6,) of the two frames' origins in world axes.

    A vector x fixed in frame a and seen from frame b changes as R_bᵀ((ω_a - ω_b) × x), and all follows from that.
    """
    kind = rows_i[i, KIND]
    if kind == ALONG:
        parts = slope_along(rows_i, rows_f, i, X, twist_a, twist_b)
    elif kind == DOT:
        parts = slope_right_angle(rows_i, rows_f, i, X, twist_a, twist_b)
    elif kind == DISTANCE:
        parts = slope_distance(rows_i, rows_f, i, X, twist_a, twist_b)
    else:
        parts = slope_angle(rows_i, rows_f, i, X, twist_a, twist_b)
    put_gradient(rows_f[i, FACTOR], parts, dg)


@kernel
def curvature(rows_i, rows_f, i, X, twists, s, scratch, h):
    """Second derivatives h[j, k] = (∂_k φ_q) Ψ_j, k >= j, of term i along s rigid motions.

    ∂_k moves the mechanism along motion k and keeps the components of Ψ_j in body axes.
    twists  : (bodies + 1, s, 6) the motions' twists in world axes
    scratch : (2 s, 13) workspace
    """
    kind, factor = rows_i[i, KIND], rows_f[i, FACTOR]
    if kind == ALONG:
        curvature_along(rows_i, rows_f, i, X, twists, s, scratch, h)
    elif kind == DOT:
        curvature_right_angle(rows_i, rows_f, i, X, twists, s, scratch, h)
    elif kind == DISTANCE:
        curvature_distance(rows_i, rows_f, i, X, twists, s, scratch, h)
    else:
        curvature_angle(rows_i, rows_f, i, X, twists, s, scratch, h)
    if factor != 1.0:
        for j in range(s):
            for k in range(j, s):
                h[j, k] *= factor


@kernel
def second_rate(rows_i, rows_f, i, X, course, out):
    """Second rate of term i along a course, and in out (s,) its changes along s motions."""
    kind, factor = rows_i[i, KIND], rows_f[i, FACTOR]
    if kind == ALONG:
        second = second_rate_along(rows_i, rows_f, i, X, course, out)
    elif kind == DOT:
        second = second_rate_right_angle(rows_i, rows_f, i, X, course, out)
    elif kind == DISTANCE:
        second = second_rate_distance(rows_i, rows_f, i, X, course, out)
    else:
        second = second_rate_angle(rows_i, rows_f, i, X, course, out)
    for m in range(out.shape[0]):
        out[m] *= factor
    return factor * second
