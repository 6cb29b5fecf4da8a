"""The scalar measures every joint, coordinate, actuator, spring and sensor is made of.

A measure φ relates two frames, one on body a and one on body b (docs/theory/kinematics.md, eqs. 1-9):

    ALONG      u·(p_b - p_a)               u fixed in a
    DOT        u·w                         u fixed in a, w in b
    DISTANCE   |p_b - p_a|
    ANGLE      atan2(v·w, u·w)             u, v fixed in a at right angles, w in b

Its gradient is taken with respect to the twists (v, ω) of both bodies, in their own axes. Its second
derivative along two rigid motions j and k uses that a vector fixed in a body, and the velocity field of
a motion with constant components in body axes, both turn with the body:  ∂_k(δ_j p) = ω_k × δ_j p.

A row of the arrays `rows_i` and `rows_f` is one term: a factor times a measure, plus an offset. A row of the mechanism
is a chain of terms (kinematics, 13): `THEN` is the row of its next term, NONE after the last. Everything here is of one
term, factor included; whoever uses a row adds its terms up.

An angle is known within a turn. Where a row counts full turns, TURNS is the number of the measure among those that are
followed (`Configuration.w`) that does so, and φ = w - ZERO to within half a turn (kinematics, 14).

`X[b]` holds position (3) and rotation (9, row by row) of body b;
the last body is the ground.
"""

from __future__ import annotations

from math import atan2, pi, sqrt

import numpy as np

from supple.compilation import kernel
from supple.geometry.vectors import cross, dot, minus, times

ALONG, DOT, DISTANCE, ANGLE = KINDS = 0, 1, 2, 3
LENGTHS = (ALONG, DISTANCE)

KIND, A, B, THEN, TURNS = 0, 1, 2, 3, 4  # columns of rows_i
NONE = -1

U, V, W, PA, PB, OFFSET, SCALE, FACTOR, ZERO = 0, 3, 6, 9, 12, 15, 16, 17, 18  # columns of rows_f
ROW_WIDTH = 19


@kernel
def turned(X, b, f, i, at):
    """R_b times the vector at rows_f[i, at:at+3]."""
    x, y, z = f[i, at], f[i, at + 1], f[i, at + 2]
    return (
        X[b, 3] * x + X[b, 4] * y + X[b, 5] * z,
        X[b, 6] * x + X[b, 7] * y + X[b, 8] * z,
        X[b, 9] * x + X[b, 10] * y + X[b, 11] * z,
    )


@kernel
def in_body(X, b, v):
    """R_bᵀ v."""
    return (
        X[b, 3] * v[0] + X[b, 6] * v[1] + X[b, 9] * v[2],
        X[b, 4] * v[0] + X[b, 7] * v[1] + X[b, 10] * v[2],
        X[b, 5] * v[0] + X[b, 8] * v[1] + X[b, 11] * v[2],
    )


@kernel
def separation(X, a, b, f, i):
    """p_b - p_a in the world."""
    ra, rb = turned(X, a, f, i, PA), turned(X, b, f, i, PB)
    return (
        X[b, 0] + rb[0] - X[a, 0] - ra[0],
        X[b, 1] + rb[1] - X[a, 1] - ra[1],
        X[b, 2] + rb[2] - X[a, 2] - ra[2],
    )


@kernel
def gradient(rows_i, rows_f, i, X, g):
    """Value and gradient of term i: g = (value, ∂/∂twist_a (6), ∂/∂twist_b (6)), in body axes."""
    kind, a, b = rows_i[i, KIND], rows_i[i, A], rows_i[i, B]
    found = 0.0
    fa = (0.0, 0.0, 0.0)
    ma = (0.0, 0.0, 0.0)
    fb = (0.0, 0.0, 0.0)
    mb = (0.0, 0.0, 0.0)
    if kind == ALONG:
        d = separation(X, a, b, rows_f, i)
        u = turned(X, a, rows_f, i, U)
        found = dot(u, d)
        dl = in_body(X, a, d)
        ul = (rows_f[i, U], rows_f[i, U + 1], rows_f[i, U + 2])
        arm = (rows_f[i, PA] + dl[0], rows_f[i, PA + 1] + dl[1], rows_f[i, PA + 2] + dl[2])
        fa = (-ul[0], -ul[1], -ul[2])
        ma = cross(ul, arm)
        fb = in_body(X, b, u)
        mb = cross((rows_f[i, PB], rows_f[i, PB + 1], rows_f[i, PB + 2]), fb)
    elif kind == DOT:
        u = turned(X, a, rows_f, i, U)
        w = turned(X, b, rows_f, i, W)
        found = dot(u, w)
        c = cross(u, w)
        ma = in_body(X, a, c)
        mb = in_body(X, b, (-c[0], -c[1], -c[2]))
    elif kind == DISTANCE:
        d = separation(X, a, b, rows_f, i)
        found = sqrt(dot(d, d))
        n = (d[0] / found, d[1] / found, d[2] / found)
        fb = in_body(X, b, n)
        fa = in_body(X, a, (-n[0], -n[1], -n[2]))
        ma = cross((rows_f[i, PA], rows_f[i, PA + 1], rows_f[i, PA + 2]), fa)
        mb = cross((rows_f[i, PB], rows_f[i, PB + 1], rows_f[i, PB + 2]), fb)
    else:
        u = turned(X, a, rows_f, i, U)
        v = turned(X, a, rows_f, i, V)
        w = turned(X, b, rows_f, i, W)
        c, s = dot(u, w), dot(v, w)
        found = atan2(s, c)
        q = 1.0 / (c * c + s * s)
        uw, vw = cross(u, w), cross(v, w)
        n = (
            q * (c * vw[0] - s * uw[0]),
            q * (c * vw[1] - s * uw[1]),
            q * (c * vw[2] - s * uw[2]),
        )
        ma = in_body(X, a, n)
        mb = in_body(X, b, (-n[0], -n[1], -n[2]))
    factor = rows_f[i, FACTOR]
    g[0] = factor * found + rows_f[i, OFFSET]
    for k in range(3):
        g[1 + k] = factor * fa[k]
        g[4 + k] = factor * ma[k]
        g[7 + k] = factor * fb[k]
        g[10 + k] = factor * mb[k]


@kernel
def value(rows_i, rows_f, i, X):
    """Value of term i alone, angles within a turn."""
    kind, a, b = rows_i[i, KIND], rows_i[i, A], rows_i[i, B]
    if kind == ALONG:
        found = dot(turned(X, a, rows_f, i, U), separation(X, a, b, rows_f, i))
    elif kind == DISTANCE:
        d = separation(X, a, b, rows_f, i)
        found = sqrt(dot(d, d))
    else:
        w = turned(X, b, rows_f, i, W)
        found = dot(turned(X, a, rows_f, i, U), w)
        if kind == ANGLE:
            found = atan2(dot(turned(X, a, rows_f, i, V), w), found)
    return rows_f[i, FACTOR] * found + rows_f[i, OFFSET]


@kernel
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


@kernel
def along_motion(twists, b, j, r):
    """δ_j p = v_j + ω_j × r: velocity of a point at r from the origin of body b, in world axes."""
    w = (twists[b, j, 3], twists[b, j, 4], twists[b, j, 5])
    t = cross(w, r)
    return (twists[b, j, 0] + t[0], twists[b, j, 1] + t[1], twists[b, j, 2] + t[2])


@kernel
def turning(twists, b, j, u):
    """δ_j u = ω_j × u: change of a vector fixed in body b, in world axes."""
    return cross((twists[b, j, 3], twists[b, j, 4], twists[b, j, 5]), u)


@kernel
def stored(scratch, j, at, a):
    """Keep a vector in row j of the workspace."""
    scratch[j, at], scratch[j, at + 1], scratch[j, at + 2] = a[0], a[1], a[2]


@kernel
def product(scratch, j, at, k, to):
    """Scalar product of two stored vectors."""
    return (
        scratch[j, at] * scratch[k, to]
        + scratch[j, at + 1] * scratch[k, to + 1]
        + scratch[j, at + 2] * scratch[k, to + 2]
    )


@kernel
def spin(twists, b, k, scratch, j, at):
    """ω_k of body b times a stored vector."""
    return (
        twists[b, k, 3] * scratch[j, at] + twists[b, k, 4] * scratch[j, at + 1] + twists[b, k, 5] * scratch[j, at + 2]
    )


@kernel
def bilinear(twists, s, a, u, b, w, scratch, h):
    """Second derivatives of u·w, k >= j: h[j, k] = ω_k^a·(δ_j u × w) + ω_k^b·(δ_j w × u) + δ_j u·δ_k w + δ_k u·δ_j w.

    Leaves its first derivative along motion j in scratch[j, 12].
    """
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
def curvature(rows_i, rows_f, i, X, twists, s, scratch, h):
    """Second derivatives h[j, k] = (∂_k φ_q) Ψ_j, k >= j, of term i along s rigid motions.

    ∂_k moves the mechanism along motion k and keeps the components of Ψ_j in body axes.
    twists  : (bodies + 1, s, 6) the motions' twists in world axes
    scratch : (2 s, 13) workspace
    """
    kind, a, b = rows_i[i, KIND], rows_i[i, A], rows_i[i, B]
    factor = rows_f[i, FACTOR]
    u = turned(X, a, rows_f, i, U)
    if kind in (ALONG, DISTANCE):
        ra, rb = turned(X, a, rows_f, i, PA), turned(X, b, rows_f, i, PB)
        d = separation(X, a, b, rows_f, i)
        length = 1.0
        if kind == DISTANCE:
            u = d
            length = sqrt(dot(d, d))
        for j in range(s):
            pa, pb = along_motion(twists, a, j, ra), along_motion(twists, b, j, rb)
            dj = minus(pb, pa)
            about_a, about_b = cross(u, pa), cross(pb, u)  # ω_k·(p_j × u) = u·(ω_k × p_j)
            if kind == ALONG:
                uj = turning(twists, a, j, u)
                stored(scratch, j, 0, uj)
                along = cross(uj, d)
                about_a = (about_a[0] + along[0], about_a[1] + along[1], about_a[2] + along[2])
            stored(scratch, j, 3, dj)
            stored(scratch, j, 6, about_a)
            stored(scratch, j, 9, about_b)
            scratch[j, 12] = dot(u, dj) / length
        for j in range(s):
            for k in range(j, s):
                total = spin(twists, a, k, scratch, j, 6) + spin(twists, b, k, scratch, j, 9)
                if kind == ALONG:
                    total += product(scratch, j, 0, k, 3) + product(scratch, k, 0, j, 3)
                else:
                    total += product(scratch, j, 3, k, 3) - scratch[j, 12] * scratch[k, 12]
                h[j, k] = factor * total / length
        return
    w = turned(X, b, rows_f, i, W)
    if kind == DOT:
        bilinear(twists, s, a, times(factor, u), b, w, scratch, h)
        return
    bilinear(twists, s, a, u, b, w, scratch, h)
    # atan2(t, c) with c = u·w, t = v·w
    v = turned(X, a, rows_f, i, V)
    c, t = dot(u, w), dot(v, w)
    q = 1.0 / (c * c + t * t)
    for j in range(s):
        scratch[s + j, 12] = scratch[j, 12]
        for k in range(j, s):
            h[j, k] *= -t
    second = np.empty((s, s))
    bilinear(twists, s, a, v, b, w, scratch, second)
    for j in range(s):
        cj, tj = scratch[s + j, 12], scratch[j, 12]
        for k in range(j, s):
            ck, tk = scratch[s + k, 12], scratch[k, 12]
            change = 2.0 * q * (c * ck + t * tk)
            h[j, k] = factor * q * (h[j, k] + c * second[j, k] + ck * tj - tk * cj - (c * tj - t * cj) * change)
