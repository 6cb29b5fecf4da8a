"""Modes of the deformation at one position, δ = (γ, ι): constraint modes, then internal modes, with their slopes."""

from __future__ import annotations

from supple.compilation import kernel
from supple.formulations.elastic_rest.response_operator import response_operator
from supple.parameterization.constraint_modes import constraint_modes
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
