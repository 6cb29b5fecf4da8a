"""Distance of two points: φ = ℓ = |d|, d = p_b - p_a (kinematics, 3 and 8)."""

from __future__ import annotations

from math import sqrt

from supple.compilation import kernel
from supple.geometry.vectors import cross, dot, minus, negative, times
from supple.kinematics.primitives.columns import PA, PB, A, B
from supple.kinematics.primitives.vectors_in_motion import (
    along_motion,
    apart,
    in_body,
    local,
    point_rates,
    point_slopes,
    point_velocity,
    product,
    separation,
    spin,
    spin_of,
    stored,
    turned,
)


@kernel(inline=True)
def value_distance(rows_i, rows_f, i, X):
    """ℓ"""
    d = separation(X, rows_i[i, A], rows_i[i, B], rows_f, i)
    return sqrt(dot(d, d))


@kernel(inline=True)
def gradient_distance(rows_i, rows_f, i, X):
    """ℓ, ∂ℓ/∂v_a, ∂ℓ/∂ω_a, ∂ℓ/∂v_b, ∂ℓ/∂ω_b in body axes."""
    a, b = rows_i[i, A], rows_i[i, B]
    d = separation(X, a, b, rows_f, i)
    length = sqrt(dot(d, d))
    n = times(1.0 / length, d)
    fa, fb = in_body(X, a, negative(n)), in_body(X, b, n)
    return length, fa, cross(local(rows_f, i, PA), fa), fb, cross(local(rows_f, i, PB), fb)


@kernel(inline=True)
def slope_distance(rows_i, rows_f, i, X, twist_a, twist_b):
    """Changes of the five along a motion."""
    a, b = rows_i[i, A], rows_i[i, B]
    wa, wb = spin_of(twist_a), spin_of(twist_b)
    d = separation(X, a, b, rows_f, i)
    there, here = turned(X, b, rows_f, i, PB), turned(X, a, rows_f, i, PA)
    change = minus(point_velocity(twist_b, there), point_velocity(twist_a, here))
    length = sqrt(dot(d, d))
    n = times(1.0 / length, d)
    speed = dot(n, change)
    dn = times(1.0 / length, minus(change, times(speed, n)))
    fa, fb = in_body(X, a, minus(cross(wa, n), dn)), in_body(X, b, minus(dn, cross(wb, n)))
    return speed, fa, cross(local(rows_f, i, PA), fa), fb, cross(local(rows_f, i, PB), fb)


@kernel
def curvature_distance(rows_i, rows_f, i, X, twists, s, scratch, h):
    """h[j, k] = [δ_j d·δ_k d + d·(ω_k^b × δ_j p_b - ω_k^a × δ_j p_a) - δ_j ℓ δ_k ℓ] / ℓ, k >= j."""
    a, b = rows_i[i, A], rows_i[i, B]
    d = separation(X, a, b, rows_f, i)
    here, there = turned(X, a, rows_f, i, PA), turned(X, b, rows_f, i, PB)
    length = sqrt(dot(d, d))
    for j in range(s):
        pa, pb = along_motion(twists, a, j, here), along_motion(twists, b, j, there)
        change = minus(pb, pa)
        stored(scratch, j, 3, change)
        stored(scratch, j, 6, cross(d, pa))  # ω_k·(p_j × d) = d·(ω_k × p_j)
        stored(scratch, j, 9, cross(pb, d))
        scratch[j, 12] = dot(d, change) / length
    for j in range(s):
        for k in range(j, s):
            about = spin(twists, a, k, scratch, j, 6) + spin(twists, b, k, scratch, j, 9)
            h[j, k] = (about + product(scratch, j, 3, k, 3) - scratch[j, 12] * scratch[k, 12]) / length


@kernel
def second_rate_distance(rows_i, rows_f, i, X, course, out):
    """ℓ ℓ' = d·d',  ℓ ℓ'' = d'·d' + d·d'' - ℓ'²; and the changes of ℓ'' along s motions in out (s,)."""
    a, b = rows_i[i, A], rows_i[i, B]
    moving, pushed, twists, bent = course
    here, there = turned(X, a, rows_f, i, PA), turned(X, b, rows_f, i, PB)
    rates_a, rates_b = point_rates(moving, pushed, a, here), point_rates(moving, pushed, b, there)
    d = (separation(X, a, b, rows_f, i), minus(rates_b[0], rates_a[0]), minus(rates_b[1], rates_a[1]))
    length = sqrt(dot(d[0], d[0]))
    speed = dot(d[0], d[1]) / length
    second = (dot(d[1], d[1]) + dot(d[0], d[2]) - speed * speed) / length
    for m in range(out.shape[0]):
        e = apart(
            point_slopes(moving[a], twists[a, m], bent[a, m], here, rates_a),
            point_slopes(moving[b], twists[b, m], bent[b, m], there, rates_b),
        )
        length_m = dot(d[0], e[0]) / length
        speed_m = (dot(e[0], d[1]) + dot(d[0], e[1]) - length_m * speed) / length
        top = 2.0 * dot(d[1], e[1]) + dot(e[0], d[2]) + dot(d[0], e[2]) - 2.0 * speed * speed_m
        out[m] = (top - length_m * second) / length
    return second
