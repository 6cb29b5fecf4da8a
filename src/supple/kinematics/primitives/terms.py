"""The four measures, and the terms of rows: a factor times a measure. Kinds are checked where rows are numbered.

The gradient is taken with respect to the twists (v, ω) of both bodies, in their own axes. The second derivative along
two rigid motions j and k uses that a vector fixed in a body, and the velocity field of a motion with constant
components in body axes, both turn with the body:  ∂_k(δ_j p) = ω_k × δ_j p. The caller sums the terms of a row.
"""

from __future__ import annotations

from math import atan2, pi, sqrt

import numpy as np

from supple.compilation import kernel
from supple.geometry.vectors import cross, dot, minus, negative, plus, times
from supple.kinematics.primitives.vectors_in_motion import (
    ALONG,
    DISTANCE,
    DOT,
    FACTOR,
    KIND,
    NONE,
    OFFSET,
    PA,
    PB,
    THEN,
    TURNS,
    ZERO,
    A,
    B,
    U,
    V,
    W,
    along_motion,
    apart,
    differentiate_vector,
    in_body,
    local,
    point_rates,
    point_slopes,
    point_velocity,
    product,
    product_rates,
    product_slopes,
    rotate_to_world,
    separation,
    spin,
    spin_of,
    store_vector,
    vector_rates,
    vector_slopes,
)


@kernel
def value(rows_i, rows_f, i, X):
    """Return the value of term i alone, angles within a turn."""
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
def continue_turns(rows_i, rows_f, i, within_turn, w):
    """Return the value of term i with full turns added: the one closest to the followed measures w."""
    followed = rows_i[i, TURNS]
    if followed == NONE:
        return within_turn
    near = rows_f[i, FACTOR] * (w[followed] - rows_f[i, ZERO]) + rows_f[i, OFFSET]
    turn = 2.0 * pi * rows_f[i, FACTOR]
    return within_turn + turn * np.rint((near - within_turn) / turn)


@kernel
def row_value(rows_i, rows_f, i, X, w):
    """Return the value of row i, the sum of its terms, full turns of angles counted by the followed measures w."""
    total = 0.0
    term = i
    while term != NONE:
        total += continue_turns(rows_i, rows_f, term, value(rows_i, rows_f, term, X), w)
        term = rows_i[term, THEN]
    return total


@kernel(inline=True)
def put_gradient(factor, parts, g):
    """Set g (13,) = factor times (φ, ∂φ/∂v_a, ∂φ/∂ω_a, ∂φ/∂v_b, ∂φ/∂ω_b)."""
    phi, fa, ma, fb, mb = parts
    g[0] = factor * phi
    for k in range(3):
        g[1 + k] = factor * fa[k]
        g[4 + k] = factor * ma[k]
        g[7 + k] = factor * fb[k]
        g[10 + k] = factor * mb[k]


@kernel
def gradient(rows_i, rows_f, i, X, g):
    """Set value and gradient of term i: g = (value, ∂/∂twist_a (6), ∂/∂twist_b (6)), in body axes."""
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
    """Set dg (13,): change of g of term i along a motion; twists (6,) of the two frames' origins in world axes.

    A vector x fixed in frame a changes relative to frame b as R_bᵀ((ω_a - ω_b) × x); all slopes follow from that.
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
    """Set the second derivatives h[j, k] = (∂_k φ_q) Ψ_j, k >= j, of term i along s rigid motions.

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
    """Return the second rate of term i along a course, and set in out (s,) its changes along s motions."""
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


# Product of two directions: φ = u·w, u fixed in body a, w in body b (kinematics, 2); zero where they are at right
# angles.


@kernel(inline=True)
def value_right_angle(rows_i, rows_f, i, X):
    """Return φ."""
    return dot(rotate_to_world(X, rows_i[i, A], rows_f, i, U), rotate_to_world(X, rows_i[i, B], rows_f, i, W))


@kernel(inline=True)
def gradient_right_angle(rows_i, rows_f, i, X):
    """Return φ, ∂φ/∂v_a, ∂φ/∂ω_a, ∂φ/∂v_b, ∂φ/∂ω_b in body axes."""
    a, b = rows_i[i, A], rows_i[i, B]
    u, w = rotate_to_world(X, a, rows_f, i, U), rotate_to_world(X, b, rows_f, i, W)
    n, none = cross(u, w), (0.0, 0.0, 0.0)
    return dot(u, w), none, in_body(X, a, n), none, in_body(X, b, negative(n))


@kernel(inline=True)
def slope_right_angle(rows_i, rows_f, i, X, twist_a, twist_b):
    """Return the changes of these five along a motion."""
    a, b = rows_i[i, A], rows_i[i, B]
    u, w = rotate_to_world(X, a, rows_f, i, U), rotate_to_world(X, b, rows_f, i, W)
    relative, none = minus(spin_of(twist_a), spin_of(twist_b)), (0.0, 0.0, 0.0)
    # ∂φ/∂ω_a = u × R_aᵀw, and w turns by ω_b - ω_a as seen from a; ∂φ/∂ω_b likewise
    ma = cross(local(rows_f, i, U), in_body(X, a, cross(w, relative)))
    mb = cross(local(rows_f, i, W), in_body(X, b, cross(relative, u)))
    return dot(cross(relative, u), w), none, ma, none, mb


@kernel
def bilinear(twists, a, u, b, w, scratch, h):
    """Set h[j, k] = ω_k^a·(δ_j u × w) + ω_k^b·(δ_j w × u) + δ_j u·δ_k w + δ_k u·δ_j w, k >= j, for s = len(h).

    Leaves the first derivative of u·w along motion j in scratch[j, 12].
    """
    s = h.shape[0]
    for j in range(s):
        uj, wj = differentiate_vector(twists, a, j, u), differentiate_vector(twists, b, j, w)
        store_vector(scratch, j, 0, uj)
        store_vector(scratch, j, 3, wj)
        store_vector(scratch, j, 6, cross(uj, w))
        store_vector(scratch, j, 9, cross(wj, u))
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
    """Set the second derivatives of u·w along s motions, k >= j."""
    a, b = rows_i[i, A], rows_i[i, B]
    bilinear(twists, a, rotate_to_world(X, a, rows_f, i, U), b, rotate_to_world(X, b, rows_f, i, W), scratch, h[:s])


@kernel
def second_rate_right_angle(rows_i, rows_f, i, X, course, out):
    """Return φ'' = u''·w + 2 u'·w' + u·w'', and set its changes along s motions in out (s,)."""
    a, b = rows_i[i, A], rows_i[i, B]
    moving, pushed, twists, bent = course
    u = vector_rates(moving, pushed, a, rotate_to_world(X, a, rows_f, i, U))
    w = vector_rates(moving, pushed, b, rotate_to_world(X, b, rows_f, i, W))
    for m in range(out.shape[0]):
        out[m] = product_slopes(
            u,
            w,
            vector_slopes(moving[a], twists[a, m], bent[a, m], u),
            vector_slopes(moving[b], twists[b, m], bent[b, m], w),
        )[2]
    return product_rates(u, w)[2]


# Distance of two points: φ = ℓ = |d|, d = p_b - p_a (kinematics, 3 and 8).


@kernel(inline=True)
def value_distance(rows_i, rows_f, i, X):
    """Return ℓ."""
    d = separation(X, rows_i[i, A], rows_i[i, B], rows_f, i)
    return sqrt(dot(d, d))


@kernel(inline=True)
def gradient_distance(rows_i, rows_f, i, X):
    """Return ℓ, ∂ℓ/∂v_a, ∂ℓ/∂ω_a, ∂ℓ/∂v_b, ∂ℓ/∂ω_b in body axes."""
    a, b = rows_i[i, A], rows_i[i, B]
    d = separation(X, a, b, rows_f, i)
    length = sqrt(dot(d, d))
    n = times(1.0 / length, d)
    fa, fb = in_body(X, a, negative(n)), in_body(X, b, n)
    return length, fa, cross(local(rows_f, i, PA), fa), fb, cross(local(rows_f, i, PB), fb)


@kernel(inline=True)
def slope_distance(rows_i, rows_f, i, X, twist_a, twist_b):
    """Return the changes of these five along a motion."""
    a, b = rows_i[i, A], rows_i[i, B]
    wa, wb = spin_of(twist_a), spin_of(twist_b)
    d = separation(X, a, b, rows_f, i)
    there, here = rotate_to_world(X, b, rows_f, i, PB), rotate_to_world(X, a, rows_f, i, PA)
    change = minus(point_velocity(twist_b, there), point_velocity(twist_a, here))
    length = sqrt(dot(d, d))
    n = times(1.0 / length, d)
    speed = dot(n, change)
    dn = times(1.0 / length, minus(change, times(speed, n)))
    fa, fb = in_body(X, a, minus(cross(wa, n), dn)), in_body(X, b, minus(dn, cross(wb, n)))
    return speed, fa, cross(local(rows_f, i, PA), fa), fb, cross(local(rows_f, i, PB), fb)


@kernel
def curvature_distance(rows_i, rows_f, i, X, twists, s, scratch, h):
    """Set h[j, k] = [δ_j d·δ_k d + d·(ω_k^b × δ_j p_b - ω_k^a × δ_j p_a) - δ_j ℓ δ_k ℓ] / ℓ, k >= j."""
    a, b = rows_i[i, A], rows_i[i, B]
    d = separation(X, a, b, rows_f, i)
    here, there = rotate_to_world(X, a, rows_f, i, PA), rotate_to_world(X, b, rows_f, i, PB)
    length = sqrt(dot(d, d))
    for j in range(s):
        pa, pb = along_motion(twists, a, j, here), along_motion(twists, b, j, there)
        change = minus(pb, pa)
        store_vector(scratch, j, 3, change)
        store_vector(scratch, j, 6, cross(d, pa))  # ω_k·(p_j × d) = d·(ω_k × p_j)
        store_vector(scratch, j, 9, cross(pb, d))
        scratch[j, 12] = dot(d, change) / length
    for j in range(s):
        for k in range(j, s):
            about = spin(twists, a, k, scratch, j, 6) + spin(twists, b, k, scratch, j, 9)
            h[j, k] = (about + product(scratch, j, 3, k, 3) - scratch[j, 12] * scratch[k, 12]) / length


@kernel
def second_rate_distance(rows_i, rows_f, i, X, course, out):
    """Return ℓ'' from ℓ ℓ' = d·d',  ℓ ℓ'' = d'·d' + d·d'' - ℓ'²; set its changes along s motions in out (s,)."""
    a, b = rows_i[i, A], rows_i[i, B]
    moving, pushed, twists, bent = course
    here, there = rotate_to_world(X, a, rows_f, i, PA), rotate_to_world(X, b, rows_f, i, PB)
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


# Distance along a direction: φ = u·d, d = p_b - p_a, u fixed in body a (kinematics, 1 and 7).


@kernel(inline=True)
def value_along(rows_i, rows_f, i, X):
    """Return φ."""
    a, b = rows_i[i, A], rows_i[i, B]
    return dot(rotate_to_world(X, a, rows_f, i, U), separation(X, a, b, rows_f, i))


@kernel(inline=True)
def gradient_along(rows_i, rows_f, i, X):
    """Return φ, ∂φ/∂v_a, ∂φ/∂ω_a, ∂φ/∂v_b, ∂φ/∂ω_b in body axes."""
    a, b = rows_i[i, A], rows_i[i, B]
    d, u = separation(X, a, b, rows_f, i), rotate_to_world(X, a, rows_f, i, U)
    direction, force = local(rows_f, i, U), in_body(X, b, u)
    arm = plus(local(rows_f, i, PA), in_body(X, a, d))
    return dot(u, d), negative(direction), cross(direction, arm), force, cross(local(rows_f, i, PB), force)


@kernel(inline=True)
def slope_along(rows_i, rows_f, i, X, twist_a, twist_b):
    """Return the changes of these five along a motion."""
    a, b = rows_i[i, A], rows_i[i, B]
    wa, wb = spin_of(twist_a), spin_of(twist_b)
    d, u = separation(X, a, b, rows_f, i), rotate_to_world(X, a, rows_f, i, U)
    there, here = rotate_to_world(X, b, rows_f, i, PB), rotate_to_world(X, a, rows_f, i, PA)
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
    """Set h[j, k] = ω_k^a·(δ_j u × d) + δ_j u·δ_k d + δ_k u·δ_j d + u·(ω_k^b × δ_j p_b - ω_k^a × δ_j p_a), k >= j."""
    a, b = rows_i[i, A], rows_i[i, B]
    u, d = rotate_to_world(X, a, rows_f, i, U), separation(X, a, b, rows_f, i)
    here, there = rotate_to_world(X, a, rows_f, i, PA), rotate_to_world(X, b, rows_f, i, PB)
    for j in range(s):
        pa, pb = along_motion(twists, a, j, here), along_motion(twists, b, j, there)
        turn = differentiate_vector(twists, a, j, u)
        store_vector(scratch, j, 0, turn)
        store_vector(scratch, j, 3, minus(pb, pa))
        store_vector(scratch, j, 6, plus(cross(u, pa), cross(turn, d)))  # ω_k·(p_j × u) = u·(ω_k × p_j)
        store_vector(scratch, j, 9, cross(pb, u))
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
    """Return φ'' = u''·d + 2 u'·d' + u·d'', and set its changes along s motions in out (s,)."""
    a, b = rows_i[i, A], rows_i[i, B]
    moving, pushed, twists, bent = course
    here, there = rotate_to_world(X, a, rows_f, i, PA), rotate_to_world(X, b, rows_f, i, PB)
    rates_a, rates_b = point_rates(moving, pushed, a, here), point_rates(moving, pushed, b, there)
    d = (separation(X, a, b, rows_f, i), minus(rates_b[0], rates_a[0]), minus(rates_b[1], rates_a[1]))
    u = vector_rates(moving, pushed, a, rotate_to_world(X, a, rows_f, i, U))
    for m in range(out.shape[0]):
        dd = apart(
            point_slopes(moving[a], twists[a, m], bent[a, m], here, rates_a),
            point_slopes(moving[b], twists[b, m], bent[b, m], there, rates_b),
        )
        out[m] = product_slopes(u, d, vector_slopes(moving[a], twists[a, m], bent[a, m], u), dd)[2]
    return product_rates(u, d)[2]


# Angle of a direction about an axis: φ = atan2(t, c), c = u·w, t = v·w, u ⊥ v fixed in body a, w in body b
# (kinematics, 4).


@kernel(inline=True)
def value_angle(rows_i, rows_f, i, X):
    """Return φ within a turn."""
    a = rows_i[i, A]
    w = rotate_to_world(X, rows_i[i, B], rows_f, i, W)
    return atan2(dot(rotate_to_world(X, a, rows_f, i, V), w), dot(rotate_to_world(X, a, rows_f, i, U), w))


@kernel(inline=True)
def gradient_angle(rows_i, rows_f, i, X):
    """Return φ, ∂φ/∂v_a, ∂φ/∂ω_a, ∂φ/∂v_b, ∂φ/∂ω_b in body axes."""
    a, b = rows_i[i, A], rows_i[i, B]
    u, v, w = (
        rotate_to_world(X, a, rows_f, i, U),
        rotate_to_world(X, a, rows_f, i, V),
        rotate_to_world(X, b, rows_f, i, W),
    )
    c, t = dot(u, w), dot(v, w)
    n = times(1.0 / (c * c + t * t), minus(times(c, cross(v, w)), times(t, cross(u, w))))
    none = (0.0, 0.0, 0.0)
    return atan2(t, c), none, in_body(X, a, n), none, in_body(X, b, negative(n))


@kernel(inline=True)
def slope_angle(rows_i, rows_f, i, X, twist_a, twist_b):
    """Return the changes of these five along a motion."""
    a, b = rows_i[i, A], rows_i[i, B]
    wa, wb, none = spin_of(twist_a), spin_of(twist_b), (0.0, 0.0, 0.0)
    u, v, w = (
        rotate_to_world(X, a, rows_f, i, U),
        rotate_to_world(X, a, rows_f, i, V),
        rotate_to_world(X, b, rows_f, i, W),
    )
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
    """Set the second derivatives of the angle from those of c and t along s motions, k >= j."""
    a, b = rows_i[i, A], rows_i[i, B]
    u, v, w = (
        rotate_to_world(X, a, rows_f, i, U),
        rotate_to_world(X, a, rows_f, i, V),
        rotate_to_world(X, b, rows_f, i, W),
    )
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
    """Return φ'' and set its changes along s motions in out (s,).

    φ' = (c t' - t c') / q,  φ'' = (c t'' - t c'' - φ' q') / q,  q = c² + t²
    """
    a, b = rows_i[i, A], rows_i[i, B]
    moving, pushed, twists, bent = course
    u = vector_rates(moving, pushed, a, rotate_to_world(X, a, rows_f, i, U))
    v = vector_rates(moving, pushed, a, rotate_to_world(X, a, rows_f, i, V))
    w = vector_rates(moving, pushed, b, rotate_to_world(X, b, rows_f, i, W))
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
