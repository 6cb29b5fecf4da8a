"""Axes of a beam element in space, their dependence on its ends, and its inertia.

Vectors are in element axes unless stated otherwise.
"""

from __future__ import annotations

from supple.compilation import kernel
from supple.formulations.absolute.beams.beam_arrays import ARMS, AXES, LENGTH, SHORTENING
from supple.formulations.absolute.beams.element_work import (
    ARM,
    END_WIDTH,
    ENDS,
    HOLD,
    KAPPA,
    MOMENTUM,
    RATES,
    RELATIVE,
    THETA,
    E,
    S,
    W,
    add_at,
    in_rows,
    put_at,
    rate_factor,
    root,
    turn_factor,
    vector_at,
)
from supple.geometry.vectors import cross, dot, minus, plus, times

# The axes (docs/theory/flexible-motion.md, eqs. 10-13).
#
# x runs along the chord. About it the axes are turned so that the sections of both ends, taken together, are not
# twisted against them: with A the element's axes at rest and e₂·Σ R a₃ = e₃·Σ R a₂.


ANGULAR = 3  # behind the velocity of an end
TWIST = 6  # what an end has


@kernel(inline=True)
def in_world(X, b, v):
    """Return R_b v."""
    return (
        X[b, 3] * v[0] + X[b, 4] * v[1] + X[b, 5] * v[2],
        X[b, 6] * v[0] + X[b, 7] * v[1] + X[b, 8] * v[2],
        X[b, 9] * v[0] + X[b, 10] * v[1] + X[b, 11] * v[2],
    )


@kernel(inline=True)
def end_place(constants, end, X, b):
    """Return the position of the end of frame b in world axes."""
    arm = in_world(X, b, vector_at(constants, ARMS + 3 * end))
    return (X[b, 0] + arm[0], X[b, 1] + arm[1], X[b, 2] + arm[2])


@kernel
def space_frame(constants, X, i, j, work):
    """Compute the element axes, and those of its nodes i, j and end sections within them; return its length."""
    chord = minus(end_place(constants, 1, X, j), end_place(constants, 0, X, i))
    length = root(dot(chord, chord))
    e1 = times(1.0 / length, chord)
    second = (constants[AXES + 1], constants[AXES + 4], constants[AXES + 7])
    third = (constants[AXES + 2], constants[AXES + 5], constants[AXES + 8])
    y = plus(in_world(X, i, second), in_world(X, j, second))
    z = plus(in_world(X, i, third), in_world(X, j, third))
    across = cross(plus(z, cross(e1, y)), e1)
    e2 = times(1.0 / root(dot(across, across)), across)
    put_at(work, E, e1)
    put_at(work, E + 3, e2)
    put_at(work, E + 6, cross(e1, e2))
    for end in range(2):
        b, skip = (i, 0) if end == 0 else (j, END_WIDTH)
        for r in range(0, 9, 3):
            for c in range(3):
                work[S + skip + r + c] = (
                    work[E + r] * X[b, 3 + c] + work[E + r + 1] * X[b, 6 + c] + work[E + r + 2] * X[b, 9 + c]
                )
            for c in range(3):
                column = (constants[AXES + c], constants[AXES + 3 + c], constants[AXES + 6 + c])
                work[RELATIVE + skip + r + c] = dot(vector_at(work, S + skip + r), column)
        relative = RELATIVE + skip
        put_at(work, HOLD + skip, (work[relative + 4] + work[relative + 8], -work[relative + 1], -work[relative + 2]))
        put_at(work, ARM + skip, in_rows(work, S + skip, vector_at(constants, ARMS + 3 * end)))
    return length


@kernel
def space_velocities(V, i, j, work):
    """Compute the velocities w of both ends."""
    for end in range(2):
        b, skip = (i, 0) if end == 0 else (j, END_WIDTH)
        spin = in_rows(work, S + skip, (V[b, 3], V[b, 4], V[b, 5]))
        velocity = plus(in_rows(work, E, (V[b, 0], V[b, 1], V[b, 2])), cross(spin, vector_at(work, ARM + skip)))
        put_at(work, W + TWIST * end, velocity)
        put_at(work, W + TWIST * end + ANGULAR, spin)


@kernel
def frame_spin(length, work):
    """Compute ω_E, the angular velocity of the element axes."""
    held, other = vector_at(work, HOLD), vector_at(work, HOLD + END_WIDTH)
    total = plus(held, other)
    about_y = (work[W + 2] - work[W + TWIST + 2]) / length
    about_z = (work[W + TWIST + 1] - work[W + 1]) / length
    about_x = dot(held, vector_at(work, W + ANGULAR)) + dot(other, vector_at(work, W + TWIST + ANGULAR))
    return ((about_x - total[1] * about_y - total[2] * about_z) / total[0], about_y, about_z)


@kernel
def local_rotations(work):
    """Compute θ of both ends and their factors κ."""
    for skip in range(0, 2 * END_WIDTH, END_WIDTH):
        R = RELATIVE + skip
        scale = 1.0 / (1.0 + work[R] + work[R + 4] + work[R + 8])
        t = times(scale, (work[R + 7] - work[R + 5], work[R + 2] - work[R + 6], work[R + 3] - work[R + 1]))
        square = dot(t, t)
        g = turn_factor(square)
        work[KAPPA + skip] = rate_factor(square, g)
        put_at(work, THETA + skip, times(g, t))


@kernel
def space_stretch(constants, length, work):
    """Return the stretch of an element: of its chord, with the shortening by its local rotations."""
    stretch = length - constants[LENGTH]
    for k in range(3):
        at, t1, t2 = SHORTENING + 4 * k, work[THETA + k], work[THETA + END_WIDTH + k]
        stretch += 0.5 * (constants[at] * t1 * t1 + 2.0 * constants[at + 1] * t1 * t2 + constants[at + 3] * t2 * t2)
    return stretch


# Inertia: Lagrange's equations of T = ½ wᵀ M w (docs/theory/flexible-motion.md, eqs. 8, 9, 16).
#
# Rotations of the ends are slopes of the element's shapes in bending. Where the chord is s = l/L times as long as at
# rest, the same rotation is s times the slope, so that a stretched element turns with the inertia of its length: in M
# the components of ω across the axis count s times.


@kernel
def space_product(coupled, M, work, source, target):
    """Compute M x, M (12, 4) in the layout of `BeamArrays.coupled`, from one position of `work` to another."""
    for r in range(2 * TWIST):
        total = M[r, 0] * work[source + coupled[r, 0]] + M[r, 1] * work[source + coupled[r, 1]]
        work[target + r] = total + M[r, 2] * work[source + coupled[r, 2]] + M[r, 3] * work[source + coupled[r, 3]]


@kernel
def space_momentum(coupled, M, longer, work):
    """Compute P = ∂T/∂w; return L ∂T/∂l."""
    for k in range(2 * TWIST):
        work[RATES + k] = work[W + k] * (longer if k % TWIST > ANGULAR else 1.0)
    space_product(coupled, M, work, RATES, MOMENTUM)
    swing = 0.0 * longer
    for k in range(2 * TWIST):
        if k % TWIST > ANGULAR:
            swing += work[MOMENTUM + k] * work[W + k]
            work[MOMENTUM + k] *= longer
    return swing


@kernel
def space_momentum_rate(coupled, M, longer, lengthening, work):
    """Compute Ṗ in element axes from the rates of w and add it to the ends; lengthening : ṡ."""
    for k in range(2 * TWIST):
        if k % TWIST > ANGULAR:
            work[RATES + k] = longer * work[RATES + k] + lengthening * work[W + k]
    space_product(coupled, M, work, RATES, ENDS)
    for k in range(2 * TWIST):
        if k % TWIST > ANGULAR:
            work[ENDS + k] = longer * work[ENDS + k] + lengthening / longer * work[MOMENTUM + k]


@kernel
def space_rates(acceleration, i, j, spin, work):
    """Compute the rates of w: ẇ = Eᵀ p̈ - ω_E × w, and likewise for rotations."""
    for end in range(2):
        b, skip, at = (i, 0, TWIST * end) if end == 0 else (j, END_WIDTH, TWIST * end)
        arm, own = vector_at(work, ARM + skip), vector_at(work, W + at + ANGULAR)
        turning = in_rows(work, S + skip, (acceleration[b, 3], acceleration[b, 4], acceleration[b, 5]))
        rate = in_rows(work, E, (acceleration[b, 0], acceleration[b, 1], acceleration[b, 2]))
        rate = plus(rate, plus(cross(turning, arm), cross(own, cross(own, arm))))
        put_at(work, RATES + at, minus(rate, cross(spin, vector_at(work, W + at))))
        put_at(work, RATES + at + ANGULAR, minus(turning, cross(spin, own)))


@kernel
def space_inertia(spin, work):
    """Add the inertia forces besides Ṗ to the ends; return Σ w × P.

    f = Ṗ + ω_E × P, for rotations minus ω × P; the rotation of the axes takes Σ w × P
    """
    torque = times(0.0, spin)
    for at in range(0, 2 * TWIST, 3):
        momentum, own = vector_at(work, MOMENTUM + at), vector_at(work, W + at)
        turned = cross(own, momentum)
        torque = plus(torque, turned)
        add_at(work, ENDS + at, cross(spin, momentum))
        if at % TWIST == ANGULAR:
            add_at(work, ENDS + at, times(-1.0, turned))
    return torque
