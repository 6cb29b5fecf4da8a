"""Forces of all beam elements on their frames, and their kinetic energy."""

from __future__ import annotations

from supple.compilation import kernel
from supple.formulations.absolute.beams.beam_arrays import ALPHA, LENGTH
from supple.formulations.absolute.beams.element_work import (
    ARM,
    END_WIDTH,
    HEIGHT_ENERGY,
    MOMENTUM,
    POWER_LOST,
    STRAIN_ENERGY,
    THETA,
    E,
    S,
    W,
    element_work,
    in_columns,
    vector_at,
)
from supple.formulations.absolute.beams.planar_element import (
    planar_chord,
    planar_element,
    planar_product,
    planar_velocities,
)
from supple.formulations.absolute.beams.space_element import space_element
from supple.formulations.absolute.beams.space_frame import ANGULAR, TWIST, space_frame, space_momentum, space_velocities
from supple.formulations.absolute.step_work import BENT, LOST, STRAIN
from supple.geometry.vectors import cross, plus


@kernel
def beam_forces(beams, gravity, X, V, acceleration, work):
    """Add elastic, damping, gravity and inertia forces of all elements to work.forces; return the potential.

    X (frames + 1, 12), V and v̇ (frames, d); gravity (3,) in world axes. Strain energy and damping power are added to
    the account of `work`, which also keeps the largest local rotation.
    """
    count, planar = beams.frames.shape[0], beams.coupled.shape[0] == 6
    if count == 0:
        return 0.0
    own, Q, account = element_work(X), work.forces, work.account
    potential, strain, lost, bent = 0.0, 0.0, 0.0, 0.0
    for n in range(count):
        if planar:
            planar_element(beams, n, gravity, X, V, acceleration, own, Q)
        else:
            space_element(beams, n, gravity, X, V, acceleration, own, Q)
        potential += own[HEIGHT_ENERGY]
        strain += own[STRAIN_ENERGY]
        lost += own[POWER_LOST]
        for k in range(THETA, THETA + 3):
            bent = max(bent, abs(own[k]), abs(own[k + END_WIDTH]))
    account[STRAIN] += strain
    account[LOST] += lost
    account[BENT] = max(account[BENT], bent)
    return potential + strain


@kernel
def beam_kinetic(beams, X, V):
    """Return the kinetic energy of all elements, ½ Σ wᵀ M w."""
    count, width = beams.frames.shape[0], beams.coupled.shape[0]
    if count == 0:
        return 0.0
    work = element_work(X)
    energy = 0.0
    for n in range(count):
        i, j, constants, M = beams.frames[n, 0], beams.frames[n, 1], beams.numbers[n], beams.mass[n]
        if width == 6:
            chord = planar_chord(constants, X, i, j)
            w, longer = planar_velocities(chord, V, i, j), chord.length / constants[LENGTH]
            P = planar_product(M, w, longer, 0.0, w.f1, w.f2)
            energy += 0.5 * (w.u1 * P.u1 + w.v1 * P.v1 + w.u2 * P.u2 + w.v2 * P.v2)
            energy += 0.5 * longer * (w.f1 * P.f1 + w.f2 * P.f2)
        else:
            length = space_frame(constants, X, i, j, work)
            space_velocities(V, i, j, work)
            space_momentum(beams.coupled, M, length / constants[LENGTH], work)
            for k in range(width):
                energy += 0.5 * work[W + k] * work[MOMENTUM + k]
    return energy


@kernel
def beam_momentum(beams, alpha, X, V, force):
    """Add (α + α_m) ∂T/∂v of all elements to force (F, d), α_m of the material of each."""
    count, planar = beams.frames.shape[0], beams.coupled.shape[0] == 6
    if count == 0:
        return
    work = element_work(X)
    for n in range(count):
        i, j, constants, M = beams.frames[n, 0], beams.frames[n, 1], beams.numbers[n], beams.mass[n]
        factor = alpha + constants[ALPHA]
        if planar:
            chord = planar_chord(constants, X, i, j)
            w, longer = planar_velocities(chord, V, i, j), chord.length / constants[LENGTH]
            P = planar_product(M, w, longer, 0.0, w.f1, w.f2)
            x, y = chord.x * P.u1 - chord.y * P.v1, chord.y * P.u1 + chord.x * P.v1
            force[i, 0] += factor * x
            force[i, 1] += factor * y
            force[i, 2] += factor * (longer * P.f1 + chord.arm1_x * y - chord.arm1_y * x)
            x, y = chord.x * P.u2 - chord.y * P.v2, chord.y * P.u2 + chord.x * P.v2
            force[j, 0] += factor * x
            force[j, 1] += factor * y
            force[j, 2] += factor * (longer * P.f2 + chord.arm2_x * y - chord.arm2_y * x)
        else:
            length = space_frame(constants, X, i, j, work)
            space_velocities(V, i, j, work)
            space_momentum(beams.coupled, M, length / constants[LENGTH], work)
            for end in range(2):
                b, skip, at = (i, 0, MOMENTUM) if end == 0 else (j, END_WIDTH, MOMENTUM + TWIST)
                P = vector_at(work, at)
                turning = plus(vector_at(work, at + ANGULAR), cross(vector_at(work, ARM + skip), P))
                turning, P = in_columns(work, S + skip, turning), in_columns(work, E, P)
                for k in range(3):
                    force[b, k] += factor * P[k]
                    force[b, 3 + k] += factor * turning[k]
