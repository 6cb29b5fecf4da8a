"""Second rates of measures along a motion, and how they change from one configuration to the next.

Along a motion with twists (v, ω) and their rates (v̇, ω̇) in body axes, a vector x fixed in a body and a point at r move

    x' = ω × x,      x'' = ω̇ × x + ω × x'
    p' = v + ω × r,  p'' = v̇ + ω̇ × r + ω × p'

and the second rate φ'' of a measure follows by the rules of products. Its change along a motion m of the whole, with
the twists (v_m, ω_m) of the bodies and the changes (∂v, ∂ω) of v and ω in body axes, by the same rules from

    ∂x = ω_m × x,  ∂x' = ω_m × x' + ∂ω × x,  ∂x'' = ω_m × x'' + ∂ω × x' + ω × (∂ω × x)
    ∂p = v_m + ω_m × r,  ∂p' = ω_m × p' + ∂v + ∂ω × r,  ∂p'' = ω_m × p'' + ∂ω × p' + ω × (∂v + ∂ω × r)

where v̇ and ω̇ keep their components in body axes (docs/theory/linearization.md, eqs. 8-11). Below every twist is given
in world axes: rows (v, ω) of `moving` and (v̇, ω̇) of `pushed` (bodies + 1, 6), (v_m, ω_m) of `twists` and (∂v, ∂ω) of
`bent` (bodies + 1, s, 6).
"""

from __future__ import annotations

from math import sqrt

from supple.compilation import kernel
from supple.geometry.vectors import cross, dot, minus, plus, times
from supple.kinematics.primitive_slopes import point_velocity, spin_of
from supple.kinematics.primitives import ALONG, DISTANCE, DOT, FACTOR, KIND, PA, PB, A, B, U, V, W, separation, turned


@kernel
def vector_rates(moving, pushed, b, x):
    """x', x'' of a vector fixed in body b."""
    w = spin_of(moving[b])
    first = cross(w, x)
    return first, plus(cross(spin_of(pushed[b]), x), cross(w, first))


@kernel
def point_rates(moving, pushed, b, r):
    """p', p'' of the point at r from the origin of body b."""
    first = point_velocity(moving[b], r)
    return first, plus(point_velocity(pushed[b], r), cross(spin_of(moving[b]), first))


@kernel
def vector_slopes(moving, b, along, bent, x, first, second):
    """∂x, ∂x', ∂x'' along the motion with twist `along` of body b."""
    w, turn = spin_of(along), cross(spin_of(bent), x)
    return (
        cross(w, x),
        plus(cross(w, first), turn),
        plus(plus(cross(w, second), cross(spin_of(bent), first)), cross(spin_of(moving[b]), turn)),
    )


@kernel
def point_slopes(moving, b, along, bent, r, first, second):
    """∂p, ∂p', ∂p'' likewise."""
    w, change = spin_of(along), point_velocity(bent, r)
    return (
        point_velocity(along, r),
        plus(cross(w, first), change),
        plus(plus(cross(w, second), cross(spin_of(bent), first)), cross(spin_of(moving[b]), change)),
    )


@kernel
def product_rates(x, y):
    """x·y and its two rates; x and y are vectors with theirs."""
    return (
        dot(x[0], y[0]),
        dot(x[1], y[0]) + dot(x[0], y[1]),
        dot(x[2], y[0]) + 2.0 * dot(x[1], y[1]) + dot(x[0], y[2]),
    )


@kernel
def product_slopes(x, y, dx, dy):
    """Changes of the three."""
    return (
        dot(dx[0], y[0]) + dot(x[0], dy[0]),
        dot(dx[1], y[0]) + dot(x[1], dy[0]) + dot(dx[0], y[1]) + dot(x[0], dy[1]),
        dot(dx[2], y[0])
        + dot(x[2], dy[0])
        + 2.0 * (dot(dx[1], y[1]) + dot(x[1], dy[1]))
        + dot(dx[0], y[2])
        + dot(x[0], dy[2]),
    )


@kernel
def second_rate(rows_i, rows_f, i, X, moving, pushed, twists, bent, s, out):
    """φ'' of term i, and in out (s,) its changes along s motions."""
    kind, a, b = rows_i[i, KIND], rows_i[i, A], rows_i[i, B]
    factor = rows_f[i, FACTOR]
    if kind in (ALONG, DISTANCE):
        ra, rb = turned(X, a, rows_f, i, PA), turned(X, b, rows_f, i, PB)
        first_a, second_a = point_rates(moving, pushed, a, ra)
        first_b, second_b = point_rates(moving, pushed, b, rb)
        d = (separation(X, a, b, rows_f, i), minus(first_b, first_a), minus(second_b, second_a))
        if kind == DISTANCE:
            found = second_rate_of_distance(
                d, moving, twists, bent, s, a, ra, first_a, second_a, b, rb, first_b, second_b, out
            )
            for m in range(s):
                out[m] *= factor
            return factor * found
        direction = times(factor, turned(X, a, rows_f, i, U))
        turn, again = vector_rates(moving, pushed, a, direction)
        u = (direction, turn, again)
        for m in range(s):
            da = point_slopes(moving, a, twists[a, m], bent[a, m], ra, first_a, second_a)
            db = point_slopes(moving, b, twists[b, m], bent[b, m], rb, first_b, second_b)
            du = vector_slopes(moving, a, twists[a, m], bent[a, m], u[0], u[1], u[2])
            dd = (minus(db[0], da[0]), minus(db[1], da[1]), minus(db[2], da[2]))
            out[m] = product_slopes(u, d, du, dd)[2]
        return product_rates(u, d)[2]
    ahead, across = turned(X, a, rows_f, i, U), turned(X, b, rows_f, i, W)
    turn, again = vector_rates(moving, pushed, a, ahead)
    u = (ahead, turn, again)
    turn, again = vector_rates(moving, pushed, b, across)
    w = (across, turn, again)
    if kind == DOT:
        u = (times(factor, u[0]), times(factor, u[1]), times(factor, u[2]))
        for m in range(s):
            du = vector_slopes(moving, a, twists[a, m], bent[a, m], u[0], u[1], u[2])
            dw = vector_slopes(moving, b, twists[b, m], bent[b, m], w[0], w[1], w[2])
            out[m] = product_slopes(u, w, du, dw)[2]
        return product_rates(u, w)[2]
    # atan2(t, c) with c = u·w, t = v·w:  φ' = (c t' - t c') / q,  φ'' = (c t'' - t c'' - φ' q') / q,  q = c² + t²
    aside = turned(X, a, rows_f, i, V)
    turn, again = vector_rates(moving, pushed, a, aside)
    v = (aside, turn, again)
    c, t = product_rates(u, w), product_rates(v, w)
    q, dq = c[0] * c[0] + t[0] * t[0], 2.0 * (c[0] * c[1] + t[0] * t[1])
    speed = (c[0] * t[1] - t[0] * c[1]) / q
    found = (c[0] * t[2] - t[0] * c[2] - speed * dq) / q
    for m in range(s):
        du = vector_slopes(moving, a, twists[a, m], bent[a, m], u[0], u[1], u[2])
        dv = vector_slopes(moving, a, twists[a, m], bent[a, m], v[0], v[1], v[2])
        dw = vector_slopes(moving, b, twists[b, m], bent[b, m], w[0], w[1], w[2])
        e, f = product_slopes(u, w, du, dw), product_slopes(v, w, dv, dw)  # changes of c and t
        q_m = 2.0 * (c[0] * e[0] + t[0] * f[0])
        dq_m = 2.0 * (e[0] * c[1] + c[0] * e[1] + f[0] * t[1] + t[0] * f[1])
        speed_m = (e[0] * t[1] + c[0] * f[1] - f[0] * c[1] - t[0] * e[1] - speed * q_m) / q
        top = e[0] * t[2] + c[0] * f[2] - f[0] * c[2] - t[0] * e[2] - speed_m * dq - speed * dq_m
        out[m] = factor * (top - found * q_m) / q
    return factor * found


@kernel
def second_rate_of_distance(d, moving, twists, bent, s, a, ra, first_a, second_a, b, rb, first_b, second_b, out):
    """Of ℓ = |d|: ℓ ℓ' = d·d',  ℓ ℓ'' = d'·d' + d·d'' - ℓ'²."""
    length = sqrt(dot(d[0], d[0]))
    speed = dot(d[0], d[1]) / length
    found = (dot(d[1], d[1]) + dot(d[0], d[2]) - speed * speed) / length
    for m in range(s):
        da = point_slopes(moving, a, twists[a, m], bent[a, m], ra, first_a, second_a)
        db = point_slopes(moving, b, twists[b, m], bent[b, m], rb, first_b, second_b)
        e = (minus(db[0], da[0]), minus(db[1], da[1]), minus(db[2], da[2]))
        length_m = dot(d[0], e[0]) / length
        speed_m = (dot(e[0], d[1]) + dot(d[0], e[1]) - length_m * speed) / length
        top = 2.0 * dot(d[1], e[1]) + dot(e[0], d[2]) + dot(d[0], e[2]) - 2.0 * speed * speed_m
        out[m] = (top - length_m * found) / length
    return found
