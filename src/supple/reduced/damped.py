"""Reduced models with Rayleigh damping of their deformation, and their frequencies with θ locked."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from supple.approximation.piecewise.piecewise import PiecewiseArrays
from supple.array_types import Array
from supple.reduced.family import with_columns
from supple.reduced.layout import CoefficientLayout

if TYPE_CHECKING:
    from supple.reduced.model import ReducedModel


_FIRST_ROW = 0  # column of `leaves_i`: first row of coefficients of a leaf, which is the constant T_0


def add_damping(model: ReducedModel, mass: float, stiffness: float) -> ReducedModel:
    """Return the model with D_δδ + α M_δδ + β K_δδ for D_δδ [damping, eq. 2].

    The result is exact: all columns of the fitted function are sums over the same terms on the same boxes, so the
    columns of D are sums of those of M and K.

    mass, stiffness : α (1/s) and β (s)
    """
    layout = model.layout
    n, s = layout.size, layout.theta
    if n == s or not (mass or stiffness):
        return model
    width = n * (n + 1) // 2
    deformation = np.zeros((n, n))
    deformation[s:, s:] = 1.0
    kept = deformation[np.triu_indices(n)]
    places = layout.columns
    if "damping" not in places:
        places = {**places, "damping": (layout.fitted, layout.fitted + width)}

    def change(arrays: PiecewiseArrays) -> Array:
        columns = np.zeros((len(arrays.coefficients), width))
        constants = arrays.leaves_i[:, _FIRST_ROW]
        for name, factor in (("damping", 1.0), ("M", mass), ("K", stiffness)):
            among = np.ones(width) if name == "damping" else kept
            if name in layout.columns:
                first, stop = layout.columns[name]
                columns += factor * among * arrays.coefficients[:, first:stop]
            elif name in layout.constants:
                columns[constants] += factor * among * np.ravel(layout.constants[name])
        if "damping" not in layout.columns:
            return np.hstack([arrays.coefficients, columns])
        first, stop = layout.columns["damping"]
        coefficients = arrays.coefficients.copy()
        coefficients[:, first:stop] = columns
        return coefficients

    others = {name: value for name, value in layout.constants.items() if name != "damping"}
    return with_columns(model, replace(layout, columns=places, constants=others), change)


def first_frequency(model: ReducedModel, theta: Array) -> float:
    """Return the lowest frequency of the deformation at θ (s,), θ locked, Hz."""
    here, s = model.evaluate(theta), model.layout.theta
    return float(locked_frequencies(here.K[None, s:, s:], here.M[None, s:, s:])[0].min()) / (2.0 * np.pi)


# Frequencies of a flexible model with θ locked: those of its deformation alone.


_STILL = 1e-6  # of the highest frequency: a lower mode is a rigid motion, and its frequency is rounding


def kept_frequencies(layout: CoefficientLayout) -> int:
    """Return the number of judged frequencies: one for each internal mode, or the lowest; none for a rigid model."""
    return min(max(layout.internal, 1), layout.size - layout.theta)


def locked_frequencies(K: Array, M: Array) -> Array:
    """Return ω (N, k) in rad/s, in rising order, of K_δδ φ = ω² M_δδ φ with K_δδ and M_δδ (N, k, k).

    A fit may be indefinite: ω = -√-ω² where K_δδ is not positive, 0 throughout where M_δδ is not positive, and nan
    where either is nan.
    """
    known = np.isfinite(K).all(axis=(1, 2)) & np.isfinite(M).all(axis=(1, 2))
    found = np.full(K.shape[:2], np.nan)
    found[known] = 0.0
    heavy = np.flatnonzero(known)
    least = np.linalg.eigvalsh(M[heavy])[:, 0]
    heavy = heavy[least > 0.0]
    inverse = np.linalg.inv(np.linalg.cholesky(M[heavy]))
    squares = np.linalg.eigvalsh(inverse @ K[heavy] @ np.swapaxes(inverse, 1, 2))
    omega = np.sign(squares) * np.sqrt(np.abs(squares))
    least_counted = _STILL * np.abs(omega).max(axis=1, keepdims=True, initial=0.0)
    found[heavy] = np.where(np.abs(omega) < least_counted, least_counted, omega)
    return found
