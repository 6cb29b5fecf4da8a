"""Distance along a direction: φ = u·d, d = p_b - p_a, u fixed in body a (kinematics, 1 and 7)."""

from __future__ import annotations

from supple.compilation import kernel
from supple.geometry.vectors import cross, dot, minus, negative, plus
from supple.kinematics.primitives.columns import PA, PB, A, B, U
from supple.kinematics.primitives.vectors_in_motion import (
    along_motion,
    apart,
    in_body,
    local,
    point_rates,
    point_slopes,
    point_velocity,
    product,
    product_rates,
    product_slopes,
    separation,
    spin,
    spin_of,
    stored,
    turned,
    turning,
    vector_rates,
    vector_slopes,
)


@kernel(inline=True)
def value_along(rows_i, rows_f, i, X):
    """φ"""
    a, b = rows_i[i, A], rows_i[i, B]
    return dot(turned(X, a, rows_f, i, U), separation(X, a, b, rows_f, i))


@kernel(inline=True)
def gradient_along(rows_i, rows_f, i, X):
    """φ, ∂φ/∂v_a, ∂φ/∂ω_a, ∂φ/∂v_b, ∂φ/∂ω_b in body axes."""
    a, b = rows_i[i, A], rows_i[i, B]
    d, u = separation(X, a, b, rows_f, i), turned(X, a, rows_f, i, U)
    direction, force = local(rows_f, i, U), in_body(X, b, u)
    arm = plus(local(rows_f, i, PA), in_body(X, a, d))
    return dot(u, d), negative(direction), cross(direction, arm), force, cross(local(rows_f, i, PB), force)


@kernel(inline=True)
def slope_along(rows_i, rows_f, i, X, twist_a, twist_b):
    """Changes of the five along a motion."""
    a, b = rows_i[i, A], rows_i[i, B]
    wa, wb = spin_of(twist_a), spin_of(twist_b)
    d, u = separation(X, a, b, rows_f, i), turned(X, a, rows_f, i, U)
    there, here = turned(X, b, rows_f, i, PB), turned(X, a, rows_f, i, PA)
    change, du = minus(point_velocity(twist_b, there), point_velocity(twist_a, here)), cross(wa, u)  # of d and u
    force = in_body(X, b, minus(du, cross(wb, u)))
    return (
        dot(du, d) + dot(u, change),
        (0.0, 0.0, 0.0),
        cross(local(rows_f, i, U), in_body(X, a, minus(change, cross(wa, d)))),
        force,
        cross(local(rows_f, i, PB), force),
    )


@kernel
def curvature_along(rows_i, rows_f, i, X, twists, s, scratch, h):
    """h[j, k] = ω_k^a·(δ_j u × d) + δ_j u·δ_k d + δ_k u·δ_j d + u·(ω_k^b × δ_j p_b - ω_k^a × δ_j p_a), k >= j."""
    a, b = rows_i[i, A], rows_i[i, B]
    u, d = turned(X, a, rows_f, i, U), separation(X, a, b, rows_f, i)
    here, there = turned(X, a, rows_f, i, PA), turned(X, b, rows_f, i, PB)
    for j in range(s):
        pa, pb = along_motion(twists, a, j, here), along_motion(twists, b, j, there)
        turn = turning(twists, a, j, u)
        stored(scratch, j, 0, turn)
        stored(scratch, j, 3, minus(pb, pa))
        stored(scratch, j, 6, plus(cross(u, pa), cross(turn, d)))  # ω_k·(p_j × u) = u·(ω_k × p_j)
        stored(scratch, j, 9, cross(pb, u))
    for j in range(s):
        for k in range(j, s):
            h[j, k] = (
                spin(twists, a, k, scratch, j, 6)
                + spin(twists, b, k, scratch, j, 9)
                + product(scratch, j, 0, k, 3)
                + product(scratch, k, 0, j, 3)
            )


@kernel
def second_rate_along(rows_i, rows_f, i, X, course, out):
    """φ'' = u''·d + 2 u'·d' + u·d'', and its changes along s motions in out (s,)."""
    a, b = rows_i[i, A], rows_i[i, B]
    moving, pushed, twists, bent = course
    here, there = turned(X, a, rows_f, i, PA), turned(X, b, rows_f, i, PB)
    rates_a, rates_b = point_rates(moving, pushed, a, here), point_rates(moving, pushed, b, there)
    d = (separation(X, a, b, rows_f, i), minus(rates_b[0], rates_a[0]), minus(rates_b[1], rates_a[1]))
    u = vector_rates(moving, pushed, a, turned(X, a, rows_f, i, U))
    for m in range(out.shape[0]):
        dd = apart(
            point_slopes(moving[a], twists[a, m], bent[a, m], here, rates_a),
            point_slopes(moving[b], twists[b, m], bent[b, m], there, rates_b),
        )
        out[m] = product_slopes(u, d, vector_slopes(moving[a], twists[a, m], bent[a, m], u), dd)[2]
    return product_rates(u, d)[2]
