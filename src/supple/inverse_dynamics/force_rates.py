"""Least-squares distribution of forces over a whole motion, with bounds of forces and of their rates.

    min Σ_n ½ u_nᵀ H_n u_n + f_nᵀ u_n   such that   B_n u_n = Q_n,  lower <= u <= upper,  |u_{n+1} - u_n| <= r h_n

The equations are satisfied by u = u_0 + N z, with N an orthonormal basis of the null space of B_n. Each time is coupled
only with its neighbours, so that the Newton matrix of an interior-point method (Mehrotra's predictor and corrector) is
banded, and a motion of a thousand times takes a fraction of a second.

The inequalities are G z <= h, in rows of a actuators each: forces from above and from below (n rows each), then changes
of forces from above and from below (n - 1 rows each).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve_banded, cholesky_banded

from supple.array_types import Array
from supple.inverse_dynamics.force_distribution import Objective, Rates

_ITERATIONS = 100
_MET = 1e-10  # inequalities, in units of the largest force or change of force
_NEARLY = 10.0  # factor of _MET that is accepted if nothing better is found
_DONE, _GOOD = 1e-12, 1e-7  # mean product of slack and multiplier: at convergence, and where rounding stops it
_FLAT = 1e-9  # gradient of the objective, against the steepest bound
_RAISED = (0.0, 1e-13, 1e-11, 1e-9)  # regularization of the diagonal of the Newton matrix
_BACK = 0.995  # of the step to the nearest bound
_STUCK = 1e-10  # shortest step


class _Point(NamedTuple):
    """Iterate of the method: slacks s and multipliers y of the inequalities, G z + s - h, and the gradient at z."""

    slack: Array
    dual: Array
    outside: Array
    gradient: Array


def least_squares_within_rates(
    B: Array, Q: Array, objective: Objective, lower: Array, upper: Array, rates: Rates
) -> Array | None:
    """Return the forces (N, a), or None if the method finds none."""
    s, a = B.shape[1:]
    u0 = (np.linalg.pinv(B) @ Q[..., None])[..., 0]
    N = np.linalg.svd(B)[2][:, s:, :].transpose(0, 2, 1)  # (n, a, q)
    scale = float(np.abs(u0).max()) or 1.0
    cost = float(np.abs(objective.H).max())
    H, f = objective.H / cost, objective.f / (cost * scale)
    base = u0 / scale
    allowed = rates.steps[:, None] * rates.limits / scale
    limit = np.concatenate([upper / scale, -lower / scale, allowed, allowed]) - _both_sides(base)
    widest = float(np.where(np.isfinite(allowed), allowed, 0.0).max()) or 1.0
    unit = np.concatenate([np.ones((2 * len(base), 1)), np.full((2 * len(allowed), 1), widest)])
    if a == s:  # the forces are unique
        return u0 if (limit >= -_MET * unit).all() else None
    slope = np.einsum("naq,na->nq", N, f + (H @ base[..., None])[..., 0])
    z = _interior(N, np.einsum("naq,nab,nbp->nqp", N, H, N), slope, limit, unit)
    return None if z is None else u0 + scale * np.einsum("naq,nq->na", N, z)


def _interior(N: Array, H: Array, f: Array, limit: Array, unit: Array) -> Array | None:
    """Minimize ½ zᵀH z + fᵀz such that G z <= limit; infinite limits are none.

    unit : scale of a violation of each inequality
    """
    kept = np.isfinite(limit)
    total = max(int(kept.sum()), 1)
    h = np.where(kept, limit, 0.0)
    z = np.zeros(f.shape)
    good: Array | None = None  # the last acceptable one
    slack = np.where(kept, np.maximum(h, 1.0), 1.0)
    dual = np.where(kept, 1.0, 0.0)
    for _ in range(_ITERATIONS):
        outside = np.where(kept, _G(N, z) + slack - h, 0.0)
        here = _Point(slack, dual, outside, np.einsum("nqp,np->nq", H, z) + f + _G_transposed(N, dual))
        gap = float((slack * dual).sum()) / total
        worst = float((np.abs(outside) / unit).max())
        if np.abs(here.gradient).max() <= _FLAT * max(1.0, float(dual.max())):
            if worst <= _MET and gap <= _DONE:
                return z
            if worst <= _NEARLY * _MET and gap <= _GOOD:
                good = z
        factor = _factor(_band(N, H, dual / slack))
        if factor is None:
            return good  # rounding dominates close to bounds that can hardly be met
        _, ds, dy = _direction(N, factor, here, kept, np.zeros_like(slack))
        step = min(_longest(slack, ds), _longest(dual, dy))
        ahead = float(((slack + step * ds) * (dual + step * dy)).sum()) / total
        center = (ahead / gap) ** 3 * gap if gap > 0.0 else 0.0
        dz, ds, dy = _direction(N, factor, here, kept, np.where(kept, center - ds * dy, 0.0))
        step = min(1.0, _BACK * _longest(slack, ds), _BACK * _longest(dual, dy))
        if not np.isfinite(dz).all() or step < _STUCK:
            return good
        z, slack, dual = z + step * dz, slack + step * ds, dual + step * dy
    return good


def _direction(
    N: Array, factor: Array, here: _Point, kept: NDArray[np.bool_], aim: Array
) -> tuple[Array, Array, Array]:
    """Return the changes of z, s and y that give s y = aim, to first order.

    (H + Gᵀ Y/S G) dz = -∇ - Gᵀ (aim/S - y + Y/S (G z + s - h))
    """
    slack, dual, outside, gradient = here
    ratio = dual / slack
    push = aim / slack - dual + ratio * outside
    dz = cho_solve_banded((factor, True), (-gradient - _G_transposed(N, push)).ravel()).reshape(gradient.shape)
    ds = np.where(kept, -outside - _G(N, dz), 0.0)
    return dz, ds, np.where(kept, aim / slack - dual - ratio * ds, 0.0)


def _both_sides(u: Array) -> Array:
    """Return forces and their changes from above and from below, stacked."""
    change = np.diff(u, axis=0)
    return np.concatenate([u, -u, change, -change])


def _G(N: Array, z: Array) -> Array:
    return _both_sides(np.einsum("naq,nq->na", N, z))


def _split(rows: Array, count: int) -> list[Array]:
    return np.split(rows, [count, 2 * count, 3 * count - 1])


def _G_transposed(N: Array, push: Array) -> Array:
    high, low, rise, fall = _split(push, len(N))
    u = high - low
    u[1:] += rise - fall
    u[:-1] -= rise - fall
    return np.einsum("naq,na->nq", N, u)


def _band(N: Array, H: Array, ratio: Array) -> Array:
    """Return H + Gᵀ ratio G, its lower band by columns: (2 q, n q)."""
    count, _, q = N.shape
    high, low, rise, fall = _split(ratio, count)
    own, link = high + low, rise + fall
    own[1:] += link
    own[:-1] += link
    block = H + np.einsum("naq,na,nap->nqp", N, own, N)
    couple = -np.einsum("naq,na,nap->nqp", N[1:], link, N[:-1])  # row: the later instant
    band = np.zeros((2 * q, count * q))
    for column in range(q):
        for row in range(column, q):
            band[row - column, column::q] = block[:, row, column]
        for row in range(q):
            band[q + row - column, column : (count - 1) * q : q] = couple[:, row, column]
    return band


def _factor(band: Array) -> Array | None:
    """Return the Cholesky factor; a diagonal that suffers from rounding is raised slightly."""
    for raised in _RAISED:
        try:
            lifted = band.copy()
            lifted[0] *= 1.0 + raised
            return cholesky_banded(lifted, lower=True)
        except (np.linalg.LinAlgError, ValueError):
            continue
    return None


def _longest(values: Array, changes: Array) -> float:
    """Return the largest step, at most 1, before a value becomes negative."""
    falling = changes < 0.0
    return min(1.0, float((-values[falling] / changes[falling]).min(initial=1.0)))
