"""Modes of the deformation at one position, δ = (γ, ι): constraint modes, then internal modes, with their slopes."""

from __future__ import annotations

import numpy as np

from supple.compilation import kernel
from supple.formulations.elastic_rest.response_operator import response_operator, rested
from supple.parameterization.internal_modes import ModeShapes, internal_modes

# What became of a position.
DONE, SINGULAR, NOT_CONVERGED, TOO_FEW = 1, 0, -1, -2


@kernel
def elastic_modes(rest, structure, shift, dC, lowest, following, modes, spectrum):
    """ModeShapes of δ: as many internal modes as `spectrum` has places, before them constraint modes. Their status.

    structure : rows that are held, the loaded displacements last; dC (s, m, n) : ∂C
    lowest    : Eigenmodes of the structure, as many as are known
    """
    A = response_operator(structure, shift)
    g = modes.Psi.shape[0] - spectrum.squares.shape[0]
    if g > 0:
        first = ModeShapes(modes.Psi[:g], modes.dPsi[:, :g], modes.K[:g, :g], modes.dK[:, :g, :g])
        if not constraint_modes(structure, A, dC, first):
            return NOT_CONVERGED
    if spectrum.squares.shape[0] == 0:
        return DONE
    if lowest.squares.shape[0] < spectrum.squares.shape[0]:
        return TOO_FEW
    last = ModeShapes(modes.Psi[g:], modes.dPsi[:, g:], modes.K[g:, g:], modes.dK[:, g:, g:])
    internal_modes(rest, structure, A, dC, lowest, following, last, spectrum)
    return DONE


# Constraint modes: the shape of least elastic energy for a unit displacement, θ and the other γ held.
#
#     Λ Ψ_γᵀ + Cᵀ λ_γ = 0,  C Ψ_γᵀ - c λ_γ = (0; 0; 0; 1),  K_γγ = -(λ_γ)_G  (docs/theory/parameterization.md, eqs. 3-4)
#
# Their slopes solve the same equations with the right side (-∂Cᵀλ_γ; -∂C Ψ_γᵀ).


@kernel
def constraint_modes(structure, A, dC, modes):
    """Shapes of the displacements that the last rows are; dC (s, m, n) : ∂C. Returns whether they converged."""
    loaded, n = modes.Psi.shape
    m = structure.rows.shape[0]
    forces, ends = np.zeros((loaded, n)), np.zeros((loaded, m))
    for a in range(loaded):
        ends[a, m - loaded + a] = 1.0
    shapes, reactions = np.empty((loaded, n)), np.empty((loaded, m))
    changes, reaction_changes = np.empty((loaded, n)), np.empty((loaded, m))
    if not rested(structure, A, forces, ends, shapes, reactions):
        return False
    modes.Psi[:] = shapes
    modes.K[:] = -reactions[:, m - loaded :].T
    for k in range(dC.shape[0]):
        forces = -np.dot(reactions, dC[k])
        ends = -np.dot(shapes, np.ascontiguousarray(dC[k].T))
        if not rested(structure, A, forces, ends, changes, reaction_changes):
            return False
        modes.dPsi[k] = changes
        modes.dK[k] = -reaction_changes[:, m - loaded :].T
    return True
