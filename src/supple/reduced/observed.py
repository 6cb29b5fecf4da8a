"""Outputs of a reduced model along a motion, from its fitted measures with their exact rates, and internal forces.

    μ = ρ + Ψ δ,   μ̇ = ρ̇ + Ψ̇ δ + Ψ δ̇,   μ̈ = ρ̈ + Ψ̈ δ + 2 Ψ̇ δ̇ + Ψ δ̈

ρ̇, ρ̈, Ψ̇ and Ψ̈ are those of the fitted polynomials along θ(t), so that a velocity is the exact rate of the model's
position, and an acceleration that of the velocity, to rounding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.approximation.piecewise.piecewise import NOWHERE, Piecewise
from supple.array_types import Array
from supple.diagnostics import InputError
from supple.equations.observation import ORDERS, OutputMotion
from supple.equations.row import EffortMotion, effort_factors, effort_places

if TYPE_CHECKING:
    from supple.reduced.model import ReducedModel


Numbers = NDArray[Any]

_COMPLEX_STEP = 1e-30


class ObservedMotion(NamedTuple):
    """Motion η, η̇, η̈ (N, n) under inputs u (N, inputs), which may be complex; speed : v₀ of dry friction."""

    eta: Numbers
    v: Numbers
    a: Numbers
    u: Numbers
    speed: float


def outputs_along(model: ReducedModel, moving: ObservedMotion) -> Array:
    """Return the outputs y (N, o)."""
    return np.asarray(model.labels.output_composition.values(observe_motion(model, moving)))


def observe_motion(model: ReducedModel, moving: ObservedMotion) -> Numbers:
    """Return the measures and internal forces that outputs are composed of, (3, N, measures and efforts)."""
    x = measures_along(model, moving)
    if not model.layout.efforts:
        return x
    forces = efforts_along(model, moving)
    still = np.zeros_like(forces)
    return np.concatenate([x, np.stack([forces, still, still])], axis=-1)


def measures_along(model: ReducedModel, moving: ObservedMotion) -> Numbers:
    """Return μ, μ̇ and μ̈ (3, N, measures)."""
    (eta, v, a, _, _), layout, s = moving, model.layout, model.layout.theta
    k, d = len(layout.measures), layout.size - layout.theta
    rho = _along(model, "outputs", k, moving)
    Psi = _along(model, "output_modes", k * d, moving).reshape(ORDERS, len(eta), k, d)
    delta, rate, second = eta[:, None, s:], v[:, None, s:], a[:, None, s:]
    rho[0] += (Psi[0] * delta).sum(axis=-1)
    rho[1] += (Psi[1] * delta + Psi[0] * rate).sum(axis=-1)
    rho[2] += (Psi[2] * delta + 2.0 * Psi[1] * rate + Psi[0] * second).sum(axis=-1)
    return rho


def efforts_along(model: ReducedModel, moving: ObservedMotion) -> Numbers:
    """Return the internal forces (N, efforts)."""
    (eta, v, a, u, speed), layout, s = moving, model.layout, model.layout.theta
    limits = np.array(list(layout.dry_forces.values()), dtype=float)
    places = effort_places(layout.size, s, len(layout.inputs), len(limits))
    rows = _along(model, "efforts", len(layout.efforts) * places.width, moving)[0]
    J = _along(model, "friction_map", len(limits) * layout.size, moving)[0].reshape(len(eta), len(limits), layout.size)
    drag = limits * np.tanh(np.einsum("nfi,ni->nf", J, v) / max(speed, 1e-300))
    factors = effort_factors(places, EffortMotion(eta[:, s:], u, a, v, drag))
    return np.asarray(np.einsum("nek,nk->ne", rows.reshape(len(eta), -1, places.width), factors))


def observed_motion(model: ReducedModel, eta: Array, v: Array, a: Array, u: Array, speed: float) -> OutputMotion:
    """Return the measures of one motion (n,) with their derivatives by a complex step, exact to rounding."""
    state, sizes = np.concatenate([eta, v, a, u]), [len(eta), len(v), len(a), len(u)]
    count = len(state)
    moved = np.tile(state.astype(complex), (count, 1)) + 1j * _COMPLEX_STEP * np.eye(count)
    edges = np.cumsum(sizes)[:-1].tolist()
    eta_, v_, a_, u_ = np.split(moved, edges, axis=1)
    found = observe_motion(model, ObservedMotion(eta_, v_, a_, u_, speed))
    slopes = np.moveaxis(found.imag / _COMPLEX_STEP, 1, -1)  # (3, k, all)
    x = observe_motion(model, ObservedMotion(eta[None], v[None], a[None], u[None], speed))[:, 0]
    return OutputMotion(x, *np.split(slopes, edges, axis=2))


def _along(model: ReducedModel, name: str, width: int, moving: ObservedMotion) -> Numbers:
    """Return one coefficient and its rates along θ, (3, N, width)."""
    (eta, v, a, _, _), layout, s = moving, model.layout, model.layout.theta
    if name in layout.columns:
        return time_derivatives(model.fitted, eta[:, :s], v[:, :s], a[:, :s], layout.columns[name])
    found = np.zeros((ORDERS, len(eta), width), dtype=np.result_type(eta, v, a))
    if name in layout.constants:
        found[0] = np.ravel(layout.constants[name])
    return found


# A piecewise polynomial along a motion: its value, and its first and second rates.
#
# ξ(t) moves with ξ̇ and ξ̈:   T_n = 2 ξ T_{n-1} - T_{n-2}
#                            Ṫ_n = 2 (ξ̇ T + ξ Ṫ)_{n-1} - Ṫ_{n-2}
#                            T̈_n = 2 (ξ̈ T + 2 ξ̇ Ṫ + ξ T̈)_{n-1} - T̈_{n-2}


def time_derivatives(fitted: Piecewise, x: Numbers, v: Numbers, a: Numbers, columns: tuple[int, int]) -> Numbers:
    """Return f, ḟ and f̈ (3, N, columns) at points x with rates v and second rates a, (N, s) each.

    Arguments may be complex: the polynomial is that of the box that contains their real part.
    """
    leaves = fitted.locate(np.real(x))
    if (leaves == NOWHERE).any():
        n = int(np.flatnonzero(leaves == NOWHERE)[0])
        raise InputError(
            f"{np.array2string(np.real(x[n]), precision=6)} lies outside the region of the model",
            hint="stay inside, or reduce over a larger region",
        )
    kind = np.result_type(x, v, a, float)
    found = np.zeros((3, len(x), columns[1] - columns[0]), dtype=kind)
    for leaf in np.unique(leaves):
        here = np.flatnonzero(leaves == leaf)
        first, terms, degree = (int(k) for k in fitted.arrays.leaves_i[leaf])
        center, inverse = fitted.arrays.leaves_f[leaf]
        T = _powers((x[here] - center) * inverse, v[here] * inverse, a[here] * inverse, degree)
        indices = fitted.arrays.indices[:terms]
        basis = np.zeros((3, len(here), terms), dtype=kind)
        basis[0] = 1.0
        for axis in range(x.shape[1]):
            basis = _product(basis, T[..., axis][:, indices[:, axis]].swapaxes(1, 2))
        found[:, here] = basis @ fitted.arrays.coefficients[first : first + terms, columns[0] : columns[1]]
    return found


def _powers(xi: Numbers, v: Numbers, a: Numbers, degree: int) -> Numbers:
    """Return T_n and its rates (3, degree + 1, N, s)."""
    T = np.zeros((3, max(degree, 1) + 1, *xi.shape), dtype=np.result_type(xi, v, a))
    T[0, 0] = 1.0
    T[:, 1] = xi, v, a
    for n in range(2, degree + 1):
        T[:, n] = 2.0 * _product(T[:, 1], T[:, n - 1]) - T[:, n - 2]
    return T


def _product(f: Numbers, g: Numbers) -> Numbers:
    """Return the value and rates of a product, (3, ...)."""
    return np.stack([f[0] * g[0], f[1] * g[0] + f[0] * g[1], f[2] * g[0] + 2.0 * f[1] * g[1] + f[0] * g[2]])
