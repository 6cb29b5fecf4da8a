"""All elements between frames together: their forces, their share of the iteration matrix, their kinetic energy."""

from __future__ import annotations

from supple.compilation import kernel
from supple.formulations.absolute.beams.beam_forces import beam_forces, beam_kinetic
from supple.formulations.absolute.beams.beam_tangents import beam_tangents


@kernel(inline=True)
def element_forces(system, X, V, acceleration, work):
    """Adds elastic, damping, gravity and inertia forces to work.forces. Returns the potential."""
    if system.beams.frames.shape[0] == 0:
        return 0.0
    return beam_forces(system.beams, system.gravity, X, V, acceleration, work)


@kernel(inline=True)
def element_tangents(system, X, factors, work):
    """Adds M + damping factor D + stiffness factor K to work.matrix; factors : those two."""
    if system.beams.frames.shape[0] > 0:
        beam_tangents(system.beams, X, factors[0], factors[1], work)


@kernel(inline=True)
def element_kinetic(system, X, V):
    """Kinetic energy."""
    if system.beams.frames.shape[0] == 0:
        return 0.0
    return beam_kinetic(system.beams, X, V)
