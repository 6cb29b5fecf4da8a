"""All beam elements of a mechanism: forces on their frames, and kinetic energy."""

from __future__ import annotations

from supple.compilation import kernel
from supple.formulations.absolute.beams.element_work import (
    HEIGHT_ENERGY,
    POWER_LOST,
    STRAIN_ENERGY,
    coupled_product,
    element_work,
)
from supple.formulations.absolute.beams.planar_element import planar_element, planar_frame, planar_velocities
from supple.formulations.absolute.beams.space_element import space_element, space_frame, space_velocities
from supple.formulations.absolute.step_work import LOST, STRAIN


@kernel
def beam_forces(beams, gravity, X, V, acceleration, work):
    """Adds the forces of strain, damping, gravity and inertia of all elements to work.forces. Returns the potential.

    X (frames + 1, 12), V and v̇ (frames, d); gravity (3,) in the world. The strain energy is added to the account of
    `work`, and the power that damping takes.
    """
    count, width = beams.frames.shape[0], beams.coupled.shape[0]
    if count == 0:
        return 0.0
    own, Q, account = element_work(X, width), work.forces, work.account
    energies = own.energies
    potential, strain, lost = 0.0, 0.0, 0.0
    for n in range(count):
        if width == 6:
            planar_element(beams, n, gravity, X, V, acceleration, own, Q)
        else:
            space_element(beams, n, gravity, X, V, acceleration, own, Q)
        potential += energies[HEIGHT_ENERGY]
        strain += energies[STRAIN_ENERGY]
        lost += energies[POWER_LOST]
    account[STRAIN] += strain
    account[LOST] += lost
    return potential + strain


@kernel
def beam_kinetic(beams, X, V):
    """Kinetic energy of all elements, ½ Σ wᵀ M w."""
    count, width = beams.frames.shape[0], beams.coupled.shape[0]
    if count == 0:
        return 0.0
    work = element_work(X, width)
    w, P = work.w, work.momentum
    energy = 0.0
    for n in range(count):
        if width == 6:
            planar_velocities(beams, n, planar_frame(beams, n, X), V, w)
        else:
            space_frame(beams, n, X, work)
            space_velocities(beams, n, V, work)
        coupled_product(beams.coupled, beams.mass, n, w, P)
        for k in range(width):
            energy += 0.5 * w[k] * P[k]
    return energy
