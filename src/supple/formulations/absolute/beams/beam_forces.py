"""All beam elements of a mechanism: forces on their frames, and kinetic energy."""

from __future__ import annotations

from supple.compilation import kernel
from supple.formulations.absolute.beams.beam_arrays import LENGTH
from supple.formulations.absolute.beams.element_work import (
    END_WIDTH,
    HEIGHT_ENERGY,
    MOMENTUM,
    POWER_LOST,
    STRAIN_ENERGY,
    THETA,
    W,
    element_work,
)
from supple.formulations.absolute.beams.planar_element import (
    planar_chord,
    planar_element,
    planar_product,
    planar_velocities,
)
from supple.formulations.absolute.beams.space_element import space_element
from supple.formulations.absolute.beams.space_frame import space_frame, space_velocities
from supple.formulations.absolute.beams.space_inertia import space_momentum
from supple.formulations.absolute.step_work import BENT, LOST, STRAIN


@kernel
def beam_forces(beams, gravity, X, V, acceleration, work):
    """Adds the forces of strain, damping, gravity and inertia of all elements to work.forces. Returns the potential.

    X (frames + 1, 12), V and v̇ (frames, d); gravity (3,) in the world. The strain energy is added to the account of
    `work`, and the power that damping takes; its largest local rotation is kept there.
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
    """Kinetic energy of all elements, ½ Σ wᵀ M w."""
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
