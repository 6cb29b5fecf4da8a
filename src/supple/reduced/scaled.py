"""Reduced models with scaled elastic stiffness and damping."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from supple.approximation.piecewise.piecewise import PiecewiseArrays
from supple.array_types import Array
from supple.diagnostics import InputError
from supple.reduced.family import with_columns

if TYPE_CHECKING:
    from supple.reduced.model import ReducedModel


def scaled_model(model: ReducedModel, *, stiffness: float = 1.0, damping: float = 1.0) -> ReducedModel:
    """Return the model with k K_δδ and d D_δδ.

    stiffness : k, applied to all elastic stiffness like an error of the modulus: modes keep their shape, and
                frequencies scale with √k
    damping   : d, applied to the damping of deformation alone; joints keep theirs

    The result is exact: K and D are sums over the same terms as all other coefficients.
    """
    for name, factor in (("stiffness", stiffness), ("damping", damping)):
        if not (np.isfinite(factor) and factor >= 0.0) or (name == "stiffness" and factor == 0.0):
            raise InputError(f"must be a positive factor (got {factor:g})", part=name, hint="give a factor above 0")
    layout = model.layout
    n, s = layout.size, layout.theta
    if n == s or (stiffness == 1.0 and damping == 1.0):
        return model
    elastic = np.zeros((n, n), dtype=bool)
    elastic[s:, s:] = True
    among = elastic[np.triu_indices(n)]
    factors = {"K": np.where(among, stiffness, 1.0), "damping": np.where(among, damping, 1.0)}
    constants = {
        name: factors[name] * np.ravel(value) if name in factors else value for name, value in layout.constants.items()
    }

    def change(arrays: PiecewiseArrays) -> Array:
        coefficients = arrays.coefficients.copy()
        for name in factors.keys() & layout.columns.keys():
            first, stop = layout.columns[name]
            coefficients[:, first:stop] *= factors[name]
        return coefficients

    return with_columns(model, replace(layout, constants=constants), change)
