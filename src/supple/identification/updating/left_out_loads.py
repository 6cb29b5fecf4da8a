"""A note where loads at rest change the frequencies that numbers are fitted to: fitted models do not have them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from supple.diagnostics import InputError, SuppleNote
from supple.diagnostics.errors import user_level
from supple.formulations.elastic_rest.loads import carries_loads
from supple.formulations.elastic_rest.preload import preload_stiffness
from supple.identification.updating.posture_model import PostureModel
from supple.identification.updating.structure import Structure

_MUCH = 0.01  # of ω²: half a per cent of a frequency, which is what frequencies are known to if nothing is said
_MODES = 10


def note_left_out_loads(structure: Structure, models: Sequence[PostureModel]) -> None:
    """Note the largest share of ω² that the loads at rest have in the lowest modes, ψᵀK_gψ / ψᵀKψ, where it is much."""
    if not carries_loads(structure.mechanism):
        return
    worst = 0.0
    for model in models:
        spectrum = model.spectrum(structure.at(structure.numbers.values), _MODES)
        shapes = model.N @ spectrum.psi  # ψᵀKψ = 1
        try:
            K_g = preload_stiffness(structure.rest, model.configuration)
        except InputError:  # nothing holds the loads: there are no forces at rest
            return
        share = np.einsum("zm,zy,ym->m", shapes, K_g, shapes)
        worst = max(worst, float(np.abs(share).max(initial=0.0)))
    if worst > _MUCH:
        warnings.warn(
            f'mechanism "{structure.mechanism.name}": its loads at rest change ω² by up to {100.0 * worst:.1f} %. '
            "Models that are fitted leave them out, so that stiffnesses which are found contain them",
            SuppleNote, stacklevel=user_level(),
        )  # fmt: skip
