"""All elements between frames together: their forces, their share of the iteration matrix, their kinetic energy.

A kind that a mechanism does not have is None, and a kernel that is given None is compiled as nothing: rigid mechanisms
neither wait for elements nor call them.
"""

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
    potential = forces_of_drives(system.drives, X, V, acceleration, work)
    potential += forces_of_beams(system.beams, system.gravity, X, V, acceleration, work)
    potential += forces_of_superelements(
        system.superelements, system.rows.column, system.gravity, X, V, acceleration, work
    )
    return potential


@kernel(inline=True)
def element_tangents(system, X, factors, work):
    """Adds M + damping factor D + stiffness factor K to work.matrix; factors : those two."""
    tangents_of_drives(system.drives, factors, work)
    tangents_of_beams(system.beams, X, factors, work)
    tangents_of_superelements(system.superelements, system.rows.column, X, factors, work)


@kernel(inline=True)
def element_kinetic(system, X, V):
    """Kinetic energy."""
    total = kinetic_of_drives(system.drives, V)
    total += kinetic_of_beams(system.beams, X, V)
    total += kinetic_of_superelements(system.superelements, system.rows.column, X, V)
    return total


@kernel(inline=True)
def forces_of_drives(drives, X, V, acceleration, work):
    """Returns their potential."""
    if drives is None:
        return 0.0
    return drive_forces(drives, X, V, acceleration, work)


@kernel(inline=True)
def forces_of_beams(beams, gravity, X, V, acceleration, work):
    """Returns their potential."""
    if beams is None:
        return 0.0
    return beam_forces(beams, gravity, X, V, acceleration, work)


@kernel(inline=True)
def forces_of_superelements(superelements, column, gravity, X, V, acceleration, work):
    """Returns their potential."""
    if superelements is None:
        return 0.0
    return superelement_forces(superelements, column, gravity, X, V, acceleration, work)


@kernel(inline=True)
def tangents_of_drives(drives, factors, work):
    """To work.matrix."""
    if drives is not None:
        drive_tangents(drives, factors, work)


@kernel(inline=True)
def tangents_of_beams(beams, X, factors, work):
    """To work.matrix."""
    if beams is not None:
        beam_tangents(beams, X, factors[0], factors[1], work)


@kernel(inline=True)
def tangents_of_superelements(superelements, column, X, factors, work):
    """To work.matrix."""
    if superelements is not None:
        superelement_tangents(superelements, column, X, factors, work)


@kernel(inline=True)
def kinetic_of_drives(drives, V):
    """½ m δ̇² of each."""
    if drives is None:
        return 0.0
    return drive_kinetic(drives, V)


@kernel(inline=True)
def kinetic_of_beams(beams, X, V):
    """Of all beams."""
    if beams is None:
        return 0.0
    return beam_kinetic(beams, X, V)


@kernel(inline=True)
def kinetic_of_superelements(superelements, column, X, V):
    """Of all bodies in floating frames."""
    if superelements is None:
        return 0.0
    return superelement_kinetic(superelements, column, X, V)
