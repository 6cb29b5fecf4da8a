"""All elements between frames together: their forces, their share of the iteration matrix, their kinetic energy."""

from __future__ import annotations

from supple.compilation import kernel
from supple.formulations.absolute.beams.beam_forces import beam_forces, beam_kinetic
from supple.formulations.absolute.beams.beam_tangents import beam_tangents
from supple.formulations.absolute.drives import drive_forces, drive_kinetic, drive_tangents
from supple.formulations.absolute.superelements.superelement_forces import superelement_forces, superelement_kinetic
from supple.formulations.absolute.superelements.superelement_tangents import superelement_tangents


@kernel(inline=True)
def element_forces(system, X, V, acceleration, work):
    """Adds elastic, damping, gravity and inertia forces to work.forces. Returns the potential."""
    potential = drive_forces(system.drives, X, V, acceleration, work)
    if system.beams.frames.shape[0] > 0:
        potential += beam_forces(system.beams, system.gravity, X, V, acceleration, work)
    if system.superelements.frame.shape[0] > 0:
        potential += superelement_forces(
            system.superelements, system.rows.column, system.gravity, X, V, acceleration, work
        )
    return potential


@kernel(inline=True)
def element_tangents(system, X, factors, work):
    """Adds M + damping factor D + stiffness factor K to work.matrix; factors : those two."""
    drive_tangents(system.drives, factors, work)
    if system.beams.frames.shape[0] > 0:
        beam_tangents(system.beams, X, factors[0], factors[1], work)
    if system.superelements.frame.shape[0] > 0:
        superelement_tangents(system.superelements, system.rows.column, X, factors, work)


@kernel(inline=True)
def element_kinetic(system, X, V):
    """Kinetic energy."""
    total = drive_kinetic(system.drives, V)
    if system.beams.frames.shape[0] > 0:
        total += beam_kinetic(system.beams, X, V)
    if system.superelements.frame.shape[0] > 0:
        total += superelement_kinetic(system.superelements, system.rows.column, X, V)
    return total
