"""Maximum likelihood for the modal model: poles and participation that minimize the residuals.

Estimators that are linear in polynomial coefficients weight errors with |A(z)|, so that noise reduces their damping. A
few Gauss-Newton steps on the modal model, with shapes and residual terms eliminated at each (variable projection, Golub
and Pereyra 1973), correct this, and their normal matrix is the covariance (Peeters et al. 2012).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array, Complex
from supple.identification.modal_parameters.modal_model import (
    RESIDUALS,
    Band,
    Gram,
    LinearFit,
    Poles,
    gram,
    linear_fit,
    linear_map,
)

_ITERATIONS = 40
_SMALL = 1e-9  # relative change of χ², or of poles in half bandwidths: the tolerance
_LARGEST = 0.7  # of its reach: largest motion of a pole in one step
_SLOWED = 0.2  # least factor of a decay rate in one step; the largest is its inverse
_FASTEST = 0.5  # decay rate over frequency: a faster decay is no vibration
_RIDGE = 1e-12


class Refined(NamedTuple):
    """Refined poles.

    at, fit        : poles with their participation, and the linear part
    covariance     : (2R, 2R) of (Re s_1, Im s_1, Re s_2, ...), for noise with the variance of the band
    shape_variance : (No, P) of the linear unknowns, as in `LinearFit.x`
    steps          : number of steps; converged : whether the misfit is at its minimum
    """

    at: Poles
    fit: LinearFit
    covariance: Array
    shape_variance: Array
    steps: int
    converged: bool


def refine(band: Band, start: Poles, *, iterations: int = _ITERATIONS) -> Refined:
    """Refine poles by Levenberg-Marquardt steps (eqs. 12, 13)."""
    at = normalise(start)
    products = gram(band, at.poles)
    fit = linear_fit(products, at)
    if not len(at.poles):  # residual terms alone
        return Refined(at, fit, np.zeros((0, 0)), 0.5 * np.einsum("opp->op", fit.inverse), 0, True)
    damping, steps, converged = 1e-4, 0, False
    while steps < iterations and not converged:
        A, g, _ = _eliminate_linear(products, at, fit, reach(band, at.poles))
        size = np.sqrt(np.maximum(np.diag(A), 1e-200))
        A, g = A / np.outer(size, size), g / size
        while True:
            move = np.linalg.solve(A + (damping + _RIDGE) * np.eye(len(g)), g) / size
            tried = stepped_poles(band, at, move)
            new_products = gram(band, tried.poles)
            new = linear_fit(new_products, tried)
            steps += 1
            if new.misfit <= fit.misfit * (1.0 + 1e-12) or steps >= iterations:
                break
            damping = max(10.0 * damping, 1e-4)
            if damping > 1e8:
                break
        if not new.misfit <= fit.misfit * (1.0 + 1e-12):
            converged = damping > 1e8  # nothing near is better
            break
        far = np.abs(tried.poles - at.poles) / np.maximum(-at.poles.real, np.finfo(float).tiny)
        converged = bool(fit.misfit - new.misfit <= _SMALL * abs(fit.misfit) and far.max(initial=0.0) < 1e-4) or bool(
            far.max(initial=0.0) < _SMALL
        )
        at, products, fit = normalise(tried), new_products, new
        fit = linear_fit(products, at)
        damping = max(damping / 10.0, 1e-12)
    covariance, shapes = covariances(products, at, fit, reach(band, at.poles))
    return Refined(at, fit, covariance, shapes, steps, converged)


def slowest(band: Band) -> float:
    """Return the least decay rate of a pole, 1/s: a five hundredth of the step between lines."""
    return float(2e-3 * np.median(np.diff(band.omega)))


def normalise(at: Poles) -> Poles:
    """Return the poles with participation factors whose largest entry is 1."""
    rows = np.arange(len(at.poles))
    pivot = np.abs(at.participation).argmax(axis=1)
    return Poles(at.poles, at.participation / at.participation[rows, pivot][:, None])


def reach(band: Band, poles: Complex) -> Array:
    """Return the distance (R,), rad/s, of each pole from the nearest line.

    It is the scale on which the response changes with the pole. If lines are widely spaced it is much larger than the
    decay rate.
    """
    place = np.clip(np.searchsorted(band.omega, poles.imag), 1, len(band.omega) - 1)
    near = np.minimum(np.abs(band.omega[place] - poles.imag), np.abs(band.omega[place - 1] - poles.imag))
    return np.asarray(np.hypot(near, poles.real))


def stepped_poles(band: Band, at: Poles, move: Array) -> Poles:
    """Return poles and participation after a step.

    The step is in (Re s, Im s), over the reach, and in Re l, Im l except for the pivot. It is limited by the reach of a
    pole, and its decay rate by the range of modes.
    """
    R, Ni = at.participation.shape
    pairs = move.reshape(R, 2 * Ni)
    largest = np.abs(pairs[:, :2]).max(axis=1, initial=0.0)
    pairs = pairs * np.minimum(1.0, _LARGEST / np.maximum(largest, 1e-300))[:, None]
    scale, decay = reach(band, at.poles), -at.poles.real
    turn = np.clip(at.poles.imag + scale * pairs[:, 1], 0.5 * band.omega[0], 1.5 * band.omega[-1])
    slower = np.clip(decay - scale * pairs[:, 0], _SLOWED * decay, decay / _SLOWED)
    poles = -np.clip(slower, slowest(band), _FASTEST * turn) + 1j * turn
    participation = at.participation.copy()
    rows, columns = np.nonzero(_free(at))
    participation[rows, columns] += (pairs[:, 2::2] + 1j * pairs[:, 3::2]).reshape(-1)
    return Poles(poles, participation)


def derivative_map(at: Poles, fit: LinearFit, scale: Array) -> Array:
    """Return the coefficients (No, Ni, K, np) of the functions in the derivative of Ĥ_oi by each nonlinear unknown."""
    R, Ni = at.participation.shape
    No, K = len(fit.x), 4 * R + RESIDUALS
    found = np.zeros((No, Ni, K, 2 * R * Ni))
    others = [np.flatnonzero(row) for row in _free(at)]
    for r in range(R):
        first = 2 * Ni * r
        residues = fit.shapes[r][:, None] * at.participation[r]  # (No, Ni)
        for column, factor in ((first, scale[r]), (first + 1, 1j * scale[r])):  # ∂/∂s of 1/(iω - s) is g²
            c = factor * residues
            found[:, :, 4 * r + 2, column], found[:, :, 4 * r + 3, column] = c.real, c.imag
        for place, i in enumerate(others[r]):
            for column, factor in ((first + 2 + 2 * place, 1.0), (first + 3 + 2 * place, 1j)):
                c = factor * fit.shapes[r]
                found[:, i, 4 * r, column], found[:, i, 4 * r + 1, column] = c.real, c.imag
    return found


def covariances(products: Gram, at: Poles, fit: LinearFit, scale: Array) -> tuple[Array, Array]:
    """Return the covariance (2R, 2R) of Re and Im of the poles and the variances (No, P) of the linear unknowns.

    Both are for E|δH|² = v. Each part has half of a complex variance, so that the covariance is ½ A⁻¹.
    """
    R, Ni = at.participation.shape
    A, _, followed = _eliminate_linear(products, at, fit, scale)
    size = np.sqrt(np.maximum(np.diag(A), 1e-200))
    inner = A / np.outer(size, size) + _RIDGE * np.eye(len(A))
    full = 0.5 * np.linalg.inv(inner) / np.outer(size, size)
    rows = (2 * Ni * np.arange(R)[:, None] + np.arange(2)).reshape(-1)
    factors = np.repeat(scale, 2)
    poles = full[np.ix_(rows, rows)] * np.outer(factors, factors)
    own = 0.5 * np.einsum("opp->op", fit.inverse)
    shapes = own + np.einsum("opa,ab,opb->op", followed, full, followed, optimize=True)
    return poles, np.asarray(shapes)


def _eliminate_linear(products: Gram, at: Poles, fit: LinearFit, scale: Array) -> tuple[Array, Array, Array]:
    """Return A and g of the step A p = g in poles and participation, with the linear unknowns eliminated (eq. 12).

    The third value (No, P, np) is the change of the linear unknowns with p.
    """
    D = derivative_map(at, fit, scale)
    map_ = linear_map(at.participation)
    GD = products.G @ D  # (No, Ni, K, np)
    cross = np.einsum("ikp,oika->opa", map_, GD, optimize=True)
    follow = fit.inverse @ cross
    np_ = D.shape[-1]
    A = D.reshape(-1, np_).T @ GD.reshape(-1, np_) - cross.reshape(-1, np_).T @ follow.reshape(-1, np_)
    fitted = np.einsum("ikp,op->oik", map_, fit.x, optimize=True)
    left = products.b - np.einsum("oikl,oil->oik", products.G, fitted, optimize=True)
    g = np.einsum("oika,oik->a", D, left, optimize=True)
    return A, g, follow


def _free(at: Poles) -> NDArray[np.bool_]:
    """Return which entries (R, Ni) of the participation are unknown: all but the largest of each."""
    free = np.ones(at.participation.shape, dtype=bool)
    free[np.arange(len(free)), np.abs(at.participation).argmax(axis=1)] = False
    return free
