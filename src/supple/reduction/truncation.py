"""Error of the modal truncation against the full elastic model, at configurations spread over the region.

Frequencies with the actuators locked: eigenvalues of (K_δδ, M_δδ) against those of the full model, always from above.
Static compliance at loaded displacements and at sensors that measure at a point: Ψ_o K_δδ⁻¹ Ψ_oᵀ against that of the
full model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigh

from supple.approximation.fits.scattered_fit import halton_points
from supple.array_types import Array
from supple.description.mechanism import Mechanism
from supple.diagnostics.errors import values_text
from supple.formats.varied_mechanism import VariedMechanism
from supple.formulations.coefficients import get_coefficients
from supple.formulations.elastic_rest.constrained_modes import rows_over_coordinates
from supple.formulations.elastic_rest.loaded_statics import loaded_response
from supple.formulations.elastic_rest.static_response import static_response
from supple.kinematics.closure import assemble
from supple.modal_analysis.modes import modes
from supple.parameterization.local_model import LocalModel, local
from supple.parameterization.modal_parameterization import ModalParameterization
from supple.parameterization.mode_choice import ModeChoice
from supple.parameterization.rest_loads import is_loaded
from supple.reduction.scanned_region import Scanned

_CHECKS = 40
_WITHIN = 1.0001
_MATCHED = 0.25  # largest relative distance between a full frequency and the reduced one that represents it


@dataclass(frozen=True)
class Truncation:
    """Error of the modal truncation within the band.

    The band reaches to the highest internal mode (without any, to the lowest mode of the reduced model).

    frequencies : largest relative error within the band
    compliance  : relative error of the static compliance at each point
    missing     : lowest full frequency within the band that no reduced mode represents, and where; None if there is
                  none
    next_hz     : lowest full frequency above the band that no reduced mode represents
    """

    names: tuple[str, ...]
    frequencies: float
    compliance: dict[str, float]
    missing: tuple[float, tuple[float, ...]] | None
    next_hz: float | None

    def data(self) -> dict[str, Any]:
        """Return the JSON data."""
        missing = None
        if self.missing is not None:
            missing = {"hz": self.missing[0], "at": dict(zip(self.names, self.missing[1], strict=True))}
        return {
            "frequencies": self.frequencies,
            "compliance": self.compliance,
            "missing": missing,
            "next_hz": self.next_hz,
        }

    def warnings(self) -> list[str]:
        """Return the texts of the warnings."""
        if self.missing is None:
            return []
        where = values_text(self.names, self.missing[1], 4)
        return [
            f"a mode of {self.missing[0]:.4g} Hz at {where} lies within the band of the kept modes but is not kept: "
            "keep more internal modes"
        ]


def truncation(mechanism: VariedMechanism, choice: ModeChoice, boxes: Sequence[Scanned]) -> Truncation:
    """Compare the reduced with the full elastic model, both exact, at each of the check points."""
    per_box = max(_CHECKS // len(boxes), 4)
    points = np.vstack([box.from_unit(halton_points(box.dimension, per_box, 1)) for box in boxes])
    found = [
        _of_one(member, choice, theta, points[which]) for member, which, theta in mechanism.parts(points) if len(which)
    ]
    parts = [item for item in found if item is not None]
    names = (*assemble(mechanism.nominal).rest.numbering.coordinates, *mechanism.names)
    missing = min((item.missing for item in parts if item.missing is not None), default=None)
    above = [item.next_hz for item in parts if item.next_hz is not None]
    compliance: dict[str, float] = {}
    for item in parts:
        compliance = {name: max(value, compliance.get(name, 0.0)) for name, value in item.compliance.items()}
    return Truncation(
        names, max((item.frequencies for item in parts), default=0.0), compliance, missing, min(above, default=None)
    )


def _of_one(mechanism: Mechanism, choice: ModeChoice, theta: Array, x: Array) -> Truncation | None:
    """Return the truncation error of one mechanism at θ (N, s); None if it cannot be assembled at any.

    x : (N, s + p) the points as they are reported
    """
    there = assemble(mechanism, theta, failures="mark").assembled
    theta, x = theta[there], x[there]
    if not len(theta):
        return None
    model = local(
        mechanism, theta, constraint_modes=choice.constraint, internal_modes=choice.internal,
        tracking=choice.tracking, germ=None if choice.germ is None else np.array(choice.germ),
        preload=choice.preload,
    )  # fmt: skip
    s, n = theta.shape[1], model.M.shape[-1]
    full = modes(mechanism, theta, count=n - s + 2, preload=choice.preload).frequencies_hz
    worst, missing, above = 0.0, None, np.inf
    for i in range(len(theta)):
        squares = eigh(model.K[i, s:, s:], model.M[i, s:, s:], eigvals_only=True)
        reduced = np.sqrt(np.maximum(squares, 0.0)) / (2.0 * np.pi)
        band = float(model.internal_hz[i].max()) if choice.internal else float(reduced[0])
        error, left = _match_frequencies(reduced, full[i], _WITHIN * band)
        worst = max(worst, float(error.max(initial=0.0)))
        inside = left[left < band / _WITHIN]
        if len(inside) and (missing is None or inside[0] < missing[0]):
            missing = (float(inside[0]), tuple(x[i].tolist()))
        above = min(above, float(left[left >= band].min(initial=np.inf)))
    return Truncation((), worst, _compliance(model, choice), missing, above if np.isfinite(above) else None)


def _match_frequencies(reduced: Array, full: Array, band: float) -> tuple[Array, Array]:
    """Return relative errors of the reduced frequencies within the band, and the full frequencies not represented.

    A reduced frequency may lie above the band and represent a full one within it.
    """
    left, error = list(full), []
    for value in reduced:
        distance = [abs(value - other) / max(other, 1e-300) for other in left]
        best = int(np.argmin(distance)) if distance else -1
        if best < 0 or (distance[best] > _MATCHED and value > band):
            continue
        if left[best] <= band:
            error.append(distance[best])
        if distance[best] <= _MATCHED:
            left.pop(best)
    return np.array(error), np.array(left)


def _compliance(model: LocalModel, choice: ModeChoice) -> dict[str, float]:
    """Return the largest relative error of the static compliance at each loaded displacement and sensed position."""
    system = model.system
    assert system is not None
    outputs = get_coefficients(model.configuration.rest).outputs
    sensors = model.configuration.mechanism.sensors
    sensed = {name: row for name, row in outputs.items() if sensors[name.split(".")[0]].place}
    rows = {**system.rest.displacements, **{name: row for name, row in sensed.items() if name not in choice.constraint}}
    worst = dict.fromkeys(rows, 0.0)
    for full, reduced in zip(*_two_compliances(model, system, list(rows.values())), strict=True):
        largest = float(np.abs(full).max(initial=0.0))
        for name, exact, kept in zip(rows, full, reduced, strict=True):
            if exact > 1e-9 * largest:
                worst[name] = max(worst[name], float(abs(kept / exact - 1.0)))
    return worst


def _two_compliances(model: LocalModel, system: ModalParameterization, rows: list[int]) -> tuple[Array, Array]:
    """Return the compliance along each row, of the whole mechanism and of the kept modes: (N, rows) each."""
    X, w = model.configuration.X, model.configuration.w
    G = rows_over_coordinates(system.rest, np.array(rows, dtype=np.int64), X)
    Z = loaded_response(system.rest, X, w, G) if is_loaded(system) else static_response(system.rest, X, G)[0]
    s = model.theta.shape[-1]
    assert model.modes is not None
    shapes = G @ np.swapaxes(model.modes[:, s:], 1, 2)
    inverse = np.linalg.inv(model.K[:, s:, s:])
    return np.einsum("nrz,nrz->nr", G, Z), np.einsum("nra,nab,nrb->nr", shapes, inverse, shapes)
