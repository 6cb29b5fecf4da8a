"""Vectors and points fixed in bodies, their motion, and the layout of the rows that measure between them.

Along a motion j with twists (v, ω) of the bodies in world axes

    δ_j p = v_j + ω_j × r,    δ_j u = ω_j × u                                                        (kinematics, 5)

and along a motion with rates (v̇, ω̇) too

    x' = ω × x,      x'' = ω̇ × x + ω × x'
    p' = v + ω × r,  p'' = v̇ + ω̇ × r + ω × p'

These change along a motion m of the whole, with the twists (v_m, ω_m) of the bodies and the changes (∂v, ∂ω) of v and ω
in body axes, by

    ∂x = ω_m × x,  ∂x' = ω_m × x' + ∂ω × x,  ∂x'' = ω_m × x'' + ∂ω × x' + ω × (∂ω × x)
    ∂p = v_m + ω_m × r,  ∂p' = ω_m × p' + ∂v + ∂ω × r,  ∂p'' = ω_m × p'' + ∂ω × p' + ω × (∂v + ∂ω × r)

where v̇ and ω̇ keep their components in body axes (docs/theory/linearization.md, eqs. 8-11).

`X[b]` holds position (3) and rotation (9, row by row) of body b; the last body is the ground.
"""

from __future__ import annotations

from typing import NamedTuple

from supple.array_types import Array
from supple.compilation import kernel
from supple.geometry.vectors import cross, dot, minus, plus

# A term of a row in the arrays `rows_i` and `rows_f`: a factor times a measure, plus an offset.
#
# A row of the mechanism is a chain of terms (kinematics, 13): THEN is the row of its next term, NONE after the last.
#
# An angle is known within a turn. Where a row counts full turns, TURNS is the number of the measure among those that
# are followed (`Configuration.w`) that does so, and φ = w - ZERO to within half a turn (kinematics, 14).


ALONG, DOT, DISTANCE, ANGLE = KINDS = 0, 1, 2, 3
LENGTHS = (ALONG, DISTANCE)

KIND, A, B, THEN, TURNS = 0, 1, 2, 3, 4  # columns of rows_i
NONE = -1

U, V, W, PA, PB, OFFSET, SCALE, FACTOR, ZERO = 0, 3, 6, 9, 12, 15, 16, 17, 18  # columns of rows_f
ROW_WIDTH = 19


# Vectors and points in motion.


class Course(NamedTuple):
    """A motion with its rates, and its changes along other motions; every twist in world axes.

    moving : (bodies + 1, 6) (v, ω);          pushed : (bodies + 1, 6) (v̇, ω̇)
    twists : (bodies + 1, s, 6) (v_m, ω_m);   bent   : (bodies + 1, s, 6) (∂v, ∂ω)
    """

    moving: Array
    pushed: Array
    twists: Array
    bent: Array


@kernel(inline=True)
def local(f, i, at):
    """Return the vector at rows_f[i, at:at+3], in the axes of its body."""
    return (f[i, at], f[i, at + 1], f[i, at + 2])


@kernel(inline=True)
def rotate_to_world(X, b, f, i, at):
    """Return the vector at rows_f[i, at:at+3] in world axes, R_b times `local`."""
    x, y, z = f[i, at], f[i, at + 1], f[i, at + 2]
    return (
        X[b, 3] * x + X[b, 4] * y + X[b, 5] * z,
        X[b, 6] * x + X[b, 7] * y + X[b, 8] * z,
        X[b, 9] * x + X[b, 10] * y + X[b, 11] * z,
    )


@kernel(inline=True)
def in_body(X, b, v):
    """Return R_bᵀ v."""
    return (
        X[b, 3] * v[0] + X[b, 6] * v[1] + X[b, 9] * v[2],
        X[b, 4] * v[0] + X[b, 7] * v[1] + X[b, 10] * v[2],
        X[b, 5] * v[0] + X[b, 8] * v[1] + X[b, 11] * v[2],
    )


@kernel(inline=True)
def separation(X, a, b, f, i):
    """Return d = p_b - p_a in the world."""
    there = plus((X[b, 0], X[b, 1], X[b, 2]), rotate_to_world(X, b, f, i, PB))
    return minus(there, plus((X[a, 0], X[a, 1], X[a, 2]), rotate_to_world(X, a, f, i, PA)))


@kernel(inline=True)
def spin_of(twist):
    """Return ω of a twist."""
    return (twist[3], twist[4], twist[5])


@kernel(inline=True)
def point_velocity(twist, r):
    """Return v + ω × r."""
    return plus((twist[0], twist[1], twist[2]), cross(spin_of(twist), r))


@kernel(inline=True)
def differentiate_vector(twists, b, j, u):
    """Return δ_j u = ω_j × u of a vector fixed in body b."""
    return cross((twists[b, j, 3], twists[b, j, 4], twists[b, j, 5]), u)


@kernel(inline=True)
def along_motion(twists, b, j, r):
    """Return δ_j p = v_j + ω_j × r of the point at r from the origin of body b."""
    return plus((twists[b, j, 0], twists[b, j, 1], twists[b, j, 2]), differentiate_vector(twists, b, j, r))


@kernel(inline=True)
def store_vector(scratch, j, at, a):
    """Store a vector in row j of the workspace."""
    scratch[j, at], scratch[j, at + 1], scratch[j, at + 2] = a[0], a[1], a[2]


@kernel(inline=True)
def product(scratch, j, at, k, to):
    """Return the scalar product of two stored vectors."""
    return dot(local(scratch, j, at), local(scratch, k, to))


@kernel(inline=True)
def spin(twists, b, k, scratch, j, at):
    """Return the scalar product of ω_k of body b and a stored vector."""
    return dot((twists[b, k, 3], twists[b, k, 4], twists[b, k, 5]), local(scratch, j, at))


@kernel
def vector_rates(moving, pushed, b, x):
    """Return x, x', x'' of a vector fixed in body b."""
    w = spin_of(moving[b])
    first = cross(w, x)
    return x, first, plus(cross(spin_of(pushed[b]), x), cross(w, first))


@kernel
def point_rates(moving, pushed, b, r):
    """Return p', p'' of the point at r from the origin of body b."""
    first = point_velocity(moving[b], r)
    return first, plus(point_velocity(pushed[b], r), cross(spin_of(moving[b]), first))


@kernel
def vector_slopes(moving, along, bend, x):
    """Return ∂x, ∂x', ∂x'' of x with its rates, in a body with twists (v, ω), (v_m, ω_m) and (∂v, ∂ω)."""
    w, bent = spin_of(along), spin_of(bend)
    turn = cross(bent, x[0])
    return (
        cross(w, x[0]),
        plus(cross(w, x[1]), turn),
        plus(plus(cross(w, x[2]), cross(bent, x[1])), cross(spin_of(moving), turn)),
    )


@kernel
def point_slopes(moving, along, bend, r, rates):
    """Return ∂p, ∂p', ∂p'' of a point; rates are p', p''."""
    w, change = spin_of(along), point_velocity(bend, r)
    return (
        point_velocity(along, r),
        plus(cross(w, rates[0]), change),
        plus(plus(cross(w, rates[1]), cross(spin_of(bend), rates[0])), cross(spin_of(moving), change)),
    )


@kernel
def apart(p, q):
    """Return q - p, both with two rates."""
    return (minus(q[0], p[0]), minus(q[1], p[1]), minus(q[2], p[2]))


@kernel
def product_rates(x, y):
    """Return x·y and its two rates; x and y are vectors with theirs."""
    return (
        dot(x[0], y[0]),
        dot(x[1], y[0]) + dot(x[0], y[1]),
        dot(x[2], y[0]) + 2.0 * dot(x[1], y[1]) + dot(x[0], y[2]),
    )


@kernel
def product_slopes(x, y, dx, dy):
    """Return the changes of x·y and its two rates."""
    return (
        dot(dx[0], y[0]) + dot(x[0], dy[0]),
        dot(dx[1], y[0]) + dot(x[1], dy[0]) + dot(dx[0], y[1]) + dot(x[0], dy[1]),
        dot(dx[2], y[0])
        + dot(x[2], dy[0])
        + 2.0 * (dot(dx[1], y[1]) + dot(x[1], dy[1]))
        + dot(dx[0], y[2])
        + dot(x[0], dy[2]),
    )
