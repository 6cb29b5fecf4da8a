"""The beam element in space.

Its axis x runs along the chord; it is twisted so that the sections of both ends, taken together, are not turned about
it. Local deformations are its stretch u = l - L and the rotation vectors θ₁, θ₂ of the end sections against it. All
vectors are written in element axes unless they are said to be in the world.
(docs/theory/flexible-motion.md, eqs. 10-18)
"""

from __future__ import annotations

from supple.compilation import kernel
from supple.formulations.absolute.beams.element_rotation import (
    rate_factor,
    root,
    rotation_moment,
    rotation_rate,
    turn_factor,
)
from supple.formulations.absolute.beams.element_work import (
    HEIGHT_ENERGY,
    POWER_LOST,
    STRAIN_ENERGY,
    coupled_product,
)
from supple.formulations.absolute.residual import rotated
from supple.geometry.vectors import cross, dot, minus, plus, times

LINEAR, ANGULAR, END = 0, 3, 6  # places in the twists of two ends


@kernel(inline=True)
def vector_at(x, at):
    """Three numbers of x (n,)."""
    return (x[at], x[at + 1], x[at + 2])


@kernel(inline=True)
def add_at(x, at, v):
    """x (n,) += v at three places."""
    x[at] += v[0]
    x[at + 1] += v[1]
    x[at + 2] += v[2]


@kernel(inline=True)
def in_rows(E, v):
    """E v, E (3, 3)."""
    return (
        E[0, 0] * v[0] + E[0, 1] * v[1] + E[0, 2] * v[2],
        E[1, 0] * v[0] + E[1, 1] * v[1] + E[1, 2] * v[2],
        E[2, 0] * v[0] + E[2, 1] * v[1] + E[2, 2] * v[2],
    )


@kernel(inline=True)
def in_columns(E, v):
    """Eᵀ v, E (3, 3)."""
    return (
        E[0, 0] * v[0] + E[1, 0] * v[1] + E[2, 0] * v[2],
        E[0, 1] * v[0] + E[1, 1] * v[1] + E[2, 1] * v[2],
        E[0, 2] * v[0] + E[1, 2] * v[1] + E[2, 2] * v[2],
    )


@kernel(inline=True)
def end_place(beams, n, end, X):
    """Where an end of element n is, in the world."""
    b, arms = beams.frames[n, end], beams.arms
    arm = rotated(X, b, (arms[n, end, 0], arms[n, end, 1], arms[n, end, 2]))
    return (X[b, 0] + arm[0], X[b, 1] + arm[1], X[b, 2] + arm[2])


@kernel
def space_frame(beams, n, X, work):
    """The axes of element n, and those of its nodes and end sections within them. Returns the length of the chord."""
    axes, E, S, relative, hold = beams.axes, work.E, work.S, work.relative, work.hold
    i, j = beams.frames[n, 0], beams.frames[n, 1]
    chord = minus(end_place(beams, n, 1, X), end_place(beams, n, 0, X))
    length = root(dot(chord, chord))
    e1 = times(1.0 / length, chord)
    second = (axes[n, 0, 1], axes[n, 1, 1], axes[n, 2, 1])
    third = (axes[n, 0, 2], axes[n, 1, 2], axes[n, 2, 2])
    y = plus(rotated(X, i, second), rotated(X, j, second))
    z = plus(rotated(X, i, third), rotated(X, j, third))
    across = cross(plus(z, cross(e1, y)), e1)
    e2 = times(1.0 / root(dot(across, across)), across)
    e3 = cross(e1, e2)
    for c in range(3):
        E[0, c], E[1, c], E[2, c] = e1[c], e2[c], e3[c]
    for end in range(2):
        b = beams.frames[n, end]
        for r in range(3):
            for c in range(3):
                S[end, r, c] = E[r, 0] * X[b, 3 + c] + E[r, 1] * X[b, 6 + c] + E[r, 2] * X[b, 9 + c]
            for c in range(3):
                relative[end, r, c] = (
                    S[end, r, 0] * axes[n, 0, c] + S[end, r, 1] * axes[n, 1, c] + S[end, r, 2] * axes[n, 2, c]
                )
        hold[end, 0] = relative[end, 1, 1] + relative[end, 2, 2]
        hold[end, 1] = -relative[end, 0, 1]
        hold[end, 2] = -relative[end, 0, 2]
    return length


@kernel
def space_velocities(beams, n, V, work):
    """Velocities of both ends into work.w (12,)."""
    E, S, w, arms = work.E, work.S, work.w, beams.arms
    for end in range(2):
        b = beams.frames[n, end]
        velocity, spin = in_rows(E, (V[b, 0], V[b, 1], V[b, 2])), in_rows(S[end], (V[b, 3], V[b, 4], V[b, 5]))
        arm = in_rows(S[end], (arms[n, end, 0], arms[n, end, 1], arms[n, end, 2]))
        velocity = plus(velocity, cross(spin, arm))
        for k in range(3):
            w[END * end + LINEAR + k], w[END * end + ANGULAR + k] = velocity[k], spin[k]


@kernel
def frame_spin(length, work):
    """ω_E, the angular velocity of the element's axes."""
    w, hold = work.w, work.hold
    total = hold[0, 0] + hold[1, 0]
    about_y = -(w[END + 2] - w[2]) / length
    about_z = (w[END + 1] - w[1]) / length
    about_x = -(hold[0, 1] + hold[1, 1]) * about_y - (hold[0, 2] + hold[1, 2]) * about_z
    for end in range(2):
        for k in range(3):
            about_x += hold[end, k] * w[END * end + ANGULAR + k]
    return (about_x / total, about_y, about_z)


@kernel
def space_inertia(beams, n, V, acceleration, spin, work):
    """Forces of inertia and of damping in proportion to mass into work.ends. Returns what the axes' turning takes.

    f_b = (M ẇ)_b + ω_E × P_b, less ω × P of rotations;  Σ w_b × P_b on the axes
    """
    E, S, w, dw, P, ends, arms = work.E, work.S, work.w, work.dw, work.momentum, work.ends, beams.arms
    alpha = beams.alpha[n]
    for end in range(2):
        b, at, about = beams.frames[n, end], END * end + LINEAR, END * end + ANGULAR
        velocity, own = vector_at(w, at), vector_at(w, about)
        rate = in_rows(E, (acceleration[b, 0], acceleration[b, 1], acceleration[b, 2]))
        turning = in_rows(S[end], (acceleration[b, 3], acceleration[b, 4], acceleration[b, 5]))
        arm = in_rows(S[end], (arms[n, end, 0], arms[n, end, 1], arms[n, end, 2]))
        rate = plus(plus(rate, cross(turning, arm)), cross(own, cross(own, arm)))
        rate, turning = minus(rate, cross(spin, velocity)), minus(turning, cross(spin, own))
        for k in range(3):
            dw[at + k], dw[about + k] = rate[k], turning[k]
    coupled_product(beams.coupled, beams.mass, n, w, P)
    coupled_product(beams.coupled, beams.mass, n, dw, ends)
    torque = (0.0 * w[0], 0.0 * w[0], 0.0 * w[0])
    for at in range(0, 2 * END, 3):
        momentum = vector_at(P, at)
        add_at(ends, at, plus(cross(spin, momentum), times(alpha, momentum)))
        turned = cross(vector_at(w, at), momentum)
        torque = plus(torque, turned)
        if at % END == ANGULAR:
            add_at(ends, at, times(-1.0, turned))
    return torque


@kernel
def space_rotations(work):
    """Local rotations of both ends into work.theta, and their factors κ."""
    relative, theta, factor = work.relative, work.theta, work.factor
    for end in range(2):
        R = relative[end]
        scale = 1.0 / (1.0 + R[0, 0] + R[1, 1] + R[2, 2])
        t = times(scale, (R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]))
        square = dot(t, t)
        g = turn_factor(square)
        factor[end] = rate_factor(square, g)
        for k in range(3):
            theta[end, k] = g * t[k]


@kernel
def space_stretch(beams, n, length, work):
    """Stretch of element n: of its chord, and what its local rotations shorten that by."""
    H, theta = beams.shortening, work.theta
    stretch = length - beams.length[n]
    for k in range(3):
        for end in range(2):
            stretch += 0.5 * theta[end, k] * (H[n, k, end, 0] * theta[0, k] + H[n, k, end, 1] * theta[1, k])
    return stretch


@kernel
def space_strain(beams, n, length, spin, fall, work):
    """Forces of strain, of damping in proportion to it, and of gravity on deflections: moments at the ends into
    work.moment, energies. Returns the tension.

    fall : gravity
    """
    theta, rate, moment, w = work.theta, work.rate, work.moment, work.w
    K, H, sag, beta, energies, factor = (
        beams.bending, beams.shortening, beams.sag, beams.beta[n], work.energies, work.factor
    )  # fmt: skip
    for end in range(2):
        t, own = (theta[end, 0], theta[end, 1], theta[end, 2]), minus(vector_at(w, END * end + ANGULAR), spin)
        moving = rotation_rate(t, factor[end], own)
        for k in range(3):
            rate[end, k] = moving[k]
    stretch, stretching = space_stretch(beams, n, length, work), w[END] - w[0]
    for k in range(3):
        for end in range(2):
            stretching += rate[end, k] * (H[n, k, end, 0] * theta[0, k] + H[n, k, end, 1] * theta[1, k])
    N = beams.axial[n] * (stretch + beta * stretching)
    strain, lost = beams.axial[n] * stretch * stretch, beams.axial[n] * stretching * stretching
    for k in range(3):
        for end in range(2):
            elastic = K[n, k, end, 0] * theta[0, k] + K[n, k, end, 1] * theta[1, k]
            viscous = K[n, k, end, 0] * rate[0, k] + K[n, k, end, 1] * rate[1, k]
            shorter = H[n, k, end, 0] * theta[0, k] + H[n, k, end, 1] * theta[1, k]
            strain += elastic * theta[end, k]
            lost += viscous * rate[end, k]
            moment[end, k] = elastic + beta * viscous + N * shorter
    for end in range(2):
        moment[end, 2] -= sag[n, 0, end] * fall[1]
        moment[end, 1] -= sag[n, 1, end] * fall[2]
        t, own = (theta[end, 0], theta[end, 1], theta[end, 2]), (moment[end, 0], moment[end, 1], moment[end, 2])
        own = rotation_moment(t, factor[end], own)
        for k in range(3):
            moment[end, k] = own[k]
    energies[STRAIN_ENERGY], energies[POWER_LOST] = 0.5 * strain, -beta * lost
    return N


@kernel
def space_element(beams, n, gravity, X, V, acceleration, work, Q):
    """Takes what the nodes must do to element n off the forces Q (frames, 6) on them; energies are left in `work`."""
    E, S, hold, moment, ends, lumps = work.E, work.S, work.hold, work.moment, work.ends, beams.lumps
    sag, theta, arms, energies = beams.sag, work.theta, beams.arms, work.energies
    length = space_frame(beams, n, X, work)
    space_velocities(beams, n, V, work)
    spin = frame_spin(length, work)
    torque = space_inertia(beams, n, V, acceleration, spin, work)
    weight = (gravity[0], gravity[1], gravity[2])
    fall = in_rows(E, weight)
    space_rotations(work)
    N = space_strain(beams, n, length, spin, fall, work)
    deflection = (
        0.0 * N,
        sag[n, 0, 0] * theta[0, 2] + sag[n, 0, 1] * theta[1, 2],
        sag[n, 1, 0] * theta[0, 1] + sag[n, 1, 1] * theta[1, 1],
    )
    torque = minus(torque, cross(deflection, fall))
    height = -dot(fall, deflection)
    for end in range(2):
        own = (moment[end, 0], moment[end, 1], moment[end, 2])
        torque = minus(torque, own)
        add_at(ends, END * end + LINEAR, times(-lumps[n, end], fall))
        add_at(ends, END * end + ANGULAR, own)
        height -= lumps[n, end] * dot(weight, end_place(beams, n, end, X))
    energies[HEIGHT_ENERGY] = height
    alpha, w, P = beams.alpha[n], work.w, work.momentum
    if alpha != 0.0:
        for k in range(2 * END):
            energies[POWER_LOST] -= alpha * w[k] * P[k]
    # The axes follow the ends: their torque goes there.
    twist = torque[0] / (hold[0, 0] + hold[1, 0])
    about_y = torque[1] - (hold[0, 1] + hold[1, 1]) * twist
    about_z = torque[2] - (hold[0, 2] + hold[1, 2]) * twist
    along = (N, about_z / length, -about_y / length)
    for end in range(2):
        add_at(ends, END * end + LINEAR, times(2.0 * end - 1.0, along))
        add_at(ends, END * end + ANGULAR, times(twist, (hold[end, 0], hold[end, 1], hold[end, 2])))
        force, own = vector_at(ends, END * end + LINEAR), vector_at(ends, END * end + ANGULAR)
        arm = in_rows(S[end], (arms[n, end, 0], arms[n, end, 1], arms[n, end, 2]))
        in_world, in_node = in_columns(E, force), in_columns(S[end], plus(own, cross(arm, force)))
        b = beams.frames[n, end]
        for k in range(3):
            Q[b, k] -= in_world[k]
            Q[b, 3 + k] -= in_node[k]
