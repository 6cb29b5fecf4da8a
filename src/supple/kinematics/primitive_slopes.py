"""How the gradient of a measure changes when both its frames move along with the mechanism.

The gradient g = (φ, ∂φ/∂twist_a, ∂φ/∂twist_b) of `primitives.gradient` is written in the axes of the two frames.
Along a motion with twists (v, ω) of the frames, a vector x fixed in frame a and seen from frame b changes as
R_bᵀ((ω_a - ω_b) × x), and everything below follows from that (docs/theory/kinematics.md, eqs. 1-9).
"""

from __future__ import annotations

from math import sqrt

from supple.compilation import kernel
from supple.geometry.vectors import cross, dot, minus, plus, times
from supple.kinematics.primitives import (
    ALONG,
    DISTANCE,
    DOT,
    FACTOR,
    KIND,
    PA,
    PB,
    A,
    B,
    U,
    V,
    W,
    in_body,
    separation,
    turned,
)


@kernel
def point_velocity(twist, r):
    """v + ω × r."""
    t = cross((twist[3], twist[4], twist[5]), r)
    return (twist[0] + t[0], twist[1] + t[1], twist[2] + t[2])


@kernel
def spin_of(twist):
    """ω."""
    return (twist[3], twist[4], twist[5])


@kernel
def local(f, i, at):
    """A vector of row i, in the axes of its frame."""
    return (f[i, at], f[i, at + 1], f[i, at + 2])


@kernel
def gradient_slope(rows_i, rows_f, i, X, twist_a, twist_b, dg):
    """dg (13,): change of g of term i along a motion; twists (6,) of the two frames' origins in world axes."""
    kind, a, b = rows_i[i, KIND], rows_i[i, A], rows_i[i, B]
    wa, wb = spin_of(twist_a), spin_of(twist_b)
    none = (0.0, 0.0, 0.0)
    value, fa, ma, fb, mb = 0.0, none, none, none, none
    if kind in (ALONG, DISTANCE):
        ra, rb = turned(X, a, rows_f, i, PA), turned(X, b, rows_f, i, PB)
        d = separation(X, a, b, rows_f, i)
        change = minus(point_velocity(twist_b, rb), point_velocity(twist_a, ra))  # of d, in world axes
        if kind == ALONG:
            u = turned(X, a, rows_f, i, U)
            du = cross(wa, u)
            value = dot(du, d) + dot(u, change)
            ma = cross(local(rows_f, i, U), in_body(X, a, minus(change, cross(wa, d))))
            fb = in_body(X, b, minus(du, cross(wb, u)))
        else:
            length = sqrt(dot(d, d))
            n = times(1.0 / length, d)
            value = dot(n, change)
            dn = times(1.0 / length, minus(change, times(value, n)))
            fb = in_body(X, b, minus(dn, cross(wb, n)))
            fa = in_body(X, a, minus(cross(wa, n), dn))
            ma = cross(local(rows_f, i, PA), fa)
        mb = cross(local(rows_f, i, PB), fb)
    elif kind == DOT:
        u, w = turned(X, a, rows_f, i, U), turned(X, b, rows_f, i, W)
        relative = minus(wa, wb)
        value = dot(cross(relative, u), w)
        # ma = u × R_aᵀw, and w turns by ω_b - ω_a as seen from a; mb likewise
        ma = cross(local(rows_f, i, U), in_body(X, a, cross(times(-1.0, relative), w)))
        mb = cross(local(rows_f, i, W), in_body(X, b, cross(relative, u)))
    else:
        u, v, w = turned(X, a, rows_f, i, U), turned(X, a, rows_f, i, V), turned(X, b, rows_f, i, W)
        du, dv, dw = cross(wa, u), cross(wa, v), cross(wb, w)
        c, s = dot(u, w), dot(v, w)
        dc, ds = dot(du, w) + dot(u, dw), dot(dv, w) + dot(v, dw)
        q = 1.0 / (c * c + s * s)
        dq = -2.0 * q * q * (c * dc + s * ds)
        uw, vw = cross(u, w), cross(v, w)
        duw, dvw = plus(cross(du, w), cross(u, dw)), plus(cross(dv, w), cross(v, dw))
        n = times(q, minus(times(c, vw), times(s, uw)))
        inner = minus(plus(times(dc, vw), times(c, dvw)), plus(times(ds, uw), times(s, duw)))
        dn = plus(times(dq / q, n), times(q, inner))
        value = q * (c * ds - s * dc)
        ma = in_body(X, a, minus(dn, cross(wa, n)))
        mb = in_body(X, b, minus(cross(wb, n), dn))
    factor = rows_f[i, FACTOR]
    dg[0] = factor * value
    for k in range(3):
        dg[1 + k], dg[4 + k] = factor * fa[k], factor * ma[k]
        dg[7 + k], dg[10 + k] = factor * fb[k], factor * mb[k]
