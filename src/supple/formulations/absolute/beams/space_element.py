"""The beam element in space: strain, inertia and gravity.

Local deformations are its stretch u = l - L and the rotation vectors θ₁, θ₂ of the end sections relative to its axes.
Vectors are in element axes unless stated otherwise.
(docs/theory/flexible-motion.md, eqs. 10-18)
"""

from __future__ import annotations

from supple.compilation import kernel
from supple.formulations.absolute.beams.beam_arrays import (
    AXIAL,
    BENDING,
    BETA,
    LENGTH,
    LUMPS,
    SAG,
    SHORTENING,
)
from supple.formulations.absolute.beams.element_work import (
    ARM,
    END_WIDTH,
    ENDS,
    HEIGHT_ENERGY,
    HOLD,
    KAPPA,
    MOMENT,
    POWER_LOST,
    STRAIN_ENERGY,
    THETA,
    THETA_RATE,
    E,
    S,
    W,
    add_at,
    in_columns,
    in_rows,
    put_at,
    rotation_moment,
    rotation_rate,
    vector_at,
)
from supple.formulations.absolute.beams.space_frame import (
    ANGULAR,
    TWIST,
    end_place,
    frame_spin,
    local_rotations,
    space_frame,
    space_inertia,
    space_momentum,
    space_momentum_rate,
    space_rates,
    space_stretch,
    space_velocities,
)
from supple.geometry.vectors import cross, dot, minus, plus, times


@kernel
def space_strain(constants, length, spin, work):
    """Compute moments of strain and of stiffness-proportional damping on the local rotations; return the tension."""
    beta, lost, stretch = constants[BETA], 0.0 * length, space_stretch(constants, length, work)
    strain, stretching = constants[AXIAL] * stretch * stretch, work[W + TWIST] - work[W]
    for end in range(2):
        skip = END_WIDTH * end
        own = minus(vector_at(work, W + TWIST * end + ANGULAR), spin)
        put_at(work, THETA_RATE + skip, rotation_rate(vector_at(work, THETA + skip), work[KAPPA + skip], own))
    for k in range(3):
        t1, t2 = work[THETA + k], work[THETA + END_WIDTH + k]
        r1, r2 = work[THETA_RATE + k], work[THETA_RATE + END_WIDTH + k]
        h, b = SHORTENING + 4 * k, BENDING + 4 * k
        stretching += r1 * (constants[h] * t1 + constants[h + 1] * t2) + r2 * (
            constants[h + 2] * t1 + constants[h + 3] * t2
        )
        m1, m2 = constants[b] * t1 + constants[b + 1] * t2, constants[b + 2] * t1 + constants[b + 3] * t2
        d1, d2 = constants[b] * r1 + constants[b + 1] * r2, constants[b + 2] * r1 + constants[b + 3] * r2
        strain += t1 * m1 + t2 * m2
        lost += r1 * d1 + r2 * d2
        work[MOMENT + k], work[MOMENT + END_WIDTH + k] = m1 + beta * d1, m2 + beta * d2
    N = constants[AXIAL] * (stretch + beta * stretching)
    for k in range(3):
        h, t1, t2 = SHORTENING + 4 * k, work[THETA + k], work[THETA + END_WIDTH + k]
        work[MOMENT + k] += N * (constants[h] * t1 + constants[h + 1] * t2)
        work[MOMENT + END_WIDTH + k] += N * (constants[h + 2] * t1 + constants[h + 3] * t2)
    work[STRAIN_ENERGY] = 0.5 * strain
    work[POWER_LOST] = -beta * (lost + constants[AXIAL] * stretching * stretching)
    return N


@kernel
def space_gravity(constants, weight, X, i, j, work):
    """Add gravity to the ends and to the moments on local rotations; return the moment on the axes."""
    fall = in_rows(work, E, weight)
    height, across, up = 0.0 * fall[0], 0.0 * fall[0], 0.0 * fall[0]
    for end in range(2):
        b, skip, mass = (i, 0, constants[LUMPS]) if end == 0 else (j, END_WIDTH, constants[LUMPS + 1])
        y, z = constants[SAG + end], constants[SAG + 2 + end]
        height -= mass * dot(weight, end_place(constants, end, X, b))
        across, up = across + y * work[THETA + skip + 2], up + z * work[THETA + skip + 1]
        work[MOMENT + skip + 2] -= y * fall[1]
        work[MOMENT + skip + 1] -= z * fall[2]
        add_at(work, ENDS + TWIST * end, times(-mass, fall))
    work[HEIGHT_ENERGY] = height - across * fall[1] - up * fall[2]
    return (up * fall[1] - across * fall[2], -up * fall[0], across * fall[0])


@kernel
def space_element(beams, n, gravity, X, V, acceleration, work, Q):
    """Subtract the required nodal forces of element n from the forces Q (frames, 6).

    `work` keeps the end forces in element axes, and energies.
    """
    i, j, constants, M = beams.frames[n, 0], beams.frames[n, 1], beams.numbers[n], beams.mass[n]
    length = space_frame(constants, X, i, j, work)
    space_velocities(V, i, j, work)
    spin = frame_spin(length, work)
    longer, lengthening = length / constants[LENGTH], (work[W + TWIST] - work[W]) / constants[LENGTH]
    inward = space_momentum(beams.coupled, M, longer, work) / constants[LENGTH]
    space_rates(acceleration, i, j, spin, work)
    space_momentum_rate(beams.coupled, M, longer, lengthening, work)
    torque = space_inertia(spin, work)
    local_rotations(work)
    N = space_strain(constants, length, spin, work) - inward  # kinetic energy rises as the chord grows
    torque = plus(torque, space_gravity(constants, (gravity[0], gravity[1], gravity[2]), X, i, j, work))
    for end in range(2):
        skip = END_WIDTH * end
        theta, own = vector_at(work, THETA + skip), vector_at(work, MOMENT + skip)
        own = rotation_moment(theta, work[KAPPA + skip], own)
        torque = minus(torque, own)
        add_at(work, ENDS + TWIST * end + ANGULAR, own)
    # The axes follow the ends: what turns them goes there.
    held = plus(vector_at(work, HOLD), vector_at(work, HOLD + END_WIDTH))
    twist = torque[0] / held[0]
    along = (N, (torque[2] - held[2] * twist) / length, (held[1] * twist - torque[1]) / length)
    for end in range(2):
        b, skip, at, sign = (i, 0, ENDS, -1.0) if end == 0 else (j, END_WIDTH, ENDS + TWIST, 1.0)
        add_at(work, at, times(sign, along))
        add_at(work, at + ANGULAR, times(twist, vector_at(work, HOLD + skip)))
        force, own = vector_at(work, at), vector_at(work, at + ANGULAR)
        moment = in_columns(work, S + skip, plus(own, cross(vector_at(work, ARM + skip), force)))
        force = in_columns(work, E, force)
        for k in range(3):
            Q[b, k] -= force[k]
            Q[b, 3 + k] -= moment[k]
