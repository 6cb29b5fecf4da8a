"""Exact coefficients of a mechanism in the form of its reduced model, to judge the model by."""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.approximation.confidence import uniform_points
from supple.array_types import Array
from supple.description.mechanism import Mechanism
from supple.equations.equations_of_motion import Coefficients, EquationsOfMotion
from supple.equations.row import RowLayout
from supple.kinematics.closure import assemble
from supple.parameterization.local_model import coefficient_rows, local, local_row, mode_choice
from supple.parameterization.mode_choice import ModeChoice
from supple.reduced.model import ReducedModel
from supple.reduction.domain import Domain
from supple.reduction.path import path_layout, path_rows
from supple.reduction.sampling import Sampling


def modes_of(model: ReducedModel) -> dict[str, Any]:
    """Return the modes that a model was reduced with, as options of `local`."""
    modes = model.provenance.get("options", {}).get("modes")
    if not modes or model.layout.size == model.layout.theta:
        return {}
    return {
        "constraint_modes": tuple(modes["constraint"]), "internal_modes": modes["internal"],
        "tracking": modes["tracking"], "germ": None if modes["germ"] is None else np.array(modes["germ"]),
        "stiffening": modes.get("stiffening", False),
        "preload": modes.get("preload", False) or modes.get("stiffening", False),
    }  # fmt: skip


def exact_coefficients(mechanism: Mechanism, model: ReducedModel, domain: Domain, x: Array) -> EquationsOfMotion:
    """Return the coefficients of the mechanism at x, in the coordinates of the model."""
    choice = modes_of(model)
    if domain.path is None and not domain.held:
        return local(mechanism, x, rigid=not choice, **choice)
    if domain.path is None:
        return Coefficients(x, model.labels, *_without_fixed(mechanism, domain, x, choice))
    curve = domain.path.at(x[:, 0])
    configuration = assemble(mechanism, curve.theta)
    requested = mode_choice_of(mechanism, choice)
    whole = local_row(configuration, requested)
    rows = path_rows(coefficient_rows(configuration, requested)[0], whole, curve)
    return Coefficients(x, model.labels, path_layout(whole), rows)


def mode_choice_of(mechanism: Mechanism, choice: dict[str, Any]) -> ModeChoice:
    """Return the modes of a mechanism from the options that `modes_of` returns."""
    requested = dict(choice)
    modes = (requested.pop(name, empty) for name, empty in (("constraint_modes", ()), ("internal_modes", 0)))
    return mode_choice(mechanism, *modes, **{"tracking": "none", **requested})


def _without_fixed(mechanism: Mechanism, domain: Domain, x: Array, choice: dict[str, Any]) -> tuple[RowLayout, Array]:
    sampling = Sampling(mechanism, choice=mode_choice_of(mechanism, choice))
    rows, valid = domain.rows(sampling, x)
    if not valid.all():
        local(mechanism, domain.theta(x[~valid]), rigid=not choice, **choice)  # raises the error there
    return domain.layout(sampling), rows


def scatter_in_boxes(model: ReducedModel, count: int, seed: int) -> Array:
    """Return random θ in the boxes of a model, uniform by volume: (count, s)."""
    return uniform_points(model.fitted, count, np.random.default_rng(seed))
