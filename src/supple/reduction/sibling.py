"""Models of mechanisms that differ from a reduced one by numbers alone, such as a payload, a modulus or a length.

They keep the region, boxes and terms of the first model. Only the coefficients of the terms are computed again, by
least squares on more samples than terms:

    min_c Σ_p ‖f(θ_p) - Σ_k c_k T_k(θ_p)‖²,      checked at other points

There is no search, so this costs a tenth of a reduction; use it for hundreds of plants close to one.
"""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np

from supple.approximation.fits.scattered_fit import halton_points
from supple.approximation.piecewise.piecewise import Piecewise
from supple.array_types import Array
from supple.compilation.threads import single_blas_thread
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError, SuppleWarning
from supple.formats.mechanism_text import to_yaml
from supple.formulations.coefficients import get_coefficients
from supple.formulations.described_hardware import hardware_of
from supple.kinematics.closure import assemble
from supple.kinematics.rest import rest
from supple.parameterization.local_model import basis_of, local_row
from supple.parameterization.mode_choice import ModeChoice
from supple.reduced.model import ReducedModel
from supple.reduction.fitted_coefficients import packed_values
from supple.reduction.named_parts import repertoire_of, units_of_layout
from supple.reduction.sampling import sampled_rows

_OVER = 2.5  # samples for each term
_CHECKS = 24
_WORSE = 10.0  # multiple of the first model's error above which a warning is given
_DERIVED = ("K", "christoffel", "mass_slope", "force", "potential")  # zero, or derived from others
_STEADY = 1e-8  # largest relative change of a constant over the region


class Siblings:
    """Factory of models of similar mechanisms, over the region of a model and with the same number of modes."""

    def __init__(self, model: ReducedModel) -> None:
        options = model.provenance.get("options", {})
        if "path" in options or options.get("held"):
            raise InputError(
                "models along a path or with fixed coordinates are not supported", part=f'model "{model.name}"',
                hint="reduce the mechanism over a region of all its coordinates",
            )  # fmt: skip
        self.model = model
        modes = options["modes"]
        germ = modes["germ"]
        self.choice = ModeChoice(**{
            **modes, "constraint": tuple(modes["constraint"]), "germ": None if germ is None else tuple(germ)
        })  # fmt: skip
        arrays = model.fitted.arrays
        terms = len(arrays.coefficients)
        each = int(np.ceil(_OVER * terms / len(model.fitted.leaves))) + 4
        self._points = self._spread(each, seed=1)
        self._checks = self._spread(max(2, _CHECKS // len(model.fitted.leaves)), seed=2)
        unit = Piecewise(arrays._replace(coefficients=np.eye(terms)))
        with single_blas_thread():
            self._inverse = np.linalg.pinv(unit.evaluate(self._points))

    def _spread(self, count: int, seed: int) -> Array:
        """Return points over all boxes, concentrated towards their faces, as good sample points of polynomials are."""
        s = self.model.layout.theta
        inside = np.sin(0.5 * np.pi * halton_points(s, count, seed))
        return np.vstack([box.from_unit(inside) for box in self.model.fitted.leaves])

    def of(self, mechanism: Mechanism) -> ReducedModel:
        """Return the model of a mechanism with the same coordinates, actuators and outputs."""
        layout, model = self.model.layout, self.model
        names = rest(mechanism).numbering.coordinates
        if names != layout.coordinates[: layout.theta] or tuple(mechanism.actuators) != layout.inputs:
            raise InputError(
                f"the coordinates {', '.join(names)} or the actuators differ from those of the model "
                f"({', '.join(layout.coordinates[: layout.theta])})",
                part=f'mechanism "{mechanism.name}"', hint="change numbers only; keep the parts of the mechanism",
            )  # fmt: skip
        places = local_row(assemble(mechanism), self.choice)
        rows, valid = sampled_rows(mechanism, np.vstack([self._points, self._checks]), self.choice)
        if not valid.all():
            where = np.vstack([self._points, self._checks])[np.flatnonzero(~valid)[0]]
            raise InputError(
                f"cannot be assembled at {where}, in the region of the model",
                part=f'mechanism "{mechanism.name}"', hint="reduce over a smaller region, or vary it less",
            )  # fmt: skip
        parts = places.split(rows)
        values = np.hstack([packed_values(parts, name) for name in layout.columns])
        known, checked = values[: len(self._points)], values[len(self._points) :]
        with single_blas_thread():
            coefficients = np.ascontiguousarray(self._inverse @ known)
        fitted = Piecewise(model.fitted.arrays._replace(coefficients=coefficients))
        constants = {
            name: given if name in _DERIVED else self._constant(mechanism, name, packed_values(parts, name))
            for name, given in layout.constants.items()
        }
        changed = replace(layout, constants=constants, dry_forces=dict(get_coefficients(rest(mechanism)).dry_forces))
        error = self._errors(fitted.evaluate(self._checks), checked)
        provenance = {**model.provenance, "description": to_yaml(mechanism), "sibling": error}
        return replace(
            model, name=mechanism.name, layout=changed, fitted=fitted, error=error, provenance=provenance,
            repertoire=repertoire_of(mechanism), basis=basis_of(mechanism, self.choice),
            units=units_of_layout(mechanism, changed), hardware=hardware_of(mechanism), family=None,
        )  # fmt: skip

    def _constant(self, mechanism: Mechanism, name: str, values: Array) -> Array:
        size = float(np.abs(values).max(initial=0.0)) or 1.0
        if float(np.ptp(values, axis=0).max(initial=0.0)) > _STEADY * size:
            raise InputError(
                f"{name} changes over the region, but is constant in the first model",
                part=f'mechanism "{mechanism.name}"', hint="reduce this mechanism separately",
            )  # fmt: skip
        return np.asarray(values.mean(axis=0))

    def _errors(self, found: Array, true: Array) -> dict[str, float]:
        """Return the largest error at the checks for each group of columns: ‖f - f̂‖ / max(‖f‖, median ‖f‖)."""
        errors = {}
        for name, (first, stop) in self.model.layout.columns.items():
            size = np.linalg.norm(true[:, first:stop], axis=1)
            off = np.linalg.norm(found[:, first:stop] - true[:, first:stop], axis=1)
            errors[name] = float((off / np.maximum(np.maximum(size, np.median(size)), 1e-300)).max())
        worst = max(errors, key=lambda name: errors[name])
        limit = _WORSE * max([1e-6, *(value for value in self.model.error.values() if np.isfinite(value))])
        if errors[worst] > limit:
            warnings.warn(
                f"on the boxes of the first model, {worst} of this plant has an error of {errors[worst]:.2g}; "
                "vary it less, or reduce the first model with a smaller tolerance", SuppleWarning, stacklevel=3,
            )  # fmt: skip
        return errors
