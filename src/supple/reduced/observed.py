"""Outputs of a reduced model along a motion, from its fitted measures and their exact rates.

    μ = ρ + Ψ δ,   μ̇ = ρ̇ + Ψ̇ δ + Ψ δ̇,   μ̈ = ρ̈ + Ψ̈ δ + 2 Ψ̇ δ̇ + Ψ δ̈

ρ̇, ρ̈, Ψ̇ and Ψ̈ are those of the fitted polynomials along θ(t), so that a velocity is the rate of the position that the
model gives, and an acceleration that of the velocity, to rounding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from supple.approximation.taylor import along
from supple.equations.observation import ORDERS
from supple.equations.output_motion import OutputMotion

if TYPE_CHECKING:
    from supple.reduced.model import ReducedModel

Array = NDArray[np.float64]
Numbers = NDArray[Any]

_COMPLEX_STEP = 1e-30


def outputs_along(model: ReducedModel, eta: Array, v: Array, a: Array) -> Array:
    """y (N, o) of a motion η, η̇, η̈ (N, n)."""
    return np.asarray(model.labels.observed.values(measures_along(model, eta, v, a)))


def measures_along(model: ReducedModel, eta: Numbers, v: Numbers, a: Numbers) -> Numbers:
    """μ, μ̇ and μ̈ (3, N, measures) of a motion η, η̇, η̈ (N, n), which may be complex."""
    layout, s = model.layout, model.layout.theta
    k, d = len(layout.measures), layout.size - layout.theta
    rho = _along(model, "outputs", k, eta, v, a)
    Psi = _along(model, "output_modes", k * d, eta, v, a).reshape(ORDERS, len(eta), k, d)
    delta, rate, second = eta[:, None, s:], v[:, None, s:], a[:, None, s:]
    rho[0] += (Psi[0] * delta).sum(axis=-1)
    rho[1] += (Psi[1] * delta + Psi[0] * rate).sum(axis=-1)
    rho[2] += (Psi[2] * delta + 2.0 * Psi[1] * rate + Psi[0] * second).sum(axis=-1)
    return rho


def observed_motion(model: ReducedModel, eta: Array, v: Array, a: Array) -> OutputMotion:
    """Of one motion (n,), with J, J̇ and J̈ by a complex step: they are those of the fit, to rounding."""
    n = model.layout.size
    batch = np.tile(eta.astype(complex), (n, 1)) + 1j * _COMPLEX_STEP * np.eye(n)
    moved = measures_along(model, batch, np.tile(v, (n, 1)), np.tile(a, (n, 1)))
    J = np.moveaxis(moved.imag / _COMPLEX_STEP, 1, -1)  # (3, k, n): J, J̇, J̈
    by_rates, by_accelerations = np.zeros_like(J), np.zeros_like(J)
    by_rates[1], by_rates[2], by_accelerations[2] = J[0], 2.0 * J[1], J[0]
    x = measures_along(model, eta[None], v[None], a[None])[:, 0]
    return OutputMotion(x, J, by_rates, by_accelerations, np.zeros((*J.shape[:2], len(model.layout.inputs))))


def _along(model: ReducedModel, name: str, width: int, eta: Numbers, v: Numbers, a: Numbers) -> Numbers:
    """One coefficient and its rates along θ, (3, N, width)."""
    layout, s = model.layout, model.layout.theta
    if name in layout.columns:
        return along(model.fitted, eta[:, :s], v[:, :s], a[:, :s], layout.columns[name])
    found = np.zeros((ORDERS, len(eta), width), dtype=np.result_type(eta, v, a))
    if name in layout.constants:
        found[0] = np.ravel(layout.constants[name])
    return found
