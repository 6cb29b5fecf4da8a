"""Constraint modes: the shape of least elastic energy for a unit displacement, θ and the other γ held.

    Λ Ψ_γᵀ + Cᵀ λ_γ = 0,   C Ψ_γᵀ - c λ_γ = (0; 0; 0; 1),   K_γγ = -(λ_γ)_G  (docs/theory/parameterization.md, eqs. 3-4)

Their slopes solve the same equations with the right side (-∂Cᵀλ_γ; -∂C Ψ_γᵀ).
"""

from __future__ import annotations

import numpy as np

from supple.compilation import kernel
from supple.formulations.elastic_rest.response_operator import rested


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
