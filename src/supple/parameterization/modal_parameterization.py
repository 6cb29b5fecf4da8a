"""A flexible mechanism with a choice of modes, as arrays for the kernels."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from supple.array_types import Array, Integers
from supple.description.force_model import DAMPER
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError
from supple.formats.varied_mechanism import first_of
from supple.formulations.coefficients import LAW, get_coefficients, measure_of_use
from supple.formulations.elastic_rest.block_modes import Search
from supple.formulations.elastic_rest.body_coordinates import own_band
from supple.formulations.elastic_rest.constrained_modes import (
    constrained_modes,
    rows_over_coordinates,
    search_for,
    search_from,
)
from supple.formulations.elastic_rest.elastic_rest import ElasticArrays, ElasticRest, HeldRows, elastic_rest
from supple.formulations.elastic_rest.loads import LoadArrays, load_arrays
from supple.formulations.force_models import number_of
from supple.kinematics.closure import assemble
from supple.kinematics.configuration import Configuration
from supple.kinematics.rest import rest as undeformed
from supple.parameterization.family_germ import carry_over, stresses_over
from supple.parameterization.internal_modes import EXACT, SPARE
from supple.parameterization.modal_measures import BodyArrays, MeasureUses, body_arrays
from supple.parameterization.mode_choice import TRACKING, ModeChoice, require_valid_modes
from supple.parameterization.mode_matching import along, one_by_one, upwards

_BAND = 2.5  # band over the highest internal mode at the germ, with spare ones: margin for the rest of the region


class ModalArrays(NamedTuple):
    """Arguments of `modal_coefficients` for a mechanism with a choice of modes.

    held     : constrained rows, those of loaded displacements last; loaded : number of these
    chosen   : all rows that are computed, constrained ones first
    search   : start of the search for modes; tracking : number of the tracking in `mode_choice`
    """

    rest: ElasticArrays
    held: HeldRows
    loaded: int
    chosen: Integers
    bodies: BodyArrays
    loads: LoadArrays
    uses: MeasureUses
    search: Search
    tracking: int
    actuators: int


@dataclass(frozen=True, eq=False)
class ModalParameterization:
    """A mechanism with a choice of modes, ready for its kernels.

    reference : (k, z) internal modes at the germ, or those of the first mechanism of its family in these coordinates
    stresses  : (k, z + constrained rows) (ΛΦ/ω, CΦ/(c ω)) of the reference, the latter of elastic rows, for "strain"
    """

    choice: ModeChoice
    rest: ElasticRest
    arrays: ModalArrays
    reference: Array = field(repr=False)
    stresses: Array = field(repr=False)
    germ: Configuration = field(repr=False)

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of η."""
        internal = tuple(f"mode{i + 1}" for i in range(self.choice.internal))
        return (*self.rest.numbering.coordinates, *self.choice.constraint, *internal)


def modal_parameterization(mechanism: Mechanism, choice: ModeChoice) -> ModalParameterization:
    """Return the parameterization, computed once for each mechanism and choice."""
    return mechanism.compute_once(f"flexible {choice}", lambda: _build(mechanism, choice))


def _build(mechanism: Mechanism, choice: ModeChoice) -> ModalParameterization:
    require_valid_modes(mechanism, choice)
    germ = assemble(mechanism, None if choice.germ is None else np.array(choice.germ))
    rest, search, reference = _search(mechanism, choice, germ.X)
    held = rest.list_loaded_rows()
    uses, chosen = _uses(rest, held)
    arrays = ModalArrays(
        rest.arrays,
        held,
        len(choice.constraint),
        chosen,
        body_arrays(rest),
        load_arrays(rest),
        uses,
        search,
        TRACKING[choice.tracking],
        len(mechanism.actuators),
    )
    first = first_of(mechanism)
    if first is not None and choice.internal and choice.tracking != "none":
        return _of_family(modal_parameterization(first, choice), choice, rest, arrays, germ)
    stresses = stresses_of(rest, rows_over_coordinates(rest, held.rows, germ.X[None])[0], reference)
    return ModalParameterization(choice, rest, arrays, reference, stresses, germ)


def _of_family(
    first: ModalParameterization, choice: ModeChoice, rest: ElasticRest, arrays: ModalArrays, germ: Configuration
) -> ModalParameterization:
    """Return the parameterization with the reference of the first mechanism of its family.

    With tracking "modes", the reference are the modes at its own germ that are most similar to those.
    """
    reference = carry_over(first.rest, rest, first.reference)
    stresses = stresses_over(first.rest, rest, first.stresses)
    if choice.tracking == "modes":
        X = np.ascontiguousarray(germ.X[None])
        near = constrained_modes(rest, arrays.held, X, choice.internal + SPARE, EXACT)[1][0]
        chosen = np.zeros(choice.internal, dtype=np.int64)
        one_by_one(near, reference, chosen)
        own = near[chosen].copy()
        along(own, reference)
        reference = own
    return ModalParameterization(choice, rest, arrays, reference, stresses, germ)


def _uses(rest: ElasticRest, held: HeldRows) -> tuple[MeasureUses, Integers]:
    """Return the forces and sensors along measures, and all rows that are computed, constrained ones first.

    Rows of elastic joints and drives with damping parallel to their stiffness are included.
    """
    arrays = get_coefficients(undeformed(rest.numbering.mechanism)).arrays
    measures = measure_of_use(arrays)
    dampers = rest.dampers
    rows = [*(rest.numbering.constraints + measures).tolist(), *dampers]
    chosen = {int(row): i for i, row in enumerate(held.rows)}
    for row in rows:
        chosen.setdefault(row, len(chosen))
    count = len(dampers)
    damping = np.zeros((count, arrays.uses_f.shape[1]))
    damping[:, 0] = list(dampers.values())
    uses = MeasureUses(
        np.array([chosen[row] for row in rows], dtype=np.int64),
        np.concatenate([arrays.uses_i, np.full((count, 2), [LAW, number_of(DAMPER)], dtype=np.int64)]),
        np.concatenate([arrays.uses_f, damping]),
        np.concatenate([measures, np.full(count, -1)]),
    )
    return uses, np.array(list(chosen), dtype=np.int64)


def _search(mechanism: Mechanism, choice: ModeChoice, X: Array) -> tuple[ElasticRest, Search, Array]:
    """Return the bodies condensed for the band of the modes, and the start of the search for internal modes."""
    needed = max(choice.internal, 1) + SPARE
    band = own_band(mechanism)
    while True:
        rest = elastic_rest(mechanism, band, choice.constraint)
        held = rest.list_loaded_rows()
        hard = rows_over_coordinates(rest, held.rows[held.compliance == 0.0], X[None])[0]
        free = rest.size - int(np.linalg.matrix_rank(hard / np.linalg.norm(hard, axis=1, keepdims=True)))
        if free < choice.internal and not rest.whole:  # a wider band keeps more of the bodies
            band = 8.0 * rest.band
            continue
        if free < choice.internal:
            raise InputError(
                f"{choice.internal} internal modes were requested, but only {free} exist",
                part=f'mechanism "{mechanism.name}"',
                hint="request fewer internal modes, or use more elements in the beams",
            )
        needed = min(needed, free)
        squares, Z = constrained_modes(rest, held, X[None], needed, EXACT)
        highest = float(np.sqrt(squares.max(initial=0.0))) / (2.0 * np.pi)
        if _BAND * highest <= rest.band or rest.whole:
            break
        band = _BAND * highest
    reference = Z[0, : choice.internal].copy()
    for mode in reference:
        upwards(rest.arrays, mode)
    at_rest = np.array_equal(X, undeformed(mechanism).X)  # where the search for the modes above began
    search = search_for(rest, held, needed) if at_rest else search_from(rest, held, X, needed)
    return rest, search._replace(tolerance=EXACT), reference


def stresses_of(rest: ElasticRest, C: Array, modes: Array) -> Array:
    """Return (ΛΦ, CΦ/c)/ω (k, z + m) of modes (k, z) with constrained rows C (m, z), for comparing strains."""
    compliance = rest.list_loaded_rows().compliance
    soft = compliance > 0.0
    rows = modes @ C.T
    acting = np.where(soft, rows / np.where(soft, compliance, 1.0), 0.0)
    inside = modes * rest.arrays.stiffness
    squares = np.einsum("kz,kz->k", modes, inside) + np.einsum("km,km->k", rows, acting)
    return np.hstack([inside, acting]) / np.sqrt(squares)[:, None]
