"""Product of two directions: φ = u·w, u fixed in body a, w in body b (kinematics, 2); zero where they are at right
angles."""

from __future__ import annotations

from supple.compilation import kernel
from supple.geometry.vectors import cross, dot, minus, negative
from supple.kinematics.primitives.columns import A, B, U, W
from supple.kinematics.primitives.vectors_in_motion import (
    in_body,
    local,
    product,
    product_rates,
    product_slopes,
    spin,
    spin_of,
    stored,
    turned,
    turning,
    vector_rates,
    vector_slopes,
)


@kernel(inline=True)
def value_right_angle(rows_i, rows_f, i, X):
    """φ"""
    return dot(turned(X, rows_i[i, A], rows_f, i, U), turned(X, rows_i[i, B], rows_f, i, W))


@kernel(inline=True)
def gradient_right_angle(rows_i, rows_f, i, X):
    """φ, ∂φ/∂v_a, ∂φ/∂ω_a, ∂φ/∂v_b, ∂φ/∂ω_b in body axes."""
    a, b = rows_i[i, A], rows_i[i, B]
    u, w = turned(X, a, rows_f, i, U), turned(X, b, rows_f, i, W)
    n, none = cross(u, w), (0.0, 0.0, 0.0)
    return dot(u, w), none, in_body(X, a, n), none, in_body(X, b, negative(n))


@kernel(inline=True)
def slope_right_angle(rows_i, rows_f, i, X, twist_a, twist_b):
    """Changes of the five along a motion."""
    a, b = rows_i[i, A], rows_i[i, B]
    u, w = turned(X, a, rows_f, i, U), turned(X, b, rows_f, i, W)
    relative, none = minus(spin_of(twist_a), spin_of(twist_b)), (0.0, 0.0, 0.0)
    # ∂φ/∂ω_a = u × R_aᵀw, and w turns by ω_b - ω_a as seen from a; ∂φ/∂ω_b likewise
    ma = cross(local(rows_f, i, U), in_body(X, a, cross(w, relative)))
    mb = cross(local(rows_f, i, W), in_body(X, b, cross(relative, u)))
    return dot(cross(relative, u), w), none, ma, none, mb


@kernel
def bilinear(twists, a, u, b, w, scratch, h):
    """h[j, k] = ω_k^a·(δ_j u × w) + ω_k^b·(δ_j w × u) + δ_j u·δ_k w + δ_k u·δ_j w, k >= j, for s = len(h).

    Leaves the first derivative of u·w along motion j in scratch[j, 12].
    """
    s = h.shape[0]
    for j in range(s):
        uj, wj = turning(twists, a, j, u), turning(twists, b, j, w)
        stored(scratch, j, 0, uj)
        stored(scratch, j, 3, wj)
        stored(scratch, j, 6, cross(uj, w))
        stored(scratch, j, 9, cross(wj, u))
        scratch[j, 12] = dot(uj, w) + dot(u, wj)
    for j in range(s):
        for k in range(j, s):
            h[j, k] = (
                spin(twists, a, k, scratch, j, 6)
                + spin(twists, b, k, scratch, j, 9)
                + product(scratch, j, 0, k, 3)
                + product(scratch, k, 0, j, 3)
            )


@kernel
def curvature_right_angle(rows_i, rows_f, i, X, twists, s, scratch, h):
    """Second derivatives of u·w along s motions, k >= j."""
    a, b = rows_i[i, A], rows_i[i, B]
    bilinear(twists, a, turned(X, a, rows_f, i, U), b, turned(X, b, rows_f, i, W), scratch, h[:s])


@kernel
def second_rate_right_angle(rows_i, rows_f, i, X, course, out):
    """φ'' = u''·w + 2 u'·w' + u·w'', and its changes along s motions in out (s,)."""
    a, b = rows_i[i, A], rows_i[i, B]
    moving, pushed, twists, bent = course
    u = vector_rates(moving, pushed, a, turned(X, a, rows_f, i, U))
    w = vector_rates(moving, pushed, b, turned(X, b, rows_f, i, W))
    for m in range(out.shape[0]):
        out[m] = product_slopes(
            u,
            w,
            vector_slopes(moving[a], twists[a, m], bent[a, m], u),
            vector_slopes(moving[b], twists[b, m], bent[b, m], w),
        )[2]
    return product_rates(u, w)[2]
