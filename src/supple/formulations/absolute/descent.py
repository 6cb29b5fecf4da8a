"""Static equilibrium of rigid bodies by minimization of the potential over all positions that the joints allow.

The unknowns are positions of the bodies, so that singular positions of the coordinates cause no difficulty. At each
position J = U S Wᵀ splits small motions into those that the rows forbid and those that they allow, N. With the least λ
that balances the forces Q along the forbidden ones,

    f = Nᵀ Q,   H = Nᵀ (∂²V/∂q² - Σ λ_i ∂²Φ_i/∂q²) N

are force and stiffness along the allowed motions. A step solves (H + μ 1) z = f with the least μ ≥ 0 for which H + μ 1
is positive and |z| within the trust radius. Then the rows are closed by the least change. A step is accepted if the
potential decreases by a fraction of the decrease that f and H predict, and this fraction controls the radius.
[Nocedal, Wright: Numerical Optimization, 2006, chapters 4 and 18; Absil, Mahony, Sepulchre: Optimization Algorithms on
Matrix Manifolds, 2008, chapter 7]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from supple.array_types import Array
from supple.formulations.absolute.settling import moved_state
from supple.formulations.absolute.step import State
from supple.formulations.absolute.system import Absolute
from supple.formulations.absolute.tangent import StillTangent, still_tangent
from supple.kinematics.primitives import SCALE

_ITERATIONS = 500
_BEGIN, _FARTHEST, _NEAREST = 0.3, 1.0, 1e-9  # rad or extents, of a body on average: the radius of trust
_AWAY = 30.0  # extents: what nothing holds runs as far
_CLOSINGS = 15
_CLOSED = 1e-14  # of the extent: gaps that are rounding
_OPEN = 1e-10  # of the extent: gaps with which a position does not count
_RANK = 1e-9  # of the largest singular value: rows that depend on others
_SMALL = 1e-9  # of the largest force: near enough for Newton's method alone
_FLAT = 1e-8  # of the largest stiffness: directions along which nothing changes
_SAME = 1e-12  # of what the loads can do: a change of the potential that is rounding
_SHARPENINGS = 12


class AllowedMotions(NamedTuple):
    """Motions that rows allow, as scaled columns N (n, k), and force f (k,) and stiffness H (k, k) along them."""

    N: Array
    f: Array
    H: Array


class Descent(NamedTuple):
    """Final position, and the largest remaining force there, J (a moment, or a force times the extent).

    found : the force is rounding and the position is stable; away : the search diverged, far from its start
    """

    state: State
    force: float
    found: bool
    away: bool = False


def descend(
    problem: Absolute, begin: State, u: Array, aims: Array, scale: float, lengths: Callable[[Array], Array]
) -> Descent:
    """Minimize the potential from a closed position.

    u : (actuators,) constant inputs; aims : (driven,) values of prescribed coordinates
    scale   : J, the largest energy of all loads over the extent
    lengths : measures w -> coordinates of the actuators (actuators,), along which u has the potential -u·ℓ
    """
    search = _Search(problem, u, aims, lengths)
    state, radius = begin, _BEGIN
    potential = search.potential(state)
    for _ in range(_ITERATIONS):
        state, split = search.split(state)
        values, vectors = np.linalg.eigh(split.H)
        f = vectors.T @ split.f
        force = float(np.abs(split.f).max(initial=0.0))
        scale = max(scale, force)
        flat = _FLAT * float(np.abs(values).max(initial=0.0)) + _SAME * scale
        if force <= _SMALL * scale and values.min(initial=0.0) >= -flat:
            return search.refine_state(state, split, flat)
        while True:
            z = trusted_step(values, f, radius * np.sqrt(len(state.V)), flat)
            promised = float(f @ z - 0.5 * z @ (values * z))
            there = search.move_state(state, split.N @ (vectors @ z))
            gained = -np.inf if there is None else potential - search.potential(there)
            if there is not None and gained >= 0.1 * promised - _SAME * scale:
                break
            radius *= 0.25
            if radius < _NEAREST:
                return Descent(state, force, False)
        if np.abs(there.X[:-1, :3] - begin.X[:-1, :3]).max(initial=0.0) > _AWAY * problem.system.rows.extent:
            return Descent(there, force, False, away=True)
        if gained > 0.7 * promised and np.linalg.norm(z) > 0.9 * radius * np.sqrt(len(state.V)):
            radius = min(2.0 * radius, _FARTHEST)
        state, potential = there, potential - gained
    return Descent(state, force, False)


def nudge_state(problem: Absolute, state: State, u: Array, aims: Array, seed: int) -> State | None:
    """Return a position nearby in a random direction that the rows allow, or None if none is found."""
    search = _Search(problem, u, aims, lambda w: w[:0])
    N = search.find_allowed_motions(state)
    direction = N @ np.random.default_rng(seed).normal(size=N.shape[1])
    for size in (_FARTHEST, _BEGIN, 0.1 * _BEGIN):
        there = search.move_state(state, size / float(np.abs(direction).max()) * direction)
        if there is not None:
            return there
    return None


def trusted_step(values: Array, f: Array, radius: float, flat: float) -> Array:
    """Return z with (λ + μ) z = f and |z| ≤ radius, for the least μ ≥ 0 with all λ + μ positive; λ (k,) ascending.

    If f has no component along the lowest negative curvature (a saddle or maximum), z moves along it.
    """
    lowest = float(values[0])
    if lowest > flat:
        z = f / values
        if np.linalg.norm(z) <= radius:
            return np.asarray(z)
    low = max(0.0, flat - lowest)
    z = f / (values + low)
    if np.linalg.norm(z) <= radius:
        if lowest < -flat:
            rest = np.sqrt(max(radius**2 - float(z @ z), 0.0))
            z[0] += np.copysign(rest, f[0])
        return np.asarray(z)
    high = low + float(np.linalg.norm(f)) / radius
    for _ in range(100):  # |z| falls with μ
        middle = 0.5 * (low + high)
        if np.linalg.norm(f / (values + middle)) > radius:
            low = middle
        else:
            high = middle
    return np.asarray(f / (values + high))


class _Search:
    """Conditions of positions: lengths in extents, angles in rad."""

    def __init__(self, problem: Absolute, u: Array, aims: Array, lengths: Callable[[Array], Array]) -> None:
        self.problem, self.u, self.aims, self.lengths = problem, u, aims, lengths
        rows, frames = problem.system.rows, len(problem.system.mass)
        self.unit = np.tile(np.where(rows.column < 3, rows.extent, 1.0), frames)
        chosen = [*range(problem.rest.numbering.constraints), *problem.system.driven.tolist()]
        self.row_unit = rows.rows_f[chosen, SCALE]

    def tangent(self, state: State, *, stiff: bool) -> StillTangent:
        return still_tangent(self.problem, state, self.u, self.aims, stiff=stiff)

    def potential(self, state: State) -> float:
        return self.tangent(state, stiff=False).potential - float(self.u @ self.lengths(state.w))

    def split(self, state: State) -> tuple[State, AllowedMotions]:
        """Return the state with the least multipliers, and the remainder along the motions that rows allow."""
        loose = self.tangent(state._replace(multipliers=np.zeros_like(state.multipliers)), stiff=False)
        U, S, Wt, rank = self._factor_rows(loose.J)
        held = (U[:, :rank] / S[:rank]) @ (Wt[:rank] @ (self.unit * loose.force))
        state = state._replace(multipliers=np.ascontiguousarray(held / self.row_unit))
        here, N = self.tangent(state, stiff=True), Wt[rank:].T
        K = N.T @ (self.unit[:, None] * here.K * self.unit) @ N
        return state, AllowedMotions(N, -N.T @ (self.unit * loose.force), 0.5 * (K + K.T))

    def _factor_rows(self, J: Array) -> tuple[Array, Array, Array, int]:
        """Return the singular values of the scaled rows, and the number of independent rows."""
        U, values, Wt = np.linalg.svd(J * self.unit / self.row_unit[:, None])
        return U, values, Wt, int((values > _RANK * values[0]).sum()) if len(values) else 0

    def find_allowed_motions(self, state: State) -> Array:
        """Return the motions that rows allow, as scaled columns (n, k)."""
        _, _, Wt, rank = self._factor_rows(self.tangent(state, stiff=False).J)
        return np.asarray(Wt[rank:].T)

    def move_state(self, state: State, step: Array) -> State | None:
        """Return the state moved by a scaled step (n,) and closed by the least change, or None if it does not close."""
        shape, before = state.V.shape, np.inf
        there = moved_state(self.problem, state, (self.unit * step).reshape(shape), state.multipliers, None)
        for _ in range(_CLOSINGS):
            here = self.tangent(there, stiff=False)
            gap = here.gap / self.row_unit
            size = float(np.abs(gap).max(initial=0.0))
            if size <= _CLOSED or (size <= _OPEN and size > 0.5 * before):
                return there
            if not size < 10.0 * before:
                return None
            J = here.J * self.unit / self.row_unit[:, None]
            p = np.linalg.lstsq(J, -gap, rcond=_RANK)[0]
            there = moved_state(self.problem, there, (self.unit * p).reshape(shape), there.multipliers, None)
            before = size
        return None

    def refine_state(self, state: State, split: AllowedMotions, flat: float) -> Descent:
        """Refine to rounding by Newton's method while it halves the force."""
        force = float(np.abs(split.f).max(initial=0.0))
        for _ in range(_SHARPENINGS):
            values, vectors = np.linalg.eigh(split.H)
            along = np.divide(vectors.T @ split.f, values, out=np.zeros_like(values), where=values > flat)
            there = self.move_state(state, split.N @ (vectors @ along))
            if there is None:
                break
            there, again = self.split(there)
            left = float(np.abs(again.f).max(initial=0.0))
            if not left <= 0.5 * force:
                break
            state, split, force = there, again, left
        return Descent(state, force, True)
