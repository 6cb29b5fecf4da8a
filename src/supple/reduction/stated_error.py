"""Statements on the error of a model: that of each family, and whether it is what was asked for."""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.approximation.approximation import Approximation
from supple.approximation.check_points import boundary_points
from supple.approximation.evaluated import FamilyError
from supple.array_types import Array
from supple.description.mechanism import Mechanism
from supple.diagnostics.errors import values_text
from supple.reduced.model import ReducedModel
from supple.reduction.domain import Domain
from supple.reduction.exact_coefficients import exact_coefficients, scattered_over
from supple.reduction.fitted_coefficients import FREQUENCIES, Columns

ROUNDING = 1e-9
"""No error is stated below: closure ends at 1e-12 of the mechanism's extent, and coefficients, which are its
derivatives, keep three digits less. What is constant but for that differs by it from sample to sample."""


def stated_errors(columns: Columns, approximation: Approximation, names: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    """Stated error of each family, as `worst`, where the largest one was found, `at`, the largest one of the uniform
    check points, `seen`, and what errors are measured against: `scale`, the larger of `median_norm`, the median of ‖f‖
    over the region, and `floor`; JSON.

    Frequencies are one family, whose error is that of the worst of them; `each` says that of every one, lowest first.
    names : of what is fitted over
    """
    single = {name: item for name, item in approximation.error.items() if name not in columns.frequencies}
    stated = {name: _stated(names, item) | _norm(item) for name, item in single.items()}
    for name, drift in columns.drifted.items():
        if columns.layout.constants[name].size:
            stated[name] = {"worst": max(drift, ROUNDING), "at": {}}
    each = [_stated(names, approximation.error[name]) for name in columns.frequencies]
    if each:
        stated[FREQUENCIES] = max(each, key=lambda item: item["worst"]) | {"each": [item["worst"] for item in each]}
    return stated


def _stated(names: tuple[str, ...], item: FamilyError) -> dict[str, Any]:
    return {"worst": max(item.worst, ROUNDING), "at": dict(zip(names, item.at.tolist(), strict=True))}


def _norm(item: FamilyError) -> dict[str, float]:
    return {"median_norm": item.median_norm, "floor": item.floor, "scale": item.scale, "seen": item.seen}


# What a model falls short of, in words: the tolerance, an error of less than all of it, matrices that are positive.
#
# A model is never less than what was asked for in silence: `ReducedModel.met` is False, a warning is given, and the
# command ends with status 3.


_SCATTERED = 1000  # points of the region where matrices are looked at
_LEAVES, _IN_LEAF = 250, 12  # boxes that are looked at closer, and points of each: fits are worst near faces
_SINGULAR = 1e-9  # of a unit diagonal: an exact matrix whose lowest eigenvalue is below need not be positive


def missed_errors(error: dict[str, float], tolerance: float | None) -> list[str]:
    """Families whose stated error is above the tolerance (None: a grid of boxes, which has the error it has), or above
    one: what is fitted is then no better than nothing."""
    missed = []
    for name, worst in error.items():
        if not worst <= 1.0:
            missed.append(f"the error of {name} is {worst:.2g}, above 1")
        elif tolerance is not None and worst > tolerance:
            missed.append(f"the error of {name} is {worst:.2g}, not {tolerance:g}")
    return missed


def indefinite(domain: Domain, model: ReducedModel) -> list[str]:
    """Where the fitted mass matrix, or the stiffness of the deformation, is not positive though the exact one is; of a
    family at its nominal values and at corners of its ranges."""
    if model.family is None:
        return _indefinite(domain.space.mechanism.nominal, domain, model)
    names = model.family.names
    members = [model, *(model.at(dict(zip(names, values, strict=True))) for values in domain.space.corners())]
    found = []
    for member in members:
        assert member.family is not None
        words = _indefinite(domain.space.mechanism.at(member.family.values), domain, member)
        found += [f"{item} ({member.family})" for item in words]
    return found


def _indefinite(mechanism: Mechanism, domain: Domain, model: ReducedModel) -> list[str]:
    s, x = model.layout.theta, _looked_at(model)
    fitted = model.evaluate(x)
    blocks = {"mass matrix": ("M", 0)} | ({"stiffness of its deformation": ("K", s)} if model.layout.size > s else {})
    shortfalls = []
    for words, (name, first) in blocks.items():
        lowest = _lowest(getattr(fitted, name)[:, first:, first:])
        worst = int(np.argmin(lowest))
        if lowest[worst] > 0.0:
            continue
        exact = exact_coefficients(mechanism, model, domain, x[worst : worst + 1])
        if _lowest(np.asarray(getattr(exact, name))[:, first:, first:])[0] > _SINGULAR:
            names = model.layout.coordinates[:s]
            where = values_text(names, x[worst], 4)
            shortfalls.append(f"the {words} is not positive definite at {where}, and that of the mechanism is")
    return shortfalls


def _lowest(matrices: Array) -> Array:
    """Lowest eigenvalue of each symmetric matrix (N, k, k), scaled to a unit diagonal where that is positive: (N,)."""
    diagonal = np.einsum("nii->ni", matrices)
    scale = 1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
    return np.asarray(np.linalg.eigvalsh(scale[:, :, None] * matrices * scale[:, None, :])[:, 0])


def _looked_at(model: ReducedModel) -> Array:
    """Points all over the region, and some close to the faces of the boxes."""
    leaves = model.fitted.leaves
    chosen = [leaves[i] for i in np.linspace(0, len(leaves) - 1, min(len(leaves), _LEAVES)).astype(int)]
    inside = (1.0 - 1e-9) * boundary_points(model.layout.theta, _IN_LEAF, seed=0)  # a face is only known to rounding
    return np.vstack([scattered_over(model, _SCATTERED, seed=0), *(box.from_unit(inside) for box in chosen)])
