"""Errors of a run-time form: against its surrogate at any number of points, and against the mechanism.

The errors are those of `reduce`: e(x) = ‖f - f̂‖ / max(‖f‖, median ‖f‖, floor) for every coefficient family. With the
error ε_s of the surrogate, a form within

    ε_f = (ε - ε_s) / 1.05                                                                                          (1)

of the surrogate is within ε of the mechanism. The factor is that of stated errors, for peaks that no point has met.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from supple.approximation.check_points import boundary_points
from supple.approximation.confidence import GUARD, Confirmation, Stated, uniform_points
from supple.approximation.evaluated import Samples
from supple.approximation.fit_error import face_jumps, norms
from supple.approximation.fits.scattered_fit import halton_points
from supple.approximation.piecewise.piecewise import Piecewise
from supple.array_types import Array
from supple.description.mechanism import Mechanism
from supple.equations.row import RowLayout
from supple.parameterization.mode_choice import RIGID
from supple.reduced.model import ReducedModel
from supple.reduction.domain import Domain, path_domain, theta_domain
from supple.reduction.exact_coefficients import mode_choice_of, modes_of
from supple.reduction.fitted_coefficients import FREQUENCIES, Columns, block_places
from supple.reduction.path import path_from
from supple.reduction.sampling import Sampling

_POINTS = 2000  # by which medians are computed
_ALL, _IN_BOX, _TOGETHER = 8000, 40, 8000  # points of a form, at least of each box, and evaluated at a time
_SEED = 5


def judged_columns(model: ReducedModel, rows: RowLayout) -> Columns:
    """Return the conversion of columns to families of a model, without the families that its errors leave out."""
    layout, known = model.layout, model.provenance.get("error", {})
    structured = layout.christoffel == "from-mass" or layout.force == "from-potential"
    columns = Columns(layout, rows, structured)
    if layout.size == layout.theta or not known:
        return columns
    blocks = {block for name in columns.families for block in block_places(layout, name)}
    return replace(columns, ignored=frozenset(blocks - set(known)))


class SurrogateError:
    """Errors of functions with the columns of a surrogate, family by family.

    scales : norms that errors are relative to at least
    stated : stated error of the surrogate in each family
    """

    def __init__(self, model: ReducedModel) -> None:
        self.model = model
        self.columns = judged_columns(model, model.row)
        points = uniform_points(model.fitted, _POINTS, np.random.default_rng(_SEED))
        found = self.families(*model.fitted.with_gradient(points))
        known = model.provenance.get("error", {})
        tiny = float(np.finfo(float).tiny)
        self.floors = {name: max(known.get(name, {}).get("floor", 0.0), tiny) for name in found}
        medians = {name: float(np.median(norms(family))) for name, family in found.items()}
        self.scales = {name: max(medians[name], floor) for name, floor in self.floors.items()}
        self.scales |= dict.fromkeys(self.columns.frequencies, tiny)
        self.stated = {
            name: model.error.get(FREQUENCIES if name in self.columns.frequencies else name, 0.0) for name in found
        }

    @property
    def worst(self) -> tuple[str, float]:
        """Family with the largest stated error of the surrogate, and that error."""
        name = max(self.stated, key=lambda item: self.stated[item])
        return name, self.stated[name]

    def targets(self, tolerance: float) -> dict[str, float]:
        """Return the largest error against the surrogate in each family, equation 1; it may be negative."""
        return {name: (tolerance - stated) / GUARD for name, stated in self.stated.items()}

    def families(self, values: Array, gradients: Array) -> dict[str, Array]:
        """Return all families from values (N, t) and gradients (N, t, s)."""
        return self.columns.derive_families(values, gradients)

    def relative(self, exact: Mapping[str, Array], fitted: Mapping[str, Array]) -> dict[str, Array]:
        """Return the error of each family at each point, (N,)."""
        return {
            name: norms(fitted[name] - family) / np.maximum(norms(family), self.scales[name])
            for name, family in exact.items()
        }

    def total(self, errors: Mapping[str, float]) -> dict[str, float]:
        """Return bounds of the errors against the mechanism from those against the surrogate."""
        return {name: self.stated[name] + GUARD * error for name, error in errors.items()}

    def measure(self, fitted: Piecewise) -> dict[str, float]:
        """Return the largest error of each family against the surrogate, at points of all boxes and of their faces."""
        each = max(_IN_BOX, _ALL // len(fitted.arrays.leaves_f))
        near = boundary_points(fitted.dimension, each // 2, seed=_SEED)
        unit = (1.0 - 1e-9) * np.vstack([near, halton_points(fitted.dimension, each // 2, _SEED)])  # just inside
        worst = dict.fromkeys(self.stated, 0.0)
        centers, inverse = fitted.arrays.leaves_f[:, 0], fitted.arrays.leaves_f[:, 1]
        step = max(1, _TOGETHER // len(unit))
        for first in range(0, len(centers), step):
            some = slice(first, first + step)
            points = (centers[some, None] + unit / inverse[some, None]).reshape(-1, fitted.dimension)
            exact = self.families(*self.model.fitted.with_gradient(points))
            errors = self.relative(exact, self.families(*fitted.with_gradient(points)))
            worst = {name: max(worst[name], float(error.max())) for name, error in errors.items()}
        return worst

    def jumps(self, fitted: Piecewise) -> dict[str, float]:
        """Return the largest relative jump of each family where boxes meet."""
        return face_jumps(fitted, self.families, self.scales)


class ExactCheck(NamedTuple):
    """Stated errors of a run-time form against the mechanism.

    errors    : of each family, as JSON data: stated error, point, scale and largest error at random points
    stated    : confidence of the errors
    points    : number of evaluations of the mechanism
    visited   : number of boxes with a check point
    """

    errors: dict[str, dict[str, Any]]
    stated: Stated
    points: int
    visited: int


class _Fitted(NamedTuple):
    fitted: Piecewise

    def piecewise(self) -> Piecewise:
        return self.fitted


def domain_of_model(mechanism: Mechanism, model: ReducedModel) -> Domain:
    """Return the meaning of the coordinates of a model: θ without the fixed ones, or the arclength of a path."""
    kept = model.provenance.get("options", {}).get("path")
    if kept is not None:
        return path_domain(mechanism, path_from(kept))
    return theta_domain(mechanism, [], model.held_coordinates)


def exact_check(
    mechanism: Mechanism, judge: SurrogateError, fitted: Piecewise, *, checks: int | None, seed: int
) -> ExactCheck:
    """Compare a run-time form with the mechanism at random points and at the peaks of its error.

    checks : number of random points; None: as in `reduce`
    """
    model = judge.model
    domain = domain_of_model(mechanism, model)
    modes = modes_of(model)
    sampling = Sampling(mechanism, choice=mode_choice_of(mechanism, modes) if modes else RIGID)
    try:
        columns = replace(judge.columns, rows=domain.layout(sampling))

        def sampler(x: Array) -> Samples:
            return columns.samples(*domain.rows(sampling, x, check=True))

        confirmation = Confirmation(sampler, columns.derive_families, checks, seed)
        found = confirmation.look(_Fitted(fitted), judge.floors, columns.frequencies)
    finally:
        sampling.close()
    names, errors = model.layout.coordinates, {}
    for name, item in found.family_errors().items():
        errors[name] = {
            "worst": item.worst, "at": dict(zip(names, item.at.tolist(), strict=False)),
            "median_norm": item.median_norm, "floor": item.floor, "scale": item.scale, "seen": item.seen,
        }  # fmt: skip
    visited = np.unique(fitted.locate(found.points[found.valid]))
    return ExactCheck(errors, confirmation.state_confidence(), confirmation.evaluations, len(visited))
