"""Angle of a direction about an axis: φ = atan2(t, c), c = u·w, t = v·w, u ⊥ v fixed in body a, w in body b
(kinematics, 4)."""

from __future__ import annotations

from math import atan2

import numpy as np

from supple.compilation import kernel
from supple.geometry.vectors import cross, dot, minus, negative, plus, times
from supple.kinematics.primitives.columns import A, B, U, V, W
from supple.kinematics.primitives.right_angle import bilinear
from supple.kinematics.primitives.vectors_in_motion import (
    in_body,
    product_rates,
    product_slopes,
    spin_of,
    turned,
    vector_rates,
    vector_slopes,
)


@kernel(inline=True)
def value_angle(rows_i, rows_f, i, X):
    """φ within a turn."""
    a = rows_i[i, A]
    w = turned(X, rows_i[i, B], rows_f, i, W)
    return atan2(dot(turned(X, a, rows_f, i, V), w), dot(turned(X, a, rows_f, i, U), w))


@kernel(inline=True)
def gradient_angle(rows_i, rows_f, i, X):
    """φ, ∂φ/∂v_a, ∂φ/∂ω_a, ∂φ/∂v_b, ∂φ/∂ω_b in body axes."""
    a, b = rows_i[i, A], rows_i[i, B]
    u, v, w = turned(X, a, rows_f, i, U), turned(X, a, rows_f, i, V), turned(X, b, rows_f, i, W)
    c, t = dot(u, w), dot(v, w)
    n = times(1.0 / (c * c + t * t), minus(times(c, cross(v, w)), times(t, cross(u, w))))
    none = (0.0, 0.0, 0.0)
    return atan2(t, c), none, in_body(X, a, n), none, in_body(X, b, negative(n))


@kernel(inline=True)
def slope_angle(rows_i, rows_f, i, X, twist_a, twist_b):
    """Changes of the five along a motion."""
    a, b = rows_i[i, A], rows_i[i, B]
    wa, wb, none = spin_of(twist_a), spin_of(twist_b), (0.0, 0.0, 0.0)
    u, v, w = turned(X, a, rows_f, i, U), turned(X, a, rows_f, i, V), turned(X, b, rows_f, i, W)
    du, dv, dw = cross(wa, u), cross(wa, v), cross(wb, w)
    c, t = dot(u, w), dot(v, w)
    dc, dt = dot(du, w) + dot(u, dw), dot(dv, w) + dot(v, dw)
    q = 1.0 / (c * c + t * t)
    dq = -2.0 * q * q * (c * dc + t * dt)
    uw, vw = cross(u, w), cross(v, w)
    duw, dvw = plus(cross(du, w), cross(u, dw)), plus(cross(dv, w), cross(v, dw))
    n = times(q, minus(times(c, vw), times(t, uw)))
    inner = minus(plus(times(dc, vw), times(c, dvw)), plus(times(dt, uw), times(t, duw)))
    dn = plus(times(dq / q, n), times(q, inner))
    ma, mb = in_body(X, a, minus(dn, cross(wa, n))), in_body(X, b, minus(cross(wb, n), dn))
    return q * (c * dt - t * dc), none, ma, none, mb


@kernel
def curvature_angle(rows_i, rows_f, i, X, twists, s, scratch, h):
    """From the derivatives of c and t along s motions, k >= j."""
    a, b = rows_i[i, A], rows_i[i, B]
    u, v, w = turned(X, a, rows_f, i, U), turned(X, a, rows_f, i, V), turned(X, b, rows_f, i, W)
    c, t = dot(u, w), dot(v, w)
    q = 1.0 / (c * c + t * t)
    of_c = np.empty((s, s))
    bilinear(twists, a, u, b, w, scratch, of_c)
    for j in range(s):
        scratch[s + j, 12] = scratch[j, 12]
    bilinear(twists, a, v, b, w, scratch, h[:s])
    for j in range(s):
        cj, tj = scratch[s + j, 12], scratch[j, 12]
        for k in range(j, s):
            ck, tk = scratch[s + k, 12], scratch[k, 12]
            change = 2.0 * q * (c * ck + t * tk)
            h[j, k] = q * (c * h[j, k] - t * of_c[j, k] + ck * tj - tk * cj - (c * tj - t * cj) * change)


@kernel
def second_rate_angle(rows_i, rows_f, i, X, course, out):
    """φ' = (c t' - t c') / q,  φ'' = (c t'' - t c'' - φ' q') / q,  q = c² + t²; and the changes of φ'' in out (s,)."""
    a, b = rows_i[i, A], rows_i[i, B]
    moving, pushed, twists, bent = course
    u = vector_rates(moving, pushed, a, turned(X, a, rows_f, i, U))
    v = vector_rates(moving, pushed, a, turned(X, a, rows_f, i, V))
    w = vector_rates(moving, pushed, b, turned(X, b, rows_f, i, W))
    c, t = product_rates(u, w), product_rates(v, w)
    q, dq = c[0] * c[0] + t[0] * t[0], 2.0 * (c[0] * c[1] + t[0] * t[1])
    speed = (c[0] * t[1] - t[0] * c[1]) / q
    second = (c[0] * t[2] - t[0] * c[2] - speed * dq) / q
    for m in range(out.shape[0]):
        dw = vector_slopes(moving[b], twists[b, m], bent[b, m], w)
        e = product_slopes(u, w, vector_slopes(moving[a], twists[a, m], bent[a, m], u), dw)  # changes of c
        f = product_slopes(v, w, vector_slopes(moving[a], twists[a, m], bent[a, m], v), dw)  # and of t
        q_m = 2.0 * (c[0] * e[0] + t[0] * f[0])
        dq_m = 2.0 * (e[0] * c[1] + c[0] * e[1] + f[0] * t[1] + t[0] * f[1])
        speed_m = (e[0] * t[1] + c[0] * f[1] - f[0] * c[1] - t[0] * e[1] - speed * q_m) / q
        top = e[0] * t[2] + c[0] * f[2] - f[0] * c[2] - t[0] * e[2] - speed_m * dq - speed * dq_m
        out[m] = (top - second * q_m) / q
    return second
