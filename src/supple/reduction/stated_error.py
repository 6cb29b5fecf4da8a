"""Stated errors of a model: the error of each family, and whether the model meets its tolerance."""

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
from supple.reduction.exact_coefficients import exact_coefficients, scatter_in_boxes
from supple.reduction.fitted_coefficients import FREQUENCIES, Columns

ROUNDING = 1e-9
"""Smallest stated error.

Closure ends at 1e-12 of the mechanism's extent, and coefficients, which are its derivatives, have three digits less.
Constant coefficients differ by that much from sample to sample.
"""


def stated_errors(columns: Columns, approximation: Approximation, names: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    """Return the stated error of each family as JSON data.

    Keys: `worst`, the stated error; `at`, the point where the largest error was found; `seen`, the largest error at the
    uniform check points; `scale`, the norm that errors are relative to at least, the larger of `median_norm`, the
    median of ‖f‖ over the region, and `floor`. Frequencies are one family, with the error of the worst of them; `each`
    has the errors of all, lowest frequency first.

    names : names of the fitted variables
    """
    single = {name: item for name, item in approximation.error.items() if name not in columns.frequencies}
    stated = {name: _describe_error(names, item) | _norm(item) for name, item in single.items()}
    for name, drift in columns.drifted.items():
        if columns.layout.constants[name].size:
            stated[name] = {"worst": max(drift, ROUNDING), "at": {}}
    each = [_describe_error(names, approximation.error[name]) for name in columns.frequencies]
    if each:
        stated[FREQUENCIES] = max(each, key=lambda item: item["worst"]) | {"each": [item["worst"] for item in each]}
    return stated


def _describe_error(names: tuple[str, ...], item: FamilyError) -> dict[str, Any]:
    return {"worst": max(item.worst, ROUNDING), "at": dict(zip(names, item.at.tolist(), strict=True))}


def _norm(item: FamilyError) -> dict[str, float]:
    return {"median_norm": item.median_norm, "floor": item.floor, "scale": item.scale, "seen": item.seen}


# Shortfalls of a model: errors above the tolerance, errors above one, and matrices that are not positive definite.
#
# A model never misses its tolerance silently: `ReducedModel.met` is False, a warning is given, and the command ends
# with status 3.


_SCATTERED = 1000  # points of the region where matrices are tested
_LEAVES, _IN_LEAF = 250, 12  # boxes with further tests, and points of each: fits are worst near faces
_SINGULAR = 1e-9  # of a unit diagonal: lowest eigenvalue of an exact matrix above which it is positive definite


def missed_errors(error: dict[str, float], tolerance: float | None) -> list[str]:
    """Return a text for each family whose stated error is above the tolerance, or above one.

    With an error above one, the fit is no better than zero. tolerance : None for a grid of boxes, which has none.
    """
    missed = []
    for name, worst in error.items():
        if not worst <= 1.0:
            missed.append(f"the error of {name} is {worst:.2g}, above 1")
        elif tolerance is not None and worst > tolerance:
            missed.append(f"the error of {name} is {worst:.2g}, above the tolerance {tolerance:g}")
    return missed


def indefinite(domain: Domain, model: ReducedModel) -> list[str]:
    """Return a text for each fitted M or K_δδ that is not positive definite although the exact one is.

    A family is tested at its nominal values and at corners of its ranges.
    """
    if model.family is None:
        return _indefinite(domain.space.mechanism.nominal, domain, model)
    names = model.family.names
    members = [model, *(model.at(dict(zip(names, values, strict=True))) for values in domain.space.corners())]
    found = []
    for member in members:
        assert member.family is not None
        texts = _indefinite(domain.space.mechanism.at(member.family.values), domain, member)
        found += [f"{text} ({member.family})" for text in texts]
    return found


def _indefinite(mechanism: Mechanism, domain: Domain, model: ReducedModel) -> list[str]:
    s, x = model.layout.theta, _test_points(model)
    fitted = model.evaluate(x)
    blocks = {"mass matrix": ("M", 0)} | ({"elastic stiffness matrix": ("K", s)} if model.layout.size > s else {})
    shortfalls = []
    for matrix, (name, first) in blocks.items():
        lowest = _lowest(getattr(fitted, name)[:, first:, first:])
        worst = int(np.argmin(lowest))
        if lowest[worst] > 0.0:
            continue
        exact = exact_coefficients(mechanism, model, domain, x[worst : worst + 1])
        if _lowest(np.asarray(getattr(exact, name))[:, first:, first:])[0] > _SINGULAR:
            names = model.layout.coordinates[:s]
            where = values_text(names, x[worst], 4)
            shortfalls.append(f"the fitted {matrix} is not positive definite at {where}, unlike that of the mechanism")
    return shortfalls


def _lowest(matrices: Array) -> Array:
    """Return the lowest eigenvalue (N,) of symmetric matrices (N, k, k), scaled to a unit diagonal.

    Entries of the diagonal that are not positive are not scaled.
    """
    diagonal = np.einsum("nii->ni", matrices)
    scale = 1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
    return np.asarray(np.linalg.eigvalsh(scale[:, :, None] * matrices * scale[:, None, :])[:, 0])


def _test_points(model: ReducedModel) -> Array:
    """Return points all over the region, and points close to the faces of the boxes."""
    leaves = model.fitted.leaves
    chosen = [leaves[i] for i in np.linspace(0, len(leaves) - 1, min(len(leaves), _LEAVES)).astype(int)]
    inside = (1.0 - 1e-9) * boundary_points(model.layout.theta, _IN_LEAF, seed=0)  # faces are known to rounding only
    return np.vstack([scatter_in_boxes(model, _SCATTERED, seed=0), *(box.from_unit(inside) for box in chosen)])
